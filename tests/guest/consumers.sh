# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Consumers that are killed between poll and acknowledgement: each message is delivered at least once, again only where one died
# with it in its hands, and never after it was acknowledged. KILLS of them; 40 messages are sent for each.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

kills=${KILLS:-50}
count=$((kills * 40))
consume=$TOP_BUILDDIR/tests/peers/consume

# On iWARP an empty queue would end the sender's connection: the pool takes all.
slots=$((count + 64))
start_rpmad ".pool = {slots: $slots, slot_size: 1024} | .receive = {target: $slots}"
"$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 4 --count $((count / 4)) --max-len 512 --manifest sent.manifest >sender.out 2>&1 &
sender=$!
background+=("$sender")
killed=0 whole=0
for seed in $(seq "$kills"); do
  # Some 40 messages are 60 steps.
  "$consume" "$RPMAD_SOCKET" log "$seed" 60 2>>consume.err
  case $? in
    137) killed=$((killed + 1)) ;;
    0) whole=$((whole + 1)) ;;
    *) break ;;
  esac
done 2>/dev/null
wait $sender
check_is "all sends completed" 0 $?
check_is "all but the idle consumers were killed" "$kills" $((killed + whole))
if [ "$killed" -ge $((kills / 2)) ]; then pass "most met messages"; else fail "most met messages" "$killed of $kills killed"; fi
check "one that lives takes the rest" "$consume" "$RPMAD_SOCKET" log 0 0
diag "$killed killed; $(stat_of '"\(.recv.messages_total) messages, \(.recv.polled_total) deliveries, \(.recv.redelivered_total) repeated"')"
diag_file consume.err

grep -v '^acked ' log | jq -sc 'unique_by(.seq)[]' >once.json
check "each message was delivered, unharmed" "$VERIFY" once.json sent.manifest
check "none that was acknowledged came again, and each repetition counts one more" awk '
  $1 == "acked" { acked[$2] = 1; next }
  {
    match($0, /"seq":[0-9]+/); seq = substr($0, RSTART + 6, RLENGTH - 6)
    match($0, /"deliveries":[0-9]+/); n = substr($0, RSTART + 13, RLENGTH - 13) + 0
    if (seq in acked) { printf "message %d came after it was acknowledged\n", seq; bad = 1 }
    if (seq in before && n <= before[seq]) { printf "message %d: delivery %d after %d\n", seq, n, before[seq]; bad = 1 }
    before[seq] = n
  }
  END { exit bad }' log
# A consumer holds 8 at most.
check_json "again only where one died" ".recv.redelivered_total <= 8 * $killed and .recv.redelivered_total > 0" "$("$RPMACTL" stats --json)"
check_json "every message was acknowledged once" ".recv.acked_total == $count and .slots.ready == 0 and .slots.leased == 0" "$("$RPMACTL" stats --json)"
check_conserved
check_stop
finish
