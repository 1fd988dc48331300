#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# issue.sh: how many instructions one call of librpma takes, ours and Debian's over the same provider that does nothing, as
# valgrind counts them. Fails where ours are not fewer, or where a receive of a batch costs half of a single one or more.
# Needs top_srcdir and top_builddir; CC, CPPFLAGS and CFLAGS choose the compiler and find the headers of rdma-core.
set -eu
ours=$top_builddir/lib/rpma/.libs
theirs=$top_builddir/tests/peers/debian/usr/lib/x86_64-linux-gnu
TIMES=1000
BATCH=32

skip()
{
	echo "bench skipped: $1"
	exit 0
}

command -v valgrind >/dev/null || skip "no valgrind here"
test -e "$ours/librpma.so.0" || skip "shared libraries are disabled"
test -e "$theirs/librpma.so.0" || skip "no librpma of Debian's, tests/peers/build.sh unpacks it"
! nm "$ours/librpma-core.a" | grep -qE ' U (__asan_|__ubsan_|__gcov_)' ||
	skip "the library is built for sanitizers or coverage"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# shellcheck disable=SC2086
${CC:-cc} -O2 -DHAVE_CONFIG_H -I"$top_builddir" -I"$top_srcdir" ${CPPFLAGS:-} ${CFLAGS:-} -rdynamic \
	-o "$tmp/issue" "$top_srcdir/tests/bench/issue.c" "$ours/librpma.so" -ldl

# count FOLDER CALL: instructions of one call, those of the provider that does nothing included
count()
{
	LD_BIND_NOW=1 LD_LIBRARY_PATH=$1 valgrind --tool=callgrind --toggle-collect="rpma_$2" \
		--callgrind-out-file="$tmp/out" "$tmp/issue" "$2" $TIMES >"$tmp/log" 2>&1 || {
		cat "$tmp/log" >&2
		return 1
	}
	awk -v times=$TIMES '/^(summary|totals):/ { printf "%.1f\n", $2 / times; exit }' "$tmp/out"
}

failed=0
# row TEXT OURS LIMIT TEXT-OF-LIMIT: one line of the table
row()
{
	verdict=$(awk -v a="$2" -v b="$3" 'BEGIN { print (a > 0 && a < b) ? "fewer" : "NOT FEWER" }')
	printf '%-34s %8s %8s   %s\n' "$1" "$2" "$3" "$verdict"
	test "$verdict" = fewer || failed=1
}

printf '%-34s %8s %8s\n' "instructions of one call" ours Debian
for call in srq_recv send cq_get_wc; do
	ours_count=$(count "$ours" $call)
	row "rpma_$call" "$ours_count" "$(count "$theirs" $call)"
	test $call != srq_recv || single=$ours_count
done
batch=$(count "$ours" srq_recv_batch)
printf '%-34s %8s %8s\n' "" ours "half of 1"
row "rpma_srq_recv_batch, one of $BATCH" "$(awk -v n="$batch" -v of=$BATCH 'BEGIN { printf "%.1f", n / of }')" \
	"$(awk -v n="$single" 'BEGIN { printf "%.1f", n / 2 }')"
exit $failed
