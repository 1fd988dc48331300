# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Consumers that are shell loops and one-shot requests: each message is consumed once.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

total=40
start_rpmad .
check "$total messages sent" "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count $total --max-len 512 --manifest loop.manifest
: >loop.json
while result=$("$RPMACTL" poll -n 1 --no-ack --lease 30 -w 1 --json); do
  printf '%s\n' "$result" >>loop.json
  "$RPMACTL" ack "$(jq -r '.completions[0].token' <<<"$result")" || break
done >ack.out 2>&1
check_is "a loop of poll and ack, each a process of its own, ends with nothing left" "$total acknowledged" \
  "$(grep -c acknowledged ack.out) acknowledged"
check "it had each message once" "$VERIFY" loop.json loop.manifest
check_json "none was delivered twice, none is left" \
  ".recv.acked_total == $total and .recv.redelivered_total == 0 and .slots.ready == 0 and .slots.leased == 0" "$("$RPMACTL" stats --json)"
"$RPMACTL" poll -w 0 --json >/dev/null
check_is "poll says with status 12 that nothing arrived" 12 $?

# One-shot clients: the request, the end of input, and only then the reply.
request='{"jsonrpc":"2.0","id":"once","method":"recv.poll","params":{"max":1,"wait_ms":2000,"ack":"auto"}}'
check "20 messages sent" "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 20 --max-len 512 --seed 2 --manifest once.manifest
for _ in 1 2 3 4 5 6 7 8 9 10; do
  printf '%s\n' "$request" | socat -t 10 - "UNIX-CONNECT:$RPMAD_SOCKET"
  # Without an LF, which the half-close makes up for.
  printf '%s' "$request" | nc -N -U "$RPMAD_SOCKET"
done | jq -c .result >once.json
check "socat and nc consumed each once" "$VERIFY" once.json once.manifest
check_json "and the daemon knows" '.recv.auto_acked_total == 20 and .slots.ready == 0 and .slots.leased == 0' "$("$RPMACTL" stats --json)"

# A lease that ends gives the message to the next one, and says so.
check "one message more" "$CM_SEND" --addr "$RDMA_IP" --port $PORT --text again
first=$("$RPMACTL" poll --no-ack --lease 1 -w 5 --json)
check_json "taken for a second" '.completions[0] | .deliveries == 1 and (.data | @base64d) == "again"' "$first"
second=$("$RPMACTL" poll -w 5 --json)
check_json "then delivered again" '.completions[0] | .deliveries == 2 and (.data | @base64d) == "again"' "$second"
check_is "as the same message" "$(jq -r '.completions[0].token' <<<"$first")" "$(jq -r '.completions[0].token' <<<"$second")"
check_conserved
check_stop
finish
