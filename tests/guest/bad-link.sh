# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Two hosts and a bad link between them: packets lost and out of order, then nothing at all for 5 s. A message comes exactly once, or
# its connection ends with a reason that is true.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

count=$((${COUNT:-1000} / 5))

link() { tc qdisc replace dev "$RDMA_NETDEV" root netem "$@"; }

# The second host sends, the first one receives.
if [ "$NODE" = 1 ]; then
  start_rpmad .
  start_follow received.json
fi
meet listening
check "the link loses one packet of twenty, and changes the order" link loss 5% delay 2ms reorder 25% 50%
meet bad
if [ "$NODE" = 2 ]; then
  "$CM_SEND" --addr "$PEER_IP" --port $PORT --conns 2 --count "$count" --max-len 1024 --seed 5 --manifest "$OUT/bad.manifest" >sender.out 2>&1 &
  sender=$!
  background+=("$sender")
fi
# In the midst of it.
sleep 1
check "the link is cut" link loss 100%
sleep 5
[ "$NODE" = 1 ] || check "the sender was in the midst of it" kill -0 $sender
check "and restored, as bad as before" link loss 5% delay 2ms reorder 25% 50%
if [ "$NODE" = 2 ]; then
  wait_until 120 is_gone $sender
  wait $sender
  echo $? >"$OUT/sender.status"
  diag "$(cat sender.out)"
fi
meet sent 180
tc qdisc del dev "$RDMA_NETDEV" root
if [ "$NODE" = 2 ]; then
  check "nothing hangs: the sender ended" test -s "$OUT/sender.status"
  finish
fi
check "nothing hangs: the connections ended" wait_until 60 stats_say '.cm.conns == 0'
status=$(cat "$OUT/sender.status")
reasons=$("$RPMACTL" conns --closed --json | jq -c '[.conns[].reason] | sort')
diag "sender's status $status, reasons $reasons"
if [ "$status" = 0 ]; then
  stop_follow received.json $((2 * count)) 10
  check "each message came exactly once, unharmed" "$VERIFY" received.json "$OUT/bad.manifest"
  check_is "the connections ended in order" '["peer","peer"]' "$reasons"
else
  stop_follow received.json $((2 * count)) 5
  check "what the sender saw completed came, nothing twice, unharmed" "$VERIFY" --extra received.json "$OUT/bad.manifest"
  check_json "a connection that broke says why" 'length == 2 and all(.[]; test("^(peer|lost|timed_out|error:.*)$"))' "$reasons"
fi
check_conserved
check_stop
finish
