# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The first session of README.md: each command, with the service as it is installed, prints what is printed there, but for what
# is another each time. Takes the packages of scripts/build-packages.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

RPMACTL=/usr/bin/rpmactl
unset RPMAD_SOCKET
rm -f /usr/sbin/policy-rc.d /var/lib/man-db/auto-update
boot_no_more
check "the package is installed" dpkg -i "$TOP_BUILDDIR"/packages/rpmad_*.deb
check_is "which starts the service" active "$(systemctl is-active rpmad.service)"
useradd -M -N -G rpmad reader

# What is another each time: the ports of senders, process, instance and its age; and the version.
mask() {
  sed -E -e 's/(192\.168\.77\.1):[0-9]{5}( |$)/\1:PORT\2/g' -e 's/pid [0-9]+/pid N/' -e 's/instance [0-9a-f]{16}/instance ID/' \
    -e 's/up [0-9.]+(ms|s|m|h)/up TIME/' -e 's/rpmad [0-9]+\.[0-9]+\.[0-9]+/rpmad VERSION/'
}

# The session is one on a terminal.
on_terminal() { NO_COLOR=1 script -qec "$1" /dev/null </dev/null 2>&1 | tr -d '\r'; }

# Blocks are indented by four; of the session's commands some are an administrator's.
sed -n '/^## A first session/,/^## What/s/^    //p' "$TOP_SRCDIR/README.md" >session
: >played
count=0
while IFS= read -r line; do
  [[ $line == '$ '* ]] || continue
  command=${line#\$ }
  count=$((count + 1))
  printf '%s\n' "$line" >>played
  case $command in
    sudo\ *) on_terminal "${command#sudo }" ;;
    *) on_terminal "setpriv --reuid reader --regid $(id -g reader) --init-groups sh -c ${command@Q}" ;;
  esac >>played
done <session
check "there is a session, of $count commands" test "$count" -ge 6
mask <session >session.masked
mask <played >played.masked
check_is "the session of README.md goes as it says" "" "$(diff session.masked played.masked)"
[ "$tests_failed" = 0 ] || diag "$(cat played)"

# What README.md says to do then.
jq --arg listen "$RDMA_IP:7471" '.listen = [$listen]' /etc/rpmad/rpmad.json >new.json && cat new.json >/etc/rpmad/rpmad.json
check "systemctl restart rpmad" systemctl restart rpmad
check "it runs" wait_until 20 rpmad_runs
check_is "and listens there again" "$RDMA_IP:7471 up" "$("$RPMACTL" listeners --json | jq -r '.listeners[] | "\(.addr):\(.port) \(if .up then "up" else "down" end)"')"
dpkg -P rpmad >/dev/null 2>&1
userdel reader
finish
