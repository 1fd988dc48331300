# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A label given with a slot comes back with the completion that used the slot. Which slot a message takes is the device's
# choice, so nothing here expects an order.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

start_rpmad '.pool = {slots: 64, slot_size: 4096} | .receive = {refill: "manual"}'
slots="3 60 17 0 63 41 5 22"
for slot in $slots; do
  "$RPMACTL" post --slot "$slot" --len $((512 + slot)) --context "label of slot $slot é" || echo "status $?"
done >post.out 2>&1
check_is "eight slots posted with labels" 8 "$(grep -c '^1 slot posted' post.out)"
check_json "just those are posted" '.slots.posted == 8 and .slots.free == 56' "$("$RPMACTL" stats --json)"
check "eight messages sent" "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 8 --max-len 512 --manifest manifest
"$RPMACTL" poll -n 8 -w 10 --json >received.json
while [ "$(jq -s '[.[].completions[]] | length' received.json)" -lt 8 ]; do
  "$RPMACTL" poll -n 8 -w 5 --json >>received.json || break
done
check "they arrived whole" "$VERIFY" received.json manifest
check_is "each with the label of its slot, each slot once" \
  "$(for slot in $slots; do echo "$slot label of slot $slot é"; done | sort)" \
  "$(jq -r '.completions[] | "\(.slot) \(.context)"' received.json | sort)"

# A message longer than the buffer that it meets ends its connection, however long the slot is.
check "a short buffer is posted" "$RPMACTL" post --slot 9 --len 64 --context short
check "a message longer than it is refused" "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 0 --too-long 100
wait_until 20 stats_say '.slots.free == 64'
check_json "and leaves nothing behind" '.slots == {free: 64, posted: 0, ready: 0, leased: 0, total: 64}' "$("$RPMACTL" stats --json)"

check "a slot is posted again without a label" "$RPMACTL" post --slot 3
check "one message more" "$CM_SEND" --addr "$RDMA_IP" --port $PORT --text plain
check_json "it has no old label" '.completions | length == 1 and .[0].context == null and .[0].slot == 3 and .[0].len == 5' \
  "$("$RPMACTL" poll -w 10 --json)"
check_conserved
check_stop
finish
