#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_abi.sh: what programs that use librpma count on: exported names and their version nodes, prototypes, numbers and
# sizes of 1.3.0, the soname, a header that compiles everywhere, and librpma.pc for both ways of linking. Where Debian's
# librpma was unpacked by tests/peers/build.sh, the tables of this test are compared with it, too.
# Needs top_srcdir and top_builddir; CC, CXX and PKG_CONFIG choose others. Speaks TAP.
# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"

map=$top_srcdir/lib/rpma/librpma.map
header=$top_srcdir/lib/rpma/librpma.h
libs=${top_builddir:?}/lib/rpma/.libs
lib=$libs/librpma.so
debian=$top_builddir/tests/peers/debian/usr
symbols=$top_srcdir/tests/librpma-1.0.symbols
prototypes=$top_srcdir/tests/librpma-1.0.prototypes
numbers=$top_srcdir/tests/peers/librpma_1_0.c
CC=${CC:-cc}
CXX=${CXX:-c++}
PKG_CONFIG=${PKG_CONFIG:-pkg-config}

# left_out TEXT REASON: what this configuration has nothing to show of; scripts/check runs those that have.
left_out()
{
	echo "# left out: $1: $2"
}

# differ FILE FILE: how they differ, and that the first is no empty table.
differ()
{
	diff "$1" "$2"
	test -s "$1" || echo "$1 is empty"
}

# declared INCLUDE-DIR: the prototypes that librpma.h there declares, one a line, as the compiler understood them.
declared()
{
	echo '#include <librpma.h>' >"$tmp/declared.c"
	(cd "$tmp" && gcc -fsyntax-only -aux-info declared.out -I "$1" declared.c) &&
		sed -n 's|^/\*[^*]*librpma\.h:[0-9]*:[A-Z]* \*/ extern \(.*\);.*$|\1;|p' "$tmp/declared.out" | sort
}

# exported LIBRARY: name@node of each name it exports.
exported()
{
	nm -D --defined-only --with-symbol-versions "$1" | awk '$2 != "A" { sub(/@@/, "@", $3); print $3 }' | sort
}

# ---- names ----

# name@node of each line of the map that ends in a semicolon
awk '/^LIBRPMA_/ { node = $1 } /^[ \t]+rpma_[a-z0-9_]+;/ { sub(/;/, "", $1); print $1 "@" node }' \
	"$map" | sort >"$tmp/map"
sed 's/@.*//' "$tmp/map" | uniq -d >"$tmp/found"
result "no name is in two nodes"

grep '@LIBRPMA_1\.0$' "$tmp/map" | sed 's/@.*//' >"$tmp/old"
{
	differ "$symbols" "$tmp/old"
	test "$(wc -l <"$symbols")" -eq 84 || echo "the table has not 84 names"
} >"$tmp/found"
result "the node LIBRPMA_1.0 has the 84 names of 1.3.0, and no other"
grep -v -e '@LIBRPMA_1\.0$' -e '@LIBRPMA_1\.4$' "$tmp/map" >"$tmp/found"
result "what is new is in the node LIBRPMA_1.4"

# what looks like a function in the header, without its comments
sed -e 's|/\*.*\*/||' -e '/\/\*/,/\*\//d' "$header" | grep -o 'rpma_[a-z0-9_]*(' | sed 's/(//' |
	grep -v '^rpma_log_function$' | sort -u >"$tmp/header"
sed 's/@.*//' "$tmp/map" | sort -u >"$tmp/names"
differ "$tmp/names" "$tmp/header" >"$tmp/found"
result "the header declares what the map says"

if test -e "$lib"; then
	exported "$lib" >"$tmp/lib"
	differ "$tmp/map" "$tmp/lib" >"$tmp/found"
	result "the library exports what the map says"
	readelf -d "$lib" | sed -n 's/.*(SONAME).*\[\(.*\)\]$/\1/p' | grep -vx 'librpma\.so\.0' >"$tmp/found"
	readelf -d "$lib" | grep -q '(SONAME)' || echo "it has no soname" >>"$tmp/found"
	result "the soname is librpma.so.0"
	readelf -d "$lib" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' |
		grep -vE '^(libibverbs\.so\.1|librdmacm\.so\.1|libc\.so\.6|(ld|lib(gcc_s|asan|ubsan))[a-z0-9_.-]*\.so\.[0-9]+)$' >"$tmp/found"
	result "the library needs libibverbs, librdmacm and libc alone"
	nm -D -u "$lib" | grep -E ' (openlog|closelog|setlogmask)(@|$)' >"$tmp/found"
	result "the library leaves the program's own log alone"
else
	left_out "the library exports what the map says" "shared libraries are disabled"
	left_out "the library leaves the program's own log alone" "shared libraries are disabled"
	left_out "the soname is librpma.so.0" "shared libraries are disabled"
	left_out "the library needs libibverbs, librdmacm and libc alone" "shared libraries are disabled"
fi

# ---- types and numbers ----

if declared "$top_srcdir/lib/rpma" >"$tmp/ours" 2>/dev/null && test -s "$tmp/ours"; then
	# what the table has, whatever is new besides
	sed 's/.*[ *]\(rpma_[a-z0-9_]*\) (.*/\1 (/' "$prototypes" >"$tmp/wanted"
	grep -F -f "$tmp/wanted" "$tmp/ours" >"$tmp/ours-old"
	{
		differ "$prototypes" "$tmp/ours-old"
		test "$(wc -l <"$prototypes")" -eq 84 || echo "the table has not 84 prototypes"
	} >"$tmp/found"
	result "the prototypes are those of 1.3.0"
else
	skip "the prototypes are those of 1.3.0" "no gcc here that prints them"
fi
gcc -std=gnu11 -fsyntax-only -I "$top_srcdir/lib/rpma" "$numbers" >"$tmp/found" 2>&1
result "numbers, sizes and types are those of 1.3.0"

for std in c11 gnu11 c17 gnu17; do
	echo '#include <librpma.h>' >"$tmp/header.c"
	"$CC" -std=$std -Wall -Wextra -Wstrict-prototypes -Werror -fsyntax-only -I "$top_srcdir/lib/rpma" "$tmp/header.c"
done >"$tmp/found" 2>&1
result "the header compiles as C11 and C17 without a warning"
if command -v "$CXX" >/dev/null; then
	for std in c++11 c++17; do
		cp "$tmp/header.c" "$tmp/header.cc"
		"$CXX" -std=$std -Wall -Wextra -Werror -fsyntax-only -I "$top_srcdir/lib/rpma" "$tmp/header.cc"
	done >"$tmp/found" 2>&1
	result "the header compiles as C++11 and C++17 without a warning"
else
	skip "the header compiles as C++11 and C++17 without a warning" "no C++ compiler here"
fi

# ---- against the other one ----

if test -e "$debian/include/librpma.h"; then
	declared "$debian/include" >"$tmp/theirs"
	differ "$prototypes" "$tmp/theirs" >"$tmp/found"
	result "Debian's librpma has the prototypes of the table"
	gcc -std=gnu11 -fsyntax-only -I "$debian/include" "$numbers" >"$tmp/found" 2>&1
	result "Debian's librpma has the numbers of the table"
	exported "$debian/lib/x86_64-linux-gnu/librpma.so.0" >"$tmp/theirs"
	sed 's/$/@LIBRPMA_1.0/' "$symbols" >"$tmp/old"
	differ "$tmp/theirs" "$tmp/old" >"$tmp/found"
	result "Debian's librpma has the names of the table"
else
	for what in prototypes numbers names; do
		left_out "Debian's librpma has the $what of the table" "tests/peers/build.sh was not run"
	done
fi

# ---- librpma.pc ----

# What a program asks for: the library itself, and a call of verbs.h, which librpma.h includes.
cat >"$tmp/program.c" <<'END'
#include <librpma.h>
int
main(void)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct ibv_context *context = NULL;

	if (rpma_conn_cfg_new(&cfg) || rpma_conn_cfg_delete(&cfg))
		return 1;
	if (rpma_utils_get_ibv_context(NULL, RPMA_UTIL_IBV_CONTEXT_LOCAL, &context) != RPMA_E_INVAL)
		return 2;
	return !ibv_wc_status_str(IBV_WC_SUCCESS);
}
END
# As if the tree were installed: the same file with other folders.
mkdir "$tmp/pc" "$tmp/static"
sed -e "s|^libdir=.*|libdir=$libs|" -e "s|^includedir=.*|includedir=$top_srcdir/lib/rpma|" \
	"$top_builddir/lib/rpma/librpma.pc" >"$tmp/pc/librpma.pc"
sed -e "s|^libdir=.*|libdir=$tmp/static|" "$tmp/pc/librpma.pc" >"$tmp/static/librpma.pc"
test ! -e "$libs/librpma.a" || cp "$libs/librpma.a" "$tmp/static/"

# flags FOLDER OPTION...: what librpma.pc in a folder gives
flags()
{
	folder=$1
	shift
	PKG_CONFIG_PATH=$folder${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH} "$PKG_CONFIG" "$@" librpma
}

# link OPTION... : make the program
link()
{
	"$CC" -o "$tmp/program" "$tmp/program.c" "$@" >"$tmp/link" 2>&1
}

echo 'int main(void) { return 0; }' >"$tmp/empty.c"
instrumented()
{
	nm "$1" 2>/dev/null | grep -qE ' U (__asan_|__ubsan_|__gcov_|__tsan_|__sanitizer_)'
}
one=$libs/librpma-core.a
version=$(sed -n 's/^AC_INIT(\[rpmad\], \[\([^]]*\)\].*/\1/p' "$top_srcdir/configure.ac")
: >"$tmp/found"
test "$(flags "$tmp/pc" --modversion)" = "$version" || echo "librpma.pc has another version than $version" >"$tmp/found"
result "librpma.pc has the version of the tree"

# shellcheck disable=SC2046
if ! test -e "$lib" || instrumented "$one"; then
	left_out "a program links through librpma.pc" "no shared library, or one for sanitizers or coverage"
else
	: >"$tmp/found"
	if ! link $(flags "$tmp/pc" --cflags --libs) || ! LD_LIBRARY_PATH=$libs "$tmp/program" >>"$tmp/link" 2>&1; then
		cat "$tmp/link" >"$tmp/found"
		echo "the program does not link, or not run" >>"$tmp/found"
	fi
	result "a program links through librpma.pc"
fi
# shellcheck disable=SC2046
if ! test -e "$libs/librpma.a" || instrumented "$one"; then
	left_out "a program links statically through librpma.pc" "no static library, or one for sanitizers or coverage"
elif ! "$CC" -static -o "$tmp/empty" "$tmp/empty.c" $("$PKG_CONFIG" --static --libs librdmacm libibverbs) 2>/dev/null; then
	skip "a program links statically through librpma.pc" "no static libibverbs and librdmacm here"
else
	: >"$tmp/found"
	if ! link -static $(flags "$tmp/static" --static --cflags --libs) || ! "$tmp/program" >>"$tmp/link" 2>&1; then
		cat "$tmp/link" >"$tmp/found"
		echo "the program does not link, or not run" >>"$tmp/found"
	fi
	result "a program links statically through librpma.pc"
fi
finish
