# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Peers with IPv6 addresses, beside those with IPv4 ones: who is on the list comes in, who is not is refused, bit for bit.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

RDMA_IP6=fd77::1
addresses=/sys/class/infiniband/$RDMA_DEV/ports/1/gids

sysctl -q -w net.ipv6.conf.all.disable_ipv6=0 "net.ipv6.conf.$RDMA_NETDEV.disable_ipv6=0"
ip addr add $RDMA_IP6/64 dev "$RDMA_NETDEV" nodad
# soft-RoCE's device has it a little later; soft-iWARP's has none of its own.
[ "$RDMA_DEV" != rxe0 ] || check "the device has the IPv6 address" wait_until 20 grep -rqx fd77:0000:0000:0000:0000:0000:0000:0001 $addresses

# allow LIST: from now on, without a restart.
allow() {
  write_config ".listen += [\"[$RDMA_IP6]:$PORT\"] | .connections = {allow: $1}"
  "$RPMACTL" reload >/dev/null
}

# knocks ADDRESS: one message of a peer, of which $became is accepted or refused, or what else became of it.
sent=0 refused=0
knocks() {
  if "$CM_SEND" --addr "$1" --port $PORT --min-len 16 --max-len 64 --first $sent --manifest "sent.$sent" >sender.out 2>&1; then
    became=accepted
    sent=$((sent + 1))
  elif grep -q RDMA_CM_EVENT_REJECTED sender.out; then
    became=refused
    refused=$((refused + 1))
  else
    became=$(cat sender.out)
  fi
}

# comes_in LIST V6 V4: what becomes of a peer of each family.
comes_in() {
  allow "$1"
  knocks $RDMA_IP6
  check_is "$1: an IPv6 peer is $2" "$2" "$became"
  knocks "$RDMA_IP"
  check_is "$1: an IPv4 peer is $3" "$3" "$became"
}

start_rpmad ".listen += [\"[$RDMA_IP6]:$PORT\"]"
check_json "it listens at both addresses" "[.listeners[] | select(.up) | .addr] | sort == [\"$RDMA_IP\", \"$RDMA_IP6\"]" \
  "$("$RPMACTL" listeners --json)"
comes_in '[]' accepted accepted
# The last bit decides.
comes_in '["fd77::/127"]' accepted refused
comes_in '["fd77::2/127"]' refused refused
comes_in '["fd77::1/128", "192.168.77.0/24"]' accepted accepted
# So does one within a byte.
comes_in '["fd70::/13"]' accepted refused
comes_in '["fd78::/13"]' refused refused
comes_in '["2001:db8::/32", "192.168.77.0/24"]' refused accepted
comes_in '["::/0"]' accepted refused
check "those that were refused are counted" stats_say "[.cm.rejected[] | select(.reason == \"not_allowed\") | .count] == [$refused]"
check "none of them had a connection" wait_until 20 stats_say ".cm.accepted_total == $sent and .cm.closed_total == $sent"
drain received.json
check "each message of those that were accepted came, unharmed" "$VERIFY" received.json sent.*
check_is "from peers of both families" "$(printf '%s\n' "$RDMA_IP" "[$RDMA_IP6]" | sort)" \
  "$(jq -r '.completions[].peer | sub(":[0-9]*$"; "")' received.json | sort -u)"
check_json "any address is none to listen at: each device has its own, and they are named" \
  '.error | .data.name == "ADDR_NOT_RDMA" and (.message + .data.hint | contains("'$RDMA_IP6'") and contains("'"$RDMA_IP"'"))' \
  "$(rpc listener.add '{"addr":"::","port":7500}')"
check_conserved
check_stop
ip addr del $RDMA_IP6/64 dev "$RDMA_NETDEV"
finish
