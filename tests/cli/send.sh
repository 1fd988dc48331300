#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two daemons: connections and messages both ways.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

start a '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 32, "slot_size": 1024}'
start b '"device": "fake0"' '"pool": {"slots": 32, "slot_size": 4096}'
port=$(ctl a listeners --json | first port)

exits 'one message to an address' 0 ctl b send "127.0.0.1:$port" --text hello --imm 9
is 'told' "$(cat "$dir/out")" "sent 5 bytes to 127.0.0.1:$port"
exits 'it arrives' 0 ctl a poll -w 5 --json
like 'whole' "$(cat "$dir/out")" '*"len":5,"imm":9,*"data":"aGVsbG8="*'
wait_for sh -c "! '$rpmactl' -s '$dir/b.sock' conns | grep -q ."
result 'the connection is closed again'

exits 'by name, as JSON' 0 ctl b send "localhost:$port" --text hi --json
like 'counts' "$(cat "$dir/out")" '{"conn":2,"messages":1,"bytes":2}'
ctl a poll -w 5 >"$dir/out"

exits 'connect' 0 ctl b connect "127.0.0.1:$port"
like 'told' "$(cat "$dir/out")" "connection 3 to 127.0.0.1:$port is open"
exits 'connections' 0 ctl b conns
golden cli_conns "$dir/out"
exits 'one connection' 0 ctl b conn 3
like 'with the slot size that was announced' "$(cat "$dir/out")" '*slot size *1024*'

head -c 3000 /dev/zero | tr '\0' x >"$dir/file"
exits 'a file in pieces' 0 ctl b send 3 "$dir/file" --chunk 1000
is 'told' "$(cat "$dir/out")" 'sent 3000 bytes in 3 messages to connection 3'
exits 'standard input' 0 sh -c "printf abc | '$rpmactl' -s '$dir/b.sock' send 3 -"
exits 'an empty message' 0 ctl b send 3 --text ''
exits 'take all of them' 0 ctl a poll --follow --raw --length-prefix -n 5
is 'every byte' "$(wc -c <"$dir/out")" $((3000 + 3 + 5 * 4))

exits 'over the slot size of the peer' 1 ctl b send 3 "$dir/file"
one_error 'over the slot size' 'rpmactl: send: *1024*'
head -c 1048576 /dev/zero >"$dir/large"
exits 'over what a request takes' 1 ctl b send 3 "$dir/large"
one_error 'over a request' 'rpmactl: send: *1048576*(--chunk BYTES *)'
exits 'a file that is not there' 2 ctl b send 3 "$dir/nothing"
one_error 'no file' "rpmactl: send: cannot open $dir/nothing: *"

# And back over the same connection.
conn=$(ctl a conns --json | tr '{' '\n' | sed -n 's/^"conn":\([0-9]*\),"state":"established".*/\1/p')
exits 'the accepting side sends' 0 ctl a send "$conn" --text back
exits 'it arrives at the other' 0 ctl b poll -w 5
like 'whole' "$(cat "$dir/out")" '* back'

exits 'disconnect' 0 ctl b disconnect 3
is 'told' "$(cat "$dir/out")" 'connection 3 is closed'
exits 'no such connection' 6 ctl b disconnect 3
one_error 'no such connection' 'rpmactl: disconnect: *3*'
exits 'not to send to either' 6 ctl b send 3 --text x
exits 'nor to see one that never was' 6 ctl b conn 77
exits 'closed ones are shown' 0 ctl b conns --closed
like 'with their reason' "$(cat "$dir/out")" '* closed * out * local*'

exits 'a peer that does not listen' 1 ctl b connect 127.0.0.1:1
one_error 'a peer that does not listen' 'rpmactl: connect: *127.0.0.1:1*'
exits 'it is shown too' 0 ctl b conns --closed --json
like 'without an address of ours' "$(cat "$dir/out")" '*"peer":"127.0.0.1:1","local":null,*'
exits 'as a table' 0 ctl b conns --closed
like 'with a dash for it' "$(cat "$dir/out")" '* 127.0.0.1:1 * - *'
exits 'a name without an address' 1 ctl b connect no-such-name.invalid:1
one_error 'a name without an address' 'rpmactl: connect: *no-such-name.invalid*'

for name in a b; do
  stop $name
  is "daemon $name left nothing behind" $? 0
done
finish
