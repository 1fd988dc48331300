#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Before a guest boots (tests/vm/run --before): the service is installed, and told where to listen, as an installer would do it.
set -eu
# Containers forbid packages to start what they install, and an index of all manuals takes minutes under emulation.
rm -f /usr/sbin/policy-rc.d /var/lib/man-db/auto-update
mkdir -p /etc/rpmad
jq -n --arg listen "$RDMA_IP:7471" '{listen: [$listen]}' >/etc/rpmad/rpmad.json
dpkg --force-confold -i "$TOP_BUILDDIR"/packages/rpmad_*.deb >"$TMPDIR/dpkg.log" 2>&1 || { cat "$TMPDIR/dpkg.log" && exit 1; }
