#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_man3.sh: each function of the library has a page in section 3 that says what librpma.h says: prototype, errors
# and version node; its examples compile, and it names nothing that the library does not have.
# Needs top_srcdir; speaks TAP.
# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
cd "${top_srcdir:?}" || exit 1
header=lib/rpma/librpma.h
map=lib/rpma/librpma.map

# What both the header and the pages are brought to: "RESULT NAME(TYPE,TYPE)".
# shellcheck disable=SC2016
normal='
	function normal(text,    open, head, name, n, args, i, suffix, all) {
		gsub(/[ \t\n]+/, " ", text)
		open = index(text, "(")
		head = substr(text, 1, open - 1)
		sub(/^ +/, "", head)
		match(head, /[a-z_0-9]+ *$/)
		name = substr(head, RSTART)
		head = substr(head, 1, RSTART - 1)
		gsub(/ /, "", name)
		text = substr(text, open + 1)
		sub(/\).*/, "", text)
		n = split(text, args, ",")
		for (i = 1; i <= n; i++) {
			sub(/^ +/, "", args[i])
			sub(/ +$/, "", args[i])
			suffix = ""
			if (match(args[i], /\[[0-9]*\]$/)) {
				suffix = substr(args[i], RSTART)
				args[i] = substr(args[i], 1, RSTART - 1)
			}
			if (args[i] != "void")
				sub(/[A-Za-z_][A-Za-z_0-9]*$/, "", args[i])
			all = all (i > 1 ? "," : "") args[i] suffix
		}
		text = head " " name "(" all ")"
		gsub(/ +/, " ", text)
		gsub(/ ?\* ?/, "*", text)
		gsub(/ ,/, ",", text)
		gsub(/ \)/, ")", text)
		gsub(/ \[/, "[", text)
		return text
	}'

# ---- what there is ----

# Those of the other library are for check_rpmac.sh.
pages=$(printf '%s\n' man/*.3 | grep -v '/librpmac\.3$')

# "NAME<tab>NODE" of each function.
awk '/^LIBRPMA_/ { node = $1 }
	/^[ \t]+rpma_[a-z0-9_]+;/ { sub(/;/, "", $1); print $1 "\t" node }' "$map" | sort >"$tmp/nodes"
cut -f 1 "$tmp/nodes" >"$tmp/functions"

# "NAME<tab>PROTOTYPE<tab>CODES" of each function. The comment above a group of prototypes is that of all of them.
# Only what follows "return" counts, where there is that. Codes may lack RPMA_E_. A call that deletes allocates
# nothing, whatever is said of the one that makes.
awk "$normal"'
	function declared(text,    name, codes, n, words, i) {
		if (text ~ /typedef/ || !match(text, /rpma_[a-z0-9_]+ *\(/))
			return
		name = substr(text, RSTART, RLENGTH - 1)
		if (match(comment, /\* return +/))
			comment = substr(comment, RSTART)
		n = split(comment, words, /[^A-Z_]+/)
		for (i = 1; i <= n; i++) {
			sub(/^RPMA_E_/, "", words[i])
			if (!(words[i] in is_code) || (words[i] == "NOMEM" && name ~ /_delete$/))
				continue
			if (index(codes " ", " " words[i] " ") == 0)
				codes = codes " " words[i]
		}
		print name "\t" normal(text) "\t" codes
	}
	/^#define RPMA_E_/ { sub(/^RPMA_E_/, "", $2); is_code[$2] = 1 }
	in_comment { comment = comment " " $0; if (/\*\//) in_comment = 0; next }
	/^[ \t]*\/\*/ { comment = $0; in_comment = !/\*\//; next }
	/^#/ || /^extern "C"/ { next }
	/^[ \t]*$/ { if (text == "") comment = ""; next }
	{
		gsub(/\/\*[^*]*\*\//, "")
		text = text " " $0
		if (/;[ \t]*$/) { declared(text); text = "" }
	}' "$header" | sort >"$tmp/header"

: >"$tmp/found"
test -s "$tmp/functions" || echo "$map has another form" >>"$tmp/found"
cut -f 1 "$tmp/header" | diff "$tmp/functions" - | sed -n -e "s/^</only in $(basename "$map"):/p" \
	-e "s/^>/only in $(basename "$header"):/p" >>"$tmp/found"
result "librpma.h and librpma.map have the same functions"

# shellcheck disable=SC2086
set -- $pages
printf '%s\n' "$@" | sed -n 's|^man/\(.*\)\.3$|\1|p' | sort | diff "$tmp/functions" - |
	sed -n -e 's/^</no page:/p' -e 's/^>/a page of no function:/p' >"$tmp/found"
result "each function has a page in section 3, and each page a function"

printf '%s\n' man/*.[1-8] | sed 's|.*/||' | sort >"$tmp/pages"
tr ' ' '\n' <man/local.mk | sed -n 's|^%D%/\(.*\.[1-8]\)$|\1|p' | sort | diff "$tmp/pages" - |
	sed -n -e 's/^</not in man\/local.mk:/p' -e 's/^>/not there:/p' >"$tmp/found"
result "man/local.mk lists each page"

# ---- what the pages say ----

# "NAME<tab>SECTION<tab>LINE" of all pages.
awk 'FNR == 1 {
		name = FILENAME
		sub(/.*\//, "", name)
		sub(/\.3$/, "", name)
		heading = ""
	}
	/^\.Sh / { heading = substr($0, 5); next }
	{ print name "\t" heading "\t" $0 }' "$@" >"$tmp/lines"

awk -F '\t' '
	BEGIN { n = split("NAME,LIBRARY,SYNOPSIS,DESCRIPTION,RETURN VALUES,ERRORS,THREAD SAFETY,SEE ALSO,HISTORY", need, ",") }
	FILENAME == ARGV[1] { node[$1] = $2; next }
	{ page[$1] = 1; has[$1, $2] = 1 }
	$3 == ".Nm " $1 && $2 == "NAME" { has[$1, ".Nm"] = 1 }
	$3 == ".Dt " toupper($1) " 3" { has[$1, ".Dt"] = 1 }
	$3 ~ /^\.Xr librpma 7/ && $2 == "SEE ALSO" { has[$1, "librpma(7)"] = 1 }
	$2 == "HISTORY" && index($3 " ", node[$1] " ") { has[$1, "node"] = 1 }
	$2 == "HISTORY" && index($3, node[$1] ".") { has[$1, "node"] = 1 }
	END {
		for (name in page) {
			for (i = 1; i <= n; i++)
				if (!((name, need[i]) in has))
					print name ": no " need[i]
			if (!((name, ".Nm") in has) || !((name, ".Dt") in has))
				print name ": .Dt or .Nm is another"
			if (!((name, "librpma(7)") in has))
				print name ": SEE ALSO lacks librpma(7)"
			if (!((name, "node") in has))
				print name ": HISTORY does not say " node[name]
		}
	}' "$tmp/nodes" "$tmp/lines" | sort >"$tmp/found"
result "each page has its sections and tells the version node"

awk -F '\t' "$normal"'
	function quoted(text,    n, parts, i, all) {
		n = split(text, parts, "\"")
		if (n == 1)
			return text
		for (i = 2; i <= n; i += 2)
			all = all (i > 2 ? ", " : "") parts[i]
		return all
	}
	function found(name, args) { print name "\t" normal(type " " name "(" args ")") }
	$2 != "SYNOPSIS" { next }
	{ n = split($3, word, " "); rest = $3; sub(/^[^ ]* */, "", rest) }
	word[1] == ".Ft" { type = rest; gsub(/"/, "", type) }
	word[1] == ".Fn" { sub(/^[^ ]* */, "", rest); found(word[2], quoted(rest)) }
	word[1] == ".Fo" { name = word[2]; args = "" }
	word[1] == ".Fa" { args = args (args == "" ? "" : ", ") quoted(rest) }
	word[1] == ".Fc" { found(name, args) }' "$tmp/lines" | sort >"$tmp/prototypes"
cut -f 1,2 "$tmp/header" | diff - "$tmp/prototypes" |
	sed -n -e 's/^< [^	]*	/librpma.h has: /p' -e 's/^> [^	]*	/the page has: /p' >"$tmp/found"
test -s "$tmp/prototypes" || echo "the pages have another form" >>"$tmp/found"
result "each page has the prototype of librpma.h"

awk -F '\t' '
	$2 == "SYNOPSIS" && $3 ~ /^\.F[na] .*"/ {
		n = split($3, part, "\"")
		for (i = 2; i <= n; i += 2) {
			sub(/\[[0-9]*\]$/, "", part[i])
			if (match(part[i], /[a-z_0-9]+$/))
				wanted[$1 "\t" substr(part[i], RSTART)] = 1
		}
	}
	$2 == "DESCRIPTION" && $3 ~ /^\.(It )?Fa / {
		n = split($3, part, /[^a-z_0-9]+/)
		for (i = 1; i <= n; i++)
			is[$1 "\t" part[i]] = 1
	}
	END {
		for (i in wanted) {
			count++
			if (!(i in is)) {
				split(i, part, "\t")
				print part[1] ": DESCRIPTION says nothing of " part[2]
			}
		}
		if (count < 100)
			print "the pages have another form"
	}' "$tmp/lines" | sort >"$tmp/found"
result "each page describes each argument"

awk -F '\t' '
	FILENAME == ARGV[1] { codes[$1] = $3; next }
	$2 == "ERRORS" {
		n = split($3, word, " ")
		for (i = 1; i <= n; i++)
			is[$1, word[i]] = 1
	}
	END {
		for (name in codes) {
			n = split(codes[name], word, " ")
			for (i = 1; i <= n; i++)
				if (!((name, "RPMA_E_" word[i]) in is))
					print name ": ERRORS lacks RPMA_E_" word[i]
			count += n
		}
		if (count < 100)
			print "the comments of librpma.h have another form"
	}' "$tmp/header" "$tmp/lines" | sort >"$tmp/found"
result "each page has the errors that librpma.h names"

# Functions are those of the map; types, constants and members of structures are words of the header.
tr -cs 'A-Za-z0-9_' '\n' <"$header" | grep -i '^rpma_' | sort -u >"$tmp/words"
awk '
	FILENAME == ARGV[1] { is_function[$0] = 1; next }
	FILENAME == ARGV[2] { is_word[$0] = 1; next }
	FNR == 1 {
		name = FILENAME
		sub(/.*\//, "", name)
	}
	/^\.\\"/ || /^\.Dt / { next }
	{
		line = $0
		sub(/^\.It /, ".", line)
		n = split(line, word, " ")
		if (line ~ /^\.(Xr|Fn|Fo|Nm) /) {
			at = word[2] == "(" ? 3 : 2
			if (word[at] ~ /^rpma_/ && !(word[at] in is_function))
				print name ": there is no function " word[at]
		}
		n = split($0, word, /[^A-Za-z0-9_*]+/)
		for (i = 1; i <= n; i++) {
			sub(/^\*+/, "", word[i])
			# RPMA_E_* stands for many
			if (word[i] ~ /^(rpma|RPMA)_/ && word[i] !~ /\*$/ && !(word[i] in is_word))
				print name ": librpma.h has no " word[i]
		}
	}' "$tmp/functions" "$tmp/words" "$@" man/librpma.7 | sort -u >"$tmp/found"
result "no page names a function, type or constant that librpma.h lacks"

# ---- the examples ----

cc=${CC:-cc}
# shellcheck disable=SC2086
if command -v ${cc%% *} >/dev/null; then
	: >"$tmp/found"
	mkdir "$tmp/examples"
	awk -F '\t' -v folder="$tmp/examples" '
		$2 != "EXAMPLES" { next }
		$3 ~ /^\.Ed/ { inside = 0; close(file) }
		inside {
			sub(/^[^\t]*\t[^\t]*\t/, "")
			gsub(/\\&/, "")
			gsub(/\\e/, "\\")
			print >file
		}
		$3 ~ /^\.Bd -literal/ { inside = 1; file = folder "/" $1 "." ++n ".c" }' "$tmp/lines"
	for example in "$tmp/examples"/*.c; do
		# shellcheck disable=SC2086
		$cc ${CPPFLAGS-} -fsyntax-only -Wall -Wextra -Werror -I lib/rpma "$example" 2>&1 |
			sed "s|$tmp/examples/||" >>"$tmp/found"
	done
	test "$(printf '%s\n' "$tmp/examples"/*.c | wc -l)" -ge 10 || echo "the pages have another form" >>"$tmp/found"
	result "the examples compile"
else
	skip "the examples compile" "no compiler here"
fi

# ---- the form ----

# Which pages of others are installed is not for this test to say.
if command -v mandoc >/dev/null; then
	mandoc -T lint -W style "$@" man/librpma.7 2>/dev/null | grep -v 'referenced manual not found' >"$tmp/found"
	result "mandoc has nothing to say"
else
	skip "mandoc has nothing to say" "no mandoc here"
fi

finish
