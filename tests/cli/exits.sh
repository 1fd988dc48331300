#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No daemon, a deaf one, a forbidden one; output that cannot be written; general calls.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

exits 'no socket' 3 ctl none status
one_error 'no socket' "rpmactl: status: there is no socket $dir/none.sock: *(start it*)"

start a '"listen": ["127.0.0.1:0"]'
cp "$rpmactl" "$dir/rpmactl"
if [ "$(id -u)" -ne 0 ]; then
  chmod 000 "$dir/a.sock"
  exits 'a forbidden socket' 5 ctl a status
  one_error 'a forbidden socket' 'rpmactl: status: no permission*'
  chmod 600 "$dir/a.sock"
elif setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
  chmod 711 "$dir"
  exits 'a forbidden socket' 5 \
    setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/rpmactl" -s "$dir/a.sock" status
  one_error 'a forbidden socket' 'rpmactl: status: no permission*'
  chmod 666 "$dir/a.sock"
  exits 'a user without a role' 5 \
    setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/rpmactl" -s "$dir/a.sock" stop
  chmod 600 "$dir/a.sock"
else
  skip 'a forbidden socket' 'root may everything'
fi

kill -STOP "$a_pid"
begin=$(date +%s)
exits 'a daemon that does not answer' 4 ctl a -t 0.5 status
# Starting a process takes its time on a busy machine.
[ $(($(date +%s) - begin)) -lt 5 ]
result 'it is told in time'
one_error 'no answer' 'rpmactl: status: no answer from the daemon within 500 ms*'
kill -CONT "$a_pid"
exits 'it answers again' 0 ctl a status

ctl a status >&- 2>"$dir/err"
is 'closed output' $? 1
: >"$dir/out"
one_error 'closed output' 'rpmactl: status: cannot write to standard output: *'
if [ -c /dev/full ]; then
  ctl a status >/dev/full 2>"$dir/err"
  is 'full output' $? 1
fi
ctl a status <&- >"$dir/out" 2>&1
is 'closed input' $? 0
ctl a status 2>&- >"$dir/out"
is 'closed errors' $? 0

exits 'the environment names the socket' 0 env RPMAD_SOCKET="$dir/a.sock" "$rpmactl" status
exits 'methods' 0 ctl a methods
is 'each has a role' "$(grep -Ec '^[a-z]+\.[a-z]+  *(read|post|admin)  *[a-z]' "$dir/out")" \
  "$(($(wc -l <"$dir/out") - 1))"
exits 'call' 0 ctl a call daemon.status
like 'as JSON' "$(cat "$dir/out")" '{"state":"running",*}'
exits 'call with parameters' 0 ctl a call recv.poll '{"max": 2}'
exits 'a parameter that is not there' 1 ctl a call recv.poll '{"maximum": 2}'
one_error 'unknown parameter' 'rpmactl: call: params.maximum: *'
exits 'no such method' 11 ctl a call no.such
one_error 'no such method' 'rpmactl: call: *no.such*'
exits 'a dry run asks nobody' 0 ctl none --dry-run stop
is 'the request' "$(cat "$dir/out")" \
  '{"jsonrpc":"2.0","id":1,"method":"daemon.stop","params":{}}'

"$rpmactl" completion bash >"$dir/out"
cmp -s "$dir/out" "$top_srcdir/ctl/rpmactl.bash"
result 'the completion is the installed one'

kill -KILL "$a_pid"
wait "$a_pid" 2>/dev/null
exits 'a stale socket' 3 ctl a status
one_error 'a stale socket' "rpmactl: status: nobody listens at $dir/a.sock: *"

(
  sleep 0.5
  exec "$rpmad_fake" -c "$dir/a.json" >"$dir/a.log" 2>&1
) &
pids="$pids $!"
a_pid=$!
exits 'waits for the daemon' 0 ctl a --wait-daemon 20 status
exits 'stop' 0 ctl a stop
is 'told' "$(cat "$dir/out")" 'the daemon is stopping'
wait "$a_pid"
is 'the daemon left nothing behind' $? 0
finish
