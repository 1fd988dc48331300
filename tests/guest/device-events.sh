# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What a device says by itself, and what nobody has read of it: an end waits for no event, receives that run short are told each time
# that this is asked for, and the daemon counts for itself. Then, what it asks the device for, and children that share all with it.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

LEAVE=$TOP_BUILDDIR/tests/peers/leave

# leaves WAY: a receiver, which says in leave.out what it has read, and how long its end took.
leaves() {
  local leave
  "$LEAVE" "$RDMA_IP" $PORT "$1" >leave.out 2>&1 &
  leave=$!
  background+=("$leave")
  wait_until 15 grep -q listening leave.out
  "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 8 --min-len 16 --max-len 64 --window 1 >sender.out 2>&1
  wait_until 90 is_gone $leave
  wait $leave
  check_is "$1: the receiver ends in order" 0 $?
  diag_file leave.out
  check_below "$1: within 5 s" 5000 "$(sed -n 's/.* end_ms=//p' leave.out)"
}

leaves unread
check_is "with messages, connections and limits that it has not read" "messages=0 completion_events=0 limit_events=0 closed=0" \
  "$(sed -n 's/ end_ms=.*//p' leave.out)"
leaves read
check "it has read eight messages and the end of their connection" grep -q '^messages=8 completion_events=[1-9][0-9]* .* closed=1 ' leave.out
# The last four messages meet fewer than twelve receives.
check "each limit that was set is told once" grep -qE ' limit_events=[1-4] ' leave.out

# --- the daemon ---

# Fewer are posted than the device is asked to tell, whenever a message comes.
RPMAD=$TOP_BUILDDIR/tests/peers/rpmad_watched
export RPMAD_WATCH_LIMIT=512 RPMAD_WATCH_FORK=1
count=50
limits() { grep -c '^watch: event SRQ limit' rpmad.log; }
more_limits() { [ "$(limits)" -gt "$limits" ]; }
start_rpmad '.pool = {slots: 4096, slot_size: 512} | .receive = {target: 512, low_watermark: 16}'
start_follow received.json
for round in 1 2 3; do
  limits=$(limits)
  "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count $count --max-len 512 --first $round --manifest "sent.$round" >sender.out 2>&1
  check_is "round $round: no send failed" 0 $?
  check "round $round: the device says that receives run short" wait_until 10 more_limits
done
stop_follow received.json $((3 * count))
diag "$(limits) events of the limit"
check_json "the daemon, which counts for itself, knows better" '.srq.times_low_total == 0 and .srq.times_empty_total == 0' "$("$RPMACTL" stats --json)"
check_json "and is not moved" '.state == "running" and .warnings == []' "$("$RPMACTL" status --json)"
check_is "nor logs it" "" "$(grep -E '^(warning|error)' rpmad.log)"
check_is "a connection with a shared queue asks for no receives of its own" "watch: qp srq=1 receives=0" "$(grep '^watch: qp' rpmad.log | sort -u)"
check_json "the shared queue is shown as it was asked for and as it was made" \
  "\"watch: srq asked=\\(.asked) effective=\\(.effective)\" == \"$(grep '^watch: srq' rpmad.log)\" and .asked == 4096 and .effective >= 4096" \
  "$("$RPMACTL" srq --json)"

# pool_of PID: rights and flags of its pool's memory.
pool_of() { awk '/memfd:rpmad-pool/ { rights = $2; next } rights && /^VmFlags:/ { print rights, $0; exit }' "/proc/$1/smaps"; }
read -ra children < <(sed -n 's/^watch: child //p' rpmad.log | paste -sd ' ')
check "with each connection came a child, which lives" kill -0 "${children[@]}"
for pid in $RPMAD_PID "${children[@]}"; do
  if [[ $(pool_of "$pid") =~ ^rw-s.*VmFlags:.*$ ]] && [[ ! $(pool_of "$pid") =~ " dc" ]]; then
    pass "the pool is shared, and not kept from children"
  else
    fail "the pool is shared, and not kept from children" "$(pool_of "$pid")"
  fi
done
check "what came while they live came once, in order, unharmed" "$VERIFY" received.json sent.*
check_conserved
check_stop
finish
