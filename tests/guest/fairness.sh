# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# One sender whose messages nobody is through with fills the pool until it is closed for it; four others, whose messages are taken and
# answered, do not notice. What they care for is the round trip, from their send to the consumer's answer: all that the fifth could
# slow down is in it, and a device that completes a send before it has arrived (soft-iWARP) flatters nobody. It is compared with that
# of times in which the fifth floods as fast and is read too. Both alternate under the same four connections, so that what else the
# host does meets both, and the median over all pairs of times counts; where that is over a limit, up to three times as many are
# taken before it is believed. The flood is as fast as the consumer of an emulated host can read beside the four: faster, both kinds
# would measure nothing but how much was piled up before it.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

PING=$TOP_BUILDDIR/tests/peers/ping
ECHO=$TOP_BUILDDIR/tests/peers/echo
pairs=6 rate=400 slots=1024 watermark=256 quota=128
# With so many unread ones fewer slots than the watermark are left.
flood=$((slots - watermark + 1))

# flood KIND PAIR COUNT: leaves its exit status in $status and a line "KIND PAIR BEGIN END SENT ABORTS" in phases, the last being
# how many TCP connections were closed with data unread meanwhile, of which soft-iWARP consists.
flood() {
  local before
  before=$(unread_closes)
  # In an engine that closes nobody it would wait for ever.
  timeout -k 1 60 "$PING" "$RDMA_IP" $PORT flood $rate "$3" >flood.out 2>>ping.err
  status=$?
  wait_until 10 stats_say '.cm.conns == 4'
  echo "$1 $2 $(cat flood.out) $(($(unread_closes) - before))" >>phases
}

# compare: of all times so far. Leaves a line "PAIR KIND TRIPS MEDIAN HIGH" of each in times, microseconds.
compare() {
  cat rtt.? | sort -n -k 2 | awk '
    function at(p) { return v[k, int((n[k] * p + 99) / 100)] + 0 }
    FILENAME == "phases" { k = ++phases; kind[k] = $1; pair[k] = $2; begin[k] = $3; end[k] = $4; next }
    { for (k = 1; k <= phases; k++) if ($1 > begin[k] && $1 <= end[k]) v[k, ++n[k]] = $2 }
    END { for (k = 1; k <= phases; k++) print pair[k], kind[k], n[k] + 0, at(50), at(99) }' phases - >times.txt
  middle=$(ratio 4) high=$(ratio 5)
}

# ratio COLUMN: of hold to read, in percent; the median over the pairs.
ratio() {
  awk -v c="$1" '{ v[$1, $2] = $c } $1 > n { n = $1 } END { for (i = 1; i <= n; i++) print int(100 * v[i, "hold"] / (v[i, "read"] + 1)) }' times.txt |
    sort -n | awk '{ v[NR] = $1 } END { print int((v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2) }'
}

# measure FIRST LAST: these pairs.
measure() {
  local pair kind kinds
  for pair in $(seq "$1" "$2"); do
    # The order changes, too.
    kinds="read hold"
    [ $((pair % 2)) = 0 ] || kinds="hold read"
    for kind in $kinds; do
      if [ $kind = read ]; then
        flood read "$pair" $flood
        [ $status != 0 ] || read_through=$((read_through + 1))
      else
        kill -USR1 $echo
        # More than there is room for: it goes on until it is closed.
        flood hold "$pair" $((2 * flood))
        kill -USR2 $echo
        [ $status != 3 ] || closed=$((closed + 1))
      fi
      # What the flood has left is acknowledged.
      sleep 0.3
    done
  done
}

start_rpmad ".pool = {slots: $slots, slot_size: 64} | .receive = {target: $((slots / 2)), low_watermark: $watermark} |
  .connections = {quota_slots: $quota}"
"$ECHO" "$RPMAD_SOCKET" >echo.out 2>echo.err &
echo=$!
pings=()
for i in 1 2 3 4; do
  "$PING" "$RDMA_IP" $PORT "rtt.$i" 2>>ping.err &
  pings+=($!)
done
background+=("$echo" "${pings[@]}")
check "four connect, and are answered" wait_until 20 stats_say '.cm.conns == 4 and .recv.acked_total > 100'

read_through=0 closed=0
for all in $pairs $((2 * pairs)) $((3 * pairs)); do
  measure $((all - pairs + 1)) $all
  compare
  [ "$middle" -ge 150 ] || [ "$high" -ge 200 ] || break
done
sed 's/^/# /' times.txt
diag "beside one that is not read, in percent: median $middle, 99 % $high, over $all pairs"
check_is "who is read is not closed, however much it sends" $all $read_through
check_is "who is not read is closed in the end" $all $closed
check_json "for that reason" "[.conns[] | select(.state == \"closed\") | .reason] | map(select(. == \"over_quota\")) | length == $all" \
  "$("$RPMACTL" conns --closed --json)"
check "and counted by it" stats_say "[.cm.closes[] | select(.reason == \"over_quota\") | .count] == [$all]"
check_json "the four are not" '[.conns[] | select(.state == "established")] | length == 4' "$("$RPMACTL" conns --json)"
kill -TERM "${pings[@]}"
ok=0
for pid in "${pings[@]}"; do wait "$pid" && ok=$((ok + 1)); done
check_is "each of their messages was answered" 4 $ok
kill -TERM $echo
wait $echo
check_is "by the consumer, without an error" 0 $?
diag_file ping.err
diag_file echo.err
check_is "none came twice" "$(cat rtt.? | wc -l)" "$(sed -n 's/^pings=\([0-9]*\) .*/\1/p' echo.out)"

if awk '$3 < 50 { exit 1 }' times.txt; then pass "there is enough to compare"; else fail "there is enough to compare" "less than 50 round trips at a time"; fi
check_below "the median round trip beside one that is not read is within 1.5 times of that beside one that is, in percent" 150 "$middle"
check_below "and 99 % are within 2 times, in percent" 200 "$high"

# What a sender saw succeed was there, though it was closed. Each flood is a connection, behind the four, and a line "KIND SENT ABORTS REASON CAME".
paste -d ' ' <(cut -d ' ' -f 1,5,6 phases) <(ended rpmad.log | awk '$1 > 4 { print $2, $3 }') >floods
diag "of each flood what was sent, what came, and why it ended: $(awk '{ printf "%s%s %d %d %s", (NR > 1 ? ", " : ""), $1, $2, $5, $4 }' floods)"
sent=$(awk '{ n += $2 } END { print n }' floods) came=$(awk '{ n += $5 } END { print n }' floods)
diag "the fifth sent $sent, $came came"
check_is "the consumer has met all that came of the fifth" "$came" "$(sed -n 's/.* others=//p' echo.out)"
if [ "$RDMA_DEV" = rxe0 ]; then
  check "what the fifth saw succeed came, over each connection, also of those that were closed" awk '$5 < $2 { exit 1 }' floods
  check "and no more of those that were read" awk '$1 == "read" && ($5 != $2 || $4 != "peer") { exit 1 }' floods
else
  # On iWARP a send is through when it is on its way. What it loses so is lost by the close that the quota asked for, which has that
  # reason, or when the sender closes and the kernel has not read all yet, which the kernel counts.
  check "what the fifth lost was on its way when it was closed, for that reason, or when it closed and the kernel had it unread" \
    awk '$5 < $2 && !(($1 == "hold" && $4 == "over_quota") || ($1 == "read" && $4 == "peer" && $3 > 0)) { exit 1 }' floods
  check_json "status says that this loses messages, and what to do" \
    '[.warnings[] | select(test("^'$all' connections ended for holding too many slots, .*loses .*quota_slots.*acknowledge faster"))] | length == 1' "$("$RPMACTL" status --json)"
fi
check_json "no message of the fifth that arrived is lost" ".recv.dropped_total == 0 and .slots.ready == 0 and .slots.leased == 0" \
  "$("$RPMACTL" stats --json)"
check_conserved
check_stop
finish
