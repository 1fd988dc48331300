#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# poll --follow: every message once, in order, and every way to end.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

start a '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 64, "slot_size": 1024}'
port=$(ctl a listeners --json | first port)

"$rpmactl" -s "$dir/a.sock" poll --follow >"$dir/lines" 2>"$dir/err" &
follower=$!
pids="$pids $follower"
"$fake_send" "127.0.0.1:$port" --count 200 --size 20
result '200 messages through a pool of 64'
wait_for sh -c "[ \$(wc -l <'$dir/lines') -eq 200 ]"
result '200 lines'
wait_for sh -c "'$rpmactl' -s '$dir/a.sock' stats | grep 'recv.acked_total  *200'"
result 'all are acknowledged without more to come'
kill -TERM $follower
wait $follower
is 'SIGTERM ends it well' $? 0
is 'in order' "$(awk '{ if ($1 != NR) bad++ } END { print bad + 0 }' "$dir/lines")" 0
is 'nothing was delivered twice' "$(counter a recv.redelivered_total)" 0
is 'no error' "$(cat "$dir/err")" ''

"$fake_send" "127.0.0.1:$port" --count 3 --text hello
exits 'up to a number, as JSON' 0 ctl a poll --follow --json -n 3
is 'one object a line' "$(grep -c '^{"token":".*}$' "$dir/out")" 3
is 'with base64' "$(grep -c '"data":"aGVsbG8="' "$dir/out")" 3
is 'acknowledged at the end' "$(counter a recv.acked_total)" 203

"$fake_send" "127.0.0.1:$port" --count 2 --text xyz
exits 'raw' 0 ctl a poll --follow --raw --length-prefix -n 2
is 'with lengths' "$(od -An -tx1 "$dir/out" | tr -d ' \n')" 0000000378797a0000000378797a

# The reader goes away while nothing arrives.
{
  ctl a poll --follow 2>"$dir/err"
  echo $? >"$dir/status"
} | true
wait_for test -s "$dir/status"
is 'a lost reader ends it' "$(cat "$dir/status")" 1
: >"$dir/out"
one_error 'a lost reader' 'rpmactl: poll: *'

"$rpmactl" -s "$dir/a.sock" poll --follow >"$dir/lines" 2>"$dir/last" &
follower=$!
pids="$pids $follower"
wait_for sh -c "'$rpmactl' -s '$dir/a.sock' status | grep 'clients  *2'"
exits 'stop' 0 ctl a stop
# shellcheck disable=SC2154
wait "$a_pid"
is 'the daemon stops well' $? 0
wait $follower
ended=$?
[ $ended -eq 9 ] || [ $ended -eq 3 ]
result "the follower is told (exit $ended)"
cp "$dir/last" "$dir/err"
: >"$dir/out"
one_error 'the end of the daemon' 'rpmactl: poll: *'
finish
