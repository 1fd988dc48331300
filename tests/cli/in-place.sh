#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# poll --in-place: every byte, without a request for each, acknowledged when it was written; and why not.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

# calls METHOD: how often the daemon was asked for it.
calls() {
  ctl a stats --json | sed -n "s/.*\"method\":\"$1\",\"result\":\"ok\",\"count\":\([0-9]*\).*/\1/p"
}

start a '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 1024, "slot_size": 4096, "share": true}' '"receive": {"target": 1024}'
port=$(ctl a listeners --json | first port)
mkdir "$dir/sent"
"$fake_send" "127.0.0.1:$port" --count 1024 --size 4096 --dump "$dir/sent"
result '1024 messages of 4096 bytes'
exits 'fill the pool' 0 ctl a wait 'slots.ready>=1024' -t 30
exits 'all in one command' 0 ctl a poll -n 1024 --raw --length-prefix --in-place
i=0
while [ $i -lt 1024 ]; do
  printf '\000\000\020\000'
  cat "$dir/sent/0-$i"
  i=$((i + 1))
done | cmp - "$dir/out" >"$dir/differ" 2>&1
result 'every byte'
is 'a ring for all of them' "$(calls recv.ring)" 1
is 'and no request' "$(calls recv.poll)" ''
is 'all are acknowledged' "$(counter a recv.acked_total)" 1024

# Those that are left are nobody's, and were not tried.
"$fake_send" "127.0.0.1:$port" --count 300 --size 64
exits 'three hundred more' 0 ctl a wait 'slots.ready>=300' -t 30
exits 'of which 258 are wanted' 0 ctl a poll -n 258 --raw --length-prefix --in-place
is 'as many are written' "$(wc -c <"$dir/out")" $((258 * 68))
is 'and no more are taken' "$(counter a recv.polled_total)" $((1024 + 258))
exits 'the others' 0 ctl a poll -n 300 --raw --length-prefix --in-place
is 'all 42 of them' "$(wc -c <"$dir/out")" $((42 * 68))

exits 'nothing is there' 12 ctl a poll --raw --in-place
exits 'nothing within a wait' 12 ctl a poll --raw --in-place -w 0.2
"$fake_send" "127.0.0.1:$port" --count 3 --text hello
exits 'one' 0 ctl a poll --raw --in-place -w 10
is 'nothing but the bytes' "$(od -An -c "$dir/out" | tr -d ' \n')" hello
exits 'the rest is there for others' 0 ctl a wait 'slots.ready>=2' -t 10
exits 'follow' 0 ctl a poll --raw --length-prefix --in-place --follow -n 2
is 'two' "$(wc -c <"$dir/out")" 18
is 'and they are done with' "$(counter a recv.acked_total)" 1327

# A reader that goes takes nothing along.
"$fake_send" "127.0.0.1:$port" --count 1 --text kept
exits 'output that cannot be written' 1 sh -c "'$rpmactl' -s '$dir/a.sock' poll --raw --in-place -w 10 >/dev/full"
exits 'gives it back' 0 ctl a wait 'slots.ready>=1' -t 10

# SIGTERM ends it in good order.
"$rpmactl" -s "$dir/a.sock" poll --raw --length-prefix --in-place --follow >"$dir/followed" &
pid=$!
pids="$pids $pid"
exits 'it is taken' 0 ctl a wait 'recv.acked_total>=1328' -t 20
kill -TERM "$pid"
wait "$pid"
is 'SIGTERM is no failure' $? 0
is 'it was written' "$(wc -c <"$dir/followed")" 8

start b '"pool": {"slots": 16}'
exits 'a daemon that does not share' 1 ctl b poll --raw --in-place
one_error 'says what to do' 'rpmactl: poll: *pool.share*'
exits 'no daemon' 3 "$rpmactl" -s "$dir/none.sock" poll --raw --in-place
one_error 'no daemon' 'rpmactl: poll: *none.sock*'
exits 'what it asks for' 0 ctl a poll --raw --in-place --dry-run
like 'a descriptor' "$(cat "$dir/out")" '*"method":"pool.map"*'
exits 'not without --raw' 2 ctl a poll --in-place

stop a
is 'the daemon left nothing behind' $? 0
finish
