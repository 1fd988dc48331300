#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A whole pool of full slots in one command, and a message as long as they can be: every byte.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

# requests: how many the daemon has served, this one included.
requests() { ctl "$1" stats | sed -n 's/^control\.requests_total  *//p'; }

start a '"listen": ["127.0.0.1:0"]' '"receive": {"target": 1024}'
port=$(ctl a listeners --json | first port)
mkdir "$dir/sent"
"$fake_send" "127.0.0.1:$port" --count 1024 --size 4096 --dump "$dir/sent"
result '1024 messages of 4096 bytes'
exits 'fill the pool' 0 ctl a wait 'slots.ready>=1024' -t 30
before=$(requests a)
exits 'all in one command' 0 ctl a poll -n 1024 --raw --length-prefix
after=$(requests a)
# Prefix and payload, in the order in which they were sent.
i=0
while [ $i -lt 1024 ]; do
  printf '\000\000\020\000'
  cat "$dir/sent/0-$i"
  i=$((i + 1))
done | cmp - "$dir/out" >"$dir/differ" 2>&1
result 'every byte'
# 4 MiB of payload, 1 MiB at the most in a reply; each is asked for and acknowledged.
[ $((after - before)) -ge 9 ]
result "several replies ($((after - before)) requests)"
is 'all are acknowledged' "$(counter a recv.acked_total)" 1024
stop a
is 'the daemon left nothing behind' $? 0

start b '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 4, "slot_size": 2097152}'
port=$(ctl b listeners --json | first port)
rm -r "$dir/sent"
mkdir "$dir/sent"
"$fake_send" "127.0.0.1:$port" --count 3 --size 2097152 --dump "$dir/sent"
result 'three messages of 2 MiB'
exits 'one of them' 0 ctl b poll --raw -w 20
cmp "$dir/out" "$dir/sent/0-0" >"$dir/differ" 2>&1
result 'every byte of it'
exits 'as JSON' 0 ctl b poll -n 1 --json
like 'whole' "$(cut -c 1-400 "$dir/out")" '{"completions":\[{*"len":2097152,*"encoding":"base64","data":"*'
is 'and nothing is left out' "$(sed 's/.*"data":"\([^"]*\)".*/\1/' "$dir/out" | base64 -d | cmp - "$dir/sent/0-1" 2>&1)" ''
exits 'for a command' 0 ctl b poll --exec -- cmp - "$dir/sent/0-2"
stop b
is 'the daemon left nothing behind' $? 0
finish
