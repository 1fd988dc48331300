#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# compare.sh PAIRS COUNT: rpmad beside a bare verbs loop and beside the shared receive queue of Debian's librpma 1.2.0, over the
# device with the address RDMA_IP; called by scripts/bench. All of them run all the time, one at a time has work, and who is first
# changes. Each figure is the median of the ratios of PAIRS pairs. COUNT messages are measured at a time. What was measured stays
# in $OUT/bench.raw, a line "PAIR WHAT LEN CONNS WHO VALUES...".
set -euo pipefail
pairs=$1 count=$2
bench=$TOP_BUILDDIR/tests/bench
rpmactl=$TOP_BUILDDIR/rpmactl
slots=2048
slot_size=4096
port=${PORT:-7481}
declare -A server consumer at

# fail TEXT: with what the processes said.
fail() {
  printf 'bench: %s\n' "$1" >&2
  tail -n 5 "$dir"/*.err >&2
  exit 1
}

dir=$(mktemp -d)
children=()
# shellcheck disable=SC2317 # called by the trap
clean_up() {
  [ ${#children[@]} = 0 ] || kill "${children[@]}" 2>/dev/null || true
  wait
  rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

# wait_line NAME: of what it prints when it is ready.
wait_line() {
  for _ in $(seq 200); do
    [ ! -s "$dir/$1.out" ] || return 0
    sleep 0.1
  done
  fail "$1 does not start"
}

# start NAME COMMAND...
start() {
  local name=$1
  shift
  "$@" >"$dir/$name.out" 2>"$dir/$name.err" &
  children+=($!)
}

# start_server WHO PROGRAM: one with a consumer of its own.
start_server() {
  local who=$1
  port=$((port + 1))
  at[$who]=$port
  start "$who" "$2" "$RDMA_IP" "$port" $slots $slot_size "$dir/$who.meter"
  wait_line "$who"
  read -r _ "server[$who]" "consumer[$who]" <"$dir/$who.out"
}

# start_rpmad WHO CONSUMER: a daemon with that consumer.
start_rpmad() {
  local who=$1
  port=$((port + 1))
  at[$who]=$port
  cat >"$dir/$who.json" <<END
{"listen": ["$RDMA_IP:$port"], "control": {"socket": "$dir/$who.sock"}, "receive": {"target": $slots},
 "pool": {"slots": $slots, "slot_size": $slot_size, "share": true}, "connections": {"max": 1024}}
END
  start "$who" "$TOP_BUILDDIR/rpmad" -c "$dir/$who.json"
  server[$who]=$!
  "$rpmactl" -s "$dir/$who.sock" --wait-daemon 20 status >"$dir/$who.status" || fail "rpmad does not start"
  start "$who-consumer" "$2" "$dir/$who.sock" "$dir/$who.meter"
  wait_line "$who-consumer"
  consumer[$who]=$!
}

# flood MODE WHO CONNS [LEN COUNT]
flood() {
  local mode=$1 who=$2
  shift 2
  timeout 300 "$bench/flood" "$mode" "$RDMA_IP" "${at[$who]}" "$dir/$who.meter" "${server[$who]}" "${consumer[$who]}" "$@" \
    2>"$dir/flood.err" || fail "$mode $who $*"
}

# note PAIR WHAT LEN CONNS WHO VALUES
note() { echo "$*" >>"$OUT/bench.raw"; }

# in_turn PAIR WHO...: who is first changes.
in_turn() {
  local pair=$1 n
  shift
  n=$(((pair - 1) % $#))
  echo "${@:n+1}" "${@:1:n}"
}

# rates PAIR LEN CONNS
rates() {
  local who json='' some figures
  [ "$3" != 4 ] || json=json
  for who in $(in_turn "$1" $servers $json); do
    # What takes messages as JSON takes its time.
    some=$count
    [ "$who" != json ] || some=$((count / 4))
    figures=$(flood rate "$who" "$3" "$2" $some)
    note "$1" rate "$2" "$3" "$who" "$figures"
  done
}

pair_of() {
  local who conns figures
  for conns in 1 4 64; do
    rates "$1" 64 "$conns"
    rates "$1" 4096 "$conns"
  done
  for who in $(in_turn "$1" $servers); do
    figures=$(flood trip "$who" 1 64 $((count / 20)))
    note "$1" trip 64 1 "$who" "$figures"
  done
  figures=$("$bench/control" echo 500 "$dir/rpmad.sock")
  note "$1" control 0 0 rpmad "$figures"
}

rm -f "$OUT/bench.raw"
ulimit -n 8192 2>/dev/null || true
start_server bare "$bench/serve_verbs"
servers="rpmad bare"
if [ -x "$bench/serve_rpma" ]; then
  start_server librpma "$bench/serve_rpma"
  servers+=" librpma"
fi
start_rpmad rpmad "$bench/take"
start_rpmad json "$bench/take_json"
for who in $servers; do
  figures=$(flood room $who 500)
  read -r one hundred all <<<"$figures"
  note 1 room 0 1 $who "$one"
  note 1 room 0 100 $who "$hundred"
  note 1 room 0 500 $who "$all"
done
for pair in $(seq "$pairs"); do
  pair_of "$pair"
  echo "# pair $pair of $pairs: $SECONDS s" >&2
done
note 1 rnr 0 0 rpmad "$("$rpmactl" -s "$dir/rpmad.sock" stats --json | tr -d ' \n' | sed 's/.*"times_empty_total":\([0-9]*\).*/\1/')"
