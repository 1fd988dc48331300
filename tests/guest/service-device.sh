# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A machine that has booted with the service enabled, as it is shipped, and without an RDMA device, which comes later; settings
# that change; metrics. Run by tests/vm/run --without device --before tests/guest/before-boot.sh.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

RPMACTL=/usr/bin/rpmactl
export RPMAD_SOCKET=/run/rpmad/rpmad.sock
waits_for_device() { [ "$(state)" = waiting_for_device ]; }
state() { "$RPMACTL" status --json 2>/dev/null | jq -r .state; }

# --- no device ---

check_is "there is no RDMA device" "" "$(rdma link)"
check_boot
check_is "it waits for a device" waiting_for_device "$(state)"
check "which the manager is told" grep -q 'waiting_for_device' <(systemctl show -P StatusText rpmad.service)
"$RPMACTL" doctor >doctor.out 2>&1
check_is "doctor says that all is not well" 1 $?
check "and what is wrong" grep -q '^problem *device *there is no RDMA device' doctor.out
# The first device makes udev start what a machine with RDMA has, which takes a busy guest a while: then once more.
for round in 1 2 3; do
  rdma link add "$RDMA_DEV" type "${RDMA_DEV%0}" netdev "$RDMA_NETDEV"
  came=$(date +%s.%N)
  wait_until 20 rpmad_runs
  open=$("$RPMACTL" events --json | jq -r '[.events[] | select(.type == "listener.up") | .at] | last')
  took_ms=$(awk -v came="$came" -v open="$(date -d "$open" +%s.%N)" 'BEGIN { printf "%d", (open - came) * 1000 }')
  diag "round $round: it listens after $took_ms ms"
  [ "$took_ms" -ge 2000 ] && [ $round -lt 3 ] || break
  rdma link del "$RDMA_DEV"
  wait_until 20 waits_for_device
done
check_below "a device comes: it listens within 2 s" 2000 "$took_ms"
check "and receives in its sandbox" "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 20
"$RPMACTL" poll -n 100 --json >/dev/null
"$RPMACTL" doctor --json >doctor.json
check_is "doctor's exit says whether all is well" "$(jq 'if all(.findings[]; .state == "ok") then 0 else 1 end' doctor.json)" $?
check_json "doctor finds no problem now" '[.findings[] | select(.state == "problem")] | length == 0' "$(cat doctor.json)"
check_json "and knows that a restart loses nothing" '[.findings[] | select(.check == "restart" and .state == "ok")] | length == 1' "$(cat doctor.json)"

# --- settings read again ---

setting() { jq "$1" /etc/rpmad/rpmad.json >"$DIR/new.json" && cat "$DIR/new.json" >/etc/rpmad/rpmad.json; }
journal() { journalctl -q -o cat -u rpmad.service "$@"; }
refused() { stat_of '[.cm.rejected[] | select(.reason == "not_allowed") | .count] | add // 0'; }
conns() { "$RPMACTL" conns --json | jq -c '[.conns[] | select(.state == "established") | .conn]'; }
has_conn() { [ "$(conns)" != '[]' ]; }
"$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 1 --hold 60 >/dev/null 2>&1 &
holder=$!
background+=("$holder")
check "a sender is connected, and stays" wait_until 10 has_conn
held=$(conns)
main=$(systemctl show -P MainPID rpmad.service)
check_is "nothing is logged at the level debug" 0 "$(journal -p debug..debug | wc -l)"
setting '.log.level = "debug" | .connections.allow = ["192.0.2.0/24"]'
check "systemctl reload succeeds" systemctl reload rpmad.service
check_is "the same daemon runs" "$main" "$(systemctl show -P MainPID rpmad.service)"
check_is "the connection is still there" "$held" "$(conns)"
"$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 1 >/dev/null 2>&1
check_is "a peer that is not on the new list is refused" 1 "$(refused)"
check "there are messages of the level debug" test "$(journal -p debug..debug | wc -l)" -gt 0
cp /etc/rpmad/rpmad.json good.json
printf '{"connections": {"allow": ["10.0.0.0/99"]}}' >/etc/rpmad/rpmad.json
systemctl reload rpmad.service 2>reload.err
check_is "with a broken file it fails" 1 $?
check "the journal has the reason" grep -q 'connections\.allow.*10\.0\.0\.0/99' <(journal -n 10)
check "systemctl status too" grep -q 'connections\.allow.*10\.0\.0\.0/99' <(systemctl status --no-pager -l rpmad.service)
"$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 1 >/dev/null 2>&1
check_is "the old settings are in force" 2 "$(refused)"
check_is "and the connection is still there" "$held $main" "$(conns) $(systemctl show -P MainPID rpmad.service)"
jq 'del(.connections, .log)' good.json >/etc/rpmad/rpmad.json
check "and with a good one again" systemctl reload rpmad.service
kill "$holder" 2>/dev/null
"$RPMACTL" poll -n 100 --json >/dev/null

# --- metrics ---

# scrape: what Prometheus would be given
scrape() {
  exec 3<>/dev/tcp/127.0.0.1/7472 && printf 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n' >&3 && tr -d '\r' <&3
  exec 3>&-
}
check "the socket for Prometheus is started" systemctl start rpmad-metrics.socket
scrape >scrape.out
check_is "a scrape is answered" "HTTP/1.1 200 OK" "$(head -n 1 scrape.out)"
check_is "with the numbers of the daemon" "rpmad_recv_messages_total $(stat_of .recv.messages_total)" "$(grep '^rpmad_recv_messages_total ' scrape.out)"
scraper() { pgrep -f 'rpmactl metrics --http'; }
none_scrapes() { ! scraper; }
check "its process ends" wait_until 20 none_scrapes
exec 4<>/dev/tcp/127.0.0.1/7472
check "a scrape that does not ask is a process of its own" wait_until 10 scraper
check_is "with a user of its own, in the group of the daemon alone, and without capabilities" "$(getent group rpmad | cut -d: -f3) 0 1" \
  "$(awk '/^Uid:/ { own = $2 != 0 && $2 != '"$(id -u rpmad)"' } /^Groups:/ { groups = "" ; for (i = 2; i <= NF; i++) if ($i != gid) groups = groups (groups == "" ? "" : ",") $i }
    /^Gid:/ { gid = $2 } /^CapBnd:/ { sub(/^0+/, "", $2); caps = $2 == "" ? 0 : $2 } END { print groups, caps, own }' "/proc/$(scraper)/status")"
exec 4>&-
check_is "no scrape has failed" "" "$(journalctl -q -o cat -p warning -u 'rpmad-metrics@*')"
systemctl stop rpmad-metrics.socket

systemctl stop rpmad.service rpmad.socket
finish
