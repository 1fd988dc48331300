# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Senders that send, disconnect and are gone: the messages come although the end of the connection is often seen first.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

rounds=${ROUNDS:-200}
pool='.'
[ "$RDMA_DEV" != siw0 ] || pool='.pool = {slots: 4096} | .receive = {target: 4096}'

start_rpmad "$pool"
start_follow received.json
start_sampler
check "$rounds times 100 messages and gone, plain librdmacm" \
  "$CM_SEND" --addr "$RDMA_IP" --port $PORT --rounds "$rounds" --count 100 --max-len 256 --seed 31 --disconnect-at-once --manifest cm.manifest
check "$((rounds / 10)) times 100 messages and gone, librpma 1.2.0" \
  "$RPMA12_SEND" --addr "$RDMA_IP" --port $PORT --rounds $((rounds / 10)) --count 100 --max-len 256 --seed 32 --disconnect-at-once --manifest rpma.manifest
stop_follow received.json $((rounds * 110))
check_sampler
check "each message exactly once" "$VERIFY" received.json cm.manifest rpma.manifest
check_json "all connections ended by their peers" ".cm.conns == 0 and .cm.closed_total == $((rounds + rounds / 10)) and
  (.cm.closes | map(select(.count > 0)) | length == 1 and .[0].reason == \"peer\")" "$("$RPMACTL" stats --json)"
check_conserved
check_stop
finish
