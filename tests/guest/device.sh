# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The device is taken away and given back, again and again: the daemon lets go of it, keeps what had arrived, and listens again.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

netdev=$(rdma link show "$RDMA_DEV/1" | sed -n 's/.* netdev \([^ ]*\).*/\1/p')
type=${RDMA_DEV%0}

waits_for_device() { [ "$("$RPMACTL" status --json 2>/dev/null | jq -r .state)" = waiting_for_device ]; }

start_rpmad '.pool = {slots: 512} | .receive = {target: 256}'
for round in 1 2 3; do
  "$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 2 --count 50 --max-len 512 --seed $round --manifest "sent.$round" >sender.out 2>&1
  check_is "round $round: 100 messages have arrived" 100 "$(stat_of .slots.ready)"
  # One that idles, so that a connection is there when the device goes; it must not keep the device itself.
  "$RPMACTL" connect "$RDMA_IP:$PORT" >/dev/null
  begin=$(now_ms)
  timeout 20 rdma link del "$RDMA_DEV"
  check_is "round $round: the device can be removed" 0 $?
  check_below "round $round: within 5 s" 5000 $(($(now_ms) - begin))
  check "round $round: the daemon waits for it" wait_until 20 waits_for_device
  # One of the two ends may see the other one's end first.
  check_json "round $round: a connection ended for that reason" \
    "[.conns[] | select(.state == \"closed\" and .reason == \"device_gone\")] | length >= $round and length <= 2 * $round" \
    "$("$RPMACTL" conns --closed --json)"
  check_json "round $round: it is told as an event" ".events | length == $round" "$("$RPMACTL" events device.lost --json)"
  "$RPMACTL" poll -n 200 --json >"received.$round"
  check "round $round: what had arrived is there, unharmed" "$VERIFY" "received.$round" "sent.$round"
  check_conserved
  rdma link add "$RDMA_DEV" type "$type" netdev "$netdev"
  check "round $round: it listens again by itself" wait_until 15 rpmad_runs
done
check "and receives" "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 50 --manifest after.manifest
"$RPMACTL" poll -n 100 -w 5 --json >after.json
while [ "$(jq -s '[.[].completions[]] | length' after.json)" -lt 50 ]; do
  "$RPMACTL" poll -n 100 -w 2 --json >>after.json || break
done
check "what was sent" "$VERIFY" after.json after.manifest
check_json "no slot is left over" '.slots.ready == 0 and .slots.leased == 0' "$("$RPMACTL" stats --json)"
check_stop

# Another device, which the daemon looks at and does not use, is not kept by that.
other=${type}8 other_ip=192.168.78.1
ip link add other0 type veth peer name other1
ip addr add $other_ip/24 dev other0
ip link set other0 up
ip link set other1 up
shows_other() {
  "$RPMACTL" devices --json | jq -e --arg name "$other" --arg ip "$other_ip" '.devices | any(.name == $name and .addrs == [$ip] and .usable)' >/dev/null
}
# remove DEVICE: the command cannot be ended while it waits for those who have the device open.
remove() {
  rdma link del "$1" &
  wait_until 10 is_gone $!
}
for how in address name nothing; do
  rdma link add "$other" type "$type" netdev other0
  case $how in
    address) start_rpmad ;;
    name) start_rpmad ".device = \"$RDMA_DEV\"" ;;
    nothing)
      write_config 'del(.listen)'
      "$RPMAD" -c "$DIR/rpmad.json" >>"$DIR/rpmad.log" 2>&1 &
      RPMAD_PID=$!
      wait_until 15 test -S "$RPMAD_SOCKET"
      ;;
  esac
  check "$how: the other device is shown with its address" wait_until 5 shows_other
  "$RPMACTL" listen 127.0.0.1:7472 >listen.out 2>&1
  check "$how: and named to who asks for another address" grep -qF "$other_ip ($other)" listen.out
  check "$how: and can be removed" remove "$other"
  check_stop
done

# Nor is the daemon's own, where nothing is on it that would hear of its removal.
start_rpmad "del(.listen) | .device = \"$RDMA_DEV\""
check "without listeners the device can be removed" remove "$RDMA_DEV"
check "the daemon waits for it" wait_until 5 waits_for_device
rdma link add "$RDMA_DEV" type "$type" netdev "$netdev"
check "and has it again" wait_until 15 rpmad_runs
check_stop
start_rpmad
taken=$RPMAD_PID RPMAD_SOCKET=$DIR/second.sock
background+=("$taken")
write_config 'del(.listen)'
"$RPMAD" -c "$DIR/rpmad.json" >>"$DIR/rpmad.log" 2>&1 &
RPMAD_PID=$!
wait_until 15 test -S "$RPMAD_SOCKET"
"$RPMACTL" listen "$RDMA_IP:$PORT" >listen.out 2>&1
check_is "a second daemon cannot listen at a port that is taken" 7 $?
check "and does not keep the device, nor does the first" remove "$RDMA_DEV"
check_stop
kill "$taken"
rdma link add "$RDMA_DEV" type "$type" netdev "$netdev"
finish
