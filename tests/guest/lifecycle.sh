# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Start and end: in order with traffic under way, a second start, and what a killed daemon leaves behind.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

slots='.pool = {slots: 4096} | .receive = {target: 4096}'
start_rpmad "$slots"
"$RPMAD" -c rpmad.json >second.out 2>&1
check_is "a second rpmad on the same socket refuses with status 3" 3 $?
check "it names the process that has it" grep -qw "$RPMAD_PID" second.out
check "the first does not mind" rpmad_runs

start_follow received.json
"$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 3 --flood --max-len 512 --manifest flood.manifest >flood.out 2>&1 &
flood=$!
background+=("$flood")
check "messages come" wait_until 60 has_lines received.json 500
stop_rpmad
# shellcheck disable=SC2154 # set by stop_rpmad
check_is "SIGTERM with messages in flight ends it in order" 0 "$rpmad_status"
# shellcheck disable=SC2154
check_below "within 5 s" 5000 "$rpmad_stop_ms"
wait $flood
check_is "the senders see the end" "0 1" "$? $(grep -c '^cm_send: messages=.* errors=0' flood.out)"
wait_until 10 is_gone "$follow"
check "what the consumer had is right, and nothing is there twice" "$VERIFY" --extra --missing received.json flood.manifest

start_rpmad "$slots"
"$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 3 --flood --max-len 512 >flood.out 2>&1 &
flood=$!
background+=("$flood")
check "and once more" wait_until 60 stats_say '.recv.messages_total > 500'
kill -KILL "$RPMAD_PID"
wait "$RPMAD_PID" 2>/dev/null
check "a killed daemon leaves its socket behind" test -S "$RPMAD_SOCKET"
"$RPMACTL" status >status.out 2>&1
check_is "rpmactl says that nobody is there" 3 $?
begin=$(now_ms)
start_rpmad "$slots"
check_below "the next one takes the socket over and listens on the same port, and waits for no TIME_WAIT" 15000 $(($(now_ms) - begin))
kill -KILL $flood 2>/dev/null
wait $flood 2>/dev/null
check "it receives" "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 100 --manifest after.manifest
"$RPMACTL" poll -n 1000 -w 10 --json >after.json
while [ "$(jq -s '[.[].completions[]] | length' after.json)" -lt 100 ]; do
  "$RPMACTL" poll -n 1000 -w 2 --json >>after.json || break
done
check "and what it received is right" "$VERIFY" after.json after.manifest

"$RPMACTL" poll --follow --json >follow.json 2>follow.err &
follow=$!
background+=("$follow")
# This one, and the one that asks.
wait_until 10 stats_say '.control.clients == 2'
check "rpmactl stop ends it" "$RPMACTL" stop
wait_until 5 is_gone "$RPMAD_PID"
wait "$RPMAD_PID"
check_is "with status 0" 0 $?
RPMAD_PID=
wait_until 5 is_gone $follow
wait $follow
check_is "a waiting consumer is told that the daemon stops" 9 $?

# A sender that is killed: what it had sent comes, and its slots do not stay away. On iWARP a send is through when it is on its
# way, so the last ones of a connection may be missing.
missing=()
[ "$RDMA_DEV" != siw0 ] || missing=(--missing)
start_rpmad "$slots"
start_follow killed.json
for seed in 1 2 3; do
  "$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 2 --flood --max-len 512 --seed $seed --first $((10 * seed)) --kill-after 300 \
    --manifest killed.manifest.$seed
done >/dev/null 2>&1
stop_follow killed.json 100000 3
check "of three killed senders everything that completed has come" \
  "$VERIFY" --extra ${missing[@]+"${missing[@]}"} killed.json killed.manifest.1 killed.manifest.2 killed.manifest.3
wait_until 60 stats_say '.cm.conns == 0'
check_json "no connection and no slot is left over" '.cm.conns == 0 and .slots.ready == 0 and .slots.leased == 0' "$("$RPMACTL" stats --json)"
check_conserved
check_stop
finish
