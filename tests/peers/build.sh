#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tests/peers/build.sh BUILD-DIR: makes BUILD-DIR/tests/peers/rpma12_send, the sender on Debian's librpma 1.2.0, and
# rpma_peer, which is compiled for that library and runs with it or with ours. Header and library come out of Debian's
# packages and stay in BUILD-DIR/tests/peers/debian, beside the packages themselves, over which ours are installed in a test; the
# server Prometheus, which reads the metrics in a test, is in BUILD-DIR/tests/peers/prometheus; nothing is installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/common.sh
. "$here/../../scripts/common.sh"

[ $# = 1 ] || { say "usage: build.sh BUILD-DIR" && exit 2; }
mkdir -p "$1/tests/peers"
peers=$(cd "$1/tests/peers" && pwd)
debian=$peers/debian
library=$debian/usr/lib/x86_64-linux-gnu

# unpack FOLDER PACKAGE[=VERSION]...: Debian's packages and what is in them, as that folder: all of it, or nothing.
unpack() {
  local folder=$1 package
  shift
  scratch=$(mktemp -d "$peers/debian.XXXXXX")
  for package; do
    if ! (cd "$scratch" && apt-get -q download "$package") >/dev/null 2>&1; then
      if ! apt_update_once || ! (cd "$scratch" && apt-get -q download "$package") >/dev/null; then
        die "cannot download ${package/=/ }"
      fi
    fi
    dpkg -x "$scratch/${package%=*}"_*.deb "$scratch"
  done
  chmod 755 "$scratch"
  rm -rf "$folder"
  mv "$scratch" "$folder"
}
scratch=
trap '[ -z "$scratch" ] || rm -rf "$scratch"' EXIT

if ! compgen -G "$debian/librpma-dev_*.deb" >/dev/null; then
  need_packages "$here/../../scripts/packages"
  unpack "$debian" librpma0=1.2.0-1 librpma-dev=1.2.0-1
fi
# Installed, it would start a server on this machine.
if [ ! -x "$peers/prometheus/usr/bin/prometheus" ]; then
  unpack "$peers/prometheus" prometheus
  rm -f "$peers"/prometheus/*.deb
fi

# link NAME FILE...: against Debian's header and file. A program without a path of its own finds the library by
# LD_LIBRARY_PATH at run time.
link() {
  local name=$1
  shift
  "${CC:-gcc}" -O2 -g -Wall -Wextra -I "$here/../.." -I "$debian/usr/include" -o "$peers/$name.new" "$@"
  mv "$peers/$name.new" "$peers/$name"
}

cd "$here"
# The path of the file and of its folder, so that no other librpma is found at build time or at run time.
link rpma12_send rpma12_send.c options.c message.c sha256.c \
  "$library/librpma.so.0" "-Wl,-rpath,$library" "-Wl,--disable-new-dtags"
link rpma_peer rpma_peer.c rpma_peer_*.c "$library/librpma.so.0"
# A server that scripts/bench measures.
bench=$here/../bench
mkdir -p "$peers/../bench"
link ../bench/serve_rpma "$bench/serve_rpma.c" "$bench/handover.c" "$bench/meter.c" \
  "$library/librpma.so.0" "-Wl,-rpath,$library" "-Wl,--disable-new-dtags"
