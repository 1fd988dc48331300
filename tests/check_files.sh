#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_files.sh: what make install puts where, and that the packages for Debian (debian/*.install) and for RPM (rpmad.spec)
# have each of these files, once, and no others. Needs top_srcdir and top_builddir; speaks TAP.
# shellcheck source=tests/tap.sh
. "${top_srcdir:?}/tests/tap.sh"
builddir=$(cd "${top_builddir:?}" && pwd) || exit 1
cd "${top_srcdir:?}" || exit 1

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
	finish
}
: >"$tmp/found"
result "make install DESTDIR= puts all into one folder"

# Names without the folders of one system; the longer folders first. The library's file for libtool is in no package.
# shellcheck disable=SC2154 # from dirs.sh
(cd "$tmp/root" && find . -type f -o -type l) | sed -e 's|^\.||' -e "s|^$unit/|UNIT/|" -e "s|^$prefix/lib/\\(sysusers\\.d/\\)|PLIB/\\1|" \
	-e "s|^$prefix/lib/\\(tmpfiles\\.d/\\)|PLIB/\\1|" -e "s|^$docdir/|DOC/|" -e "s|^$mandir/|MAN/|" \
	-e "s|^$libdir/|LIB/|" -e "s|^$includedir/|INCLUDE/|" -e "s|^$sysconfdir/|ETC/|" -e "s|^$bindir/|BIN/|" \
	-e "s|^$sbindir/|SBIN/|" -e "s|^$datadir/|SHARE/|" -e '/^LIB\/librpmac*\.la$/d' |
	sort >"$tmp/installed"

: >"$tmp/found"
for file in BIN/rpmactl SBIN/rpmad ETC/rpmad/rpmad.json UNIT/rpmad.service UNIT/rpmad.socket UNIT/rpmad@.service UNIT/rpmad@.socket \
	UNIT/rpmad-metrics.socket UNIT/rpmad-metrics@.service \
	PLIB/sysusers.d/rpmad.conf PLIB/tmpfiles.d/rpmad.conf LIB/librpma.so.0 INCLUDE/librpma.h LIB/pkgconfig/librpma.pc \
	LIB/librpmac.so.0 INCLUDE/librpmac.h LIB/pkgconfig/librpmac.pc MAN/man3/librpmac.3 \
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

finish
