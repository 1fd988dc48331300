#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# At least once: leases, tokens, and output that fails.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

start a '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 16, "slot_size": 1024}'
port=$(ctl a listeners --json | first port)
"$fake_send" "127.0.0.1:$port" --count 3 --text hello

exits '--no-ack without a lease' 2 ctl a poll --no-ack
one_error 'why' 'rpmactl: poll: --no-ack needs --lease S: *'

exits 'leased by time' 0 ctl a poll -w 5 -n 1 --no-ack --lease 60
token=$(sed 's/ .*//' "$dir/out")
like 'the token is shown' "$token" '????????????????.*.*'
is 'leased' "$(counter a slots.leased)" 1
exits 'another process acknowledges' 0 ctl a ack "$token"
is 'counted' "$(cat "$dir/out")" '1 message acknowledged'
is 'none is leased' "$(counter a slots.leased)" 0
exits 'and again' 0 ctl a ack "$token"

exits 'leased once more' 0 ctl a poll -w 5 -n 1 --no-ack --lease 60 --json
token=$(first token <"$dir/out")
exits 'given back' 0 ctl a nack "$token"
is 'counted' "$(cat "$dir/out")" '1 message given back'
exits 'delivered again' 0 ctl a poll -n 1 --no-ack --lease 60 --json
is 'the same message' "$(first token <"$dir/out")" "$token"
is 'for the second time' "$(first deliveries <"$dir/out")" 2
exits 'some tokens are unknown' 0 ctl a ack "$token" 0000000000000000.1.1
like 'and named' "$(cat "$dir/out")" '1 message acknowledged?unknown token: 0000000000000000.1.1'
exits 'none is known' 6 ctl a ack 0000000000000000.1.1 nonsense
one_error 'not found' 'rpmactl: ack: *'
exits 'none to give back' 6 ctl a nack 0000000000000000.1.1

exits 'leased for a moment' 0 ctl a poll -w 5 -n 1 --no-ack --lease 200ms --json
token=$(first token <"$dir/out")
exits 'it comes back by itself' 0 ctl a poll -w 5 -n 1 --no-ack --lease 60 --json
is 'the same' "$(first token <"$dir/out")" "$token"
ctl a nack "$token" >"$dir/out"

# What was not written stays in the daemon.
if [ -c /dev/full ]; then
  ctl a poll -w 5 >/dev/full 2>"$dir/err"
  is 'full output' $? 1
  : >"$dir/out"
  one_error 'full output' 'rpmactl: poll: cannot write to standard output: *'
fi
ctl a poll -w 5 >&- 2>"$dir/err"
is 'closed output' $? 1
one_error 'closed output' 'rpmactl: poll: cannot write to standard output: *'
# A pipe whose only reader is gone before anything is written.
mkfifo "$dir/pipe"
exec 9<>"$dir/pipe" 8>"$dir/pipe" 9>&-
ctl a poll -w 5 >&8 2>"$dir/err"
is 'output without a reader' $? 1
exec 8>&-
one_error 'output without a reader' 'rpmactl: poll: cannot write to standard output: *'
exits 'it is still there' 0 ctl a poll -w 5 --json
is 'the same message after all' "$(first token <"$dir/out")" "$token"
exits 'and was the last' 12 ctl a poll
stop a
is 'the daemon left nothing behind' $? 0
finish
