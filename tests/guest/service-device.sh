# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The installed service, in its sandbox, where the device comes late, and where even the modules do.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

RPMACTL=/usr/bin/rpmactl
export RPMAD_SOCKET=/run/rpmad/rpmad.sock
netdev=$(rdma link show "$RDMA_DEV/1" | sed -n 's/.* netdev \([^ ]*\).*/\1/p')
type=${RDMA_DEV%0}

state() { "$RPMACTL" status --json 2>/dev/null | jq -r .state; }
waits_for_device() { [ "$(state)" = waiting_for_device ]; }
reason() { "$RPMACTL" status --json | jq -r .reason; }

rm -f /usr/sbin/policy-rc.d /var/lib/man-db/auto-update
boot_no_more
rdma link del "$RDMA_DEV"
mkdir -p /etc/rpmad
jq -n --arg listen "$RDMA_IP:$PORT" '{listen: [$listen]}' >/etc/rpmad/rpmad.json
check "the packages are installed" dpkg --force-confold -i "$TOP_BUILDDIR"/packages/rpmad_*.deb

# --- no device ---

systemctl restart rpmad.service
check_is "without a device the service is active" active "$(systemctl is-active rpmad.service)"
check "and waits for it" waits_for_device
check "which the manager is told" grep -q 'waiting_for_device' <(systemctl show -P StatusText rpmad.service)
"$RPMACTL" doctor >doctor.out 2>&1
check_is "doctor says that all is not well" 1 $?
check "and what is wrong" grep -q '^problem *device *there is no RDMA device' doctor.out
rdma link add "$RDMA_DEV" type "$type" netdev "$netdev"
came=$(date +%s.%N)
check "the device comes: it listens" wait_until 10 rpmad_runs
open=$("$RPMACTL" events --json | jq -r '[.events[] | select(.type == "device.open") | .at] | last')
check_below "within 2 s" 2000 "$(awk -v came="$came" -v open="$(date -d "$open" +%s.%N)" 'BEGIN { printf "%d", (open - came) * 1000 }')"
check "and receives in its sandbox" "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 20
"$RPMACTL" poll -n 100 --json >/dev/null
"$RPMACTL" doctor --json >doctor.json
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
exec 4<>/dev/tcp/127.0.0.1/7472
scraper() { pgrep -f 'rpmactl metrics --http'; }
check "a scrape that does not ask is a process of its own" wait_until 10 scraper
check_is "with a user of its own, in the group of the daemon alone, and without capabilities" "$(getent group rpmad | cut -d: -f3) 0 1" \
  "$(awk '/^Uid:/ { own = $2 != 0 && $2 != '"$(id -u rpmad)"' } /^Groups:/ { groups = "" ; for (i = 2; i <= NF; i++) if ($i != gid) groups = groups (groups == "" ? "" : ",") $i }
    /^Gid:/ { gid = $2 } /^CapBnd:/ { sub(/^0+/, "", $2); caps = $2 == "" ? 0 : $2 } END { print groups, caps, own }' "/proc/$(scraper)/status")"
exec 4>&-
check_is "no scrape has failed" "" "$(journalctl -q -o cat -p warning -u 'rpmad-metrics@*')"
systemctl stop rpmad-metrics.socket

# --- no modules either ---

systemctl stop rpmad.service rpmad.socket
rdma link del "$RDMA_DEV"
initrd=$(find "${XDG_CACHE_HOME:-$HOME/.cache}/rpmad-vm" -path "*/$(uname -r)-$type-*/initrd" -printf '%T@ %p\n' | sort -n | sed -n '$s/^[^ ]* //p')
mkdir modules.d
(cd modules.d && zcat "$initrd" | cpio -id --quiet 'modules/*.ko')
for module in rdma_rxe rdma_ucm rdma_cm iw_cm ib_cm ib_umad ib_uverbs; do rmmod $module 2>/dev/null; done
check "the modules are gone" test ! -e /sys/module/ib_uverbs
# Nothing loads them while the service starts.
mkdir -p /run/modprobe.d
printf 'install ib_uverbs /bin/false\ninstall rdma_ucm /bin/false\n' >/run/modprobe.d/late.conf
systemctl start rpmad.service
check_is "without modules the service is active" active "$(systemctl is-active rpmad.service)"
check "and waits" waits_for_device
for module in modules.d/modules/*.ko; do insmod "$module" 2>/dev/null; done
udevadm settle -t 10
rdma link add "$RDMA_DEV" type "$type" netdev "$netdev"
known() { [ "$(state)" = running ] || reason | grep -q 'device_forbidden: /dev/infiniband/.*restart the service'; }
check "modules and device come later: it works, or says what forbids it" wait_until 10 known
diag "$(state): $(reason)"
systemctl restart rpmad.service
check "after a restart it listens" wait_until 10 rpmad_runs
check "and receives" "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 20
check "the kept messages are known to doctor" grep -q '20 messages now' <("$RPMACTL" doctor)
systemctl stop rpmad.service rpmad.socket
dpkg -P rpmad >/dev/null 2>&1
finish
