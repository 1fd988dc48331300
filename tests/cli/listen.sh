#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Listeners: made, listed, removed, and refused.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

start a
ctl a status >"$dir/out"
golden cli_status_waiting "$dir/out"
exits 'no listeners' 0 ctl a listeners
is 'nothing is printed' "$(cat "$dir/out")" ''
exits 'an empty list as JSON' 0 ctl a listeners --json
is 'all the same' "$(cat "$dir/out")" '{"listeners":[]}'
exits 'not ready' 9 ctl a post
one_error 'not ready' 'rpmactl: post: *'

exits 'listen at a port that is chosen' 0 ctl a listen 127.0.0.1:0
like 'told' "$(cat "$dir/out")" 'listener 1 at 127.0.0.1:*'
port=$(sed 's/.*://' "$dir/out")
exits 'there already' 7 ctl a listen "127.0.0.1:$port"
one_error 'there already' "rpmactl: listen: *127.0.0.1:$port*"
exits 'no RDMA address' 1 ctl a listen 192.0.2.1:7471
one_error 'no RDMA address' 'rpmactl: listen: *192.0.2.1*'
for any in 0.0.0.0:7471 '[::]:7471'; do
  exits 'any address' 1 ctl a listen "$any"
  one_error 'any address' "rpmactl: listen: *(*127.0.0.1 (fake0)*"
done
exits 'any address without a port' 2 ctl a listen ::
one_error 'any address without a port' 'rpmactl: listen: *::*'
exits 'a name' 0 ctl a listen localhost:0
exits 'both are listed' 0 ctl a listeners
golden cli_listeners "$dir/out"
exits 'not by this form' 2 ctl a listen 127.0.0.1
exits 'unlisten' 0 ctl a unlisten 1
is 'told' "$(cat "$dir/out")" 'listener 1 is closed'
exits 'only once' 6 ctl a unlisten 1
one_error 'no such listener' 'rpmactl: unlisten: *1*'
exits 'what has happened' 0 ctl a events listener.up listener.down
like 'each in a line' "$(sed -n 1p "$dir/out")" "*listener.up *127.0.0.1:$port *"
like 'the last one' "$(sed -n '$p' "$dir/out")" "*listener.down *127.0.0.1:$port *removed"
exits 'no such type' 1 ctl a events listener
one_error 'no such type' 'rpmactl: events: *listener*'
exits 'nothing more to wait for' 0 ctl a events --since 1 -w 0.1 srq.low --json
like 'an empty list' "$(cat "$dir/out")" '*"events":\[]*'
exits 'a number of an earlier daemon' 1 ctl a events --since 99999999
one_error 'a number of an earlier daemon' \
  'rpmactl: events: params.since: 99999999 is after the newest event, *begin with 0 *'
exits 'one is left' 0 ctl a listeners --json
is 'the other' "$(first listener <"$dir/out")" 2
exits 'running now' 0 ctl a status
like 'running' "$(cat "$dir/out")" 'state *running*'
exits 'devices' 0 ctl a devices --json
like 'a list' "$(cat "$dir/out")" '{"devices":\[*]}'
stop a
is 'the daemon left nothing behind' $? 0
finish
