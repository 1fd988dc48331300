# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A sender that meets an empty queue waits, loses nothing, and goes on as soon as there is a slot.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

if [ "$RDMA_DEV" != rxe0 ]; then
  # There an empty queue ends the connection, and has to be called by its name.
  start_rpmad '.pool = {slots: 8} | .receive = {target: 8}'
  "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 200 --max-len 64 --manifest sent.manifest --posted sent.posted >sender.out 2>&1
  wait_until 10 stats_say '.cm.conns == 0'
  check_json "an empty queue is the reason why the connection ended" \
    '[.conns[] | .reason] == ["srq_empty"]' "$("$RPMACTL" conns --closed --json)"
  check "it is counted by that name" stats_say '[.cm.closes[] | select(.reason == "srq_empty") | .count] == [1]'
  check_json "and status says what it costs, and what to do" \
    '[.warnings[] | select(test("^1 connection ended because the SRQ was empty.*raise pool.slots"))] | length == 1' "$("$RPMACTL" status --json)"
  "$RPMACTL" poll -n 20 --json >received.json
  came=$(jq '.completions | length' received.json)
  diag "$(wc -l <sent.manifest) sends completed, $came messages came"
  check_is "what there was room for came" 8 "$came"
  check "the first ones, in order, unharmed" "$VERIFY" --missing --posted sent.posted received.json sent.manifest
  check_json "the connection that lost the others says how many came" ".conns[0].messages == $came" "$("$RPMACTL" conns --closed --json)"
  check_conserved
  check_stop
  finish
fi

tried=/sys/class/infiniband/$RDMA_DEV/ports/1/hw_counters/send_rnr_err

# Microseconds from the moment the queue was filled to the arrival of the last message, by the daemon's own clock.
since_refill='def us: (.[0:19] + "Z" | fromdate) * 1000000 + (.[20:26] | tonumber);
  ([.events[] | select(.type == "srq.refilled")] | last | .at | us) as $from | ([.completions[].received_at | us] | max) - $from'

# stalls ROUNDS MICROSECONDS: senders meet an empty queue and wait 1 s, with that timer. Leaves the median of the times from refill to
# last message in $middle, for a host that is busy elsewhere meanwhile adds its own to one of them; the tries of the last second of
# the last round in $tries, and what status said in $warnings.
stalls() {
  local round sender before now status
  start_rpmad ".receive = {refill: \"manual\", min_rnr_timer_us: $2}"
  : >took
  for round in $(seq "$1"); do
    # It asks for no retry. The acceptance says how often it tries, and that is without end.
    "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 20 --max-len 64 --seed "$round" --rnr-retries 0 --manifest sent.manifest >sender.out 2>&1 &
    sender=$!
    background+=("$sender")
    wait_until 10 stats_say '.cm.conns == 1'
    sleep 0.5
    before=$(<"$tried")
    sleep 1
    warnings=$("$RPMACTL" status --json)
    tries=$(($(<"$tried") - before))
    # Right behind a try, so that what the next one is waited for is the timer, not chance.
    before=$(<"$tried")
    while read -r now <"$tried" && [ "$now" = "$before" ]; do :; done
    "$RPMACTL" post -n 20 >/dev/null
    wait $sender
    status=$?
    check_is "timer of $2 us, round $round: all sends completed" 0 "$status"
    wait_until 20 stats_say '.slots.ready == 20'
    "$RPMACTL" poll -n 20 --json >received.json
    check "timer of $2 us, round $round: each message came once, in order, unharmed" "$VERIFY" received.json sent.manifest
    check "timer of $2 us, round $round: and no more" stats_say ".recv.messages_total == 20 * $round and .slots.ready == 0"
    "$RPMACTL" events --json -n 1024 | jq -s '.[0] * .[1] | '"$since_refill" - received.json >>took
    diag "timer of $2 us, round $round: $tries tries in a second, the last message $(tail -n 1 took) us after the refill"
    wait_until 10 stats_say '.cm.conns == 0'
  done
  middle=$(sort -n took | sed -n "$((($1 + 1) / 2))p")
}

stalls 3 640
short=$middle
# Steps of 655 ms, the kernel's default, would be two tries.
if [ "$tries" -gt 20 ]; then pass "the sender tries again in short steps"; else fail "the sender tries again in short steps" "$tries tries in 1 s"; fi
check_json "the daemon tells how long it was empty" '.srq.times_empty_total >= 3 and .srq.empty_ns_total > 3000000000' "$("$RPMACTL" stats --json)"
check_json "status said in words that senders wait" '.warnings | any(test("senders wait"))' "$warnings"
check_json "each stall is an event, with its length" '[.events[] | select(.type == "srq.refilled") | .duration_ns] | length >= 3 and min > 1000000000' \
  "$("$RPMACTL" events --json -n 1024)"
check_conserved
check_stop
stalls 3 655360
check "from refill to the last message: at most a tenth of the time with the kernel's default" test $((short * 10)) -le "$middle"
check_stop
finish
