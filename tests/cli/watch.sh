#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stats --watch: all numbers, then those that have changed with by how much; every way to end.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"


start a '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 16, "slot_size": 1024}'
port=$(ctl a listeners --json | first port)
ctl a stats | sed 's/  .*//' | grep -v '\.buckets\.le_' >"$dir/names"

"$rpmactl" -s "$dir/a.sock" stats --watch=0.1 >"$dir/lines" 2>"$dir/err" &
watcher=$!
pids="$pids $watcher"
wait_for sh -c "[ \$(grep -c ' control.requests_total ' '$dir/lines') -ge 3 ]"
result 'look after look'
"$fake_send" "127.0.0.1:$port" --count 5 --size 20
result '5 messages'
wait_for grep -q ' slots\.ready  *5  *' "$dir/lines"
wait_for grep -q ' recv\.messages_total  *5  *' "$dir/lines"
result 'their number is seen'
ctl a poll -n 5 >"$dir/out"
wait_for grep -q ' slots\.ready  *0  *-' "$dir/lines"
result 'numbers fall, too'
kill -TERM $watcher
wait $watcher
is 'SIGTERM ends it well' $? 0
is 'no error' "$(cat "$dir/err")" ''
# The first look: every number, none with a change; a later one tells the difference to the one before.
awk '$2 == "control.requests_total" && n++ { exit } { print $2 }' "$dir/lines" >"$dir/first"
is 'all numbers come first' "$(awk 'NR == FNR { seen[$1] = 1; next } !($1 in seen)' "$dir/first" "$dir/names")" ''
is 'but for buckets' "$(grep -c '\.buckets\.le_' "$dir/lines")" 0
is 'each change is the difference' \
  "$(awk '$2 in last && $3 - last[$2] != $4 + 0 { print } $3 ~ /^[0-9]+$/ { last[$2] = $3 }' "$dir/lines")" ''
is 'the messages came to 5' \
  "$(awk '$2 == "recv.messages_total" && $4 != "-" { sum += $4 } END { print sum }' "$dir/lines")" 5
is 'what did not change is told once' "$(grep -c ' slots\.total ' "$dir/lines")" 1
is 'each line has its time' "$(grep -vc '^20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z  ' "$dir/lines")" 0

"$rpmactl" -s "$dir/a.sock" stats --watch --json >"$dir/lines" 2>"$dir/err" &
watcher=$!
pids="$pids $watcher"
wait_for sh -c "[ \$(wc -l <'$dir/lines') -ge 2 ]"
result 'a line of JSON for each look'
kill -INT $watcher 2>/dev/null
kill -TERM $watcher
wait $watcher
is 'it ends well' $? 0
is 'whole looks' "$(grep -vc '^{.*"slots":{.*}$' "$dir/lines")" 0

exits 'too often' 2 ctl a stats --watch=0.01
one_error 'too often' 'rpmactl: stats: --watch: 10 is below 100 ms*'
exits 'a value stands behind =' 2 ctl a stats --watch 2
one_error 'a value stands behind =' 'rpmactl: stats: unexpected argument "2"*'
exits 'no look' 0 ctl a stats --watch --dry-run
like 'but its request' "$(cat "$dir/out")" '*"method":"stats.get"*'
printf 'stats --watch\n' | ctl a batch >"$dir/out"
like 'not in a batch' "$(cat "$dir/out")" '*"message":"--watch has no place in a batch"*'

# The reader goes away while nothing else happens.
{
  ctl a stats --watch=3600 2>"$dir/err"
  echo $? >"$dir/status"
} | head -n 1 >"$dir/out"
wait_for test -s "$dir/status"
is 'a lost reader ends it' "$(cat "$dir/status")" 1
: >"$dir/out"
one_error 'a lost reader' 'rpmactl: stats: *'

"$rpmactl" -s "$dir/a.sock" stats --watch=0.1 >"$dir/lines" 2>"$dir/last" &
watcher=$!
pids="$pids $watcher"
wait_for grep -q ' control\.requests_total ' "$dir/lines"
exits 'stop' 0 ctl a stop
# shellcheck disable=SC2154
wait "$a_pid"
is 'the daemon stops well' $? 0
wait $watcher
ended=$?
[ $ended -eq 9 ] || [ $ended -eq 3 ]
result "the watcher is told (exit $ended)"
cp "$dir/last" "$dir/err"
: >"$dir/out"
one_error 'the end of the daemon' 'rpmactl: stats: *'
finish
