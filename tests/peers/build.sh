#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tests/peers/build.sh BUILD-DIR: makes BUILD-DIR/tests/peers/rpma12_send, the sender on Debian's librpma 1.2.0, and
# rpma_peer, which is compiled for that library and runs with it or with ours. Header and library come out of Debian's
# packages and stay in BUILD-DIR/tests/peers/debian; nothing is installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/common.sh
. "$here/../../scripts/common.sh"

[ $# = 1 ] || { say "usage: build.sh BUILD-DIR" && exit 2; }
mkdir -p "$1/tests/peers"
peers=$(cd "$1/tests/peers" && pwd)
debian=$peers/debian
library=$debian/usr/lib/x86_64-linux-gnu

if [ ! -e "$library/librpma.so.0" ]; then
  need_packages "$here/../../scripts/packages"
  scratch=$(mktemp -d "$peers/debian.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  cd "$scratch"
  for package in librpma0 librpma-dev; do
    if ! apt-get -q download "$package=1.2.0-1" >/dev/null 2>&1; then
      if ! apt_update_once || ! apt-get -q download "$package=1.2.0-1" >/dev/null; then
        die "cannot download $package 1.2.0-1"
      fi
    fi
    dpkg -x "$package"_*.deb .
    rm -f "$package"_*.deb
  done
  chmod 755 .
  rm -rf "$debian"
  mv "$scratch" "$debian"
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
