# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Two hosts and a bad link between them: packets lost and out of order, then nothing at all, for a while, for longer than a sender
# tries, and at the end of the daemon. A message comes exactly once, or its connection ends with a reason that is true.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

count=$((${COUNT:-1000} / 5))
# More than it takes until a sender of one retry gives up and has said so.
idle_ms=25000

link() { tc qdisc replace dev "$RDMA_NETDEV" root netem "$@"; }
mend() { tc qdisc del dev "$RDMA_NETDEV" root; }

# send NAME OPTION...: the second host's, in the background, left in $sender.
send() {
  local name=$1
  shift
  : >"$name.posted"
  "$CM_SEND" --addr "$PEER_IP" --port $PORT --max-len 1024 --manifest "$name.manifest" --posted "$name.posted" "$@" >"$name.out" 2>&1 &
  sender=$!
  background+=("$sender")
}

# share NAME...: what the second host's senders saw.
share() {
  local name
  for name; do cp "$name.manifest" "$name.posted" "$OUT/"; done
}

# reasons FIRST: of all connections from that one on, in their order.
reasons() { "$RPMACTL" conns --closed --json | jq -c "[.conns[] | select(.conn >= $1 and .state == \"closed\")] | sort_by(.conn) | map(.reason)"; }

last_conn() { "$RPMACTL" conns --closed --json | jq '[.conns[].conn] | max // 0'; }

start_rpmad ".connections = {idle_ms: $idle_ms}"
meet listening

# --- lost, out of order, and nothing at all for 5 s ---

check "the link loses one packet of twenty, and changes the order" link loss 5% delay 2ms reorder 25% 50%
[ "$NODE" = 2 ] || start_follow received.json
meet bad
# The second host sends, the first one receives. To connect takes seconds where a packet of that is lost.
if [ "$NODE" = 2 ]; then
  send bad --conns 2 --count "$count" --seed 5
  check "a sender sends, over a bad link too" wait_until 60 has_lines bad.posted 20
fi
meet midst 90
check "the link is cut" link loss 100%
sleep 5
[ "$NODE" = 1 ] || check "the sender was in the midst of it" kill -0 $sender
check "and restored, as bad as before" link loss 5% delay 2ms reorder 25% 50%
if [ "$NODE" = 2 ]; then
  check "nothing hangs: the sender ended" wait_until 120 is_gone $sender
  wait $sender
  echo $? >"$OUT/sender.status"
  cp bad.out "$OUT/"
  share bad
fi
meet sent 180
mend
if [ "$NODE" = 1 ]; then
  check "nothing hangs: the connections ended" wait_until 60 stats_say '.cm.conns == 0'
  status=$(cat "$OUT/sender.status")
  diag "sender's status $status: $(tail -n 1 "$OUT/bad.out")"
  stop_follow received.json $((2 * count)) 5
  if [ "$status" = 0 ]; then
    check "each message came exactly once, unharmed" "$VERIFY" received.json "$OUT/bad.manifest"
  else
    # It has tried often enough, and bids farewell.
    check "the sender has found the link dead" grep -q 'transport retry counter exceeded' "$OUT/bad.out"
    check "what it saw completed came, nothing twice, unharmed" "$VERIFY" --posted "$OUT/bad.posted" received.json "$OUT/bad.manifest"
  fi
  check_is "the sender ended the connections" '["peer","peer"]' "$(reasons 1)"
fi

# --- nothing at all for longer than a sender tries ---

# The connections, in this order: two of a sender that gives up and says so, one of a sender that is killed and cannot, and one of the
# daemon's own, which asks for the most retries. Soft-RoCE takes that for no end of them.
if [ "$NODE" = 1 ]; then
  first=$(($(last_conn) + 1))
  start_follow cut.json
fi
meet whole
if [ "$NODE" = 2 ]; then
  send gives-up --conns 2 --count 1000000 --seed 6 --retries 1
  gives_up=$sender
  check "a sender sends" wait_until 10 has_lines gives-up.posted 100
  send killed --count 1000000 --seed 7 --first 100
  check "another one too" wait_until 10 has_lines killed.posted 100
fi
meet sending
if [ "$NODE" = 1 ]; then
  out=$("$RPMACTL" connect "$PEER_IP:$PORT" --json | jq .conn)
  check_is "four connections are there" "4 $((first + 3))" "$(stat_of .cm.conns) $out"
fi
meet connected
check "the link is cut" link loss 100%
begin=$(now_ms)
meet cut
if [ "$NODE" = 1 ]; then
  "$RPMACTL" -t 70 send "$out" --timeout-ms 60000 --text "into the dark" >send.out 2>&1 &
  send=$!
  background+=("$send")
  check "a send of the daemon's is under way" wait_until 20 stats_say '.send.slots | .free == .total - 1'
else
  kill -KILL $sender
  wait $sender 2>/dev/null
  check "the other host's sender gives up" wait_until 60 grep -q 'transport retry counter exceeded' gives-up.out
  diag "after $(($(now_ms) - begin)) ms"
fi
meet given-up
mend
if [ "$NODE" = 2 ]; then
  wait_until 30 is_gone $gives_up
  wait $gives_up
  check_is "and ends its connections" "1 1" "$? $(grep -c '^cm_send: messages=' gives-up.out)"
  share gives-up killed
fi
meet told
if [ "$NODE" = 1 ]; then
  wait $send
  check_is "the daemon's send is through, now that the link is back" 0 $?
  check "its connection is ended" "$RPMACTL" disconnect "$out"
  check "nothing hangs: the connections ended" wait_until 60 stats_say '.cm.conns == 0'
  diag "after $(($(now_ms) - begin)) ms"
  stop_follow cut.json 1000000 3
  check_is "each for its own reason" '["peer","peer","idle","local"]' "$(reasons "$first")"
  check "what both senders saw completed came, nothing twice, unharmed" \
    "$VERIFY" --posted "$OUT/gives-up.posted" --posted "$OUT/killed.posted" cut.json "$OUT/gives-up.manifest" "$OUT/killed.manifest"
else
  check "nothing hangs here: the connection ended" wait_until 60 stats_say '.cm.conns == 0'
  check_is "by its peer" '["peer"]' "$(reasons 1)"
  drain dark.json
  check_is "with what was sent into the dark, once" "into the dark" "$(jq -r '.completions[].data | @base64d' dark.json)"
fi
meet ended

# --- the end of the daemon while the link is cut ---

[ "$NODE" = 2 ] || start_follow stop.json
meet again
if [ "$NODE" = 2 ]; then
  send stop --conns 2 --count 1000000 --seed 8
  check "a sender sends" wait_until 10 has_lines stop.posted 100
fi
meet sending.again
[ "$NODE" = 2 ] || out=$("$RPMACTL" connect "$PEER_IP:$PORT" --json | jq .conn)
meet connected.again
check "the link is cut" link loss 100%
meet cut.again
if [ "$NODE" = 1 ]; then
  "$RPMACTL" -t 70 send "$out" --timeout-ms 60000 --text "into the dark" >send.out 2>&1 &
  send=$!
  background+=("$send")
  check "a send is under way" wait_until 20 stats_say '.send.slots | .free == .total - 1'
  check "all that came is acknowledged" wait_until 10 stats_say '.recv.acked_total == .recv.messages_total'
  check_is "and no connection has ended" 3 "$(stat_of .cm.conns)"
fi
meet stop
check_conserved
check_stop
if [ "$NODE" = 2 ]; then
  kill -KILL $sender
  wait $sender 2>/dev/null
  share stop
fi
meet stopped
if [ "$NODE" = 1 ]; then
  wait_until 20 is_gone "$follow"
  wait $send
  check_is "who waits for the send is told that it failed, in one line" "9 1" "$? $(wc -l <send.out)"
  diag "$(cat send.out)"
  check "what the sender saw completed came, nothing twice, unharmed" "$VERIFY" --posted "$OUT/stop.posted" stop.json "$OUT/stop.manifest"
fi
mend
finish
