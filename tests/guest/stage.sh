#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tests/guest/stage.sh BUILD-DIR: installs into BUILD-DIR/stage, as a package would be made, and builds the installed examples
# there with the installed library, as its users would: BUILD-DIR/stage/examples.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/common.sh
. "$here/../../scripts/common.sh"

[ $# = 1 ] || { say "usage: stage.sh BUILD-DIR" && exit 2; }
build=$(cd "$1" && pwd)
stage=$build/stage
rm -rf "$stage"
make -s -C "$build" install DESTDIR="$stage" >/dev/null
pc=$(find "$stage" -name librpma.pc)
makefile=$(find "$stage" -path '*/examples/Makefile')
[ -n "$pc" ] && [ -n "$makefile" ] || die "no librpma.pc or no examples in what was installed"
# The same library for the guest, whatever folder it was installed to.
ln -s "$(dirname "$(find "$stage" -name librpma.so)")" "$stage/library"
mkdir "$stage/examples"
env -u MAKEFLAGS PKG_CONFIG_SYSROOT_DIR="$stage" PKG_CONFIG_PATH="$(dirname "$pc")" \
  make -s -C "$stage/examples" -f "$makefile" CFLAGS="-O2 -g -Wall -Wextra -Werror"
