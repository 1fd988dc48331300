#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The results of commands as JSON: which members there are, in which order and of which type, with none, one and two
# objects. Scripts rely on them.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

# Without a limit of locked memory its member is null.
# shellcheck disable=SC3045
[ "$(ulimit -S -l)" != unlimited ] || ulimit -S -l 65536
start a '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 16, "slot_size": 1024}' \
  '"receive": {"refill": "manual"}'
start b '"device": "fake0"' '"pool": {"slots": 16, "slot_size": 1024}'
port=$(ctl a listeners --json | first port)
: >"$dir/shapes"

# shape NAME DAEMON COMMAND...: a line with the result, values replaced by their types.
shape() {
  name=$1
  shift
  ctl "$@" --json >"$dir/reply" 2>&1
  {
    printf '%s ' "$name"
    sed -e 's/"[^"]*":/&\t/g' -e 's/\t"\([^"\\]\|\\.\)*"/\t"text"/g' -e 's/\t-\{0,1\}[0-9][0-9.]*/\t0/g' \
      -e 's/\[\("[^"]*",\{0,1\}\)\1*\]/["text"]/g' -e 's/\t//g' "$dir/reply"
  } >>"$dir/shapes"
  [ "$(wc -l <"$dir/reply")" -eq 1 ]
  result "$name is one line"
}

shape status a status
shape stats a stats
shape srq a srq
shape conns-0 a conns
shape listeners-0 b listeners
shape events-0 a events conn.rejected
shape poll-0 a poll
shape post a post -n 8
shape listeners-1 a listeners
shape listen a listen 127.0.0.1:0
shape listeners-2 a listeners
shape unlisten a unlisten 2
shape connect b connect "127.0.0.1:$port"
shape conns-1 b conns
shape send b send 1 --text hello --imm 3
ctl a wait 'slots.ready==1' >/dev/null
shape poll-1 a poll -n 1
shape send-to b send "127.0.0.1:$port" --text more
ctl b connect "127.0.0.1:$port" >/dev/null
shape conns-2 b conns
shape conns-closed b conns --closed
shape conn b conn 3
shape conn-closed b conn 2
shape disconnect b disconnect 3
ctl a wait 'slots.ready==1' >/dev/null
shape poll-leased a poll -n 1 --no-ack --lease 60
token=$(first token <"$dir/reply")
shape nack a nack "$token"
shape ack a ack "$token" unknown
shape events-2 b events -n 2 conn.established conn.closed
shape wait a wait 'slots.total>0'
shape devices a devices
shape log a log info
shape reload a reload
shape methods a methods
shape metrics a metrics
shape stop a stop
sed 's/^[^ ]* //' "$dir/shapes" | grep -v '^{' >"$dir/bad"
is 'each is an object' "$(cat "$dir/bad")" ''
cp "$dir/shapes" "$dir/normal"
[ -z "$UPDATE" ] || cp "$dir/normal" "$golden/cli_json.out"
diff -u "$golden/cli_json.out" "$dir/normal" >"$dir/diff" 2>&1
result 'they are what they were'
[ "$status" -eq 0 ] || sed 's/^/# /' "$dir/diff"
# shellcheck disable=SC2154
wait "$a_pid"
is 'the daemon left nothing behind' $? 0
stop b
is 'nor did the other' $? 0
finish
