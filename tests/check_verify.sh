#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The comparison of what was sent with what arrived, on which the tests in guests rest: it finds each kind of fault, and none where
# there is none. Digests are coreutils'.
# shellcheck source=tests/tap.sh
. "${top_srcdir:-.}/tests/tap.sh"

verify=$(cd "${top_builddir:-.}" && pwd)/tests/peers/verify
cd "$tmp" || exit 1

# word N: four bytes, the most significant one first.
word()
{
	printf '%b' "$(printf '\\0%03o\\0%03o\\0%03o\\0%03o' $(($1 >> 24 & 255)) $(($1 >> 16 & 255)) $(($1 >> 8 & 255)) $(($1 & 255)))"
}

# message CONN SEQ: into the file bytes, 20 bytes with a header, or none at all where the sequence number is odd.
message()
{
	: >bytes
	test $(($2 % 2)) = 1 || { word 0x52504d54 && word "$1" && word "$2" && word 20 && printf 'tail'; } >bytes
}

# sent FILE CONN SEQ: a line of a manifest.
sent()
{
	message "$2" "$3"
	echo "$2 $3 $(wc -c <bytes) $(sha256sum <bytes | cut -d ' ' -f 1)" >>"$1"
}

# came CONN SEQ RECEIVER: a completion, as rpmactl poll --json prints it.
came()
{
	message "$1" "$2"
	printf '{"conn":%d,"len":%d,"encoding":"base64","data":"%s","imm":null}\n' "$3" "$(wc -c <bytes)" "$(base64 -w 0 bytes)" >>received
}

begin()
{
	rm -f received manifest posted
	: >received
	: >manifest
	: >posted
}

# judge TEXT STATUS SENTENCE [OPTION...]: what verify says of the files.
judge()
{
	text=$1
	want=$2
	sentence=$3
	shift 3
	"$verify" "$@" received manifest >out 2>&1
	status=$?
	: >found
	if test $status != "$want" || ! grep -q -- "$sentence" out; then
		{ echo "status $status, expected $want and: $sentence" && cat out; } >found
	fi
	result "$text"
}

begin
for seq in 0 1 2; do
	sent manifest 7 $seq
	came 7 $seq 1
done
judge "all that was sent came" 0 'sent=3 received=3 missing=0 lossy=0 faults=0'
came 7 2 1
judge "one came twice" 1 '^twice: conn=7 seq=2 '
judge "one came twice, though more may come" 1 '^twice: conn=7 seq=2 ' --extra

begin
sent manifest 7 0
sent manifest 7 2
came 7 0 1
judge "one did not come" 1 '^missing: conn=7 seq=2 '
judge "the last one need not come" 0 'missing=1 lossy=1 faults=0' --missing
came 8 4 2
judge "one came that was never sent" 1 '^never sent: conn=8 seq=4 ' --missing
judge "one came that nobody is certain of" 0 'missing=1 lossy=1 faults=0' --missing --extra

begin
sent manifest 7 0
sent manifest 7 2
came 7 2 1
judge "one is missing before one that came" 1 '^missing before one that came: conn=7 seq=0 ' --missing
came 7 0 1
judge "two came in the wrong order" 1 '^out of order: conn=7 seq=0 ' --missing

begin
sent manifest 7 0
sent manifest 8 0
came 7 0 1
came 8 0 1
judge "two senders came over one connection" 1 '^of another sender: conn=8 seq=0 '

# Of what was posted, not completed, the last may be missing.
begin
for seq in 0 2 4; do sent posted 7 $seq; done
sent manifest 7 0
came 7 0 1
came 7 2 1
judge "what was posted, not completed, came or did not" 0 'faults=0' --posted posted
came 7 6 1
judge "what was not even posted came" 1 '^never sent: conn=7 seq=6 ' --posted posted

# Empty messages are all the same. Sender 7's was the last that it posted; sender 9's had to come, as one behind it did. The order of
# what is posted must not decide whose it was that came.
for order in '7 9' '9 7'; do
	begin
	for conn in $order; do
		sent posted "$conn" 0
		sent posted "$conn" 1
		test "$conn" = 7 || sent posted "$conn" 2
	done
	sent manifest 7 0
	for seq in 0 2; do sent manifest 9 $seq; done
	came 7 0 1
	for seq in 0 2; do came 9 $seq 2; done
	judge "an empty message is missing before one that came ($order)" 1 '^missing before one that came: conn=9 seq=1 ' --posted posted
	came 9 1 2
	judge "an empty message that was the last may be missing ($order)" 0 'faults=0' --posted posted
done
finish
