# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Consumers that are killed between poll and acknowledgement: each message is delivered at least once, again only where one died
# with it in its hands, and never after it was acknowledged. KILLS of them die so; 40 messages are sent for each.
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
# Each consumer's own record of what it had polled says what may come again; that it died is said by its status.
died=0 attempts=0
while [ $died -lt "$kills" ] && [ $attempts -lt $((2 * kills)) ]; do
  attempts=$((attempts + 1))
  "$consume" "$RPMAD_SOCKET" record $attempts 40 2>>consume.err
  case $? in
    137) died=$((died + 1)) && echo "died $attempts" >>record ;;
    0) ;; # nothing came for 2 s
    *) break ;;
  esac
done 2>/dev/null
wait $sender
check_is "all sends completed" 0 $?
check_is "so many consumers died between poll and acknowledgement" "$kills" $died
check "one that lives takes the rest" "$consume" "$RPMAD_SOCKET" record 0 0
stats=$("$RPMACTL" stats --json)
diag "$died of $attempts consumers died; $(jq -r '.recv | "\(.messages_total) messages, \(.polled_total) deliveries, \(.redelivered_total) repeated"' <<<"$stats")"
diag_file consume.err

# A repetition that differs is one more here.
sed -n 's/^polled [0-9]* //p' record | jq -sc 'unique_by([.seq, .conn, .len, .data])[]' >once.json
check "each message was delivered, unharmed" "$VERIFY" once.json sent.manifest
awk '
  function bad(what) { print what; faults++ }
  $1 == "died" { died[$2] = 1 }
  $1 == "acked" {
    for (i = 3; i <= NF; i++) { acked[$i] = 1; held[$2]-- }
  }
  $1 == "polled" {
    match($0, /"seq":[0-9]+/); seq = substr($0, RSTART + 6, RLENGTH - 6)
    match($0, /"deliveries":[0-9]+/); n = substr($0, RSTART + 13, RLENGTH - 13) + 0
    if (seq in acked) bad("message " seq " came after it was acknowledged")
    if (n != times[seq] + 1) bad("message " seq " was polled " times[seq] + 0 " times before, this is called delivery " n)
    if (seq in holder && !(holder[seq] in died)) bad("message " seq " came again, though consumer " holder[seq] " did not die with it")
    if (times[seq]++ > 0) again++
    holder[seq] = $2
    held[$2]++
  }
  END {
    for (c in died) if (held[c] + 0 == 0) bad("consumer " c " died with nothing in its hands")
    for (c in held) if (held[c] > 0 && !(c in died)) bad("consumer " c " lives, and " held[c] " of its messages were not acknowledged")
    print again + 0 >"again"
    exit faults > 0
  }' record >faults
check_is "each that came again had been polled by one that died, as often as it says, and none that was acknowledged came again" \
  "0 " "$? $(head -n 20 faults)"
check_json "the daemon counts as many repetitions" ".recv.redelivered_total == $(<again) and .recv.redelivered_total >= $kills" "$stats"
check_json "every message was acknowledged once" ".recv.acked_total == $count and .slots.ready == 0 and .slots.leased == 0" "$stats"
check_conserved
check_stop
finish
