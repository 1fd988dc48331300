#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_layers.sh: the rules of the tree as tests: who includes whom, one foreign world in a file, sizes, no state
# of file scope, no calls of verbs from the daemon, and what the checkers of C and shell say.
# Needs top_srcdir and top_builddir; speaks TAP.
# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
FILE_LINES=500
FUNCTION_LINES=60
builddir=$(cd "${top_builddir:?}" && pwd) || exit 1
cd "${top_srcdir:?}" || exit 1

# ---- what there is ----

find lib daemon ctl tests examples -name '*.[ch]' | sort >"$tmp/c"
grep -v -e '^tests/' -e '^examples/' "$tmp/c" >"$tmp/product"
{
	cat "$tmp/c"
	find lib daemon ctl tests examples man scripts systemd .ci -type f \( -name '*.sh' -o -name '*.mk' -o -name '*.[1-8]' \
		-o -name '*.in' -o -name '*.bash' -o -name '*.jq' -o -name '*.map' -o ! -name '*.*' \) 2>/dev/null
	find contrib scripts systemd doc m4/rpmad_flags.m4 -type f
	find debian debian/source debian/tests -maxdepth 1 -type f
	find . -maxdepth 1 -type f \( -name '*.md' -o -name '*.am' -o -name '*.ac' -o -name '*.spec' \)
} | grep -v -e '\.o$' -e '/\.libs/' -e '/\.deps/' -e '\.dirstamp$' | sort -u >"$tmp/all"

# "FILE INCLUDED" for each line of include.
# shellcheck disable=SC2016
xargs awk '/^#[ \t]*include[ \t]*[<"]/ { split($0, part, /[<">]/); print FILENAME, part[2] }' <"$tmp/c" >"$tmp/includes"

: >"$tmp/found"
for folder in lib/core lib/rpma lib/rpmac daemon ctl tests; do
	grep -q "^$folder/.* " "$tmp/includes" || echo "nothing to check in $folder" >>"$tmp/found"
done
result "the tree is where it is looked for"

# ---- layers ----

# ours FOLDER ALLOWED: what files of a folder include from the tree, apart from ALLOWED (a regular expression).
ours()
{
	grep "^$1/" "$tmp/includes" | grep -E ' ((lib|daemon|ctl|tests)/|librpma\.h)' | grep -vE " ($2)\$" >"$tmp/found"
}

ours lib/core 'lib/core/[a-z0-9_]+\.h'
result "lib/core includes lib/core alone"
ours lib/rpma 'lib/rpma/[a-z0-9_]+\.h'
result "lib/rpma includes lib/rpma alone"
ours lib/rpmac 'lib/rpmac/[a-z0-9_]+\.h|lib/core/ring\.h'
result "lib/rpmac includes lib/rpmac, and of lib/core the form of the ring, alone"
ours ctl '(lib/core|ctl)/[a-z0-9_]+\.h|lib/rpmac/librpmac\.h'
result "ctl includes lib/core, ctl and lib/rpmac/librpmac.h alone"
ours daemon '(lib/core|daemon)/[a-z0-9_]+\.h|lib/rpma/librpma\.h'
result "daemon includes lib/core, daemon and lib/rpma/librpma.h alone"
grep -v '^tests/' "$tmp/includes" | grep ' tests/' >"$tmp/found"
result "nobody but tests includes tests"
# A header of the tree without its folder would be found by luck, or not at all. The foreign senders in tests/peers are
# built against other people's headers, the examples against the installed one.
grep -v -e ' [a-z0-9_]*/' -e ' config\.h$' -e '^tests/peers/' -e '^tests/bench/serve_rpma\.c ' -e '^examples/' "$tmp/includes" | while read -r file included; do
	for folder in lib/core lib/rpma lib/rpmac daemon ctl tests/unit tests/fake; do
		if test -e "$folder/$included"; then
			echo "$file: $included"
			break
		fi
	done
done >"$tmp/found"
result "includes of the tree name their folder"

# ---- foreign worlds ----

awk '!/^tests\// {
	world = ""
	if ($2 ~ /^(infiniband|rdma)\// || $2 == "lib/rpma/librpma.h")
		world = "verbs"
	else if ($2 ~ /^event2\// || $2 == "event.h")
		world = "libevent"
	else if ($2 == "jansson.h")
		world = "jansson"
	if (world != "" && !seen[$1, world]++)
		worlds[$1] = worlds[$1] " " world
	if (world != "")
		print $1, world, $2 >used
}
END {
	for (file in worlds)
		if (split(worlds[file], list, " ") > 1)
			print file ":" worlds[file]
}' used="$tmp/worlds" "$tmp/includes" | sort >"$tmp/found"
result "no file joins two of verbs, libevent and jansson"
grep -E '^[^ ]*\.h ' "$tmp/worlds" | grep -v '^lib/rpma/[^ ]* verbs' >"$tmp/found"
awk '$1 !~ /^tests\// && $1 ~ /\.h$/ && $2 ~ /^(systemd\/|check\.h$)/' "$tmp/includes" >>"$tmp/found"
result "no header includes a foreign one, those of lib/rpma apart"
grep ' libevent ' "$tmp/worlds" | grep -vE '^daemon/(loop|control[a-z_]*)\.c ' >"$tmp/found"
result "libevent is in daemon/loop.c and daemon/control*.c alone"
grep ' verbs ' "$tmp/worlds" | grep -vE '^(lib/rpma|daemon)/' >"$tmp/found"
grep -E '^daemon/.* verbs (infiniband|rdma)/' "$tmp/worlds" >>"$tmp/found"
result "verbs are in lib/rpma alone, librpma.h in the daemon besides"

# ---- sizes ----

xargs wc -l <"$tmp/c" | awk -v max=$FILE_LINES \
	'$2 != "total" && $2 != "lib/rpma/librpma.h" && $1 > max { print $2 ": " $1 " lines" }' >"$tmp/found"
result "no file is over $FILE_LINES lines"

# A body is what stands between { and } at the left edge. Rows of a switch or an initializer that
# only list do not count.
xargs awk -v max=$FUNCTION_LINES '
	FNR == 1 { inside = 0 }
	/^\{$/ { inside = 1; lines = 0; start = FNR; next }
	/^\}/ {
		if (inside && lines > max)
			print FILENAME ":" start ": " lines " lines"
		inside = 0
	}
	!inside { next }
	/^[ \t]*(case [^:]*|default):$/ || /^[ \t]*return ("[^"]*"|[A-Z][A-Z0-9_]*);$/ { next }
	/^[ \t]*(\[[A-Z0-9_]+\] = |\{ )[^;]*,$/ { next }
	{ lines++ }' <"$tmp/c" >"$tmp/found"
result "no function is over $FUNCTION_LINES lines"

# ---- what was built ----

: >"$tmp/found"
archives="lib/core/libcore.a daemon/libdaemon.a ctl/libctl.a lib/rpma/.libs/librpma-core.a lib/rpmac/.libs/librpmac-core.a"
for archive in $archives; do
	test -e "$builddir/$archive" || echo "$archive was not built" >>"$tmp/found"
done
result "the archives are there"

nm -A -u "$builddir/daemon/libdaemon.a" 2>/dev/null | grep -E ' (ibv|rdma)_' >"$tmp/found"
result "the daemon calls neither ibv_ nor rdma_ functions"

# Registered memory is shared between processes, so nothing needs to be kept from forks: what that costs, all
# users of a library pay.
for archive in $archives; do
	nm -A -u "$builddir/$archive" 2>/dev/null | grep -E ' ibv_fork_init$'
done >"$tmp/found"
result "nobody asks for the protection of memory from forks"

# Symbols in sections that can be written. Tables of pointers are in .data.rel.ro, which cannot; names with two
# underscores are those of sanitizers and of coverage.
for archive in $archives; do
	objdump -t "$builddir/$archive" 2>/dev/null | awk -v archive="$archive" '
		/file format/ { member = $1; sub(/:$/, "", member); next }
		/ \.(bss|data|tbss|tdata)/ && !/ \.data\.rel\.ro/ {
			name = $NF
			size = $(NF - 1)
			if (size ~ /^0+$/ || name ~ /^(__|\.)/)
				next
			print archive "(" member "): " name
		}'
done | grep -vE -e '^lib/core/libcore\.a\(([^)]*[-/])?log\.o\): (max_level|sink_fn|sink_arg)$' \
	-e '^daemon/libdaemon\.a\(([^)]*[-/])?fault\.o\): fault_mark$' \
	-e '^lib/rpma/[^(]*\(([^)]*[-/])?(log|err)\.o\): ' >"$tmp/found"
result "no state of file scope but the logs', the library's errno and what the handler of faults needs"

# ---- words ----

# Written so that this file is none of those that it looks for.
xargs grep -nIE '(^|[^A-Za-z])(TO[D]O|FIX[M]E|XX[X])([^A-Za-z]|$)' <"$tmp/all" >"$tmp/found"
result "nothing is left to be done later"
xargs grep -nIE '(^|[^A-Za-z0-9_.$}])/([w]ork|[h]ome)/|(^|[^A-Za-z])[Ii]ssues? #?[0-9]' <"$tmp/all" >"$tmp/found"
result "no path of somebody's machine and no number of a tracker"
xargs grep -L 'SPDX-License-Identifier: BSD-3-Clause' <"$tmp/c" >"$tmp/found"
result "every source file says its licence"

# ---- checkers that not every machine has ----

if command -v clang-format-14 >/dev/null; then
	xargs clang-format-14 --dry-run --Werror <"$tmp/c" 2>&1 | sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error:.*/\1/p' |
		sort | uniq -c | awk '{ print $2 ": " $1 " places, make format mends them" }' >"$tmp/found"
	result "clang-format has nothing to change"
else
	skip "clang-format has nothing to change" "no clang-format-14 here; other versions format differently"
fi

xargs grep -lIE '^#!(/bin/(ba)?sh|/usr/bin/env bash)|^# shellcheck shell=' <"$tmp/all" >"$tmp/scripts"
if command -v shellcheck >/dev/null; then
	# Variables of the environment, as top_srcdir is one, are what set -u is for.
	xargs shellcheck -x -f gcc -S warning -e SC2154 <"$tmp/scripts" >"$tmp/found" 2>&1
	result "shellcheck has nothing to say"
else
	skip "shellcheck has nothing to say" "no shellcheck here"
fi

finish
