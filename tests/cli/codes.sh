#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each exit status, by the plainest way to it; the list is that of the help.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

RPMAD_FAKE_CONTROL=$dir/a.control
export RPMAD_FAKE_CONTROL
start a '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 16, "slot_size": 1024}' \
  '"receive": {"refill": "manual"}'
unset RPMAD_FAKE_CONTROL
port=$(ctl a listeners --json | first port)

# status N NAME COMMAND...: it ends with N, and with a line that says why, where something is wrong.
tested=
status() {
  wanted_status=$1
  shift
  exits "$wanted_status: $1" "$wanted_status" "$@"
  tested="$tested $wanted_status"
}
says() { one_error "$wanted_status" "$1"; }

status 0 ctl a status
status 12 ctl a poll -w 0.1
is 'nothing is said of nothing' "$(cat "$dir/out" "$dir/err")" ''
ctl a post --slot 3 >/dev/null
status 1 ctl a post --slot 3
says 'rpmactl: post: params.slot: slot 3 *'
status 2 ctl a post --slot three
says 'rpmactl: post: --slot: "three" is not an integer'
status 3 ctl none status
says "rpmactl: status: there is no socket $dir/none.sock: *"
status 6 ctl a conn 77
says 'rpmactl: conn: *77*'
status 7 ctl a listen "127.0.0.1:$port"
says "rpmactl: listen: *$port*"
ctl a post -n 15 >/dev/null
status 8 ctl a post
says 'rpmactl: post: *'
status 11 ctl a call no.such
says 'rpmactl: call: *no.such*'

# A role that is too small: as the socket lets everybody in, nothing but the role keeps him out.
chmod 711 "$dir"
chmod 666 "$dir/a.sock"
cp "$rpmactl" "$dir/rpmactl"
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
  status 5 setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/rpmactl" -s "$dir/a.sock" stop
  says 'rpmactl: stop: *needs the role *'
else
  chmod 000 "$dir/a.sock"
  status 5 ctl a status
  says 'rpmactl: status: no permission*'
fi
chmod 600 "$dir/a.sock"

# shellcheck disable=SC2154
kill -STOP "$a_pid"
status 4 ctl a -t 0.3 status
says 'rpmactl: status: no answer from the daemon within 300 ms*'
kill -CONT "$a_pid"

# While a connection is made the device goes away; without it there is nothing to post to.
echo hold >"$dir/a.control"
"$rpmactl" -s "$dir/a.sock" connect 127.0.0.1:9 --timeout-ms 60000 >"$dir/connect.out" 2>"$dir/connect.err" &
connecting=$!
pids="$pids $connecting"
wait_for sh -c "'$rpmactl' -s '$dir/a.sock' status | grep 'clients  *2'"
wait_for sh -c "'$rpmactl' -s '$dir/a.sock' conns | grep -q ."
echo 'remove 0' >"$dir/a.control"
wait $connecting
is '10: connect' $? 10
tested="$tested 10"
cp "$dir/connect.err" "$dir/err"
cp "$dir/connect.out" "$dir/out"
one_error 10 'rpmactl: connect: *'
wait_for sh -c "'$rpmactl' -s '$dir/a.sock' status | grep 'waiting for device'"
status 9 ctl a connect 127.0.0.1:9
says 'rpmactl: connect: *'

{
  "$rpmactl" help call
  "$rpmactl" help poll
} | sed -n '/^exit status:/,$s/^ *\([0-9][0-9]*\) .*/\1/p' | sort -un >"$dir/listed"
printf '%s\n' $tested | sort -un >"$dir/tested"
is 'these are all that there are' "$(cat "$dir/tested")" "$(cat "$dir/listed")"
stop a
is 'the daemon left nothing behind' $? 0
finish
