#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_units.sh: the units of this build: systemd understands them, they allow little, what they wait for is what this build of
# the daemon tells, and each line is explained. Needs top_srcdir and top_builddir; speaks TAP.
# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
builddir=$(cd "${top_builddir:?}" && pwd) || exit 1
cd "${top_srcdir:?}" || exit 1

if ! test -e "$builddir/systemd/rpmad.service"; then
	echo "1..0 # SKIP this build has no units for systemd"
	exit 0
fi

# A manager that waits for word that never comes ends the start, or the service, by a time-out.
if grep -qx '#define HAVE_LIBSYSTEMD 1' "$builddir/config.h"; then
	told='Type=notify NotifyAccess=main FileDescriptorStoreMax=16 WatchdogSec=30'
	name='the manager waits for what this build tells it: with libsystemd'
else
	told='Type=exec'
	name='the manager waits for nothing: this build has no libsystemd'
fi
for file in "$builddir/systemd/rpmad.service" "$builddir/systemd/rpmad@.service"; do
	has=$(grep -E '^(Type|NotifyAccess|FileDescriptorStoreMax|WatchdogSec)=' "$file" | paste -sd ' ' -)
	test "$has" = "$told" || echo "${file##*/}: $has"
done >"$tmp/found"
result "$name"

grep -n '@[a-z]*@' "$builddir"/systemd/rpmad*.service "$builddir"/systemd/rpmad*.socket >"$tmp/found"
result "everything is filled in"

if command -v systemd-analyze >/dev/null; then
	mkdir "$tmp/units"
	for file in rpmad.service rpmad.socket rpmad@.service rpmad@.socket rpmad-metrics.socket rpmad-metrics@.service; do
		# The programs need not be installed here to be looked at.
		sed -e 's|^\(Exec[A-Za-z]*=-*\)/[^ ]*/rpma[a-z]*|\1/bin/true|' "$builddir/systemd/$file" >"$tmp/units/$file"
	done
	cp "$tmp/units/rpmad@.service" "$tmp/units/rpmad@hall.service"
	cp "$tmp/units/rpmad@.socket" "$tmp/units/rpmad@hall.socket"
	cp "$tmp/units/rpmad-metrics@.service" "$tmp/units/rpmad-metrics@scrape.service"
	(cd "$tmp/units" && SYSTEMD_UNIT_PATH=$tmp/units: systemd-analyze verify --man=no ./rpmad.service ./rpmad.socket ./rpmad@hall.service \
		./rpmad@hall.socket ./rpmad-metrics.socket ./rpmad-metrics@scrape.service) >"$tmp/found" 2>&1
	# What it says of other units on this machine is theirs.
	sed -i -e '/rpmad/!d' "$tmp/found"
	result "systemd-analyze verify has nothing to say"
	for file in rpmad.service rpmad@hall.service rpmad-metrics@scrape.service; do
		(cd "$tmp/units" && systemd-analyze security --offline=yes --no-pager "./$file" 2>&1) |
			sed -n 's/.*Overall exposure level for [^:]*: \([0-9.]*\) .*/\1/p' |
			awk -v file="$file" '{ seen = 1; if ($1 > 1.3) print file ": " $1 } END { if (!seen) print file ": no score" }'
	done >"$tmp/found"
	result "systemd-analyze security rates the units 1.3 at the most"
else
	skip "the units are good" "no systemd-analyze here"
fi

# A line of the unit is plain, or has a comment above it, alone or with the lines that belong to it by name.
awk 'BEGIN {
		split("Type WantedBy NotifyAccess ExecStart Description Documentation Restart RestartSec User Group UMask ListenStream", list)
		for (i in list)
			plain[list[i]] = 1
		split("Wants:After CapabilityBoundingSet:AmbientCapabilities:NoNewPrivileges:RestrictSUIDSGID DevicePolicy:DeviceAllow:PrivateDevices " \
			"ProtectSystem:ReadWritePaths:ProtectHome:PrivateTmp:PrivateMounts:RemoveIPC " \
			"ProtectClock:ProtectControlGroups:ProtectHostname:ProtectKernelLogs:ProtectKernelModules:ProtectKernelTunables " \
			"RestrictAddressFamilies:RestrictNamespaces:RestrictRealtime:LockPersonality:MemoryDenyWriteExecute " \
			"SystemCallArchitectures:SystemCallFilter:SystemCallErrorNumber SocketUser:SocketGroup:SocketMode:RemoveOnStop " \
			"TimeoutStartSec:TimeoutStartFailureMode:WatchdogSec Accept:MaxConnections StandardInput:StandardError " \
			"DynamicUser:User:SupplementaryGroups LimitMEMLOCK:LimitNOFILE:TasksMax:MemoryMax PrivateNetwork:IPAddressDeny:IPAddressAllow ProtectProc:ProcSubset", list)
		for (i in list) {
			n = split(list[i], keys, ":")
			for (k = 1; k <= n; k++)
				family[keys[k]] = list[i]
		}
	}
	{ sub(/^@(libsystemd|without)@/, "") }
	/^\[/ || /^$/ { of = ""; explained = 0; next }
	/^#/ { of = ""; explained = 1; next }
	/^[A-Z]/ {
		key = $0
		sub(/=.*/, "", key)
		if (!explained && !(key in plain) && (of == "" || family[key] != of))
			print FILENAME ": " $0
		of = explained ? family[key] : family[key] == of ? of : ""
		explained = 0
	}' systemd/rpmad.service.in systemd/rpmad.socket.in systemd/rpmad-metrics.socket.in "systemd/rpmad-metrics@.service.in" >"$tmp/found"
result "each line of the units that is not plain is explained"

finish
