# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The metrics as a real Prometheus has them, which scrapes rpmactl behind a socket as rpmad-metrics.socket starts it: through
# errors of many kinds no counter falls, no scrape fails, and the numbers are those of the senders. SCRAPE is the time from one
# scrape to the next in seconds.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

KNOCK=$TOP_BUILDDIR/tests/peers/knock
PROMETHEUS=$TOP_BUILDDIR/tests/peers/prometheus/usr/bin/prometheus
PROMTOOL=$TOP_BUILDDIR/tests/peers/prometheus/usr/bin/promtool
exporter=7472
web=9090

# ask PATH: what Prometheus answers, by HTTP/1.0: to the end of the connection, and in one piece.
ask() {
  {
    printf 'GET %s HTTP/1.0\r\n\r\n' "$1" >&7
    sed '1,/^\r$/d' <&7
  } 7<>"/dev/tcp/127.0.0.1/$web"
}

# query PROMQL
query() { ask "/api/v1/query?query=$(jq -rn --arg query "$1" '$query | @uri')"; }

is_ready() { [[ $(ask /-/ready 2>/dev/null) == *Ready* ]]; }
has_answer() { [ "$(ask "/api/v1/query?query=$1" | jq '.data.result | length')" -gt 0 ]; }

# scraped: a whole scrape begins from now on.
scraped() {
  local now=$EPOCHREALTIME
  wait_until 60 has_answer "timestamp(up)%3E$now" || fail "Prometheus scrapes" "nothing since $now"
}

# falls: for what a range query answered, on standard input, each series that fell, as "NAME: OLD NEW" of the first time. Only
# counters and what histograms are made of may not.
falls() {
  jq -r --slurpfile metadata metadata.json '
    $metadata[0].data as $types
    | .data.result[] | .metric.__name__ as $name
    | select(($types[$name] // $types[$name | sub("_(bucket|sum|count)$"; "")] // [{type: "none"}])[0].type | IN("counter", "histogram"))
    | [.values[][1] | tonumber] as $values
    | first(range(1; $values | length) | select($values[.] < $values[. - 1])) as $i
    | "\($name): \($values[$i - 1]) \($values[$i])"'
}

# --- the three of them ---

# On iWARP an empty queue is the end of the connection, so the pool holds all that comes.
start_rpmad '.pool = {slots: 1024, slot_size: 1024} | .receive = {target: 1024} | .connections = {max: 6}'
# Each connection to the exporter's port is the input and the output of a process of its own.
socat "TCP-LISTEN:$exporter,bind=127.0.0.1,reuseaddr,fork" "EXEC:$RPMACTL metrics --http,nofork" 2>socat.err &
background+=($!)
cat >prometheus.yml <<END
global:
  scrape_interval: ${SCRAPE:-2}s
  scrape_timeout: ${SCRAPE:-2}s
scrape_configs:
  - job_name: rpmad
    static_configs:
      - targets: ['127.0.0.1:$exporter']
END
"$PROMETHEUS" --config.file=prometheus.yml --storage.tsdb.path=tsdb --web.listen-address=127.0.0.1:$web --log.level=warn \
  >prometheus.log 2>&1 &
background+=($!)
if ! wait_until 120 is_ready; then
  fail "Prometheus starts"
  diag_file prometheus.log
  finish
fi
check "it scrapes rpmad" wait_until 60 has_answer up
scraped

# --- messages, and what may go wrong with them ---

check "first messages" "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 40 --max-len 1024 --seed 1 --manifest first.manifest
"$RPMACTL" poll -n 7 -w 10 --no-ack --lease 0.2 --json >leased.json
leased=$(jq '.completions | length' leased.json)
check_is "a consumer takes seven of them and forgets them" 7 "$leased"
check "they come back" "$RPMACTL" wait "recv.expired_total>=$leased" -t 30
scraped

start_follow received.json
# iWARP has no immediate data.
imm=--imm
[ "$RDMA_DEV" = rxe0 ] || imm=
"$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 3 --count 60 --max-len 1024 --seed 2 $imm --manifest imm.manifest >cm.out 2>&1 &
cm=$!
"$RPMA12_SEND" --addr "$RDMA_IP" --port $PORT --conns 2 --count 50 --max-len 1000 --seed 3 --manifest rpma.manifest >rpma.out 2>&1 &
rpma=$!
wait $cm
check_is "no errors at the plain librdmacm sender" 0 $?
wait $rpma
check_is "no errors at the librpma 1.2.0 sender" 0 $?
check "their connections end" "$RPMACTL" wait cm.conns==0 -t 30
check "a message longer than a slot is refused" "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 0 --too-long 1100
conns=7
if [ "$RDMA_DEV" = rxe0 ]; then
  # With one send at a time it dies between two; on iWARP the last one might not have arrived.
  { "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 90 --max-len 1024 --seed 4 --window 1 --kill-after 30 --manifest died.manifest; } 2>/dev/null
  check_is "a sender dies at work" 137 $?
  conns=$((conns + 1))
fi
check "all are gone" "$RPMACTL" wait cm.conns==0 -t 30
scraped

"$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 6 --count 20 --max-len 1024 --seed 5 --hold 600 --manifest held.manifest >held.out 2>&1 &
held=$!
background+=("$held")
check "another one has all connections that there may be" wait_until 60 has_lines held.manifest 120
conns=$((conns + 6))
refused=5
check "whoever comes now is refused" "$KNOCK" client "$RDMA_IP" $PORT reject $refused
kill -KILL $held
wait $held 2>/dev/null
check "it is killed, and gone" "$RPMACTL" wait cm.conns==0 -t 30
messages=$(cat ./*.manifest | wc -l)
stop_follow received.json "$messages"
if [ -n "$imm" ]; then
  mv imm.manifest imm.sent
  jq -c 'select(.imm == null)' received.json >without.json
  jq -c 'select(.imm != null)' received.json >with.json
  check "each message exactly once, with its content" "$VERIFY" without.json ./*.manifest
  check "those with immediate data, too" "$VERIFY" --imm with.json imm.sent
  mv imm.sent imm.manifest
else
  check "each message exactly once, with its content" "$VERIFY" received.json ./*.manifest
fi

# --- what Prometheus has of it ---

# Two, so that what was last counted for the first time has a rate.
scraped
scraped
ask /api/v1/metadata >metadata.json
query '{job="rpmad"}' | jq -r '.data.result[] | .metric.__name__ + "{" + (.metric | del(.__name__, .job, .instance) | to_entries
  | map("\(.key)=\(.value)") | join(",")) + "} " + .value[1]' | sed 's/{}//' >values
query '{job="rpmad"}[1h]' >ranges.json
jq -c '.data.result[] | select(.metric.__name__ == "up").values' ranges.json >up.json
check_json "each scrape was answered ($(jq length up.json) of them)" 'length > 5 and all(.[][1]; . == "1")' "$(cat up.json)"
check_json "and had the metrics" "map(select(.metric.__name__ == \"rpmad_recv_messages_total\").values | length) == [$(jq length up.json)]" \
  "$(jq -c .data.result ranges.json)"
diag "the longest took $(query 'max_over_time(scrape_duration_seconds[1h])' | jq -r '.data.result[0].value[1]') s"
check_json "what comes from rpmad has a type" '. == []' "$(jq -c --slurpfile metadata metadata.json '[.data.result[].metric.__name__
  | select(startswith("rpmad_")) | sub("_(bucket|sum|count)$"; "") | select($metadata[0].data[.] == null)]' ranges.json)"
counters=$(jq '[.data[][0] | select(.type == "counter" or .type == "histogram")] | length' metadata.json)
if [ "$counters" -gt 50 ]; then pass "$counters metrics only grow"; else fail "metrics that only grow" "$counters"; fi
check_is "none of their series ever fell" "" "$(falls <ranges.json)"
distinct=$(jq '.data.result[] | select(.metric.__name__ == "rpmad_recv_messages_total") | [.values[][1]] | unique | length' ranges.json)
if [ "$distinct" -ge 4 ]; then pass "messages were seen to grow"; else fail "messages were seen to grow" "$distinct values"; fi

# value METRIC WANTED NAME
value() { check_is "$3" "$2" "$(awk -v metric="$1" '$1 == metric { print $2 }' values)"; }
bytes=$(cat ./*.manifest | awk '{ sum += $3 } END { print sum }')
value rpmad_recv_messages_total "$messages" "as many messages as were sent"
value rpmad_recv_bytes_total "$bytes" "as many bytes"
imms=$(wc -l <imm.manifest)
[ -n "$imm" ] || imms=0
value rpmad_recv_imm_total "$imms" "as many with immediate data"
value rpmad_recv_size_bytes_count "$messages" "the histogram of sizes has them all"
value rpmad_recv_size_bytes_sum "$bytes" "with their bytes"
check_is "each of its buckets has those that fit" \
  "$(sed -n 's/^rpmad_recv_size_bytes_bucket{le=\([0-9]*\)} .*/\1/p' values | while read -r le; do
    cat ./*.manifest | awk -v le="$le" '$3 <= le { n++ } END { print le, n + 0 }'
  done | sort -n)" \
  "$(sed -n 's/^rpmad_recv_size_bytes_bucket{le=\([0-9]*\)} /\1 /p' values | sort -n)"
value rpmad_recv_acked_total "$messages" "all were acknowledged"
value rpmad_recv_hold_seconds_count "$messages" "and the time until then is known of each"
value rpmad_recv_queue_seconds_count "$messages" "as is that until the first delivery"
value rpmad_recv_expired_total "$leased" "leases that expired"
value rpmad_recv_redelivered_total "$leased" "messages that came again"
value rpmad_recv_polled_total $((messages + leased)) "deliveries"
value rpmad_recv_dropped_total 0 "nothing was dropped"
value 'rpmad_cm_rejected_total{reason=limit}' $refused "refused connections"
value rpmad_cm_requests_total $((conns + refused)) "connections that were asked for"
value rpmad_cm_accepted_total $conns "that were accepted"
value rpmad_cm_closed_total $conns "that ended"
value 'rpmad_cm_closes_total{reason=message_too_long}' 1 "one for a message that was too long"
value rpmad_cm_conns 0 "that are open"
value rpmad_pool_slots 1024 "slots"
check_is "each in one state" 1024 "$(awk '/^rpmad_slots\{/ { sum += $2 } END { print sum }' values)"
diag "$(grep -E '^rpmad_(recv_errors|cm_closes|port_)' values)"
if [ "$RDMA_DEV" = rxe0 ]; then
  # Which status it has is the driver's choice: LOC_QP_OP_ERR with soft-RoCE.
  check_is "the completion of the message that was too long is the only error" 1 \
    "$(awk '/^rpmad_recv_errors_total\{/ { sum += $2 } END { print sum + 0 }' values)"
  check "the port has its counters" grep -q "^rpmad_port_rnr_sent_total{device=$RDMA_DEV,port=1} " values
fi

"$RPMACTL" metrics >metrics
"$PROMTOOL" check metrics <metrics >promtool.out 2>&1
check_is "promtool has nothing to say of $(grep -c '^# TYPE' metrics) metrics" "0 " "$? $(cat promtool.out)"

# Every query of the dashboard has an answer, but where its metric is unknown here.
jq -r '.panels[].targets[]?.expr | gsub("\\$__rate_interval"; "1m") | gsub("\\$instance"; ".*")' \
  "$TOP_SRCDIR/contrib/grafana/rpmad.json" >queries
jq -rR @uri queries | while read -r query; do
  ask "/api/v1/query?query=$query"
  echo
done >answers
jq -rs --rawfile queries queries --rawfile values values '
  [$values | scan("rpmad_[a-z0-9_]+")] as $known
  | [., ($queries | split("\n")[:-1])] | transpose[] | .[0] as $answer | .[1] as $query
  | ([$query | scan("rpmad_[a-z0-9_]+")] - $known) as $unknown
  | if $answer.status != "success" then "\($answer.error): \($query)"
    elif ($answer.data.result | length) == 0 and $unknown == [] then "nothing: \($query)"
    else $unknown[] | "unknown: \(.)" end' answers | sort -u >answered
check_is "each query of the dashboard has an answer ($(wc -l <queries))" "" "$(grep -v '^unknown: ' answered)"
if [ "$RDMA_DEV" = rxe0 ]; then
  # Root has no limit of memory, and nothing was dropped or refused by the device here; tests/check_dashboard.sh has those.
  check_is "all other metrics of the dashboard are there" \
    "$(printf 'unknown: %s\n' rpmad_memory_memlock_limit_bytes rpmad_recv_drops_total rpmad_srq_post_errors_total)" "$(cat answered)"
else
  diag_file answered
fi

# --- a daemon that is gone, and a new one ---

check_stop
scraped
start_rpmad '.pool = {slots: 64}'
scraped
query 'rpmad_recv_messages_total[1h]' >ranges.json
check_is "a new daemon would have been noticed" "rpmad_recv_messages_total: $messages 0" "$(falls <ranges.json)"
check_json "and a missing one" 'any(.data.result[0].values[][1]; . == "0")' "$(query 'up[1h]')"
check_stop
diag_file socat.err
diag_file prometheus.log
finish
