#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A new configuration and another log level for a daemon that runs.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

start a '"listen": ["127.0.0.1:0"]'

# config MEMBER...: the daemon's file anew.
config() {
  members="\"listen\": [\"127.0.0.1:0\"], \"control\": {\"socket\": \"$dir/a.sock\"}"
  for member; do
    members="$members, $member"
  done
  echo "{$members}" >"$dir/a.json"
}

exits 'reload' 0 ctl a reload
is 'the same file' "$(cat "$dir/out")" 'nothing has changed'
exits 'log' 0 ctl a log debug
is 'a louder log' "$(cat "$dir/out")" 'level debug, was notice'
exits 'no level' 2 ctl a log
exits 'no such level' 2 ctl a log loud
config '"connections": {"allow": ["192.0.2.0/24"]}, "pool": {"slots": 2048}'
exits 'another file' 0 ctl a reload
is 'what has changed, and what waits' "$(cat "$dir/out")" 'changed: connections.allow, log.level
needs a restart: pool.slots, receive.target, receive.low_watermark'
"$fake_send" "$(ctl a listeners --json | first addr):$(ctl a listeners --json | first port)" >"$dir/out" 2>&1
is 'a peer that is not allowed any more' $? 1
is 'is refused' "$(ctl a events -n 1024 conn.rejected | grep -c not_allowed)" 1

config '"pool": {"slots": 0}'
exits 'a broken file' 1 ctl a reload
one_error 'a broken file' "rpmactl: reload: *$dir/a.json: pool.slots: 0 is below 1 slots *"
rm "$dir/a.json"
exits 'no file' 1 ctl a reload
one_error 'no file' "rpmactl: reload: $dir/a.json: No such file or directory *"

config
kill -HUP "$a_pid"
wait_for grep -q 'reload: changed=connections.allow needs_restart=none' "$dir/a.log"
result 'SIGHUP reloads too'
echo '{' >"$dir/a.json"
kill -HUP "$a_pid"
wait_for grep -q "^error reload: $dir/a.json: line" "$dir/a.log"
result 'and tells the log what is wrong'
exits 'it serves on' 0 ctl a status
stop a
is 'the daemon left nothing behind' $? 0
finish
