#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_rpmac.sh: what programs that use librpmac count on: exported names and their version node, the soname, a header
# for C and C++, librpmac.pc; and a manual that says what the header says, whose example compiles.
# Needs top_srcdir and top_builddir; CC and CXX choose others. Speaks TAP.
# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"

folder=$top_srcdir/lib/rpmac
lib=${top_builddir:?}/lib/rpmac/.libs/librpmac.so
page=$top_srcdir/man/librpmac.3
cc=${CC:-cc}
cxx=${CXX:-c++}

# ---- names ----

sed -n 's/^	\(rpmac_[a-z_]*\);$/\1/p' "$folder/librpmac.map" | sort >"$tmp/map"
tr '\n' ' ' <"$folder/librpmac.h" | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/||g' | tr ';' '\n' |
	sed -n 's/.*[ *]\(rpmac_[a-z_]*\)(.*/\1/p' | sort >"$tmp/header"
diff "$tmp/map" "$tmp/header" >"$tmp/found"
test -s "$tmp/map" || echo "librpmac.map has another form" >>"$tmp/found"
result "librpmac.h and librpmac.map have the same functions"

if command -v nm >/dev/null && test -e "$lib"; then
	nm -D --defined-only "$lib" | awk '$2 == "T" { print $3 }' | sort >"$tmp/exported"
	sed 's/$/@@LIBRPMAC_1/' "$tmp/map" | diff - "$tmp/exported" >"$tmp/found"
	result "these are exported, with the version node LIBRPMAC_1"
	objdump -p "$lib" | awk '$1 == "SONAME" && $2 != "librpmac.so.0" { print $2 }
		$1 == "NEEDED" && $2 !~ /^(libc|ld-linux|lib[a-z]*san|libgcov)/ { print "needs " $2 }' >"$tmp/found"
	result "the soname is librpmac.so.0, and nothing but the C library is needed"
else
	skip "exported names" "no shared library, or no nm"
	skip "the soname" "no shared library, or no nm"
fi

# ---- compilers ----

echo '#include <librpmac.h>' >"$tmp/alone.c"
cp "$tmp/alone.c" "$tmp/alone.cc"
: >"$tmp/found"
for std in c99 c11 gnu17; do
	# shellcheck disable=SC2086
	$cc -std=$std -pedantic -Wall -Wextra -Wstrict-prototypes -Werror -fsyntax-only -I "$folder" "$tmp/alone.c" >>"$tmp/found" 2>&1
done
result "the header stands alone, in C99 as in C11 and C17"
# shellcheck disable=SC2086
if command -v ${cxx%% *} >/dev/null; then
	cat >"$tmp/program.cc" <<'END'
#include <librpmac.h>
int
main()
{
	struct rpmac *rpmac = rpmac_new();
	const struct rpmac_msg *msg;
	int rc = rpmac_open(rpmac, "/nonexistent/sock", 1) < 0 && rpmac_next(rpmac, 0, &msg) < 0 ? 0 : 1;
	rpmac_close(&rpmac);
	return rc;
}
END
	$cxx -std=c++98 -pedantic -Wall -Wextra -Wno-long-long -Werror -fsyntax-only -I "$folder" "$tmp/alone.cc" >"$tmp/found" 2>&1
	result "the header stands alone in C++"
else
	skip "the header stands alone in C++" "no compiler of it here"
fi

awk '/^prefix=/ || /^libdir=/ || /^includedir=/ || /^Name: librpmac$/ || /^Libs: .*-lrpmac$/ || /^Cflags: / || /^Version: [0-9.]+$/ { n++ }
	/@/ { print "left as it was: " $0 }
	END { if (n != 7) print "librpmac.pc has another form" }' "$top_builddir/lib/rpmac/librpmac.pc" >"$tmp/found"
result "librpmac.pc is whole"

# ---- the manual ----

sed -n 's/^\.F[no] \(rpmac_[a-z_]*\).*/\1/p' "$page" | sort -u | diff "$tmp/map" - >"$tmp/found"
result "librpmac(3) has every function"
# Members of the message, and errors that the header names.
{
	awk '/^struct rpmac_msg \{/ { inside = 1; next } /^\}/ { inside = 0 } inside { sub(/;.*/, ""); sub(/.*[ *]/, ""); print }' \
		"$folder/librpmac.h"
	grep -o -- '-E[A-Z]*' "$folder/librpmac.h" | tr -d - | sort -u
} | while read -r word; do
	grep -qE "^\\.(It )?(Va|Er|Bq Er) (.* )?$word( |\$)" "$page" || echo "librpmac(3) says nothing of $word"
done >"$tmp/found"
result "librpmac(3) has every member of a message and every error"

awk '/^\.Sh EXAMPLES/ { here = 1 } /^\.Ed/ { inside = 0 } inside { gsub(/\\e/, "\\"); gsub(/\\-/, "-"); gsub(/\\&/, ""); print }
	here && /^\.Bd -literal/ { inside = 1 }' "$page" >"$tmp/example.c"
test -s "$tmp/example.c" || echo "there is none" >"$tmp/example.c"
# shellcheck disable=SC2086
$cc -fsyntax-only -Wall -Wextra -Werror -I "$folder" "$tmp/example.c" >"$tmp/found" 2>&1
result "the example of librpmac(3) compiles"

sed -n '/^```c$/,/^```$/p' "$top_srcdir/README.md" | grep -v '^```' >"$tmp/readme.c"
test -s "$tmp/readme.c" || echo "there is none" >"$tmp/readme.c"
# shellcheck disable=SC2086
$cc -fsyntax-only -Wall -Wextra -Werror -I "$folder" "$tmp/readme.c" >"$tmp/found" 2>&1
result "the example of the README compiles"

if command -v mandoc >/dev/null; then
	mandoc -T lint -W style "$page" 2>/dev/null | grep -v 'referenced manual not found' >"$tmp/found"
	result "mandoc has nothing to say"
else
	skip "mandoc has nothing to say" "no mandoc here"
fi

finish
