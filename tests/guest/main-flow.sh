# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Messages of two foreign senders arrive exactly once, whole, and in the order of their connection.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

count=${COUNT:-1000}
# On iWARP an empty queue is the end of the connection, so there the pool holds all that may come.
pool='.'
if [ "$RDMA_DEV" = siw0 ]; then
  pool='.pool = {slots: 8192} | .receive = {target: 8192}'
  [ "$count" -le 1000 ] || count=1000
fi

# flow NAME: both senders at once; the daemon runs.
flow() {
  local name=$1 expected=$((2 * 4 * count)) cm rpma
  start_follow received.json
  start_sampler
  "$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 4 --count "$count" --seed 11 --manifest cm.manifest >cm.out 2>&1 &
  cm=$!
  "$RPMA12_SEND" --addr "$RDMA_IP" --port $PORT --conns 4 --count "$count" --seed 22 --manifest rpma.manifest >rpma.out 2>&1 &
  rpma=$!
  wait $cm
  check_is "$name: no errors at the plain librdmacm sender" "0 cm_send: messages=$((4 * count))" "$? $(cut -d' ' -f1-2 cm.out)"
  wait $rpma
  check_is "$name: no errors at the librpma 1.2.0 sender" "0 rpma12_send: messages=$((4 * count))" "$? $(cut -d' ' -f1-2 rpma.out)"
  stop_follow received.json $expected
  check_sampler
  check "$name: each message exactly once, with its content" "$VERIFY" received.json cm.manifest rpma.manifest
  check_json "$name: the counters agree" \
    ".recv.messages_total == $expected and .recv.acked_total == $expected and .slots.ready == 0 and .slots.leased == 0 and
     .recv.errors == [] and .recv.redelivered_total == 0" "$("$RPMACTL" stats --json)"
  check_json "$name: the connections ended by their peers" \
    '[.conns[] | select(.state == "closed") | .reason] | length == 8 and all(. == "peer")' "$("$RPMACTL" conns --closed --json)"
}

start_rpmad "$pool"
flow "refill auto"
check_stop

if [ "$RDMA_DEV" = rxe0 ]; then
  start_rpmad '.receive = {refill: "manual"}'
  check_is "refill manual: nothing is posted by itself" 0 "$(stat_of .slots.posted)"
  (
    # SRQ_FULL (8) only says that the consumer is behind.
    while :; do
      "$RPMACTL" post -n 512 >/dev/null 2>post.err
      case $? in 0 | 8) ;; *) exit 1 ;; esac
      sleep 0.1
    done
  ) &
  poster=$!
  background+=("$poster")
  flow "refill manual"
  kill $poster 2>/dev/null
  wait $poster 2>/dev/null
  check_stop
fi
finish
