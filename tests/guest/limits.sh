# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What a host has not got and what peers may not have: too little memory to lock, peers that are refused, too many of them, all at
# once, and a peer that is never heard of again. CONNECTS says how many are refused.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

KNOCK=$TOP_BUILDDIR/tests/peers/knock
CROWD=$TOP_BUILDDIR/tests/peers/crowd
refusals=${CONNECTS:-1000}
lines() { wc -l <rpmad.log; }
descriptors() { find "/proc/$RPMAD_PID/fd" -mindepth 1 | wc -l; }
cm_ids() { rdma resource show cm_id | grep -c "pid $RPMAD_PID "; }
rss_kib() { sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$RPMAD_PID/status"; }
settled() { [ "$(descriptors) $(cm_ids)" = "$before" ]; }
refused_as() { stats_say "[.cm.rejected[] | select(.reason == \"$1\") | .count] | add == $2"; }

# --- memory ---

# Root may lock as much as it likes for as long as it has the capability to.
write_config '.pool = {slots: 1024, slot_size: 4096}'
(ulimit -l 1024 && exec setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock "$RPMAD" -c rpmad.json) >start.out 2>&1
check_is "with too little memory that can be locked it does not start" 1 $?
check "and says how much it needs, how much it may have, and the line to add" \
  grep -q 'needs 4194304 bytes.* 1048576 in all.*LimitMEMLOCK=infinity.*\[Service\]' start.out
check_is "in one line" 1 "$(wc -l <start.out)"
diag_file start.out

# --- nobody, somebody, too many ---

start_rpmad '.connections = {allow: ["192.0.2.0/24", "2001:db8::/32"]}'
begin=$(lines)
sleep 3
check_is "a daemon with nothing to do has nothing to say" "$begin" "$(lines)"
"$KNOCK" client "$RDMA_IP" $PORT reject 50
sleep 1
before="$(descriptors) $(cm_ids)" rss=$(rss_kib)
begin=$(now_ms)
check "$refusals connections from elsewhere are refused" timeout $((60 + refusals / 10)) "$KNOCK" client "$RDMA_IP" $PORT reject "$refusals"
diag "$(($(now_ms) - begin)) ms"
check "and counted, with the reason" refused_as not_allowed $((refusals + 50))
check_json "none of them had a connection" '.cm.accepted_total == 0 and .cm.closed_total == 0' "$("$RPMACTL" stats --json)"
wait_until 10 settled
check_is "descriptors and CM ids are as before" "$before" "$(descriptors) $(cm_ids)"
check_below "no more than 1 MiB more memory" $((rss + 1024)) "$(rss_kib)"
check_below "a line of the log each would be too much" $((refusals / 5)) "$(lines)"
check_stop

start_rpmad '.connections = {max: 3}'
"$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 3 --count 1 --hold 600 >sender.out 2>&1 &
sender=$!
background+=("$sender")
wait_until 30 stats_say '.cm.conns == 3'
"$KNOCK" client "$RDMA_IP" $PORT reject
check_is "one connection more than there may be is refused" 0 $?
check "for that reason" refused_as limit 1
check_is "rpmad holds a CM id for its listener and for each of them" 4 "$(stat_of .cm.ids)"
check_is "the kernel says so, too" 4 "$(cm_ids)"
kill -USR1 $sender
wait $sender
check_is "the others do not notice" 0 $?
check "when they have gone" wait_until 10 stats_say '.cm.conns == 0'
check "there is room again" "$CM_SEND" --addr "$RDMA_IP" --port $PORT
check_stop

# --- all at once ---

crowds=8 each=40
# A process has some 70 queue pairs of soft-iWARP.
[ "$RDMA_DEV" != siw0 ] || each=7
start_rpmad '.pool = {slots: 1024, slot_size: 64} | .receive = {target: 1024} | .log = {level: "notice"}'
begin=$(now_ms)
pids=()
for i in $(seq $crowds); do
  "$CROWD" client "$RDMA_IP" $PORT $each >"crowd.$i" 2>&1 &
  pids+=($!)
done
background+=("${pids[@]}")
wait_until 20 stats_say '.cm.requests_total > 10'
asked=$(now_ms)
check "asked in the midst of them it answers" "$RPMACTL" status
asked=$(($(now_ms) - asked))
ok=0
for pid in "${pids[@]}"; do wait "$pid" && ok=$((ok + 1)); done
took=$(($(now_ms) - begin))
diag "$((crowds * each)) connections from $crowds processes took $took ms; status took $asked ms"
check_is "$((crowds * each)) connections at once: each is made, and its message taken" $crowds $ok
[ $ok = $crowds ] || for i in $(seq $crowds); do diag_file "crowd.$i" 2; done
# 3 s where nothing else runs.
check_below "within 30 s" 30000 $took
check_below "meanwhile others are answered within 5 s" 5000 $asked
check "all are gone" wait_until 60 stats_say '.cm.conns == 0'
check_json "none was refused, all messages are here" \
  ".cm.accepted_total == $((crowds * each)) and (.cm.rejected | length == 0) and .recv.messages_total == $((crowds * each))" "$("$RPMACTL" stats --json)"
check_conserved
check_stop

# --- idle ---

start_rpmad '.connections = {idle_ms: 8000}'
"$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 1 --hold 600 >sender.out 2>&1 &
sender=$!
background+=("$sender")
# Its silence begins with its message.
wait_until 10 stats_say '.cm.conns == 1 and .recv.messages_total == 1'
age_ms() { "$RPMACTL" conns --json | jq '.conns[0].last_recv_age_ms'; }
silent=$(age_ms)
sleep 2
later=$(age_ms)
check_is "how long a connection is silent is shown, and grows" 1 $((silent >= 0 && later >= silent + 2000 && later < 8000))
# As if its host had died.
kill -STOP $sender
check "one that is silent for too long is closed" wait_until 60 stats_say '.cm.conns == 0'
check_json "for that reason" '[.conns[].reason] == ["idle"]' "$("$RPMACTL" conns --closed --json)"
kill -KILL $sender
check_stop
finish
