#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_files.sh: what make install puts where, and that the packages for Debian (debian/*.install) and for RPM (rpmad.spec)
# have each of these files, once, and no others. Needs top_srcdir and top_builddir; speaks TAP.
set -u
LC_ALL=C
export LC_ALL
builddir=$(cd "${top_builddir:?}" && pwd) || exit 1
cd "${top_srcdir:?}" || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
number=0
failed=0

# result TEXT: one TAP line; what was found, if anything, is in $tmp/found.
result()
{
	number=$((number + 1))
	if test -s "$tmp/found"; then
		sed 's/^/# /' "$tmp/found"
		echo "not ok $number - $1"
		failed=1
	else
		echo "ok $number - $1"
	fi
}

# The folders as they were configured.
dirs='PACKAGE_TARNAME prefix exec_prefix bindir sbindir libdir includedir sysconfdir datarootdir datadir mandir docdir systemdsystemunitdir'
for dir in $dirs; do
	echo "$dir=\"@$dir@\""
done | (cd "$builddir" && ./config.status -q --file=-) >"$tmp/dirs.sh"
if grep -q dc_install_base "$tmp/dirs.sh"; then
	echo "1..0 # SKIP make distcheck gives the units a folder that it alone knows"
	exit 0
fi
# shellcheck disable=SC1091
. "$tmp/dirs.sh"
unit=${systemdsystemunitdir:-}
case $unit in
*'@'* | '' | no)
	echo "1..0 # SKIP this build has no units for systemd"
	exit 0
	;;
esac

env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C "$builddir" install "DESTDIR=$tmp/root" >"$tmp/install.log" 2>&1 || {
	cat "$tmp/install.log" >"$tmp/found"
	result "make install DESTDIR= puts all into one folder"
	echo "1..$number"
	exit 1
}
: >"$tmp/found"
result "make install DESTDIR= puts all into one folder"

# Names without the folders of one system; the longer folders first. The library's file for libtool is in no package.
# shellcheck disable=SC2154 # from dirs.sh
(cd "$tmp/root" && find . -type f -o -type l) | sed -e 's|^\.||' -e "s|^$unit/|UNIT/|" -e "s|^$prefix/lib/\\(sysusers\\.d/\\)|PLIB/\\1|" \
	-e "s|^$prefix/lib/\\(tmpfiles\\.d/\\)|PLIB/\\1|" -e "s|^$docdir/|DOC/|" -e "s|^$mandir/|MAN/|" \
	-e "s|^$libdir/|LIB/|" -e "s|^$includedir/|INCLUDE/|" -e "s|^$sysconfdir/|ETC/|" -e "s|^$bindir/|BIN/|" \
	-e "s|^$sbindir/|SBIN/|" -e "s|^$datadir/|SHARE/|" -e '/^LIB\/librpma\.la$/d' |
	sort >"$tmp/installed"

: >"$tmp/found"
for file in BIN/rpmactl SBIN/rpmad ETC/rpmad/rpmad.json UNIT/rpmad.service UNIT/rpmad.socket UNIT/rpmad@.service UNIT/rpmad@.socket \
	UNIT/rpmad-metrics.socket UNIT/rpmad-metrics@.service \
	PLIB/sysusers.d/rpmad.conf PLIB/tmpfiles.d/rpmad.conf LIB/librpma.so.0 INCLUDE/librpma.h LIB/pkgconfig/librpma.pc \
	MAN/man8/rpmad.8 MAN/man1/rpmactl.1; do
	grep -qxF "$file" "$tmp/installed" || echo "$file is missing" >>"$tmp/found"
done
grep '^/' "$tmp/installed" | sed 's/$/ is in no known folder/' >>"$tmp/found"
result "each file is in the folder that was configured for it"

# packages FILE: "PACKAGE PATTERN" in FILE for each pattern, against the installed files.
packages()
{
	while read -r file; do
		count=0
		while read -r _ pattern; do
			# A pattern is a file, or a folder of files.
			# shellcheck disable=SC2254
			case $file in
			$pattern | $pattern/*) count=$((count + 1)) ;;
			esac
		done <"$1"
		test "$count" = 1 || echo "$file is in $count packages"
	done <"$tmp/installed" >"$tmp/found"
	while read -r package pattern; do
		used=
		while read -r file; do
			# shellcheck disable=SC2254
			case $file in
			$pattern | $pattern/*) used=1 ;;
			esac
		done <"$tmp/installed"
		test -n "$used" || echo "$package: nothing is called $pattern"
	done <"$1" >>"$tmp/found"
}

# Debian's zsh looks in a folder of its own.
zsh=$(sed -n 's|.*dh_auto_install.* zshcompletiondir=/\([^ ]*\).*|\1|p' debian/rules)
for list in debian/*.install; do
	package=${list#debian/}
	sed "s/^/${package%.install} /" "$list"
done | sed -e 's|usr/lib/\*/|LIB/|' -e 's| lib/systemd/system/| UNIT/|' -e 's|usr/share/doc/librpma-dev/|DOC/|' \
	-e 's|usr/share/man/|MAN/|' -e "s|${zsh:-none}/|SHARE/zsh/site-functions/|" -e 's|usr/share/|SHARE/|' -e 's|usr/include/|INCLUDE/|' -e 's| etc/| ETC/|' \
	-e 's|usr/bin/|BIN/|' -e 's|usr/sbin/|SBIN/|' -e 's|usr/lib/|PLIB/|' >"$tmp/deb"
packages "$tmp/deb"
result "Debian's packages have all files, each once, and no others"

# shellcheck disable=SC2016
awk '/^%files/ { package = NF > 1 ? $NF : "rpmad"; inside = 1; next }
	/^%(changelog|description|package|prep)/ { inside = 0 }
	inside && NF && !/^%dir/ { print package, $NF }' rpmad.spec | grep -E ' (%\{_|/)' |
	sed -e 's|%{_libdir}/|LIB/|' -e 's|%{_unitdir}/|UNIT/|' -e 's|%{_docdir}/librpma-devel/|DOC/|' -e 's|%{_mandir}/|MAN/|' \
		-e 's|%{_datadir}/|SHARE/|' -e 's|%{_includedir}/|INCLUDE/|' -e 's|%{_sysconfdir}/|ETC/|' -e 's|%{_bindir}/|BIN/|' \
		-e 's|%{_sbindir}/|SBIN/|' -e 's|%{_sysusersdir}/|PLIB/sysusers.d/|' -e 's|%{_tmpfilesdir}/|PLIB/tmpfiles.d/|' >"$tmp/rpm"
packages "$tmp/rpm"
result "the RPM packages have all files, each once, and no others"

# Folders that no other package has.
: >"$tmp/found"
sed -n 's|^ETC/\(.*\)/[^/]*$|%dir %{_sysconfdir}/\1|p' "$tmp/installed" | sort -u | while read -r line; do
	grep -qxF "$line" rpmad.spec || echo "rpmad.spec lacks: $line"
done >"$tmp/found"
result "the RPM package owns its folders of the configuration"

version=$(sed -n 's/^AC_INIT(\[rpmad\], \[\([^]]*\)\].*/\1/p' configure.ac)
: >"$tmp/found"
grep -qx "Version: *$version" rpmad.spec || echo "rpmad.spec is not of $version" >>"$tmp/found"
sed -n 1p debian/changelog | grep -q "($version-" || echo "debian/changelog is not of $version" >>"$tmp/found"
result "the packages have the version of the source"

# ---- the units, as they were made ----

if command -v systemd-analyze >/dev/null; then
	mkdir "$tmp/units"
	for file in rpmad.service rpmad.socket rpmad@.service rpmad@.socket rpmad-metrics.socket rpmad-metrics@.service; do
		# The programs need not be installed here to be looked at.
		sed -e "s|^\\(Exec[A-Za-z]*=-*\\)$sbindir/rpmad|\\1/bin/true|" -e "s|^\\(Exec[A-Za-z]*=-*\\)$bindir/rpmactl|\\1/bin/true|" \
			"$tmp/root$unit/$file" >"$tmp/units/$file"
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
	number=$((number + 1))
	echo "ok $number - the units are good # SKIP no systemd-analyze here"
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

echo "1..$number"
exit $failed
