# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The end, out of many states: always in order, always within 5 s; and what senders saw succeed before it had arrived.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

CROWD=$TOP_BUILDDIR/tests/peers/crowd
state_is() { [ "$("$RPMACTL" status --json 2>/dev/null | jq -r .state)" = "$1" ]; }

# peer COMMAND...: in the background, to be ended after the daemon.
peers=()
peer() {
  "$@" >>peer.out 2>&1 &
  peers+=($!)
  background+=($!)
}

# ends NAME: the daemon, then what is left of its peers.
ends() {
  local pid
  stop_rpmad
  # shellcheck disable=SC2154 # set by stop_rpmad
  check_is "$1: it ends in order" 0 "$rpmad_status"
  # shellcheck disable=SC2154
  check_below "$1: within 5 s" 5000 "$rpmad_stop_ms"
  diag "$1: $rpmad_stop_ms ms"
  for pid in ${peers[@]+"${peers[@]}"}; do
    wait_until 3 is_gone "$pid" || kill -KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
  done
  peers=()
}

write_config 'del(.listen)'
"$RPMAD" -c rpmad.json >>rpmad.log 2>&1 &
RPMAD_PID=$!
check "without a listener it waits for one" wait_until 10 state_is waiting_for_listener
ends "no listener"

start_rpmad .
peer "$RPMACTL" poll -w 60
peer "$RPMACTL" connect 192.168.77.99:7471
wait_until 10 stats_say '.control.clients == 3'
ends "a poll waits, a peer is looked for"

# All that completes before the end is in the ledger, and the log says how much that is.
start_rpmad '.pool = {slots: 16384, slot_size: 256} | .receive = {target: 16384}'
peer "$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 4 --flood --max-len 256 --manifest flood.manifest
wait_until 20 stats_say '.recv.messages_total > 500'
ends "in a flood that nobody reads"
kept=$(sed -n 's/.*messages=\([0-9]*\) were not acknowledged.*/\1/p' rpmad.log | tail -n 1)
diag "$(wc -l <flood.manifest) sends had completed, ${kept:-no} messages were there at the end"
# On iWARP a send is through when it is on its way.
[ "$RDMA_DEV" != rxe0 ] || check "every message whose sender saw success is there" test "$(wc -l <flood.manifest)" -le "${kept:-0}"

if [ "$RDMA_DEV" = rxe0 ]; then
  # On iWARP the connection would have ended before.
  start_rpmad '.pool = {slots: 8, slot_size: 256} | .receive = {target: 8}'
  peer "$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 4 --count 20 --max-len 256
  wait_until 10 stats_say '.slots.ready == 8 and .cm.conns == 4'
  ends "senders wait at an empty queue"

  # It has posted no receive and never will.
  start_rpmad .
  peer "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 1 --hold 60
  wait_until 10 stats_say '.recv.messages_total == 1'
  conn=$("$RPMACTL" conns --json | jq '.conns[0].conn')
  peer "$RPMACTL" send "$conn" /etc/hostname
  sleep 3
  check_json "a send to a peer without a receive waits" '.send.failures_total == 0 and .cm.conns == 1' "$("$RPMACTL" stats --json)"
  ends "a send is not completed"
fi

start_rpmad .
peer "$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 8 --count 4 --hold 60
wait_until 10 stats_say '.recv.messages_total == 32'
kill -STOP "${peers[0]}"
ends "peers that do not answer"

start_rpmad '.connections = {max: 512}'
for _ in 1 2 3 4; do peer "$CROWD" client "$RDMA_IP" $PORT 60; done
wait_until 10 stats_say '.cm.accepted_total > 5'
ends "connections come in"

start_rpmad .
netdev=$(rdma link show "$RDMA_DEV/1" | sed -n 's/.* netdev \([^ ]*\).*/\1/p')
timeout 20 rdma link del "$RDMA_DEV"
check "the device goes" wait_until 10 state_is waiting_for_device
ends "no device"
rdma link add "$RDMA_DEV" type "${RDMA_DEV%0}" netdev "$netdev"
finish
