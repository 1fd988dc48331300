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
  exits "$expr does not hold" 4 ctl a wait "$expr" -t 3
done
one_error 'the last number is told' \
  'rpmactl: wait: slots.total was 16, not = 15, within 3 s (-t gives it longer)'

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

# What a list does not have yet is 0, of whatever name.
exits 'never counted' 0 ctl a wait 'cm.closes.over_quota=0'
is 'is 0' "$(cat "$dir/out")" 'cm.closes.over_quota is 0'
exits 'below a list of a list' 0 ctl a wait 'recv.size_bytes.buckets.le_1024<1'
exits 'a list itself is no number' 2 ctl a wait 'cm.closes>=0'
exits 'nothing below a list' 2 ctl a wait 'cm.closes.>=0'
exits 'not below a list' 2 ctl a wait 'cm.conns.peer>=0'
exits 'it may be misspelt' 4 ctl a wait 'cm.closes.over_quotta>=1' -t 3
one_error 'misspelt' 'rpmactl: wait: cm.closes.over_quotta was 0, not >= 1, within 3 s (nothing was counted *'
"$rpmactl" -s "$dir/a.sock" wait 'cm.closes.local>=1' -t 30 >"$dir/waited" 2>&1 &
waiter=$!
pids="$pids $waiter"
wait_for sh -c "'$rpmactl' -s '$dir/a.sock' status | grep 'clients  *2'"
ctl a connect "127.0.0.1:$port" >"$dir/out" 2>&1
ctl a disconnect 1 >"$dir/out" 2>&1
wait $waiter
is 'the first count is seen' "$? $(cat "$dir/waited")" '0 cm.closes.local is 1'

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
