# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A sender that meets an empty queue waits, loses nothing, and goes on as soon as there is a slot.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

if [ "$RDMA_DEV" != rxe0 ]; then
  # There an empty queue ends the connection, and has to be called by its name.
  start_rpmad '.pool = {slots: 8} | .receive = {target: 8}'
  "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 200 --max-len 64 >sender.out 2>&1
  wait_until 10 stats_say '.cm.conns == 0'
  check_json "an empty queue is the reason why the connection ended" \
    '[.conns[] | .reason] == ["srq_empty"]' "$("$RPMACTL" conns --closed --json)"
  check_conserved
  check_stop
  finish
fi

counter() { cat "/sys/class/infiniband/$RDMA_DEV/ports/1/hw_counters/$1"; }

start_rpmad '.receive = {refill: "manual"}'
worst=0
for round in 1 2 3; do
  "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 20 --max-len 64 --seed "$round" >sender.out 2>&1 &
  sender=$!
  background+=("$sender")
  wait_until 10 stats_say '.cm.conns == 1'
  sleep 0.5
  before=$(counter send_rnr_err)
  sleep 2
  warnings=$("$RPMACTL" status --json)
  tries=$(($(counter send_rnr_err) - before))
  begin=$(now_ms)
  "$RPMACTL" post -n 20 >/dev/null
  wait $sender
  status=$?
  took=$(($(now_ms) - begin))
  diag "round $round: $tries tries in 2 s, done $took ms after the post"
  [ "$took" -le "$worst" ] || worst=$took
  check_is "round $round: all sends completed" 0 "$status"
  # Steps of 655 ms, the kernel's default, would be three tries.
  if [ "$tries" -gt 20 ]; then pass "round $round: the sender tries again in short steps"; else fail "round $round: the sender tries again in short steps" "$tries tries in 2 s"; fi
done
check_below "from the post to the last message" 1000 "$worst"
check_json "the daemon tells how long it was empty" '.srq.times_empty_total >= 3 and .srq.empty_ns_total > 6000000000' "$("$RPMACTL" stats --json)"
check_json "status said in words that senders wait" '.warnings | any(test("senders wait"))' "$warnings"
check_is "nothing is lost" 60 "$("$RPMACTL" poll -n 100 --json | jq '.completions | length')"
check_conserved
check_stop
finish
