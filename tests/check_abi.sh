#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_abi.sh: the shared library exports what its map says, each name at its version node,
# the header declares each of them, and a program may count on the soname.
# Needs top_srcdir and top_builddir; speaks TAP.
set -u
LC_ALL=C
export LC_ALL
map=$top_srcdir/lib/rpma/librpma.map
header=$top_srcdir/lib/rpma/librpma.h
lib=$top_builddir/lib/rpma/.libs/librpma.so

if ! test -e "$lib"; then
	echo "1..0 # SKIP shared libraries are disabled"
	exit 0
fi
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

echo "1..4"
failed=0
# result NUMBER TEXT STATUS: one TAP line; the differences went to stdout before it
result()
{
	if test "$3" -eq 0; then
		echo "ok $1 - $2"
	else
		echo "not ok $1 - $2"
		failed=1
	fi
}

# name@node of each line of the map that ends in a semicolon
awk '/^LIBRPMA_/ { node = $1 } /^[ \t]+rpma_[a-z0-9_]+;/ { sub(/;/, "", $1); print $1 "@" node }' \
	"$map" | sort >"$tmp/map"
nm -D --defined-only --with-symbol-versions "$lib" |
	awk '$2 != "A" { sub(/@@/, "@", $3); print $3 }' | sort >"$tmp/lib"
test -s "$tmp/map" && diff "$tmp/map" "$tmp/lib" | sed 's/^/# /' >"$tmp/diff"
cat "$tmp/diff"
test -s "$tmp/map" && ! test -s "$tmp/diff"
result 1 "the library exports what the map says" $?

sort "$tmp/map" | sed 's/@.*//' | uniq -d >"$tmp/twice"
! test -s "$tmp/twice"
result 2 "no name is in two nodes" $?

# what looks like a function in the header, without its comments
sed -e 's|/\*.*\*/||' -e '/\/\*/,/\*\//d' "$header" |
	grep -o 'rpma_[a-z0-9_]*(' | sed 's/(//' | grep -v '^rpma_log_function$' |
	sort -u >"$tmp/header"
sed 's/@.*//' "$tmp/map" | sort -u >"$tmp/names"
diff "$tmp/names" "$tmp/header" | sed 's/^/# /' >"$tmp/diff"
cat "$tmp/diff"
! test -s "$tmp/diff"
result 3 "the header declares what the map says" $?

soname=$(readelf -d "$lib" | sed -n 's/.*(SONAME).*\[\(.*\)\]$/\1/p')
echo "# soname $soname"
test "$soname" = librpma.so.0
result 4 "the soname is librpma.so.0" $?
exit $failed
