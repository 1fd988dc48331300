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

# leave_peers: with the daemon they have lost what they were there for.
leave_peers() {
  local pid
  for pid in ${peers[@]+"${peers[@]}"}; do
    wait_until 3 is_gone "$pid" || kill -KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
  done
  peers=()
}

# comes_to NAME FILTER: the state out of which it is to end, as stats.get says it.
comes_to() { check "$1: it has come to that" wait_until 30 stats_say "$2"; }

# ends NAME: the daemon, then what is left of its peers.
ends() {
  stop_rpmad
  # shellcheck disable=SC2154 # set by stop_rpmad
  check_is "$1: it ends in order" 0 "$rpmad_status"
  # shellcheck disable=SC2154
  check_below "$1: within 5 s" 5000 "$rpmad_stop_ms"
  diag "$1: $rpmad_stop_ms ms"
  leave_peers
}

write_config 'del(.listen)'
"$RPMAD" -c rpmad.json >>rpmad.log 2>&1 &
RPMAD_PID=$!
check "without a listener it waits for one" wait_until 10 state_is waiting_for_listener
ends "no listener"

start_rpmad .
peer "$RPMACTL" poll -w 60
peer "$RPMACTL" connect 192.168.77.99:7471
comes_to "a poll waits, a peer is looked for" '.control.clients == 3'
ends "a poll waits, a peer is looked for"

# All that completes before the end is in the ledger. A service manager keeps that, so the next daemon says what is in it.
unit=rpmad-stop
write_config '.pool = {slots: 16384, slot_size: 256} | .receive = {target: 16384}'
check "a service manager starts it" systemd-run -q --unit $unit -p DefaultDependencies=no -p Type=notify -p NotifyAccess=main \
  -p FileDescriptorStoreMax=16 -p Restart=always -p ExecStopPost="/bin/sh -c 'echo \$EXIT_STATUS >$DIR/unit.status'" \
  -p LimitMEMLOCK=infinity -p StandardError="append:$DIR/unit.log" "$RPMAD" -c "$DIR/rpmad.json"
wait_until 15 rpmad_runs
main=$(systemctl show -P MainPID $unit)
peer "$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 4 --flood --max-len 256 --manifest flood.manifest --posted flood.posted
comes_to "in a flood that nobody reads" '.recv.messages_total > 500'
begin=$(now_ms)
kill -TERM "$main"
check "in a flood that nobody reads: it ends" wait_until 15 is_gone "$main"
check_below "in a flood that nobody reads: within 5 s" 5000 $(($(now_ms) - begin))
check "the next one runs" wait_until 15 rpmad_runs
check_is "the first ended in order" 0 "$(cat unit.status)"
leave_peers
kept=$(sed -n 's/.*messages=\([0-9]*\) were not acknowledged.*/\1/p' unit.log)
drain kept.json
diag "$(wc -l <flood.manifest) sends had completed, ${kept:-no} messages were there at the end"
check_is "what it said that it leaves is there" "${kept:-0}" "$(jq -s '[.[].completions[]] | length' kept.json)"
if [ "$RDMA_DEV" = rxe0 ]; then
  check "every message whose sender saw success is there, unharmed, in order, none twice" "$VERIFY" --posted flood.posted kept.json flood.manifest
else
  # On iWARP a send is through when it is on its way.
  check "every message whose sender saw success is there, the last ones of each connection apart, unharmed, in order, none twice" \
    "$VERIFY" --missing --posted flood.posted kept.json flood.manifest
fi
check_is "each connection says that the end was its end, and how many of its messages came" "shutdown shutdown shutdown shutdown $kept" \
  "$(ended unit.log | awk '{ printf "%s ", $2; n += $3 } END { print n }')"
systemctl stop $unit

if [ "$RDMA_DEV" = rxe0 ]; then
  # On iWARP the connection would have ended before.
  start_rpmad '.pool = {slots: 8, slot_size: 256} | .receive = {target: 8}'
  peer "$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 4 --count 20 --max-len 256
  comes_to "senders wait at an empty queue" '.slots.ready == 8 and .cm.conns == 4'
  ends "senders wait at an empty queue"

  # It has posted no receive and never will.
  start_rpmad .
  peer "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 1 --hold 60
  comes_to "a send is not completed" '.recv.messages_total == 1'
  conn=$("$RPMACTL" conns --json | jq '.conns[0].conn')
  peer "$RPMACTL" send "$conn" /etc/hostname
  sleep 3
  check_json "a send to a peer without a receive waits" '.send.failures_total == 0 and .cm.conns == 1' "$("$RPMACTL" stats --json)"
  ends "a send is not completed"
fi

start_rpmad .
peer "$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 8 --count 4 --hold 60
comes_to "peers that do not answer" '.recv.messages_total == 32'
kill -STOP "${peers[0]}"
ends "peers that do not answer"

start_rpmad '.connections = {max: 512}'
for _ in 1 2 3 4; do peer "$CROWD" client "$RDMA_IP" $PORT 60; done
comes_to "connections come in" '.cm.accepted_total > 5'
ends "connections come in"

start_rpmad .
netdev=$(rdma link show "$RDMA_DEV/1" | sed -n 's/.* netdev \([^ ]*\).*/\1/p')
timeout 20 rdma link del "$RDMA_DEV"
check "the device goes" wait_until 10 state_is waiting_for_device
ends "no device"
rdma link add "$RDMA_DEV" type "${RDMA_DEV%0}" netdev "$netdev"
finish
