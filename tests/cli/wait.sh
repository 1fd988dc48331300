#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# wait: every number of stats by its name, every comparison, and what cannot be waited for.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

start a '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 16, "slot_size": 1024}' \
  '"receive": {"refill": "manual"}'
port=$(ctl a listeners --json | first port)

for expr in 'slots.total>=16' 'slots.total<=16' 'slots.total==16' 'slots.total=16' 'slots.total != 15' \
  'slots.total > 15' ' slots.total<17'; do
  exits "$expr holds" 0 ctl a wait "$expr"
  is 'the number is told' "$(cat "$dir/out")" 'slots.total is 16'
done
exits 'as JSON' 0 ctl a wait 'slots.total>1' --json
is 'name and value' "$(cat "$dir/out")" '{"name":"slots.total","value":16}'
for expr in 'slots.total>16' 'slots.total<16' 'slots.total!=16' 'slots.total=15'; do
  exits "$expr does not hold" 4 ctl a wait "$expr" -t 0.05
done
one_error 'the last number is told' \
  'rpmactl: wait: slots.total was 16, not = 15, within 50 ms (-t gives it longer)'

# Every number that stats prints can be waited for, and holds at once where it is what it is.
ctl a stats | while read -r name value; do
  case $value in
    *[!0-9]* | '') ctl a wait "$name>=0" >/dev/null 2>"$dir/err"
      [ $? -eq 2 ] && grep -q 'is not a number' "$dir/err" || echo "$name $value: $(cat "$dir/err")" ;;
    *) ctl a wait "$name>=0" >/dev/null 2>"$dir/err" || echo "$name $value: $(cat "$dir/err")" ;;
  esac
done >"$dir/wrong"
is 'every number of stats' "$(cat "$dir/wrong")" ''
[ "$(ctl a stats | wc -l)" -ge 50 ]
result 'there are many'

exits 'a name that is not there' 2 ctl a wait 'slots.raedy>=1'
one_error 'unknown name' 'rpmactl: wait: there is no number "slots.raedy" (did you mean slots.ready?)'
exits 'a name like no other' 2 ctl a wait 'nonsense>=1'
one_error 'unknown name' 'rpmactl: wait: there is no number "nonsense" (rpmactl stats lists the names)'

# It waits, and sees the change.
"$rpmactl" -s "$dir/a.sock" wait 'slots.ready>=3' -t 30 >"$dir/waited" 2>&1 &
waiter=$!
pids="$pids $waiter"
wait_for sh -c "'$rpmactl' -s '$dir/a.sock' status | grep 'clients  *2'"
ctl a post -n 3 >/dev/null
"$fake_send" "127.0.0.1:$port" --count 3 --text hello
wait $waiter
is 'it holds by and by' $? 0
is 'three are there' "$(cat "$dir/waited")" 'slots.ready is 3'

exits 'nobody to ask' 3 ctl none wait 'slots.ready>=1'
# shellcheck disable=SC2154
kill -STOP "$a_pid"
exits 'nobody who answers' 4 ctl a -t 0.3 wait 'slots.ready>=1'
one_error 'nobody who answers' 'rpmactl: wait: no answer from the daemon within 300 ms*'
kill -CONT "$a_pid"
stop a
is 'the daemon left nothing behind' $? 0
finish
