#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# batch: a line of JSON for each line, whatever it is, over one connection.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

start a '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 16, "slot_size": 1024}' \
  '"receive": {"refill": "manual"}'
port=$(ctl a listeners --json | first port)
printf 'a file' >"$dir/file"
ctl a post -n 8 >"$dir/out"
"$fake_send" "127.0.0.1:$port" --count 3 --text hello

# batch NAME STATUS: with $dir/lines as standard input.
batch() { exits "$1" "$2" ctl a batch <"$dir/lines"; }
line() { sed -n "$1p" "$dir/out"; }
ok() { printf '{"line":%d,"status":0,"result":%s,"error":null}' "$1" "$2"; }

accepted=$(counter a control.clients_total)
cat >"$dir/lines" <<END
post -n 2
  # a comment

poll -n 1 -w 5 --encoding text
disconnect 77
post --slot three
nonsense
send 127.0.0.1:$port --text "two words \"and\" more" --imm 7
send 127.0.0.1:$port '$dir/file'
wait 'slots.ready == 4'
call recv.poll '{"max": 1, "encoding": "text", "ack": "auto"}'
poll -n 9 --encoding text
poll
END
batch 'commands' 1
is 'a line for each' "$(wc -l <"$dir/out")" 13
is 'one connection' "$(counter a control.clients_total)" $((accepted + 2))
is 'a result' "$(line 1)" "$(ok 1 '{"accepted":2,"posted":7,"free":6}')"
is 'a comment' "$(line 2)" "$(ok 2 null)"
is 'an empty line' "$(line 3)" "$(ok 3 null)"
like 'a message' "$(line 4)" "$(ok 4 '{"completions":\[{*"data":"hello"}],"more":true,*}')"
like 'a refusal' "$(line 5)" '{"line":5,"status":6,"result":null,"error":{"name":"NO_SUCH_CONN","message":"*77*"}}'
like 'a wrong option' "$(line 6)" '{"line":6,"status":2,"result":null,"error":{"name":"INVALID_PARAMS","message":"*","path":"--slot"*}}'
like 'an unknown command' "$(line 7)" '{"line":7,"status":2,"result":null,"error":{*"message":"unknown command \\"nonsense\\""*}}'
like 'quotes' "$(line 8)" "$(ok 8 '{"conn":*,"messages":1,"bytes":20}')"
like 'a file' "$(line 9)" "$(ok 9 '{"conn":*,"messages":1,"bytes":6}')"
is 'a wait' "$(line 10)" "$(ok 10 '{"name":"slots.ready","value":4}')"
like 'a call' "$(line 11)" "$(ok 11 '{"completions":\[{*"data":"hello"}],*}')"
like 'the words' "$(line 12)" "$(ok 12 '*"imm":7,*"data":"two words \\"and\\" more"}*"data":"a file"}*')"
is 'nothing is left' "$(line 13)" \
  '{"line":13,"status":12,"result":{"completions":[],"more":false,"acked":0,"unknown":[]},"error":null}'
# One of the five acknowledged itself.
is 'all are acknowledged' "$(counter a recv.acked_total) $(counter a slots.leased)" '4 0'
is 'nothing on standard error' "$(cat "$dir/err")" ''

# The path is a name, of an option or of a parameter.
printf '%s\n' 'log loud' 'conn none' 'unlisten x' >"$dir/lines"
batch 'words that cannot be' 1
is 'have names' "$(member path <"$dir/out")$(sed 1d "$dir/out" | member path)$(sed 1,2d "$dir/out" | member path)" 'levelCONNLISTENER'

printf 'status' >"$dir/lines"
batch 'a last line without an end' 0
is 'is one' "$(wc -l <"$dir/out")" 1
printf 'post\r\n' >"$dir/lines"
batch 'lines that end as elsewhere' 0
: >"$dir/lines"
batch 'no line' 0
is 'gives none' "$(cat "$dir/out")" ''
printf 'post -n 1\0 stop\npoll\n' >"$dir/lines"
batch 'a NUL' 1
like 'is refused' "$(line 1)" '{"line":1,"status":2,"result":null,"error":{*"message":"the line has a NUL in it"}}'
like 'and the next line served' "$(line 2)" '{"line":2,"status":12,*'
printf '%s\n' 'poll --follow' 'poll --raw' 'poll --exec true' 'events -f' 'metrics --http' doctor help 'completion bash' batch \
  'status -s /x' 'status --help' 'send 1' 'send 1 -' '--json' 'post "' 'post \' >"$dir/lines"
batch 'what has no place' 1
is 'each is refused' "$(grep -c '"status":2,"result":null' "$dir/out")" 16
like 'why' "$(line 1)" '*"message":"--follow has no place in a batch"*'
like 'why' "$(line 10)" '*"message":"global options are for the whole batch: put them before it"*'
like 'why' "$(line 15)" '*"message":"a quote (\\") is not closed"*'
exits 'a dry run' 0 sh -c "echo 'conn 3' | '$rpmactl' batch --dry-run"
is 'the request' "$(cat "$dir/out")" \
  '{"line":1,"status":0,"result":{"jsonrpc":"2.0","id":1,"method":"conn.show","params":{"conn":3}},"error":null}'

# As a partner: each answer comes before the next line is written.
mkfifo "$dir/in" "$dir/answers"
"$rpmactl" -s "$dir/a.sock" batch <"$dir/in" >"$dir/answers" 2>"$dir/last" &
partner=$!
pids="$pids $partner"
exec 3>"$dir/in" 4<"$dir/answers"
for n in 1 2 3; do
  echo 'post -n 1' >&3
  read -r answer <&4
  like "answer $n" "$answer" "{\"line\":$n,*"
done
# It leaves in good order, and a lost reader keeps the messages.
kill -TERM $partner
wait $partner
is 'SIGTERM ends it well' $? 0
exec 3>&- 4<&-
"$rpmactl" -s "$dir/a.sock" batch <"$dir/in" >"$dir/answers" 2>"$dir/last" &
partner=$!
pids="$pids $partner"
exec 3>"$dir/in" 4<"$dir/answers"
echo 'conn 99' >&3
read -r answer <&4
like 'a line fails' "$answer" '{"line":1,"status":6,*'
kill -TERM $partner
wait $partner
is 'which counts after a SIGTERM, too' "$? $(cat "$dir/last")" '1 '
exec 3>&- 4<&-
"$fake_send" "127.0.0.1:$port" --count 1 --text kept
exits 'ready' 0 ctl a wait 'slots.ready==1'
echo 'poll' | ctl a batch >&- 2>"$dir/err"
is 'output that cannot be written' $? 1
exits 'the message stays' 0 ctl a wait 'slots.ready==1'

# The daemon goes, and comes again.
# answered N: so many lines are out.
answered() { wait_for sh -c "[ \$(wc -l <'$dir/away') -eq $1 ]"; }
: >"$dir/away"
# shellcheck disable=SC2154
{
  echo status
  answered 1
  kill -KILL "$a_pid"
  wait_for sh -c "! kill -0 $a_pid"
  echo status
  answered 2
  "$rpmad_fake" -c "$dir/a.json" >"$dir/a.log" 2>&1 &
  echo $! >"$dir/a.pid"
  "$rpmactl" -s "$dir/a.sock" --wait-daemon 20 status >/dev/null
  echo status
} | ctl a batch >>"$dir/away" 2>"$dir/err"
is 'a daemon that was away' $? 1
is 'for one line' "$(sed 's/.*"status":\([0-9]*\).*/\1/' "$dir/away" | tr '\n' ' ')" '0 3 0 '
kill -TERM "$(cat "$dir/a.pid")"
wait_for sh -c "! kill -0 $(cat "$dir/a.pid")"
result 'it is over'
finish
