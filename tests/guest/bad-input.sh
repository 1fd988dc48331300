# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Bad input of every kind: an error that names the thing, nothing changed, and the daemon goes on.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

start_rpmad '.pool = {slots: 64} | .receive = {refill: "manual"}'
"$RPMACTL" post --slot 7 >/dev/null
unchanged='{"free":63,"posted":1,"ready":0,"leased":0,"total":64}'

# refused NAME METHOD PARAMS FILTER: the reply is an error for which the filter holds.
refused() {
  local reply
  reply=$(rpc "$2" "$3")
  check_json "$1" "(.error | $4) and (.error.message | length > 10)" "$reply"
}
refused "unknown method" recv.pots '{}' '.code == -32601 and (.message | test("recv.pots"))'
refused "wrong type" recv.post '{"count":"ten"}' '.code == -32602 and .data.path == "params.count"'
refused "a number that is no integer" recv.post '{"count":1.5}' '.code == -32602 and .data.path == "params.count"'
refused "unknown key" recv.post '{"count":1,"colour":"red"}' '.code == -32602 and (.message + (.data.path // "") | test("colour"))'
refused "params that are no object" recv.post '[1]' '.code == -32602'
refused "slot out of range" recv.post '{"slot":64}' '.data.name == "SLOT_RANGE" and (.message | test("64"))'
refused "busy slot" recv.post '{"slot":7}' '.data.name == "SLOT_BUSY" and (.message | test("posted"))'
refused "buffer longer than a slot" recv.post '{"slot":8,"len":4097}' '.code == -32602 and .data.path == "params.len"'
refused "count 0" recv.post '{"count":0}' '.code == -32602 and .data.path == "params.count"'
refused "negative count" recv.post '{"count":-1}' '.code == -32602 and .data.path == "params.count"'
refused "count and slot together" recv.post '{"count":1,"slot":8}' '.code == -32602'
refused "unknown token" recv.ack '{"tokens":["0123456789abcdef.1.1"]}' '.data.name == "NO_SUCH_TOKEN"'
refused "token that is none" recv.ack '{"tokens":["x"]}' '.data.name == "NO_SUCH_TOKEN" or .code == -32602'
refused "unknown connection" conn.close '{"conn":12345}' '.data.name == "NO_SUCH_CONN" and (.message | test("12345"))'
refused "unknown listener" listener.remove '{"listener":99}' '.data.name == "NO_SUCH_LISTENER" and (.message | test("99"))'
refused "address that is none" listener.add '{"addr":"no.such.host","port":1}' '.code == -32602 and .data.path == "params.addr"'
# A network device without RDMA on top, an address of nobody, and those that lead to no device in particular.
ip link add plain0 type dummy
ip addr add 192.168.78.1/24 dev plain0
ip link set plain0 up
for addr in 192.168.78.1 192.168.79.1 127.0.0.1 0.0.0.0 ::1; do
  refused "an address without RDMA ($addr), with those that have it" listener.add "{\"addr\":\"$addr\",\"port\":7500}" \
    '.data.name == "ADDR_NOT_RDMA" and (.message + (.data.hint // "") | test("'"$RDMA_IP"'"))'
done
refused "an address that is in use" listener.add "{\"addr\":\"$RDMA_IP\",\"port\":$PORT}" \
  '.data.name == "ADDR_IN_USE" or .data.name == "ALREADY_EXISTS"'
check_is "nothing changed" "$unchanged" "$("$RPMACTL" stats --json | jq -c .slots)"

# More than is free: partly done is a result, nothing to do is an error with the way out.
check_json "count above what is free" '.result | .accepted == 63 and .free == 0 and .posted == 64' "$(rpc recv.post '{"count":1000}')"
refused "nothing is free" recv.post '{"count":1}' '.data.name == "SRQ_FULL" and .data.retryable and (.data.hint | length > 0)'
"$RPMACTL" post -n 1 >post.out 2>&1
check_is "rpmactl says so with status 8" "8 1" "$? $(wc -l <post.out)"

# A bad line costs nothing but itself.
{
  echo '{"jsonrpc":"2.0","id":1,"method":"rpc.hello"'
  echo 'nonsense'
  echo '"a scalar"'
  echo '{"jsonrpc":"2.0","id":2,"method":"rpc.hello"}'
} | socat -t 10 - "UNIX-CONNECT:$RPMAD_SOCKET" >lines.json
check_is "malformed lines are answered, and the next one works" "-32700 -32700 -32600 rpmad" \
  "$(jq -r '.error.code // .result.name' lines.json | tr '\n' ' ' | sed 's/ $//')"
check_json "a parse error tells where, and has no id" '.[0] | .id == null and (.error.message + (.error.data | tostring) | test("[0-9]"))' \
  "$(jq -sc . lines.json)"
printf '{"jsonrpc":"2.0","id":1,"method":"rpc.hello","params":{"x":"%s"}}\n{"jsonrpc":"2.0","id":2,"method":"rpc.hello"}\n' \
  "$(head -c 1100000 /dev/zero | tr '\0' x)" | socat -t 20 - "UNIX-CONNECT:$RPMAD_SOCKET" >lines.json
check_is "a line that is too long is named so, and the next one works" "TOO_LARGE rpmad" \
  "$(jq -r '.error.data.name // .result.name' lines.json | tr '\n' ' ' | sed 's/ $//')"

# A peer that does not answer: told within the time-out, while others are served.
begin=$(now_ms)
rpc conn.open '{"addr":"192.168.77.99","port":7471,"timeout_ms":8000}' >open.json &
open=$!
background+=("$open")
sleep 0.3
check_json "while a peer is looked for the daemon answers" '.result.name == "rpmad"' "$(rpc rpc.hello)"
if is_gone $open; then fail "at once" "the answer came after that of the other request"; else pass "at once"; fi
wait $open
check_below "an unreachable peer is given up within the time-out" 12000 $(($(now_ms) - begin))
check_json "by name" '.error.data.name | . == "ADDR_UNRESOLVED" or . == "CONN_UNREACHABLE" or . == "TIMEOUT"' "$(cat open.json)"
check_json "with the address, the device, and how long was waited" \
  '.error.message | test("^192[.]168[.]77[.]99:7471 .* device '"$RDMA_DEV"' within [0-9]+ ms")' "$(cat open.json)"
refused "a peer that does not listen" conn.open "{\"addr\":\"$RDMA_IP\",\"port\":7999,\"timeout_ms\":5000}" \
  '.data.name == "CONN_REJECTED" or .data.name == "CONN_UNREACHABLE"'

# A message longer than its slot ends its connection and no other.
"$RPMACTL" poll --follow --json >received.json 2>follow.err &
follow=$!
background+=("$follow")
"$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 30 --max-len 64 --hold 600 --manifest other.manifest >other.out 2>&1 &
other=$!
background+=("$other")
wait_until 10 stats_say '.cm.conns == 1'
check "a message longer than a slot is refused" "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 0 --too-long 5000
# It is closed when it is drained.
wait_until 10 stats_say '.cm.conns == 1'
check_json "its connection is closed for that reason" '[.conns[] | select(.state == "closed" and .reason == "message_too_long")] | length == 1' \
  "$("$RPMACTL" conns --closed --json)"
check_is "the other one is open" 1 "$(stat_of .cm.conns)"
kill -USR1 $other
wait $other
check_is "and ends in order" 0 $?
wait_until 10 has_lines received.json 30
check "its messages are there" "$VERIFY" received.json other.manifest
kill -TERM $follow
wait $follow 2>/dev/null
check_is "the daemon lives" running "$("$RPMACTL" status --json | jq -r .state)"
check_conserved
check_stop

# bad_config PATH FILTER: --check refuses, with status 2 and the path of the key.
bad_config() {
  write_config "$2"
  "$RPMAD" --check rpmad.json >check.out 2>&1
  check_is "--check names $1" "2 1" "$? $(grep -cF -- "$1" check.out)"
}
write_config
check "--check accepts a good configuration" "$RPMAD" --check rpmad.json
bad_config 'listen[1]' '.listen += ["nowhere"]'
bad_config device '.device = 7'
bad_config pool.slots '.pool = {slots: 0}'
bad_config pool.slot_size '.pool = {slot_size: 100}'
bad_config pool.colour '.pool = {colour: "red"}'
bad_config receive.refill '.receive = {refill: "sometimes"}'
bad_config receive.target '.pool = {slots: 8} | .receive = {target: 9}'
bad_config receive.low_watermark '.receive = {target: 10, low_watermark: 11}'
bad_config receive.min_rnr_timer_us '.receive = {min_rnr_timer_us: 1}'
bad_config send.slots '.send = {slots: 0}'
bad_config connections.max '.connections = {max: 0}'
bad_config 'connections.allow[0]' '.connections = {allow: ["10.0.0.0/99"]}'
bad_config control.mode '.control.mode = "999"'
bad_config control.max_request '.control.max_request = 1'
bad_config control.roles '.control.roles = {king: {}}'
bad_config log.level '.log.level = "loud"'
bad_config colour '.colour = "red"'
echo '{"listen": [' >rpmad.json
"$RPMAD" --check rpmad.json >check.out 2>&1
check_is "--check says where a file is no JSON" "2 1" "$? $(grep -cE '[0-9]' check.out)"
finish
