#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What differs on a terminal: titles, colours, progress; and that nothing of it is elsewhere.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

script -qec true /dev/null >/dev/null 2>&1 </dev/null || skip_all 'no script(1) that makes a terminal'
start a '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 64, "slot_size": 1024}'
start b '"device": "fake0"' '"pool": {"slots": 16, "slot_size": 1024}'
port=$(ctl a listeners --json | first port)
unset NO_COLOR
TERM=xterm
export TERM
esc=$(printf '\033')

# on_terminal COMMAND: a line for a shell, whose output and errors go to a terminal; in $dir/out.
on_terminal() {
  script -qec "$1" /dev/null </dev/null 2>/dev/null | tr -d '\r' >"$dir/out"
}
coloured() { grep -q "$esc\[[0-9]*m" "$dir/out"; }

listeners="'$rpmactl' -s '$dir/a.sock' listeners"
on_terminal "$listeners"
coloured
result 'titles are set off'
like 'whole' "$(sed 1q "$dir/out")" "$esc\[1m*LISTENER*"
sed -e 1d -e "2s/^$esc\[0m//" "$dir/out" >"$dir/rest"
like 'the rest is there' "$(cat "$dir/rest")" '*127.0.0.1*'
! grep -q "$esc" "$dir/rest"
result 'and is plain'
for how in 'NO_COLOR=1' 'TERM=dumb'; do
  on_terminal "$how $listeners"
  ! coloured && grep -q LISTENER "$dir/out"
  result "no colours with $how"
done
on_terminal "NO_COLOR= $listeners"
coloured
result 'an empty NO_COLOR forbids nothing'
on_terminal "$listeners --json"
! coloured && grep -q '^{"listeners":' "$dir/out"
result 'JSON is plain'
on_terminal "$listeners | cat"
! coloured && grep -q '127' "$dir/out"
result 'a pipe is plain'

head -c 65536 /dev/zero >"$dir/large"
send="'$rpmactl' -s '$dir/b.sock' send 127.0.0.1:$port --chunk 1024"
on_terminal "'$rpmactl' -s '$dir/a.sock' poll --follow -n 64 --encoding none >/dev/null & $send '$dir/large'; wait"
grep -q '1024 of 65536 bytes (1 %) in 1 message' "$dir/out"
result 'progress of a file'
like 'which the result replaces' "$(tr '\r' '\n' <"$dir/out" | sed -n '$p')" "*sent 65536 bytes in 64 messages to *"
on_terminal "'$rpmactl' -s '$dir/a.sock' poll --follow -n 64 --encoding none >/dev/null & $send <'$dir/large'; wait"
grep -q '1024 of 65536 bytes (1 %) in 1 message' "$dir/out"
result 'progress of a file on standard input'
on_terminal "'$rpmactl' -s '$dir/a.sock' poll --follow -n 64 --encoding none >/dev/null & cat '$dir/large' | $send; wait"
grep -q '1024 bytes in 1 message' "$dir/out"
result 'progress of a pipe, whose end is not known'
ctl a poll --follow -n 64 --encoding none >"$dir/out" &
poller=$!
exits 'elsewhere' 0 sh -c "$send '$dir/large'"
is 'there is none' "$(cat "$dir/err")" ''
wait $poller
for name in a b; do
  stop $name
  is "daemon $name left nothing behind" $? 0
done
finish
