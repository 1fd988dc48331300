#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_docs.sh: the manual says what the programs say of themselves: methods, parameters, errors, keys of the
# configuration, commands, options and library calls, with ranges and defaults; and what it shows as an example works.
# Needs top_srcdir and top_builddir; speaks TAP.
# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
builddir=$(cd "${top_builddir:?}" && pwd) || exit 1
cd "${top_srcdir:?}" || exit 1
rpmad=$builddir/rpmad
rpmactl=$builddir/rpmactl

daemon=
# shellcheck disable=SC2317
clean_up()
{
	test -z "$daemon" || kill -KILL "$daemon" 2>/dev/null
	rm -rf "$tmp"
}
trap clean_up EXIT

# differ WANTED IS: lines that one of two sorted files has and the other has not.
differ()
{
	diff "$1" "$2" | sed -n -e 's/^< /not in the manual: /p' -e 's/^> /in the manual alone: /p' >"$tmp/found"
}

# Read a JSON value, write a line "PATH<tab>VALUE" for each scalar and each empty list in it.
flatten()
{
	awk '
	{ text = text $0 "\n" }
	function fail() { print "invalid JSON" >"/dev/stderr"; exit 1 }
	function token() {
		sub(/^[ \t\n]+/, "", text)
		if (!match(text, /^("([^"\\]|\\.)*"|[-+0-9.eE]+|true|false|null|[][{}:,])/))
			fail()
		t = substr(text, 1, RLENGTH)
		text = substr(text, RLENGTH + 1)
		return t
	}
	function plain(s) {
		if (s ~ /^"/) {
			s = substr(s, 2, length(s) - 2)
			gsub(/\\"/, "\"", s)
			gsub(/\\\//, "/", s)
			gsub(/\\\\/, "\\", s)
		}
		return s
	}
	function members(path, end,    i, key, first) {
		for (i = 0; ; i++) {
			first = token()
			if (first == end && i == 0) {
				if (end == "]")
					print path "\t[]"
				return
			}
			key = i
			if (end == "}") {
				key = plain(first)
				token()
				first = token()
			}
			value(path == "" ? key : path "." key, first)
			if (token() == end)
				return
		}
	}
	function value(path, first) {
		if (first == "{")
			members(path, "}")
		else if (first == "[")
			members(path, "]")
		else
			print path "\t" plain(first)
	}
	END { value("", token()) }'
}

# The part of a page between one heading and the next: part PAGE HEADING, as "Ss recv.poll".
part()
{
	awk -v heading=".$2" '
		inside && (/^\.Sh / || (/^\.Ss / && heading ~ /^\.Ss /)) { exit }
		inside { print }
		$0 == heading { inside = 1 }' "man/$1"
}

# A line for each item of a list whose names have that macro: "NAME<tab>FIRST SENTENCES", the latter up to the first
# paragraph, without macros.
items()
{
	awk -v head=".It $1 " '
		function flush() { if (name != "") print name "\t" text; name = ""; text = "" }
		index($0, head) == 1 { flush(); name = substr($0, length(head) + 1); open = 1; next }
		/^\.(It|El|Pp|Bl|Bd|Ss|Sh)/ { open = 0; next }
		open {
			gsub(/\\\(dq/, "\"")
			sub(/^\.[A-Z][a-z] /, "")
			sub(/ \.$/, ".")
			text = text == "" ? $0 : text " " $0
		}
		END { flush() }'
}

# ---- the programs' own words ----

: >"$tmp/found"
"$rpmad" --schema >"$tmp/schema.json" 2>>"$tmp/found" || echo "rpmad --schema failed" >>"$tmp/found"
flatten <"$tmp/schema.json" >"$tmp/schema" 2>>"$tmp/found" || echo "its output cannot be read" >>"$tmp/found"
for program in rpmad rpmactl; do
	"$builddir/$program" --help >"$tmp/$program.help" 2>>"$tmp/found" || echo "$program --help failed" >>"$tmp/found"
done
grep -q '^methods\.0\.name' "$tmp/schema" && grep -q '^config\.0\.name' "$tmp/schema" ||
	echo "rpmad --schema names no methods or no keys" >>"$tmp/found"
result "the programs tell of themselves"

# describe PREFIX END: the rows below PREFIX as "OWNER<tab>NAME<tab>WHAT THE MANUAL HAS TO SAY". END 1: a row that has
# no default is optional or required; 0: it has one, which the manual tells in words. NULL of JSON is "null".
describe()
{
	awk -F '\t' -v prefix="$1" -v is_param="$2" '
		index($1, prefix) == 1 { at[$1] = $2; if ($1 ~ /\.name$/) rows[++n] = substr($1, 1, length($1) - 5) }
		/^methods\.[0-9]+\.name\t/ { split($1, parts, "."); method[parts[2]] = $2 }
		function range(row) { return at[row ".min"] " to " at[row ".max"] }
		function unit(row) {
			if (at[row ".unit"] != "null")
				return " " at[row ".unit"]
			return at[row ".type"] == "string" ? " bytes" : ""
		}
		function words(row,    i, list) {
			for (i = 0; (row ".words." i) in at; i++)
				list = list (i ? ", " : "") at[row ".words." i]
			return list
		}
		function rest(row, quote,    def) {
			def = at[row ".default"]
			if (def != "null")
				return "; default " quote def quote "."
			if (!is_param)
				return "; default: "
			return at[row ".required"] == "true" ? "; required." : "; optional."
		}
		END {
			for (i = 1; i <= n; i++) {
				row = rows[i]
				if (is_param && row !~ /\.params\./)
					continue
				type = at[row ".type"]
				if (type == "bool")
					text = "Boolean" rest(row, "")
				else if (type == "integer")
					text = "Integer, " range(row) unit(row) rest(row, "")
				else if (type == "string")
					text = "String, " range(row) unit(row) rest(row, "\"")
				else if (type == "enum")
					text = "One of " words(row) rest(row, "")
				else if (type == "strings")
					text = "List of " range(row) " strings" rest(row, "")
				else
					text = "Object."
				split(row, parts, ".")
				owner = is_param ? method[parts[2]] : "-"
				print owner "\t" at[row ".name"] "\t" text
			}
		}' "$tmp/schema"
}

# compare: which of the rows in $tmp/wanted ("NAME<tab>TEXT") the items in $tmp/items say otherwise, or not at all.
compare()
{
	awk -F '\t' '
		FILENAME == ARGV[1] { is[$1] = $2; next }
		{ known[$1] = 1 }
		!($1 in is) { print $1 " is not in the manual"; next }
		index(is[$1], $2) != 1 { print $1 ": the manual says \"" is[$1] "\", the program \"" $2 "\"" }
		END { for (name in is) if (!(name in known)) print name " is in the manual alone" }' "$tmp/items" "$tmp/wanted"
}

# ---- the configuration ----

part rpmad.json.5 "Sh DESCRIPTION" | items Ic >"$tmp/items"
# Where the socket is depends on how the tree was configured; its file's name does not.
describe config. 0 | cut -f 2- | sed 's|\(^control\.socket	.* default \).*|\1|' >"$tmp/wanted"
compare >"$tmp/found"
socket=$(sed -n 's|^\(config\.[0-9]*\)\.name	control\.socket$|\1|p' "$tmp/schema")
socket=$(sed -n "s|^$socket\\.default	.*/||p" "$tmp/schema")
grep -q "^control\\.socket	.*/$socket\\.\$" "$tmp/items" || echo "control.socket is not $socket by default" >>"$tmp/found"
result "rpmad.json(5) has every key with its range and default"

awk -F '\t' '/^config\.[0-9]+\.name\t/ { name = $2 } /^config\.[0-9]+\.reload\ttrue$/ { print name }' "$tmp/schema" |
	sort >"$tmp/wanted"
part rpmad.json.5 "Ss Changes without a restart" | sed -n '/^\.Bl/,/^\.El/p' | sed -n 's/^\.Ic \(.*\.\)/\1/p' |
	tr -d ' ;' | tr , '\n' | sed '/^$/d' | grep -vx pool.slots | sort >"$tmp/items"
differ "$tmp/wanted" "$tmp/items"
test -s "$tmp/wanted" || echo "rpmad --schema names none" >>"$tmp/found"
result "rpmad.json(5) has the keys that a reload takes over"

awk '/^\.Sh EXAMPLES/ { here = 1 } here && /^\.Ed/ { exit } inside { print } here && /^\.Bd/ { inside = 1 }' \
	man/rpmad.json.5 | sed -e 's/\\e/\\/g' -e 's/\\-/-/g' -e 's/\\&//g' >"$tmp/example.json"
"$rpmad" --check "$tmp/example.json" >"$tmp/found" 2>&1 && : >"$tmp/found"
test -s "$tmp/example.json" || echo "there is none" >>"$tmp/found"
result "the example of rpmad.json(5) is valid"
"$rpmad" --check systemd/rpmad.json >"$tmp/found" 2>&1 && : >"$tmp/found"
result "the configuration that is installed is valid"

# ---- the protocol ----

awk -F '\t' '/^methods\.[0-9]+\.name\t/ { print $2 }' "$tmp/schema" | sort >"$tmp/methods"
part rpmad-rpc.7 "Sh METHODS" | sed -n 's/^\.Ss //p' | sort >"$tmp/items.methods"
differ "$tmp/methods" "$tmp/items.methods"
result "rpmad-rpc(7) has every method"

: >"$tmp/wrong"
describe methods. 1 >"$tmp/params"
while read -r method; do
	part rpmad-rpc.7 "Ss $method" >"$tmp/part"
	items Cm <"$tmp/part" >"$tmp/items"
	awk -F '\t' -v method="$method" '$1 == method { print $2 "\t" $3 }' "$tmp/params" >"$tmp/wanted"
	compare | sed "s/^/$method: /" >>"$tmp/wrong"
done <"$tmp/methods"
cp "$tmp/wrong" "$tmp/found"
result "rpmad-rpc(7) has every parameter with its range and default"

: >"$tmp/wrong"
while read -r method; do
	row=$(awk -F '\t' -v method="$method" '$2 == method && $1 ~ /^methods\.[0-9]+\.name$/ {
		print substr($1, 1, length($1) - 5) }' "$tmp/schema")
	part rpmad-rpc.7 "Ss $method" >"$tmp/part"
	awk -F '\t' -v row="$row" '$1 == row ".role" { role = $2 }
		$1 == row ".changes" && $2 == "true" { flags = flags ", changes" }
		$1 == row ".waits" && $2 == "true" { flags = flags ", waits" }
		$1 == row ".passes_fd" && $2 == "true" { flags = flags ", passes a descriptor" }
		END { print "Role " role flags "." }' "$tmp/schema" >"$tmp/role"
	sed -n 1p "$tmp/part" | cmp -s - "$tmp/role" || echo "$method: its first line is not \"$(cat "$tmp/role")\"" >>"$tmp/wrong"
	awk -F '\t' -v row="$row" 'index($1, row ".errors.") == 1 { print $2 }' "$tmp/schema" | sort >"$tmp/errors"
	awk '/^Errors:/ { here = 1 } here && /^\.Er / { print $2 }' "$tmp/part" | sort >"$tmp/items.errors"
	differ "$tmp/errors" "$tmp/items.errors"
	sed "s/^/$method: error /" "$tmp/found" >>"$tmp/wrong"
done <"$tmp/methods"
cp "$tmp/wrong" "$tmp/found"
result "rpmad-rpc(7) has the role and the errors of every method"

awk -F '\t' '/^events\.[0-9]+\.type\t/ { type = $2 } /^events\.[0-9]+\.help\t/ { print type "\t" $2 }' "$tmp/schema" \
	>"$tmp/wanted"
part rpmad-rpc.7 "Ss event.get" | sed '1,/^Types:/d' | items Ql >"$tmp/items"
compare >"$tmp/found"
test -s "$tmp/wanted" || echo "rpmad --schema names none" >>"$tmp/found"
result "rpmad-rpc(7) has every type of events, and when it comes"

# What the notifications besides the events themselves have is in the source alone.
awk '/add_notification\(/ && /"event\./ { name = "" ; inside = 1 }
	inside {
		n = split($0, piece, "\"")
		for (i = 2; i <= n; i += 2) {
			if (name == "")
				name = piece[i]
			else if (piece[i] !~ /^\{/)
				print name, piece[i]
		}
		if (/;$/)
			inside = 0
	}' daemon/rpc_subscribe.c | sort >"$tmp/wanted"
part rpmad-rpc.7 "Ss Events as notifications" | awk '/^\.It / { name = $3 } /^\.El/ { exit }
	/^\.Va / && name ~ /^event\./ { print name, $2 }' | sort >"$tmp/items"
differ "$tmp/wanted" "$tmp/items"
test "$(wc -l <"$tmp/wanted")" -ge 4 || echo "daemon/rpc_subscribe.c has another form" >>"$tmp/found"
result "rpmad-rpc(7) has the members of every notification"

# The table of errors is in the source alone.
awk '/^\tEXIT_[A-Z_]+ = [0-9]+/ { status[$1] = $3 + 0 }
	/^\t\[ERR_[A-Z_]+\] *= \{ "/ && !/ERR_NONE/ {
		split($0, field, /[{,]/)
		for (i = 2; i <= 6; i++)
			gsub(/[ "]/, "", field[i])
		print field[2], field[3], field[6] == "true" ? "yes" : "no", status[field[5]]
	}' lib/core/err.c | sort >"$tmp/errors"
part rpmad-rpc.7 "Sh ERROR CODES" | sed -n -e 's/ Ta / /g' -e 's/\\-/-/g' -e 's/^\.It Er //p' | sort >"$tmp/items.errors"
differ "$tmp/errors" "$tmp/items.errors"
test "$(wc -l <"$tmp/errors")" -ge 30 || echo "lib/core/err.c has another form" >>"$tmp/found"
result "rpmad-rpc(7) has every error with its code, whether to retry, and rpmactl's exit status"

# ---- what the daemon answers, over doubles of the device ----

fake=$builddir/tests/fake/rpmad-fake
sender=$builddir/tests/fake/fake-send

# names METHOD: the members of results that its section names, and those of sections that it refers to.
names()
{
	part rpmad-rpc.7 "Ss $1" | awk '
		sub(/^\.(It )?Va /, "") { n = split($0, words, " "); for (i = 1; i <= n; i++) if (words[i] ~ /^[a-z_]+$/) print words[i] }'
}
# call METHOD [PARAMS]: its result stays in $tmp/reply; members that only one side has go to $tmp/wrong.
call()
{
	if ! "$rpmactl" -s "$tmp/sock" call "$@" >"$tmp/reply" 2>"$tmp/error"; then
		echo "$1: $(cat "$tmp/error")" >>"$tmp/wrong"
		return 1
	fi
	flatten <"$tmp/reply" | cut -f 1 | tr . '\n' | grep -v '^[0-9]*$' | sort -u >"$tmp/wanted"
	names "$1" | sort -u >"$tmp/items"
	part rpmad-rpc.7 "Ss $1" | sed -n 's/^\.Ic \([a-z]*\.[a-z]*\)$/\1/p' | sort -u | while read -r other; do
		names "$other"
	done | sort -u >"$tmp/others"
	sort -u "$tmp/items" "$tmp/others" | comm -23 "$tmp/wanted" - | sed "s/^/$1: not in the manual: /" >>"$tmp/wrong"
	# The doubles' device is not among those that the system lists, and a list of counts may be empty.
	test "$1" != device.list || return 0
	case $1 in
		stats.get) printf '%s\n' count device hw_counters name port rate reason retries_exceeded_total rnr_received_total \
			rnr_sent_total state status | sort - "$tmp/wanted" ;;
		*) cat "$tmp/wanted" ;;
	esac | comm -13 - "$tmp/items" | sed "s/^/$1: in the manual alone: /" >>"$tmp/wrong"
}
value() { flatten <"$tmp/reply" | sed -n "s/^$1	//p"; }

if test -x "$fake" && test -x "$sender"; then
	: >"$tmp/wrong"
	cat >"$tmp/fake.json" <<END
{"listen": ["127.0.0.1:0"], "pool": {"slots": 16, "slot_size": 1024, "share": true}, "control": {"socket": "$tmp/sock"}}
END
	"$fake" -c "$tmp/fake.json" >"$tmp/log" 2>&1 &
	daemon=$!
	"$rpmactl" -s "$tmp/sock" --wait-daemon 20 status >/dev/null 2>>"$tmp/wrong"
	for method in rpc.list rpc.hello daemon.status device.list srq.show listener.list; do
		call $method
	done
	port=$(value listeners.0.port)
	"$rpmactl" -s "$tmp/sock" methods --json | flatten | sort >"$tmp/list"
	"$sender" "127.0.0.1:$port" --count 1 --text hello >/dev/null 2>>"$tmp/wrong"
	call recv.poll '{"wait_ms": 5000}'
	token=$(value completions.0.token)
	call recv.nack "{\"tokens\": [\"$token\"]}"
	call recv.ack "{\"tokens\": [\"$token\"]}"
	call recv.post '{"count": 1}'
	call pool.map
	call recv.ring
	call conn.open "{\"addr\": \"127.0.0.1\", \"port\": $port}"
	conn=$(value conn)
	call conn.send "{\"conn\": $conn, \"data\": \"aGVsbG8=\"}"
	call conn.list
	call conn.show "{\"conn\": $conn}"
	call conn.close "{\"conn\": $conn}"
	call stats.get
	call stats.metrics
	call event.get
	call event.subscribe
	call event.unsubscribe
	call listener.add '{"addr": "127.0.0.1", "port": 0}'
	call listener.remove "{\"listener\": $(value listener)}"
	call daemon.reload
	call log.set '{"level": "notice"}'
	"$rpmactl" -s "$tmp/sock" doctor --json >"$tmp/doctor" 2>>"$tmp/wrong"
	call daemon.stop
	wait "$daemon" || echo "rpmad-fake ended with $?: $(cat "$tmp/log")" >>"$tmp/wrong"
	daemon=
	cp "$tmp/wrong" "$tmp/found"
	result "rpmad-rpc(7) has the members of every result"
	grep '^methods\.' "$tmp/schema" | sort | diff - "$tmp/list" >"$tmp/found"
	result "rpc.list and rpmad --schema tell the same of the methods"
else
	skip "rpmad-rpc(7) has the members of every result" "no $fake"
fi

# ---- the programs' options and commands ----

# options: from a help text, "-n , --max" or "--follow", in the form of a page whose macros are undone.
options()
{
	sed -n -e 's/^  *\(-[a-zA-Z]\), \(--[a-z-]*\).*/\1 , \2/p' -e 's/^  *\(--[a-z-]*\).*/\1/p' | sort
}
undone()
{
	sed -n -e 's/^\.It Fl/.It Fl/' -e 's/Fl Fl /--/g' -e 's/Fl /-/g' -e 's/^\.It \(-[a-zA-Z] , --[a-z-]*\).*/\1/p' \
		-e 's/^\.It \(--[a-z-]*\).*/\1/p' | sort
}

options <"$tmp/rpmad.help" >"$tmp/wanted"
part rpmad.8 "Sh DESCRIPTION" | undone >"$tmp/items"
differ "$tmp/wanted" "$tmp/items"
test -s "$tmp/wanted" || echo "rpmad --help lists none" >>"$tmp/found"
result "rpmad(8) has every option"

sed -n '/^global options:/,$p' "$tmp/rpmactl.help" | options >"$tmp/wanted"
part rpmactl.1 "Ss Global options" | undone >"$tmp/items"
differ "$tmp/wanted" "$tmp/items"
test -s "$tmp/wanted" || echo "rpmactl --help lists none" >>"$tmp/found"
result "rpmactl(1) has every global option"

sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$tmp/rpmactl.help" | sort >"$tmp/commands"
part rpmactl.1 "Sh COMMANDS" >"$tmp/part"
sed -n 's/^\.It Ic \([a-z]*\).*/\1/p' "$tmp/part" | sort >"$tmp/items"
differ "$tmp/commands" "$tmp/items"
test -s "$tmp/commands" || echo "rpmactl help lists none" >>"$tmp/found"
result "rpmactl(1) has every command"

awk '/^\.It Ic / { inside = $3 == "doctor" } inside' "$tmp/part" >"$tmp/part.doctor"
sed -n 's/.*doctor_add([^,"]*, "\([a-z]*\)".*/\1/p' ctl/doctor_*.c >"$tmp/checks"
sort -u "$tmp/checks" >"$tmp/wanted"
sed -n '/^What is checked/{n;s/^\.Ql //;s/ ;$//;p;}' "$tmp/part.doctor" | tr -d ' ' | tr , '\n' | sort >"$tmp/items"
differ "$tmp/wanted" "$tmp/items"
test "$(wc -l <"$tmp/checks")" -eq "$(cat ctl/doctor_*.c | grep -c 'doctor_add(')" ||
	echo "ctl/doctor_*.c has another form" >>"$tmp/found"
result "rpmactl(1) has everything that doctor checks"
if test -e "$tmp/doctor"; then
	flatten <"$tmp/doctor" >"$tmp/findings"
	cut -f 1 "$tmp/findings" | tr . '\n' | grep -v '^[0-9]*$' | sort -u >"$tmp/wanted.members"
	sed -n 's/^\.Va //p' "$tmp/part.doctor" | tr -d ' ' | tr , '\n' | sed '/^$/d' | sort -u >"$tmp/items.members"
	differ "$tmp/wanted.members" "$tmp/items.members"
	awk -F '\t' '$1 ~ /\.check$/ { print $2 }' "$tmp/findings" | sort -u | comm -23 - "$tmp/items" |
		sed 's/^/checked, and not in the manual: /' >>"$tmp/found"
	awk -F '\t' '$1 ~ /\.state$/ { state = $2 }
		$1 ~ /\.remedy$/ && (state == "ok") != ($2 == "null") { print state " with the remedy " $2 }
		$1 ~ /\.state$/ && $2 !~ /^(ok|warning|problem)$/ { print "the state " $2 " is not in the manual" }' \
		"$tmp/findings" >>"$tmp/found"
	test -s "$tmp/findings" || echo "doctor --json found nothing" >>"$tmp/found"
	result "doctor --json has the members that rpmactl(1) has, and no other"
else
	skip "doctor --json has the members that rpmactl(1) has, and no other" "no $fake"
fi

: >"$tmp/wrong"
while read -r command; do
	"$rpmactl" help "$command" | sed -n '/^options:/,/^[^ ]*Global options:/p' | options >"$tmp/wanted"
	awk -v command="$command" '/^\.It Ic / || /^\.S[hs]/ { inside = $3 == command } inside { print }' "$tmp/part" |
		undone >"$tmp/items"
	differ "$tmp/wanted" "$tmp/items"
	sed "s/^/$command: /" "$tmp/found" >>"$tmp/wrong"
done <"$tmp/commands"
cp "$tmp/wrong" "$tmp/found"
result "rpmactl(1) has every option of every command"

# defaults: of a help text, "--wait 0".
defaults()
{
	awk '/^  (-[a-zA-Z], )?--[a-z-]+/ { sub(/^  (-[a-zA-Z], )?/, ""); option = $1; next }
		match($0, /, default [^)]*\)$/) {
			text = substr($0, RSTART + 10, RLENGTH - 11)
			sub(/ s$/, "", text)
			print option, text
		}'
}
: >"$tmp/wrong"
{ echo; cat "$tmp/commands"; } | while read -r command; do
	if test -n "$command"; then
		"$rpmactl" help "$command" | sed -n '/^options:/,/^Global options:/p' | defaults
		awk -v command="$command" '/^\.It Ic / || /^\.S[hs]/ { inside = $3 == command } inside { print }' \
			"$tmp/part" >"$tmp/items"
	else
		defaults <"$tmp/rpmactl.help"
		part rpmactl.1 "Ss Global options" >"$tmp/items"
	fi >"$tmp/wanted"
	while read -r option default; do
		sed -e 's/Fl Fl /--/g' "$tmp/items" | awk -v option="$option" -v default="$default" '
			/^\.It / { inside = index($0 " ", " " option " ") }
			inside { text = text " " $0 }
			END { exit text !~ ("[ ;]" default "( [a-z]+)? unless given") }' ||
			echo "$command $option: not \"$default unless given\"" >>"$tmp/wrong"
	done <"$tmp/wanted"
done
cp "$tmp/wrong" "$tmp/found"
result "rpmactl(1) has the defaults of its options"

for command in call poll; do
	"$rpmactl" help "$command" | sed -n '/^exit status:/,$s/^ *\([0-9][0-9]*\) .*/\1/p'
done | sort -u >"$tmp/wanted"
part rpmactl.1 "Sh EXIT STATUS" | sed -n 's/^\.It \([0-9]*\)$/\1/p' | sort -u >"$tmp/items"
differ "$tmp/wanted" "$tmp/items"
result "rpmactl(1) has every exit status"

: >"$tmp/wrong"
sed -n 's/^\tSTATUS_[A-Z]* = \([0-9]*\).*/\1/p' daemon/rpmad.c | sort >"$tmp/wanted"
part rpmad.8 "Sh EXIT STATUS" | sed -n 's/^\.It \([0-9]*\)$/\1/p' | sort >"$tmp/items"
differ "$tmp/wanted" "$tmp/items"
cp "$tmp/found" "$tmp/wrong"
tr '\n' ' ' <"$tmp/rpmad.help" | sed 's/.*Exit status: //' | grep -oE '(^|, ?)[0-9]+ ' | tr -dc '0-9\n' | sort |
	diff "$tmp/wanted" - | sed -n 's/^[<>]/rpmad --help and the program differ in/p' >>"$tmp/wrong"
test -s "$tmp/wanted" || echo "daemon/rpmad.c has another form" >>"$tmp/wrong"
cp "$tmp/wrong" "$tmp/found"
result "rpmad(8) and rpmad --help have every exit status"

# ---- the library ----

awk '/^LIBRPMA_/ { mark = $1 == "LIBRPMA_1.0" ? "" : " +" }
	/^[ \t]+rpma_[a-z0-9_]+;/ { sub(/;/, "", $1); print $1 mark }' lib/rpma/librpma.map | sort >"$tmp/wanted"
part librpma.7 "Sh FUNCTIONS" | sed -n -e 's/^\.It Xr \(rpma_[a-z0-9_]*\) 3 Ta + .*/\1 +/p' -e t \
	-e 's/^\.It Xr \(rpma_[a-z0-9_]*\) 3 Ta .*/\1/p' | sort >"$tmp/items"
differ "$tmp/wanted" "$tmp/items"
test -s "$tmp/wanted" || echo "librpma.map has another form" >>"$tmp/found"
result "librpma(7) has every call, and says which are new"

# ---- the rest ----

version=$(sed -n 's/^AC_INIT(\[rpmad\], \[\([^]]*\)\].*/\1/p' configure.ac)
newest=$(sed -n 's/^## *\([0-9][0-9.]*\).*/\1/p' NEWS.md | sed -n 1p)
: >"$tmp/found"
test -n "$version" && test "$version" = "$newest" ||
	echo "configure.ac has \"$version\", NEWS.md \"$newest\"" >>"$tmp/found"
result "the newest version of NEWS.md is configure.ac's"

for file in README.md HACKING.md; do
	grep -oE '(lib|daemon|ctl|contrib|doc|tests|scripts|systemd|man|m4|\.ci)/[A-Za-z0-9_./*-]*[A-Za-z0-9_*]' "$file" | sort -u |
		while read -r name; do
			# A pattern stands for at least one file, a test for its source.
			# shellcheck disable=SC2086
			set -- $name
			test -e "$1" || test -e "$1.c" || echo "$file: there is no $name"
		done
done >"$tmp/found"
result "README.md and HACKING.md name files that exist"

if command -v mandoc >/dev/null; then
	for page in man/*.[1-8]; do
		mandoc -T lint -W warning "$page"
	done >"$tmp/found" 2>&1
	result "mandoc has nothing to say"
else
	skip "mandoc has nothing to say" "no mandoc here"
fi

finish
