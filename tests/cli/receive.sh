#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The main job: post, send, poll in every form, acknowledge.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

start a '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 16, "slot_size": 1024}' \
  '"receive": {"refill": "manual"}'
port=$(ctl a listeners --json | first port)

ctl a status >"$dir/status"
golden cli_status_start "$dir/status"
# The pool's pages are the machine's.
ctl a srq | sed '/^times/d; /^state/d; /^pool/d' >"$dir/srq"
golden cli_srq "$dir/srq"

exits 'nothing is there' 12 ctl a poll
is 'and nothing is printed' "$(cat "$dir/out" "$dir/err")" ''
exits 'nothing within a wait' 12 ctl a poll -w 0.2 --json
like 'an empty result as JSON' "$(cat "$dir/out")" '{"completions":\[],"more":false*}'

exits 'post four' 0 ctl a post -n 4
is 'posted' "$(cat "$dir/out")" '4 slots posted; now 4 posted, 12 free'
exits 'post one' 0 ctl a post
exits 'post a slot with a label' 0 ctl a post --slot 15 --len 512 --context 'a label'
exits 'it is not free any more' 1 ctl a post --slot 15
one_error 'slot busy' 'rpmactl: post: *15*'
exits 'a slot that is not there' 1 ctl a post --slot 16
exits 'more than are free' 0 ctl a post -n 100
is 'takes what there is' "$(cat "$dir/out")" '10 slots posted; now 16 posted, 0 free'
exits 'full' 8 ctl a post
one_error 'full' 'rpmactl: post: *'
is 'all posted' "$(counter a slots.posted)" 16

"$fake_send" "127.0.0.1:$port" --count 3 --text 'hello' --imm 7
result 'three messages are sent'
wait_for sh -c "'$rpmactl' -s '$dir/a.sock' status | grep 'ready 3'"
result 'three are ready'

exits 'poll one' 0 ctl a poll -n 1
like 'as text' "$(cat "$dir/out")" '*1 *127.0.0.1:* 5 *7 *hello'
exits 'poll one as JSON' 0 ctl a poll -n 1 --json
like 'with its fields' "$(cat "$dir/out")" \
  '{"completions":\[{"token":"*","seq":2,"status":"SUCCESS","opcode":"RECV*","conn":1,*"data":"aGVsbG8="*}],"more":true*}'
is 'on one line' "$(wc -l <"$dir/out")" 1
exits 'poll one raw' 0 ctl a poll --raw
is 'nothing but the bytes' "$(od -An -c "$dir/out" | tr -d ' \n')" hello
exits 'no more' 12 ctl a poll
is 'acknowledged' "$(counter a recv.acked_total)" 3
is 'free again' "$(counter a slots.free)" 3

"$fake_send" "127.0.0.1:$port" --count 2 --text abc
exits 'two with length prefixes' 0 ctl a poll --raw --length-prefix -w 5 -n 1
"$rpmactl" -s "$dir/a.sock" poll --raw --length-prefix -w 5 >>"$dir/out"
is 'as they should be' "$(od -An -tx1 "$dir/out" | tr -d ' \n')" \
  0000000361626300000003616263

"$fake_send" "127.0.0.1:$port" --count 1 --size 9
exits 'without data' 0 ctl a poll -w 5 --encoding none --json
like 'null' "$(cat "$dir/out")" '*"len":9,*"encoding":"none","data":null*'

ctl a post -n 16 >"$dir/out"
"$fake_send" "127.0.0.1:$port" --count 12 --size 1000 --random-max 1000
exits 'a whole pool at once' 0 ctl a poll -w 5 -n 1024 --json
n=$(tr '{' '\n' <"$dir/out" | grep -c '"token"')
while [ "$n" -lt 12 ] && ctl a poll -w 5 -n 1024 --json >"$dir/out"; do
  n=$((n + $(tr '{' '\n' <"$dir/out" | grep -c '"token"')))
done
is 'has twelve messages' "$n" 12

wait_for sh -c "! '$rpmactl' -s '$dir/a.sock' conns | grep -q ."
result 'all connections are gone'
ctl a conns --closed | sed 1q >"$dir/conns"
golden cli_conns_titles "$dir/conns"
exits 'one that is closed can be seen' 0 ctl a conn 1
like 'with its reason' "$(cat "$dir/out")" '*state *closed*reason *peer*'
like 'no message was lost' "$(counter a recv.messages_total) $(counter a recv.acked_total)" '18 18'
stop a
is 'the daemon left nothing behind' $? 0
finish
