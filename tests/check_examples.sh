#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_examples.sh: the examples compile with librpma.h, their Makefile builds each of them by pkg-config, and all
# of them are installed and described. tests/guest/examples.sh runs them.
# Needs top_srcdir; speaks TAP.
# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
cd "${top_srcdir:?}" || exit 1

grep -l '^main(' examples/*.c | sed -e 's|.*/||' -e 's/\.c$//' >"$tmp/programs"
: >"$tmp/found"
test "$(wc -l <"$tmp/programs")" -ge 4 || echo "there are fewer than four" >"$tmp/found"
result "the examples are where they are looked for"

cc=${CC:-cc}
if command -v "${cc%% *}" >/dev/null; then
	for file in examples/*.c; do
		# shellcheck disable=SC2086
		$cc ${CPPFLAGS-} -fsyntax-only -Wall -Wextra -Werror -I lib/rpma "$file" 2>&1
	done >"$tmp/found"
	result "they compile without a warning"
else
	skip "they compile without a warning" "no compiler here"
fi

# What the Makefile would do, with another pkg-config and from another folder.
cat >"$tmp/pkg-config" <<'END'
#!/bin/sh
echo "asked-$*" | tr ' ' -
END
chmod +x "$tmp/pkg-config"
source=$PWD
# The make that runs this test must not pass its own settings on.
(cd "$tmp" && env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES "${MAKE:-make}" -n -f "$source/examples/Makefile" \
	PKG_CONFIG="$tmp/pkg-config") >"$tmp/commands" 2>&1
while read -r program; do
	grep -F -- "-o $program " "$tmp/commands" | grep -F "examples/$program.c" | grep -F 'examples/common.c' |
		grep -F -- 'asked---cflags-librpma' | grep -qF -- 'asked---libs-librpma' ||
		echo "$program is not built"
done <"$tmp/programs" >"$tmp/found"
test ! -s "$tmp/found" || head -n 5 "$tmp/commands" >>"$tmp/found"
result "their Makefile builds each with what pkg-config says of librpma"

for file in examples/*; do
	case $file in */local.mk | *.o) continue ;; esac
	grep -qF "%D%/${file##*/}" examples/local.mk || { test -x "$file" && grep -qx "${file##*/}" "$tmp/programs"; } ||
		echo "$file is not installed"
done >"$tmp/found"
result "all of them are installed"

while read -r program; do
	grep -qF "| \`$program\` |" examples/README.md || echo "examples/README.md says nothing of $program"
done <"$tmp/programs" >"$tmp/found"
result "examples/README.md describes each"

finish
