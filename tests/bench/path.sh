#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# path.sh: how many instructions a message costs the daemon on its way from the completion queue to a consumer that reads in place
# and back to the receive queue, beside a loop that polls and posts again and does nothing else, over the same doubles of the
# device, as valgrind counts them in the thread that does it. Two runs of different length are taken, so that what is done once
# does not count. Then where the daemon's go, and how many messages a second there are without valgrind. Needs top_builddir.
: "${top_builddir:?}"
set -eu
GOAL=1.5
CONNS=8
# Fewer than there are slots: where a queue runs empty the doubles deliver in the thread that fills it, which would be counted.
SLOTS=4096
FEW=100
MANY=500
# To take the time of.
LOTS=30000

skip()
{
	echo "bench of the way of a message skipped: $1"
	exit 0
}

rpmactl=$top_builddir/rpmactl
fake=$top_builddir/tests/fake/rpmad-fake
send=$top_builddir/tests/fake/fake-send
bare=$top_builddir/tests/bench/serve_verbs_fake
take=$top_builddir/tests/bench/take
for program in "$rpmactl" "$fake" "$send" "$bare" "$take"; do
	test -x "$program" || skip "no $program"
done
command -v valgrind >/dev/null || skip "no valgrind here"
! nm "$fake" | grep -qE ' U (__asan_|__ubsan_|__gcov_)' || skip "it is built for sanitizers or coverage"

tmp=$(mktemp -d)
pids=
# shellcheck disable=SC2317
clean_up()
{
	for pid in $pids; do
		kill -KILL "$pid" 2>/dev/null || :
	done
	rm -rf "$tmp"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

# count COMMAND...: under callgrind, or as it is where the time is taken; in the background, its pid is left in $counted.
is_timed=
count()
{
	rm -f "$tmp/out"
	if test -n "$is_timed"; then
		"$@" >"$tmp/out" 2>"$tmp/err" &
		counted=$!
		pids="$pids $counted"
		return
	fi
	valgrind --tool=callgrind --separate-threads=yes --callgrind-out-file="$tmp/callgrind" "$@" >"$tmp/out" 2>"$tmp/err" &
	counted=$!
	pids="$pids $counted"
}

now_ns() { date +%s%N; }

# ended NAME: what was counted has ended; the instructions of its first thread, or the nanoseconds that were taken.
ended()
{
	took=$(($(now_ns) - begin))
	kill -TERM $counted
	wait $counted || { cat "$tmp/err" >&2; exit 1; }
	test -z "$is_timed" || { echo $took && return; }
	mv "$tmp/callgrind-01" "$tmp/$1"
	awk '/^(summary|totals):/ { print $2; exit }' "$tmp/$1"
}

# bare_loop COUNT: messages on each connection.
bare_loop()
{
	count "$bare" 127.0.0.1 0 $SLOTS 64
	until test -s "$tmp/out"; do
		sleep 0.1
	done
	read -r port _ <"$tmp/out"
	begin=$(now_ns)
	"$send" "127.0.0.1:$port" --conns $CONNS --count "$1" --size 64
	ended bare
}

# in_place COUNT BATCH
in_place()
{
	rm -f "$tmp/sock" "$tmp/meter"
	printf '{"listen": ["127.0.0.1:0"], "pool": {"slots": %d, "slot_size": 64, "share": true}, "receive": {"target": %d}, "control": {"socket": "%s"}}\n' \
		$SLOTS $SLOTS "$tmp/sock" >"$tmp/rpmad.json"
	count "$fake" -c "$tmp/rpmad.json"
	"$rpmactl" -s "$tmp/sock" --wait-daemon 60 status >/dev/null
	port=$("$rpmactl" -s "$tmp/sock" listeners --json | sed 's/.*"port":\([0-9]*\).*/\1/')
	"$take" "$tmp/sock" "$tmp/meter" "$2" >/dev/null 2>&1 &
	taker=$!
	pids="$pids $taker"
	begin=$(now_ns)
	"$send" "127.0.0.1:$port" --conns $CONNS --count "$1" --size 64
	# Statistics walk through all slots: they are asked for once, when the consumer has all.
	until test "$(od -An -tu4 -N4 "$tmp/meter" | tr -d ' ')" -ge $((CONNS * $1)); do
		sleep 0.1
	done
	"$rpmactl" -s "$tmp/sock" wait "recv.acked_total>=$((CONNS * $1))" -t 60 >/dev/null
	ended rpmad
}

# each MANY FEW: of one message.
each() { awk -v many="$1" -v few="$2" -v n=$((CONNS * (MANY - FEW))) 'BEGIN { printf "%.0f", (many - few) / n }'; }

few=$(bare_loop $FEW)
many=$(bare_loop $MANY)
theirs=$(each "$many" "$few")
echo "instructions of a message, in-place consumer : poll and post again"
for batch in 1 16 256; do
	few=$(in_place $FEW $batch)
	many=$(in_place $MANY $batch)
	ours=$(each "$many" "$few")
	awk -v batch=$batch -v ours="$ours" -v theirs="$theirs" -v goal=$GOAL 'BEGIN {
		printf "batch of %-4d %8d %8d %7.2f", batch, ours, theirs, ours / theirs
		if (batch == 256)
			printf "   at most %s  %s", goal, ours / theirs <= goal ? "met" : "MISSED"
		printf "\n" }'
done
echo "where they go, in percent of the last run:"
callgrind_annotate --inclusive=yes --auto=no "$tmp/rpmad" | awk '
	/PROGRAM TOTALS/ { gsub(",", "", $1); all = $1 }
	/^ *[0-9,]+ \([ 0-9.]+%\) / {
		line = $0; sub(/^ *[0-9,]+ \([ 0-9.]+%\) */, "", line); n = $1; gsub(",", "", n)
		if (match(line, /:(cq_drain|srq_refill|rpc_rings_serve|engine_ring_deliver|engine_ring_settle)[.a-z0-9]* /))
			printf "%6.1f  %s\n", 100 * n / all, substr(line, RSTART + 1, RLENGTH - 2) }'

is_timed=yes
theirs=$(bare_loop $LOTS)
ours=$(in_place $LOTS 256)
awk -v ours="$ours" -v theirs="$theirs" -v n=$((CONNS * LOTS)) 'BEGIN {
	printf "messages a second, in-place consumer : poll and post again\n"
	printf "batch of 256  %8.0f %8.0f %7.2f\n", n * 1e9 / ours, n * 1e9 / theirs, theirs / ours }'
