# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The installed service under the guest's systemd: activation by the socket, its rights, restarts of all kinds that keep what
# was received, an upgrade, and what is left after the packages are gone. Takes the packages of scripts/build-packages.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

packages=$TOP_BUILDDIR/packages
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

# drain FILE: all messages, acknowledged.
drain() {
  local lines
  : >"$1"
  while lines=$("$RPMACTL" poll -n 500 --json 2>/dev/null) && [ "$(jq '.completions | length' <<<"$lines")" -gt 0 ]; do
    printf '%s\n' "$lines" >>"$1"
  done
}

# send COUNT MANIFEST [OPTION...]: of a foreign sender.
send() {
  local count=$1 manifest=$2
  shift 2
  "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count "$count" --max-len 2000 --manifest "$manifest" "$@"
}

# The end of the journal, when something went wrong.
trap '[ "$tests_failed" = 0 ] || diag "$(journal -n 40)"; clean_up' EXIT

# --- install, as an earlier version ---

check "the packages are installed" dpkg -i "$packages"/earlier/rpmad.deb
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
check "in the journal too" grep -q 'up to [0-9]* messages whose senders saw success may be lost' <(journal)

mkdir -p /run/systemd/system/rpmad.service.d
printf '[Service]\nWatchdogSec=3\n' >/run/systemd/system/rpmad.service.d/watchdog.conf
systemctl daemon-reload
systemctl restart rpmad.service
check "restarted, it runs" wait_until 15 rpmad_runs
check_is "with all messages" 200 "$(stat_of .slots.ready)"
check_is "of which none may be lost" 0 "$(stat_of .recv.maybe_lost_total)"
main=$(pid)
kill -STOP "$main"
check "stopped by a signal, it is ended by the watchdog and started again" wait_until 30 is_new "$main"
check_is "with all messages" 200 "$(stat_of .slots.ready)"
check "the watchdog did it" grep -q 'Watchdog timeout' <(journalctl -q -o cat _PID=1)
rm -r /run/systemd/system/rpmad.service.d
systemctl daemon-reload
systemctl restart rpmad.service

begin=$(now_ms)
for _ in 1 2 3 4 5 6 7 8 9 10; do
  main=$(pid)
  kill -KILL "$main" 2>/dev/null
  # As soon as there is another one, whatever it does at the moment.
  until main_now=$(pid) && [ "$main_now" != 0 ] && [ "$main_now" != "$main" ]; do sleep 0.02; done
done
diag "ten crashes took $(($(now_ms) - begin)) ms"
check "after ten crashes in a row it runs" wait_until 20 rpmad_runs
check_is "with all messages" 200 "$(stat_of .slots.ready)"
check_is "and the pool that it had" 0 "$("$RPMACTL" status --json | jq '[.warnings[] | select(test("set aside"))] | length')"

# --- an upgrade ---

check "a newer version is installed over it, and the library" dpkg -i "$packages"/rpmad_*.deb "$packages"/librpma0_*.deb "$packages"/librpma-dev_*.deb
check "it runs" wait_until 20 rpmad_runs
check_is "the messages have gone through the upgrade" 200 "$(stat_of .slots.ready)"
drain kept.json
check "byte for byte" "$VERIFY" kept.json kept.manifest
check_json "with the counts of their deliveries" '[.[].completions[].deliveries] | (map(select(. == 2)) | length) == 3 and (map(select(. == 1)) | length) == 197' \
  "$(jq -cs . kept.json)"
check_json "and their numbers" '[.[].completions[].seq] | . == (sort | unique) and length == 200' "$(jq -cs . kept.json)"

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
for words in 'daemon: version=' 'listening at' 'conn: refused peer=.* reason=' 'daemon: stopping' 'rpmad: stopped' 'are there again from before the start'; do
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

check "librpma0 is newer than the distribution's 1.2.0" dpkg --compare-versions "$(dpkg-deb -f "$packages"/librpma0_*.deb Version)" gt 1.2.0-1
check "a program is built with it, and runs" sh "$TOP_SRCDIR/debian/tests/library"

check "the tests of the package pass" sh "$TOP_SRCDIR/debian/tests/service"

# --- the units ---

check_is "systemd has nothing to say about the units" "" "$(systemd-analyze verify --man=no rpmad.service rpmad.socket rpmad@hall.service rpmad@hall.socket 2>&1)"
check "and rates the services 1.3 at the most" systemd-analyze security --no-pager --threshold=13 rpmad.service rpmad@hall.service

# --- the end ---

dpkg -L rpmad | grep rpma >files.list
check "the packages are removed" dpkg -r rpmad librpma-dev librpma0
check "nothing runs" test "$(systemctl is-active rpmad.service rpmad.socket | sort -u)" = inactive
check "the configuration is kept" test -e /etc/rpmad/rpmad.json
check "and purged" dpkg -P rpmad librpma-dev librpma0
userdel probe
ours >after.list
left() { comm -13 before.list after.list && while read -r file; do [ ! -e "$file" ] || echo "$file"; done <files.list; }
check_is "nothing is left behind" "" "$(left)"
check_is "but the user and the group" "rpmad rpmad" "$(id -un rpmad) $(id -gn rpmad)"
finish
