#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# events -f: a reader that is held up while the ring goes round is told how many events it has not, and every reader
# hears of the end.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

kept=1024
rounds=700 # of two events each: the ring goes round

start a '"listen": ["127.0.0.1:0"]'
"$rpmactl" -s "$dir/a.sock" events -f --json >"$dir/json" 2>"$dir/json.err" &
json=$!
"$rpmactl" -s "$dir/a.sock" events -f >"$dir/text" 2>"$dir/text.err" &
text=$!
pids="$pids $json $text"
wait_for grep -q daemon.started "$dir/json" && wait_for grep -q daemon.started "$dir/text"
result 'both readers have what was before'

kill -STOP $json $text
n=0
while [ $n -lt $rounds ]; do
  n=$((n + 1))
  printf 'listen 127.0.0.1:0\nunlisten %d\n' $((n + 1))
done >"$dir/lines"
exits 'many events' 0 ctl a batch <"$dir/lines"
newest=$(ctl a events --since 1 -n 1024 --json | sed 's/.*"next":\([0-9]*\).*/\1/')
kill -CONT $json $text
wait_for grep -q "^{\"seq\":$newest," "$dir/json" && wait_for grep -q "^ *$newest  " "$dir/text"
result 'both readers have come to the newest'

# Each number is there, or counted by the gap before the one that follows.
sed 's/^{"seq":\([^,]*\),.*"type":"\([^"]*\)".*"count":\([0-9]*\)}$/\1 \2 \3/' "$dir/json" |
  awk '$1 == "null" && $2 == "event.gap" { missed = $3; gaps++; total += $3; next }
    NR > 1 && $1 != last + 1 + missed { bad++ }
    { last = $1; missed = 0 }
    END { print gaps + 0, bad + 0, last, total }' >"$dir/sum"
read -r gaps bad last total <"$dir/sum"
is 'one gap' "$gaps" 1
is 'of as many as are missing' "$bad" 0
is 'and nothing behind the newest' "$last" "$newest"
is 'what the daemon keeps is told' $((last - total - $(grep -vc event.gap "$dir/json"))) 0
[ "$total" -ge $((newest - kept - 16)) ] && [ "$total" -le $((newest - kept)) ]
result "all that was before those $kept, but what came at once ($total)"
is 'as an event of its own' "$(grep -c '^{"seq":null,"at":null,"type":"event.gap","conn":null,"addr":null,"reason":"missed [0-9]* events","duration_ns":null,"count":[0-9]*}$' "$dir/json")" 1
is 'as text' "$(grep -c '^ *-  -  *event\.gap  *-  -  *missed [0-9][0-9]* events$' "$dir/text")" 1

exits 'stop' 0 ctl a stop
# shellcheck disable=SC2154
wait "$a_pid"
is 'the daemon stops well' $? 0
for reader in json text; do
  eval "wait \$$reader"
  ended=$?
  [ $ended -eq 9 ] || [ $ended -eq 3 ]
  result "$reader: the end is told (exit $ended)"
  like "$reader: as an event, too" "$(tail -n 1 "$dir/$reader")" '*daemon.stopping*'
  cp "$dir/$reader.err" "$dir/err"
  : >"$dir/out"
  one_error "$reader: and as an error" 'rpmactl: events: *'
done
finish
