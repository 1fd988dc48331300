# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What the guest's tests share. They print TAP, start from nothing, and leave nothing running. Starting a process takes the
# guest some 30 ms, so loops over messages belong in programs.

set -u
# shellcheck disable=SC2034 # for the scripts
{
  RPMAD=$TOP_BUILDDIR/rpmad
  RPMACTL=$TOP_BUILDDIR/rpmactl
  CM_SEND=$TOP_BUILDDIR/tests/peers/cm_send
  RPMA12_SEND=$TOP_BUILDDIR/tests/peers/rpma12_send
  VERIFY=$TOP_BUILDDIR/tests/peers/verify
  PORT=7471
}
DIR=$(mktemp -d)
export RPMAD_SOCKET=$DIR/rpmad.sock
RPMAD_PID=
rpmad_status=
rpmad_stop_ms=

cd "$DIR" || exit 1
tests_run=0
tests_failed=0

# --- TAP ---

diag() { printf '%s\n' "$*" | sed 's/^/# /'; }

# The log's end, when something went wrong.
diag_file() {
  [ -s "$1" ] || return 0
  diag "-- $1"
  tail -n "${2:-20}" "$1" | cut -c1-400 | sed 's/^/#   /'
}

pass() {
  tests_run=$((tests_run + 1))
  printf 'ok %d - %s\n' "$tests_run" "$1"
}

fail() {
  tests_run=$((tests_run + 1))
  tests_failed=$((tests_failed + 1))
  printf 'not ok %d - %s\n' "$tests_run" "$1"
  shift
  [ $# -eq 0 ] || diag "$@"
}

skip() {
  tests_run=$((tests_run + 1))
  printf 'ok %d - %s # SKIP %s\n' "$tests_run" "$1" "$2"
}

# check NAME COMMAND...: the command succeeds; what it said comes with a failure.
check() {
  local name=$1 out
  shift
  if out=$("$@" 2>&1); then
    pass "$name"
  else
    fail "$name" "status $? of: $*" "$(head -n 40 <<<"$out")"
    diag_file "$DIR/rpmad.log"
  fi
}

# check_is NAME WANTED GOT
check_is() {
  if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "wanted: $2" "got:    $3" && diag_file "$DIR/rpmad.log"; fi
}

# check_json NAME FILTER JSON: the filter's result is true.
check_json() {
  if [ "$(jq -r "$2" <<<"$3" 2>&1)" = true ]; then
    pass "$1"
  else
    fail "$1" "wanted: $2" "got:    ${3:0:600}"
    diag_file "$DIR/rpmad.log"
  fi
}

# At the end of every script.
finish() {
  kernel_is_sound
  printf '1..%d\n' "$tests_run"
  [ "$tests_failed" = 0 ]
  exit
}

kernel_is_sound() {
  local words
  words=$(dmesg | grep -E 'BUG:|Oops|WARNING:|general protection|use-after-free|blocked for more than' | head -n 5)
  check_is "the kernel has nothing to complain about" "" "$words"
}

# --- rpmad ---

# write_config [FILTER]: the configuration of the tests, changed by a jq filter.
write_config() {
  jq -n --arg listen "$RDMA_IP:$PORT" --arg socket "$RPMAD_SOCKET" \
    '{listen: [$listen], control: {socket: $socket}, log: {level: "info"}} | '"${1:-.}" >"$DIR/rpmad.json"
}

# start_rpmad [FILTER]: returns when it listens.
start_rpmad() {
  write_config "${1:-.}"
  "$RPMAD" -c "$DIR/rpmad.json" >>"$DIR/rpmad.log" 2>&1 &
  RPMAD_PID=$!
  if ! wait_until 15 rpmad_runs; then
    fail "rpmad starts" "$("$RPMACTL" status 2>&1)"
    diag_file "$DIR/rpmad.log" 40
    finish
  fi
}

rpmad_runs() { [ "$("$RPMACTL" status --json 2>/dev/null | jq -r .state)" = running ]; }

# stop_rpmad: by SIGTERM; its exit status is left in $rpmad_status, the time it took in $rpmad_stop_ms.
stop_rpmad() {
  local begin
  [ -n "$RPMAD_PID" ] || return 0
  begin=$(now_ms)
  kill -TERM "$RPMAD_PID" 2>/dev/null
  if ! wait_until 15 is_gone "$RPMAD_PID"; then
    diag "rpmad does not end"
    kill -KILL "$RPMAD_PID"
  fi
  wait "$RPMAD_PID"
  rpmad_status=$?
  rpmad_stop_ms=$(($(now_ms) - begin))
  RPMAD_PID=
}

check_stop() {
  stop_rpmad
  check_is "rpmad ends in order" 0 "$rpmad_status"
  check_below "it ends within 5 s" 5000 "$rpmad_stop_ms"
}

# A zombie is gone too.
is_gone() {
  local state
  state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null)
  [ -z "$state" ] || [ "$state" = Z ]
}

background=()
# shellcheck disable=SC2317 # called by the trap
clean_up() {
  local pid
  for pid in ${background[@]+"${background[@]}"} $RPMAD_PID; do kill -KILL "$pid" 2>/dev/null; done
  wait 2>/dev/null
  cd / && rm -rf "$DIR"
}
trap clean_up EXIT

# --- time ---

now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }

# wait_until SECONDS COMMAND...
wait_until() {
  local end=$(($(now_ms) + $1 * 1000))
  shift
  until "$@"; do
    [ "$(now_ms)" -lt "$end" ] || return 1
    sleep 0.1
  done
}

# check_below NAME LIMIT VALUE
check_below() {
  if [ "$3" -lt "$2" ]; then pass "$1"; else fail "$1" "$3 is not below $2"; fi
}

# --- asking ---

# rpc METHOD [PARAMS]: the whole reply, on a connection of its own.
rpc() {
  printf '{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}\n' "$1" "${2:-{\}}" |
    socat -t 30 - "UNIX-CONNECT:$RPMAD_SOCKET"
}

# stat_of FILTER: one value of stats.get.
stat_of() { "$RPMACTL" stats --json | jq -r "$1"; }

# stats_say FILTER: it is true of stats.get.
stats_say() { [ "$(stat_of "$1")" = true ]; }

# has_lines FILE COUNT: at least so many.
has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }

# Of a reply that has no slots it is not true either.
conserved='.slots | .total > 0 and .free + .posted + .ready + .leased == .total'
check_conserved() {
  check_json "each slot is in exactly one state" "$conserved" "$("$RPMACTL" stats --json)"
}

# The same, several times a second while something runs, over one connection.
start_sampler() {
  mkfifo "$DIR/tick"
  exec 9<>"$DIR/tick"
  (
    while :; do
      echo '{"jsonrpc":"2.0","id":1,"method":"stats.get"}' 2>/dev/null || exit
      read -r -t 0.2 -u 9
    done
  ) | socat - "UNIX-CONNECT:$RPMAD_SOCKET" >"$DIR/samples.json" 2>"$DIR/sampler.err" &
  sampler=$!
  background+=("$sampler")
}

check_sampler() {
  kill "$sampler" 2>/dev/null
  wait "$sampler" 2>/dev/null
  exec 9<&-
  rm -f "$DIR/tick"
  # The last line may be cut.
  sed -i '$d' "$DIR/samples.json"
  check_json "each slot was in exactly one state throughout ($(wc -l <"$DIR/samples.json") samples)" \
    'length > 3 and all(.[]; .result | '"$conserved"')' "$(jq -c '{result: {slots: .result.slots}}' "$DIR/samples.json" | jq -sc .)"
}

# --- receiving ---

# start_follow FILE: everything that arrives, as lines of JSON.
start_follow() {
  "$RPMACTL" poll --follow --json >"$1" 2>"$DIR/follow.err" &
  follow=$!
  background+=("$follow")
}

# stop_follow FILE COUNT [SECONDS]: after so many lines, or when none came for so long.
stop_follow() {
  local lines=-1 last=0 still=0
  while [ "$still" -lt "${3:-10}" ]; do
    lines=$(wc -l <"$1")
    [ "$lines" -lt "$2" ] || break
    if [ "$lines" = "$last" ]; then still=$((still + 1)); else still=0; fi
    last=$lines
    sleep 1
  done
  # One that should not come would come now.
  sleep 0.5
  kill -TERM "$follow" 2>/dev/null
  wait_until 20 is_gone "$follow" || kill -KILL "$follow"
  wait "$follow" 2>/dev/null
}

# drain FILE: all messages that are there, acknowledged.
drain() {
  local lines
  : >"$1"
  while lines=$("$RPMACTL" poll -n 500 --json 2>/dev/null) && [ "$(jq '.completions | length' <<<"$lines")" -gt 0 ]; do
    printf '%s\n' "$lines" >>"$1"
  done
}

# ended FILE: a line "CONN REASON MESSAGES" of each connection of which the log FILE says that it ended. The log needs the level info.
ended() { sed -n 's/.* \([0-9]*\): closed peer=.* reason=\([^ ]*\) messages=\([0-9]*\)$/\1 \2 \3/p' "$1" | sort -n; }

# unread_closes: TCP connections that were closed with data unread (linux, Documentation/networking/snmp_counter.rst:
# TcpExtTCPAbortOnClose). soft-iWARP closes its end when the peer does, also with a message in it that it has not read yet.
unread_closes() { nstat -asz TcpExtTCPAbortOnClose | sed -n 's/^TcpExtTCPAbortOnClose *\([0-9]*\).*/\1/p'; }

# --- the installed service ---

# Services wait for the boot, which this guest has not had: of that only what takes no time is done. To clear /tmp, as a boot
# does, would be to remove what the tests run from.
boot_no_more() {
  local unit
  for unit in systemd-tmpfiles-setup systemd-tmpfiles-clean systemd-sysusers systemd-journal-flush systemd-random-seed \
    systemd-update-utmp systemd-machine-id-commit systemd-binfmt systemd-hwdb-update ldconfig systemd-udev-trigger \
    systemd-udev-settle systemd-firstboot keyboard-setup console-setup apparmor; do
    systemctl -q mask --runtime "$unit.service" 2>/dev/null
  done
  systemctl -q mask --runtime tmp.mount 2>/dev/null
  check "systemd says that the machine has booted" timeout 60 systemctl start basic.target
}

# since_ms UNIT: when it became active, since the kernel began.
since_ms() { echo $(($(systemctl show -P ActiveEnterTimestampMonotonic "$1") / 1000)); }

# check_boot: this machine has booted, and that has started the service, which its package had enabled.
check_boot() {
  local manager service boot tests
  manager=$(($(systemctl show -P UserspaceTimestampMonotonic) / 1000))
  service=$(since_ms rpmad.service) boot=$(since_ms multi-user.target) tests=$(since_ms rpmad-guest.service)
  check_is "the machine has booted" active "$(systemctl is-active multi-user.target)"
  has_started() { journalctl -q -b -o cat _PID=1 | grep -q '^Startup finished in '; }
  check "as systemd says, too" wait_until 60 has_started
  check_is "the service is active" active "$(systemctl is-active rpmad.service)"
  check_is "as its package had it enabled" "enabled enabled" "$(systemctl is-enabled rpmad.service rpmad.socket | paste -sd " ")"
  check "since before the boot was over, and that before the tests began: $service, $boot, $tests ms, systemd since $manager" \
    test "$service" -gt 0 -a "$service" -le "$boot" -a "$boot" -le "$tests"
  check_is "the journal of this boot has its one start" "1 1" \
    "$(journalctl -q -b -o cat -u rpmad.service | awk '/^Starting rpmad.service/ { starting++ } /^Started rpmad.service/ { started++ } END { print starting, started }')"
  check "its socket answers" "$RPMACTL" -t 10 status
}

# --- two nodes ---

# meet NAME [SECONDS]: both nodes have come to here. Tests run one after the other in the same guests, and each has names of its own.
meet() {
  local place=$OUT/.vm/${0##*/}.$1
  : >"$place.$NODE"
  wait_until "${2:-120}" test -e "$place.$PEER_NODE"
}
