# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Senders that are killed in mid-flood, and connections made and ended without end: no slot, descriptor, byte or CM id stays behind.
# DEATHS and CONNECTS say how many.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

deaths=${DEATHS:-100}
connects=${CONNECTS:-1000}

descriptors() { find "/proc/$RPMAD_PID/fd" -mindepth 1 | wc -l; }
rss_kib() { sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$RPMAD_PID/status"; }
cm_ids() { rdma resource show cm_id | grep -c "pid $RPMAD_PID "; }
is_quiet() { stats_say '.cm.conns == 0 and .slots.ready == 0 and .slots.leased == 0'; }

# value NAME LINE: of "NAME=VALUE" in it.
value() { sed -n "s/.* $1=\([0-9]*\).*/\1/p" <<<"$2"; }

# flood FIRST LAST: senders, each killed after some completions. What they had posted may have come, what they saw completed has;
# the number of its connection tells each message's sender.
flood() {
  local seed
  for seed in $(seq "$1" "$2"); do
    "$CM_SEND" --addr "$RDMA_IP" --port $PORT --flood --min-len 32 --max-len 256 --seed "$seed" --kill-after $((seed % 40 + 1)) \
      --first $((30000 + seed)) --manifest "killed.$seed" --posted "posted.$seed" >/dev/null 2>&1
  done 2>/dev/null
}

# flat NAME: as few things as before.
flat() {
  check "$1: all connections end, all messages are taken" wait_until 60 is_quiet
  check_is "$1: as many descriptors as before" "$fds" "$(descriptors)"
  check_is "$1: as many CM ids as before" "$ids" "$(cm_ids)"
  check_is "$1: rpmad says so, too" "$ids" "$(stat_of .cm.ids)"
  check_below "$1: no more than 2 MiB more memory" $((rss + 2048)) "$(rss_kib)"
  check_conserved
}

# On iWARP an empty queue ends a connection, so the pool is large there.
start_rpmad '.pool = {slots: 4096, slot_size: 512} | .receive = {target: 4096}'
start_follow received.json
# What is allocated once and kept is allocated now.
killed_aborts=$(unread_closes)
flood 1 20
"$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 8 --rounds 10 --count 1 --min-len 32 --max-len 64 --first 20000 --manifest warm.manifest >/dev/null 2>&1
wait_until 60 is_quiet
fds=$(descriptors) ids=$(cm_ids) rss=$(rss_kib)
diag "$fds descriptors, $ids CM ids, $rss KiB"

flood 101 $((100 + deaths))
flat "$deaths senders killed"
connect_aborts=$(unread_closes)
killed_aborts=$((connect_aborts - killed_aborts))
"$CM_SEND" --addr "$RDMA_IP" --port $PORT --rounds "$connects" --count 1 --min-len 32 --max-len 64 --seed 7 --manifest connects.manifest >sender.out 2>&1
check_is "$connects connections made and ended" 0 $?
flat "$connects connections"
connect_aborts=$(($(unread_closes) - connect_aborts))
diag "$(descriptors) descriptors, $(cm_ids) CM ids, $(rss_kib) KiB"
kill -TERM "$follow"
wait "$follow"
# What came is of its sender, in order and whole, none twice, and all that a sender saw completed came.
cat killed.* warm.manifest connects.manifest >sent.manifest
cat posted.* warm.manifest connects.manifest >sent.posted
if [ "$RDMA_DEV" = siw0 ]; then
  # There a send is through when it is on its way, so the last ones of a connection may be missing.
  check "what came is right, nothing twice, the last ones apart" "$VERIFY" --missing --posted sent.posted received.json sent.manifest
  # soft-iWARP closes the TCP connection when the peer does, also with a message in it that it has not read yet. A receiver that
  # leaves its queue pairs alone loses as many. The kernel counts each such close, so all that is missing is accounted for: by one
  # of them for each sender, and of the connections, which carry one message each, by as many.
  killed=$("$VERIFY" --missing --extra received.json killed.*)
  diag "of the killed senders: $killed; the kernel closed $killed_aborts connections with data unread"
  check "no more senders lack something than there are such closes" test "$(value lossy "$killed")" -le "$killed_aborts"
  check_is "what is missing of the connections is what the kernel closed unread" "$connect_aborts" \
    "$(value missing "$("$VERIFY" --missing --extra received.json connects.manifest)")"
else
  check "what came is right, none twice, and all that was completed" "$VERIFY" --posted sent.posted received.json sent.manifest
fi
check_json "the last closed connections are remembered, with reasons" '.conns | length == 64 and all(.[]; .reason != null)' \
  "$("$RPMACTL" conns --closed --json)"
# The device has each receive that the ledger believes it has: as many messages as there are slots find one, and the last of them
# does not wait for it.
tried=/sys/class/infiniband/$RDMA_DEV/ports/1/hw_counters/send_rnr_err
before=$(cat "$tried" 2>/dev/null)
check "all slots are posted" wait_until 10 stats_say '.slots.posted == 4096'
"$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 4 --count 1024 --max-len 64 --seed 9 --hold 600 >full.out 2>&1 &
background+=($!)
check "a message comes into each of them" wait_until 60 stats_say '.slots.ready == 4096'
check_is "none was turned away" "$before" "$(cat "$tried" 2>/dev/null)"
check_json "nor was a connection ended for it" '[.conns[] | select(.state == "established")] | length == 4' "$("$RPMACTL" conns --json)"
check_conserved
check_json "the ledger was never out of balance" '.recv.ledger_faults_total == 0 and .recv.dropped_total == 0' "$("$RPMACTL" stats --json)"
check_stop
finish
