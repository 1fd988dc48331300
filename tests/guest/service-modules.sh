# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A machine that has booted with the service enabled and without RDMA's modules, which come later, and with them a device. Run
# by tests/vm/run --without modules --before tests/guest/before-boot.sh.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

RPMACTL=/usr/bin/rpmactl
export RPMAD_SOCKET=/run/rpmad/rpmad.sock
state() { "$RPMACTL" status --json 2>/dev/null | jq -r .state; }
reason() { "$RPMACTL" status --json | jq -r .reason; }

check_is "there are no modules of RDMA" "" "$(cd /sys/module && ls -d ib_* rdma_* iw_cm siw 2>/dev/null)"
check_boot
check_is "it waits for a device" waiting_for_device "$(state)"
"$RPMACTL" doctor >doctor.out 2>&1
check_is "doctor says that all is not well" 1 $?
check "and that there are no nodes" grep -q '^problem *nodes *' doctor.out

for module in /mnt/modules/*.ko; do insmod "$module" 2>/dev/null; done
udevadm settle -t 10
check "modules come" test -e /sys/module/ib_uverbs -a -e /dev/infiniband/rdma_cm
check "and a device" rdma link add "$RDMA_DEV" type "${RDMA_DEV%0}" netdev "$RDMA_NETDEV"
known() { [ "$(state)" = running ] || reason | grep -q 'device_forbidden: /dev/infiniband/.*restart the service'; }
check "it works, or says what forbids it" wait_until 10 known
diag "$(state): $(reason)"
systemctl restart rpmad.service
check "after a restart it listens" wait_until 10 rpmad_runs
check "and receives" "$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 20
check "the kept messages are known to doctor" grep -q '20 messages now' <("$RPMACTL" doctor)
systemctl stop rpmad.service rpmad.socket
finish
