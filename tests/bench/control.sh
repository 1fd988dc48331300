#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# control.sh: what the control socket costs, beside what it can be compared with in the same run: rpmactl as a whole
# process with /bin/true, messages from recv.poll with the same bytes from redis, small requests with its PING. The daemon
# runs over doubles of the device. Where a goal is missed, the daemon's profile is printed, if perf(1) is there.
# Needs top_builddir.
set -eu
MESSAGES=1000

skip()
{
	echo "bench of the control socket skipped: $1"
	exit 0
}

rpmactl=$top_builddir/rpmactl
fake=$top_builddir/tests/fake/rpmad-fake
send=$top_builddir/tests/fake/fake-send
control=$top_builddir/tests/bench/control
for program in "$rpmactl" "$fake" "$send" "$control"; do
	test -x "$program" || skip "no $program"
done
! nm "$rpmactl" | grep -qE ' U (__asan_|__ubsan_|__gcov_)' || skip "it is built for sanitizers or coverage"

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

printf '{"listen": ["127.0.0.1:0"], "pool": {"slots": 2048, "slot_size": 64}, "control": {"socket": "%s"}}\n' \
	"$tmp/sock" >"$tmp/rpmad.json"
"$fake" -c "$tmp/rpmad.json" >"$tmp/log" 2>&1 &
daemon=$!
pids=$daemon
"$rpmactl" -s "$tmp/sock" --wait-daemon 20 status >/dev/null
port=$("$rpmactl" -s "$tmp/sock" listeners --json | sed 's/.*"port":\([0-9]*\).*/\1/')
"$send" "127.0.0.1:$port" --count $MESSAGES --size 64
"$rpmactl" -s "$tmp/sock" wait "slots.ready>=$MESSAGES" -t 20 >/dev/null

# Debian's program goes by several names; that of the package redis-tools starts no service.
server=$(command -v redis-server || command -v redis-check-rdb || :)
redis=
if test -n "$server"; then
	ln -s "$server" "$tmp/redis-server"
	(cd "$tmp" && exec ./redis-server --port 0 --unixsocket "$tmp/redis" --save '' --appendonly no) >"$tmp/redis.log" 2>&1 &
	redis=$!
	pids="$pids $redis"
	tries=0
	until test -S "$tmp/redis"; do
		tries=$((tries + 1))
		test $tries -lt 100 || skip "redis did not start: $(tail -n 1 "$tmp/redis.log")"
		sleep 0.1
	done
fi

# profile COMMAND...: where the daemon's time goes while it runs.
profile()
{
	command -v perf >/dev/null || return 0
	perf record -q -o "$tmp/perf" -p $daemon -- "$@" >/dev/null 2>&1 || return 0
	perf report -q -i "$tmp/perf" --stdio --percent-limit 2 --sort symbol 2>/dev/null | grep -v '^$' | head -n 16
}

# row TEXT GOAL SENSE COMMAND...: a line of the table. SENSE: "most" the ratio is at most the goal, "least" at least.
row()
{
	text=$1 goal=$2 sense=$3
	shift 3
	"$@" >"$tmp/row"
	read -r name ours theirs ratio <"$tmp/row"
	verdict=$(awk -v r="$ratio" -v g="$goal" -v s="$sense" 'BEGIN { print ((s == "most" ? r <= g : r >= g) ? "met" : "MISSED") }')
	printf '%-44s %8s %8s %7s   at %-5s %4s  %s\n' "$text" "$ours" "$theirs" "$ratio" "$sense" "$goal" "$verdict"
	test "$verdict" = met || test "$name" = run || profile "$@"
}

printf '%-44s %8s %8s %7s   %s\n' "" rpmad other ratio goal
row "us, rpmactl stats --json : /bin/true" 5 most \
	"$control" run 300 "$rpmactl" -s "$tmp/sock" stats --json -- /bin/true
if test -z "$redis"; then
	skip "no redis here (Debian package redis-tools)"
fi
row "MB/s, recv.poll of 64-byte messages : LRANGE" 0.5 least "$control" poll 300 "$tmp/sock" "$tmp/redis" $MESSAGES
row "us, listener.list : PING" 2 most "$control" ping 3000 "$tmp/sock" "$tmp/redis"
