#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# top: one picture for scripts, and the live one in a terminal of tmux: keys, sizes, signals, and what it leaves behind.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

start a '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 64, "slot_size": 1024}'
port=$(ctl a listeners --json | first port)
# Two connections that stay: the first has 3 messages of 100 bytes, the second 5.
for n in 3 5; do
  "$fake_send" "127.0.0.1:$port" --count $n --size 100 --hold 3000 >/dev/null 2>&1 &
  pids="$pids $!"
  wait_for ctl a wait "recv.messages_total>=$n" -t 1
done
wait_for ctl a wait 'recv.messages_total==8' -t 1
ctl a poll -n 2 >/dev/null
wait_for ctl a wait 'slots.posted==32' -t 1

# ---- one picture ----

exits 'once' 0 ctl a top --once -d 200ms
cp "$dir/out" "$dir/once"
like 'the daemon' "$(sed -n 1p "$dir/once")" 'rpmad * running  on fake0  up *  refill auto  every 200 ms'
is 'no rate' "$(awk '$1 == "messages/s" { print $2 }' "$dir/once")" 0
is 'slots' "$(grep '^slots' "$dir/once")" 'slots       # ready 6  = leased 0  - posted 32  . free 26  of 64'
# Of 80 cells 7.5 for 6 of 64 slots, 40 for 32, 32.5 for 26: the first gets the odd one.
is 'as a bar' "$(grep '^#' "$dir/once")" "########$(printf '%40s' '' | tr ' ' -)$(printf '%32s' '' | tr ' ' .)"
is 'connections' "$(awk 'on { print $1, $2, $4, $5 } $1 == "CONN" { on = 1 }' "$dir/once")" '1 0 3 1
2 0 5 5'
! LC_ALL=C grep -q '[^ -~]' "$dir/once"
result 'nothing but ASCII'
is '80 columns' "$(awk 'length > 80' "$dir/once")" ''
COLUMNS=40 ctl a top --once -d 200ms --sort messages >"$dir/out"
is 'or $COLUMNS' "$(awk 'length > w { w = length } END { print w }' "$dir/out")" 40
grep -q '^2 connections by messages$' "$dir/out" && [ "$(awk 'on { print $1; exit } $1 == "CONN" { on = 1 }' "$dir/out")" = 2 ]
result 'in another order'
LC_ALL=C.UTF-8 ctl a top --once -d 200ms >"$dir/out"
grep -q '^████████▒▒' "$dir/out"
result 'UTF-8 where the locale has it'
exits 'no terminal' 2 ctl a top
one_error 'no terminal' 'rpmactl: top: standard output is no terminal (--once prints one picture)'
exits 'no JSON' 2 ctl a top --once --json
one_error 'no JSON' 'rpmactl: top: a picture is no JSON (*'
exits 'no daemon' 3 ctl none top --once
one_error 'no daemon' 'rpmactl: top: there is no socket *'

# ---- a terminal ----

if ! command -v tmux >/dev/null; then
  skip 'the live picture' 'no tmux'
  finish
fi
mux() { LC_ALL=C.UTF-8 tmux -u -S "$dir/tmux" -f /dev/null "$@"; }
# The server outlives its terminal; what is in it does not.
trap 'mux kill-server 2>/dev/null; cleanup' EXIT
unset NO_COLOR TMUX
mux new-session -d -x 100 -y 30 "PS1='shell> ' ENV= LC_ALL=C.UTF-8 sh -i" || {
  skip 'the live picture' 'tmux does not start here'
  finish
}
screen() { mux capture-pane -p; }
# shows PATTERN: the screen has it, now or soon
has() { screen | grep -q -e "$1"; }
shows() { wait_for has "$1" || { screen | sed 's/^/# /' && false; }; }
# "ALTERNATE CURSOR", each 0 or 1
flags() { mux display-message -p '#{alternate_on} #{cursor_flag}'; }
flags_are() { [ "$(flags)" = "$1" ]; }
key() { mux send-keys "$@"; }
type() { mux send-keys -l "$1" && mux send-keys Enter; }

# open: top in the shell there; its status and the terminal's modes before and after in files
open() {
  rm -f "$dir/status" "$dir/before" "$dir/after"
  cat >"$dir/open" <<END
trap : INT
stty -a >'$dir/before'
echo \$\$ >'$dir/pid'
'$rpmactl' -s '$dir/a.sock' top -d 200ms
echo \$? >'$dir/status.new'
stty -a >'$dir/after'
mv '$dir/status.new' '$dir/status'
END
  type "sh '$dir/open'"
}
top_pid() { ps -o pid= --ppid "$(cat "$dir/pid")" | tr -d ' '; }
# restored NAME STATUS: it has ended so, and left the terminal as it was
restored() {
  wait_for [ -e "$dir/status" ]
  is "$1: the exit status" "$(cat "$dir/status")" "$2"
  wait_for flags_are '0 1'
  is "$1: the first screen and the cursor are back" "$(flags)" '0 1'
  is "$1: the modes are as before" "$(cat "$dir/after")" "$(cat "$dir/before")"
}

shows '^shell>'
result 'a shell'
open
shows 'on fake0'
result 'top'
is 'a screen of its own, no cursor' "$(flags)" '1 0'
shows '^2 connections by rate'
result 'by rate'
# shellcheck disable=SC2317
keys_are_last() { [ "$(screen | wc -l)" -eq 30 ] && screen | sed -n 30p | grep -q '^q quit'; }
wait_for keys_are_last
result 'keys on the last line'

for step in 's messages' 's held' 'Right age' 'Left held' 'h held' 'a age' 'i id' 's rate' 'Left id' 'm messages' 'r rate'; do
  key "${step% *}"
  shows "^2 connections by ${step#* }\$"
  result "key ${step% *}: by ${step#* }"
done
first_conn() { screen | awk 'on { print $1; exit } $1 == "CONN" { on = 1 }'; }
for order in 'm 2' 'i 1' 'h 2'; do
  key "${order% *}"
  # shellcheck disable=SC2317
  first_is() { [ "$(first_conn)" = "${order#* }" ]; }
  wait_for first_is
  result "key ${order% *}: connection ${order#* } is first"
done
key +
shows 'every 500 ms'
result 'key +: longer'
key -
key -
shows 'every 100 ms'
result 'key -: shorter, down to the least'
key -
key z
key Up
key F5
shows 'every 100 ms'
result 'other keys do nothing'
"$fake_send" "127.0.0.1:$port" --count 20 --size 50 >/dev/null 2>&1
shows 'ready 26'
result 'what has changed shows'
shows '^messages/s .*[▂-█]'
result 'a rate in the line'

for size in '60 20' '20 6' '200 50' '100 30'; do
  width=${size% *}
  height=${size#* }
  mux resize-window -x "$width" -y "$height"
  # The line of keys is at the bottom, as far as it fits; nothing is wider.
  # shellcheck disable=SC2317
  fits() {
    screen >"$dir/screen"
    [ "$(wc -l <"$dir/screen")" -eq "$height" ] && sed -n '$p' "$dir/screen" | grep -q '^q quit' &&
      [ "$(LC_ALL=C.UTF-8 wc -L <"$dir/screen")" -le "$width" ] && sed -n 1p "$dir/screen" | grep -q '^rpmad '
  }
  wait_for fits
  result "a terminal of $width columns and $height lines"
done
key q
restored 'key q' 0

open
shows 'on fake0'
key C-c
restored 'Ctrl-C' 0
for signal in TERM INT HUP QUIT; do
  open
  shows 'on fake0'
  kill -s $signal "$(top_pid)"
  restored "SIG$signal" 0
done

# The shell itself has to see it stop.
type "'$rpmactl' -s '$dir/a.sock' top"
shows 'on fake0'
key C-z
wait_for flags_are '0 1'
result 'Ctrl-Z gives the terminal back'
# The shell has the terminal again, and says so.
shows 'Stopped\|Suspended'
type 'echo modes: $(stty -a | grep -c " icanon .* echo ")'
# What is typed before the answer would be echoed into its line.
shows '^modes: 1'
result 'Ctrl-Z: the shell has its modes'
type fg
shows 'on fake0'
result 'fg brings it back'
is 'on a screen of its own' "$(flags)" '1 0'
key q
wait_for flags_are '0 1'
result 'and q ends it'

# ---- the daemon goes ----

open
shows '^2 connections'
result 'two connections are there'
eval "kill -KILL \$a_pid"
shows '^no answer, asking again: '
result 'the daemon is gone: it says so'
is 'and stays' "$(flags)" '1 0'
# A screen is drawn from top to bottom, and may be looked at meanwhile.
shows '^2 connections'
result 'with the last picture'
start a
# shellcheck disable=SC2317
has_new() { ! has '^no answer' && has '^no connections'; }
wait_for has_new
result 'the next daemon: it goes on'
eval "kill -KILL \$a_pid"
shows '^no answer, asking again: '
key q
restored 'q without a daemon' 0
open
wait_for [ -e "$dir/status" ]
restored 'no daemon from the beginning' 3
shows 'rpmactl: top: .*a.sock'
result 'which it says'
finish
