# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The installed service under the guest's systemd: activation by the socket, its rights, restarts of all kinds that keep what
# was received, an upgrade, of the service and of Debian's librpma, debug symbols, and what is left after the packages are
# gone. Takes the packages of scripts/build-packages, and those of Debian that tests/peers/build.sh has fetched.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

packages=$TOP_BUILDDIR/packages
debian=$TOP_BUILDDIR/tests/peers/debian
PEER=$TOP_BUILDDIR/tests/peers/rpma_peer
RPMACTL=/usr/bin/rpmactl
export RPMAD_SOCKET=/run/rpmad/rpmad.sock

# Containers forbid packages to start what they install; this is a whole system.
rm -f /usr/sbin/policy-rc.d
boot_no_more
# An index of all manuals takes minutes under emulation.
rm -f /var/lib/man-db/auto-update
# Files of ours where packages and daemons leave some; the whole system takes minutes to be searched.
ours() { find /etc /run /var/lib/systemd /var/lib/dpkg/info -xdev \( -path /run/scratch -o -path /run/log -o -path /run/udev \) -prune -o \
  -name '*rpma*' -print 2>/dev/null | sort; }
ours >before.list

pid() { systemctl show -P MainPID rpmad.service; }
journal() { journalctl -q -o cat -u rpmad.service "$@"; }
is_new() { local now; now=$(pid) && [ "$now" != 0 ] && [ "$now" != "$1" ] && rpmad_runs; }
ready_is() { [ "$(stat_of .slots.ready)" = "$1" ]; }

# setting JSON-FILTER: the installed configuration, changed.
setting() { jq "$1" /etc/rpmad/rpmad.json >"$DIR/new.json" && cat "$DIR/new.json" >/etc/rpmad/rpmad.json; }

# send COUNT MANIFEST [OPTION...]: of a foreign sender.
send() {
  local count=$1 manifest=$2
  shift 2
  "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count "$count" --max-len 2000 --manifest "$manifest" "$@"
}

# version_of PACKAGE, and without the part that is Debian's.
version_of() { dpkg-query -W -f '${Version}' "$1"; }
upstream_of() { local version; version=$(version_of "$1") && echo "${version%-*}"; }

# check_version NAME: the programs, and the daemon that runs, are of the version of the package that is installed.
check_version() {
  local version
  version=$(upstream_of rpmad)
  check_is "$1, programs and daemon are of version $version" "rpmad $version rpmactl $version $version" \
    "$(rpmad --version) $("$RPMACTL" --version) $("$RPMACTL" -t 60 status --json | jq -r .version)"
}

# library_of PROGRAM: the file of librpma that it is run with, and the version of the package that has it.
library_of() {
  local file
  file=$(ldd "$1" | sed -n 's/.*librpma\.so\.0 => \([^ ]*\).*/\1/p')
  echo "$file $(dpkg-query -W -f '${Version}' "$(dpkg -S "/usr${file#/usr}" | cut -d: -f1)")"
}

# talk NAME: what a server and a client with the installed librpma see goes to NAME.server and NAME.client.
talk() {
  local server statuses name=$1 scenarios="send srq-own-cq srq-conn-rcq read write flush private-data"
  # shellcheck disable=SC2086 # words
  {
    "$PEER" server "$RDMA_IP" $((PORT + 2)) $scenarios >"$name.server" 2>&1 &
    server=$!
    background+=("$server")
    wait_until 20 grep -q listening "$name.server"
    "$PEER" client "$RDMA_IP" $((PORT + 2)) $scenarios >"$name.client" 2>&1
  }
  statuses=$?
  wait "$server"
  check_is "$name: a program that was linked with Debian's librpma plays all scenarios" "0 0 7 7" \
    "$statuses $? $(grep -c 'is done$' "$name.server") $(grep -c 'is done$' "$name.client")"
}

build_id() { readelf -n "$1" 2>/dev/null | sed -n 's/^ *Build ID: //p'; }

# check_symbols FILE PACKAGE FUNCTION: the debug symbols of that package are those of the installed file, and lead to its source.
check_symbols() {
  local id debug line
  id=$(build_id "$1") debug=/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
  check_is "$1 has debug symbols of its own build, in $2" "$id $2" "$(build_id "$debug") $(dpkg -S "$debug" | cut -d: -f1)"
  line=$(addr2line -e "$debug" "0x$(nm "$debug" | awk -v name="$3" '$3 == name { print $1 }')" | sed 's|^\./||')
  check_is "by which $3() is found in the source, at $line" "$3(" \
    "$(head -n "$((${line#*:}))" "$TOP_SRCDIR/${line%:*}" | tail -n 5 | grep -o "^$3(")"
}

# The end of the journal, when something went wrong.
trap '[ "$tests_failed" = 0 ] || diag "$(journal -n 40)"; clean_up' EXIT

# --- install, as an earlier version, beside Debian's librpma ---

check "the packages are installed" dpkg -i "$packages"/earlier/rpmad.deb "$debian"/librpma0_*.deb "$debian"/librpma-dev_*.deb
check_is "there is a user for it" rpmad "$(id -un rpmad 2>&1)"
check_is "the folder of its socket is its own" "750 rpmad rpmad" "$(stat -c '%a %U %G' /run/rpmad)"
check_is "the service is enabled" "enabled enabled" "$(systemctl is-enabled rpmad.service rpmad.socket 2>&1 | paste -sd " ")"
# In place of libraries of this build, those of the system.
check "the installed configuration is good" rpmad --check /etc/rpmad/rpmad.json
systemctl stop rpmad.service rpmad.socket
setting '.listen = ["'"$RDMA_IP:$PORT"'"] | .pool.slots = 32000 | .log.level = "info"'
useradd -M -N -G rpmad probe
as_user() { setpriv --reuid probe --regid "$(id -g probe)" --init-groups "$@"; }

# --- activation ---

for round in first second; do
  systemctl start rpmad.socket
  check_is "$round: nothing runs before a client comes" 0 "$(pid)"
  check "$round: a user of the group gets the state" as_user "$RPMACTL" -t 60 status
  main=$(pid)
  check "$round: a daemon was started for that" test "$main" != 0
  check "$round: it listens" wait_until 15 rpmad_runs
  check_is "$round: it runs as its own user and group" "$(id -u rpmad) $(id -g rpmad)" \
    "$(awk '/^Uid:/ { u = $2 == $3 && $3 == $4 ? $2 : "mixed" } /^Gid:/ { g = $2 } END { print u, g }' "/proc/$main/status")"
  check_is "$round: without capabilities, now and for ever" "0 0 0 0 0 1" \
    "$(awk '/^Cap(Inh|Prm|Eff|Bnd|Amb):/ { sub(/^0+/, "", $2); printf "%s ", $2 == "" ? 0 : $2 } /^NoNewPrivs:/ { print $2 }' "/proc/$main/status")"
  check "$round: a foreign sender is served" send 50 "act.$round" --seed "${#round}"
  drain "act.$round.json"
  check "$round: its messages are right" "$VERIFY" "act.$round.json" "act.$round"
  if [ $round = first ]; then
    systemctl stop rpmad.service
    # Who is denied is told why.
    setpriv --reuid nobody --regid nogroup --clear-groups "$RPMACTL" status >denied 2>&1
    check_is "a stranger is denied" 5 $?
  fi
done
check "the socket's unit is still there" systemctl is-active rpmad.socket
check_version "before the upgrade"

# --- 200 messages through everything ---

check "200 messages are sent" send 200 kept.manifest
check "they wait" wait_until 10 ready_is 200
"$RPMACTL" poll -n 3 --no-ack --lease 600 --json >leased.json
check_is "three of them are leased" 3 "$(stat_of .slots.leased)"
main=$(pid)
kill -KILL "$main"
check "killed, it is started again" wait_until 15 is_new "$main"
check_is "all are there, those that were leased too" 200 "$(stat_of .slots.ready)"
check_json "at most the receives that were posted may be lost, and that is said" \
  '[.warnings[] | select(test("up to [0-9]+ messages"))] | length == 1' "$("$RPMACTL" status --json)"
check "in the journal too" grep -q 'up to [0-9]* messages* whose sender saw success may be lost' <(journal)

# The shipped limit is too long for a test; with another one the way is the same.
check_is "the unit has a watchdog, which the daemon is told of and feeds" "30s WATCHDOG_USEC=30000000 fed" \
  "$(systemctl show -P WatchdogUSec rpmad.service) $(tr '\0' '\n' <"/proc/$(pid)/environ" | grep ^WATCHDOG_USEC=) $(
    [ "$(systemctl show -P WatchdogTimestampMonotonic rpmad.service)" -gt 0 ] && echo fed)"
mkdir -p /run/systemd/system/rpmad.service.d
printf '[Service]\nWatchdogSec=3\n' >/run/systemd/system/rpmad.service.d/watchdog.conf
systemctl daemon-reload
systemctl restart rpmad.service
check "restarted, it runs" wait_until 15 rpmad_runs
check_is "with all messages" 200 "$(stat_of .slots.ready)"
check_is "of which none may be lost" 0 "$(stat_of .recv.maybe_lost_total)"
main=$(pid)
lives_on() { [ $(($(systemctl show -P WatchdogTimestampMonotonic rpmad.service) - $(systemctl show -P ActiveEnterTimestampMonotonic rpmad.service))) -gt 3000000 ]; }
check "it is fed, and so outlives its limit" wait_until 30 lives_on
check_is "as the same process" "$main" "$(pid)"
kill -STOP "$main"
check "stopped by a signal, it is ended by the watchdog and started again" wait_until 30 is_new "$main"
check_is "with all messages" 200 "$(stat_of .slots.ready)"
check "the watchdog did it" grep -q 'rpmad.service: Watchdog timeout (limit 3s)!' <(journalctl -q -o cat _PID=1)
rm -r /run/systemd/system/rpmad.service.d
systemctl daemon-reload
systemctl restart rpmad.service

# next_main PID: waits for the daemon that follows that one, the program itself, whatever it does at the moment, and leaves its
# number in main. Nothing is started for that, which would take most of the time.
mkfifo tick
exec 8<>tick
next_main() {
  local name end=$((SECONDS + 60))
  until read -r main <"$procs" && [ "$main" != "$1" ] && read -r name <"/proc/$main/comm" && [ "$name" = rpmad ]; do
    [ $SECONDS -lt $end ] || return 1
    read -r -t 0.01 -u 8
  done 2>/dev/null
  return 0
}
restarts() { systemctl show -P NRestarts rpmad.service; }
procs=/sys/fs/cgroup$(systemctl show -P ControlGroup rpmad.service)/cgroup.procs
main=$(pid) before=$(restarts) begin=$(now_ms)
for _ in 1 2 3 4 5 6 7 8 9 10; do
  kill -KILL "$main"
  next_main "$main" || break
done
took=$(($(now_ms) - begin))
exec 8<&-
check "after ten crashes in a row, which took $took ms here, it runs" wait_until 20 rpmad_runs
check_is "systemd has counted them, and has no limit of its own, be they quicker" "10 0" \
  "$(($(restarts) - before)) $(systemctl show -P StartLimitIntervalUSec rpmad.service)"
check_is "with all messages" 200 "$(stat_of .slots.ready)"
check_is "and the pool that it had" 0 "$("$RPMACTL" status --json | jq '[.warnings[] | select(test("set aside"))] | length')"

# --- an upgrade ---

check_is "the program runs with Debian's library" 1.2.0-1 "$(library_of "$PEER" | cut -d' ' -f2)"
talk before
dpkg -L librpma0 librpma-dev | grep rpma >debian.list
earlier=$(version_of rpmad) main=$(pid)
check "newer versions are installed, over the service and over Debian's librpma" dpkg -i "$packages"/rpmad_*.deb "$packages"/librpma0_*.deb \
  "$packages"/librpma-dev_*.deb "$packages"/librpmac0_*.deb "$packages"/librpmac-dev_*.deb "$packages"/rpmad-dbgsym_*.deb "$packages"/librpma0-dbgsym_*.deb
check "the service's version is above the other one's" dpkg --compare-versions "$(version_of rpmad)" gt "$earlier"
check "it runs, as a new process" wait_until 20 is_new "$main"
check_version "after the upgrade"
check_is "the messages have gone through the upgrade" 200 "$(stat_of .slots.ready)"
drain kept.json
check "byte for byte" "$VERIFY" kept.json kept.manifest
check_json "with the counts of their deliveries" '[.[].completions[].deliveries] | (map(select(. == 2)) | length) == 3 and (map(select(. == 1)) | length) == 197' \
  "$(jq -cs . kept.json)"
check_json "and their numbers" '[.[].completions[].seq] | . == (sort | unique) and length == 200' "$(jq -cs . kept.json)"

# --- Debian's librpma, upgraded, and debug symbols ---

check_is "librpma0 and librpma-dev have replaced Debian's" "$(version_of rpmad) $(version_of rpmad)" "$(version_of librpma0) $(version_of librpma-dev)"
check "and are as they were packed" dpkg -V librpma0 librpma-dev
dpkg -L librpma0 librpma-dev | sort >ours.list
check_is "no file of Debian's is left that is not one of theirs" "" \
  "$(sort debian.list | comm -23 - ours.list | while read -r file; do [ ! -e "$file" ] || echo "$file"; done)"
check_is "the same program runs with ours" "$(version_of rpmad)" "$(library_of "$PEER" | cut -d' ' -f2)"
talk after
check_is "and both ends see what they saw before" "" "$(diff before.server after.server; diff before.client after.client)"
check_symbols /usr/sbin/rpmad rpmad-dbgsym main
check_symbols /usr/bin/rpmactl rpmad-dbgsym main
check_symbols "$(realpath "$(library_of "$PEER" | cut -d' ' -f1)")" librpma0-dbgsym rpma_srq_recv

# --- restarts under load ---

# Each restart comes while messages come: after the first hundreds, and long before the pool is full.
seed=10 sent=0
while [ "$sent" -lt 5000 ] || [ $seed -lt 12 ]; do
  seed=$((seed + 1))
  "$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 2 --flood --max-len 100 --seed $seed --manifest "load.$seed" >"load.$seed.out" 2>&1 &
  flood=$!
  background+=("$flood")
  wait_until 20 stats_say '.recv.messages_total > 300'
  systemctl restart rpmad.service
  wait $flood
  wait_until 15 rpmad_runs
  count=$(wc -l <"load.$seed")
  sent=$((sent + count))
  [ "$count" -lt 32000 ] || fail "the pool was full before the restart"
  drain "load.$seed.json"
  check "restart $((seed - 10)) under load: of $count messages with success at the sender all are there" \
    "$VERIFY" --extra "load.$seed.json" "load.$seed"
  [ $seed -lt 20 ] || break
done
check_below "5000 messages were sent through restarts" "$sent" 4999
check_conserved

# --- a pool with which it crashes each time ---

send 5 crash.manifest >/dev/null 2>&1
check "five messages wait" wait_until 10 ready_is 5
# The first may be that of a process which had run for long.
for crash in 1 2 3 4; do
  main=$(pid)
  kill -SEGV "$main"
  check "crash $crash: it is started again" wait_until 20 is_new "$main"
done
check_is "after three crashes in a row its pool is new" 0 "$(stat_of .slots.ready)"
check_json "and status names the one that was set aside" '[.warnings[] | select(test("an earlier pool is set aside as .*crash"))] | length == 1' \
  "$("$RPMACTL" status --json)"
check "it receives with the new one" send 1 one.manifest
check "and polls" wait_until 10 ready_is 1
drain one.json

# --- what is refused, and the journal ---

setting '.connections.allow = ["192.0.2.0/24"]'
systemctl restart rpmad.service
wait_until 15 rpmad_runs
send 1 refused.manifest >/dev/null 2>&1
journal >journal.txt
for words in 'daemon: version=' 'listener: [0-9][0-9]*: listening at' 'conn: refused peer=.* reason=' \
  'conn: [0-9][0-9]*: established peer=.* qp=[0-9]' 'conn: [0-9][0-9]*: closed peer=.* reason=peer' 'daemon: stopping' 'rpmad: stopped' 'are there again from before the start'; do
  check "the journal has \"$words\"" grep -q "$words" journal.txt
done
send 5 left.manifest >/dev/null 2>&1
setting '.connections.allow = []'
systemctl restart rpmad.service
wait_until 15 rpmad_runs
send 5 left.manifest >/dev/null 2>&1
check "five messages wait" wait_until 10 ready_is 5
systemctl stop rpmad.service
check "a stop says how many messages it costs" grep -q 'messages=5 were not acknowledged and end with the service' <(journal)
printf '{' >/etc/rpmad/rpmad.json
systemctl start rpmad.service 2>/dev/null
check "a broken configuration is not tried again" wait_until 10 systemctl -q is-failed rpmad.service
check "and the journal says what is wrong with it" grep -q 'rpmad.json' <(journal -n 5)
printf '{}' >/etc/rpmad/rpmad.json
systemctl start rpmad.service

# --- the library ---

check "a program is built with it, and runs" sh "$TOP_SRCDIR/debian/tests/library"

check "the tests of the package pass" sh "$TOP_SRCDIR/debian/tests/service"

# --- one instance for each device ---

"$RPMACTL" -t 60 status >/dev/null
main=$(pid)
jq -n --arg listen "$RDMA_IP:$((PORT + 1))" '{listen: [$listen], pool: {slots: 64}}' >/etc/rpmad/hall.json
systemctl start rpmad@hall.socket
check "an instance starts by its own socket" env -u RPMAD_SOCKET "$RPMACTL" -i hall -t 60 status
check "it listens where its own configuration says" wait_until 15 env -u RPMAD_SOCKET "$RPMACTL" -i hall wait 'slots.posted>=1' -t 5
check "and receives there" "$CM_SEND" --addr "$RDMA_IP" --port $((PORT + 1)) --count 3
check_is "what is its own" 3 "$(env -u RPMAD_SOCKET "$RPMACTL" -i hall poll -n 10 --json | jq '.completions | length')"
check "the other one runs on" test "$main" != 0 -a "$main" = "$(pid)"
systemctl stop rpmad@hall.service rpmad@hall.socket
rm /etc/rpmad/hall.json

# --- the units ---

check_is "systemd has nothing to say about the units" "" "$(systemd-analyze verify --man=no rpmad.service rpmad.socket rpmad@hall.service rpmad@hall.socket 2>&1)"
check "and rates the services 1.3 at the most" systemd-analyze security --no-pager --threshold=13 rpmad.service rpmad@hall.service

# --- the end ---

dpkg -L rpmad rpmad-dbgsym librpma0 librpma0-dbgsym librpma-dev librpmac0 librpmac-dev | grep rpma | sort -u - debian.list >files.list
check "the packages are removed" dpkg -r rpmad rpmad-dbgsym librpma-dev librpma0 librpma0-dbgsym librpmac-dev librpmac0
check "nothing runs" test "$(systemctl is-active rpmad.service rpmad.socket | sort -u)" = inactive
check "the configuration is kept" test -e /etc/rpmad/rpmad.json
check "and purged" dpkg -P rpmad librpma-dev librpma0 librpmac-dev librpmac0
userdel probe
ours >after.list
left() { comm -13 before.list after.list && while read -r file; do [ ! -e "$file" ] || echo "$file"; done <files.list; }
check_is "nothing is left behind" "" "$(left)"
check_is "but the user and the group" "rpmad rpmad" "$(id -un rpmad) $(id -gn rpmad)"
finish
