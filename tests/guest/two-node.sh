# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Two hosts, an rpmad on each, messages both ways over a link that loses three packets of a hundred: of the some 600 that a host
# sends, so that none is lost never happens.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

chunks=$((${COUNT:-1000} / 5))
# A multiple of three, so that the base64 of message follows message without padding.
chunk=1500
singles=10

start_rpmad .
meet started
check "the link loses packets from here on" tc qdisc add dev "$RDMA_NETDEV" root netem loss 3%
meet lossy
start_follow received.json
start_sampler

# Contents that no two messages share; the other node compares.
head -c $((chunks * chunk)) /dev/urandom >"$OUT/sent.$NODE"
check "rpmactl sends $chunks messages over one connection" \
  timeout 200 "$RPMACTL" -t 190 send "$PEER_IP:$PORT" "$OUT/sent.$NODE" --chunk $chunk
# The kernel's connection manager tells a lost message of its own after 4.3 s, so a dial of which two are lost takes longer
# than the 5 s that it is given otherwise.
for i in $(seq $singles); do
  timeout 60 "$RPMACTL" -t 50 send "$PEER_IP:$PORT" --timeout-ms 40000 --text "single $i from $NODE" || echo "single $i: $?"
done >singles.out 2>&1
check_is "and $singles more over one connection each" $singles "$(grep -c '^sent ' singles.out)"
meet sent 300
stop_follow received.json $((chunks + singles)) 15
check_sampler

jq -r "select(.len == $chunk) | .data" received.json | base64 -d >chunks.got
check "each message of the stream once, in order, byte for byte" cmp chunks.got "$OUT/sent.$PEER_NODE"
check_is "each single message once, in order" "$(for i in $(seq $singles); do echo "single $i from $PEER_NODE"; done)" \
  "$(jq -r "select(.len != $chunk) | .data | @base64d" received.json)"
check_is "nothing else" $((chunks + singles)) "$(wc -l <received.json)"
check_is "the peer of each is the other node" "$PEER_IP" "$(jq -r '.peer | sub(":[0-9]*$"; "")' received.json | sort -u)"
dropped=$(tc -s qdisc show dev "$RDMA_NETDEV" | sed -n 's/.*dropped \([0-9]*\),.*/\1/p' | head -n 1)
if [ "${dropped:-0}" -gt 0 ]; then pass "packets were lost indeed ($dropped)"; else fail "packets were lost indeed"; fi
meet compared
tc qdisc del dev "$RDMA_NETDEV" root
check_stop
finish
