# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What the scripts for people share: messages, and packages that are installed when they are missing.

PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
# A job's terminal is not there to be asked; scripts/demo --shell keeps its own descriptor.
export DEBIAN_FRONTEND=noninteractive

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() {
  say "$*"
  exit 1
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo DEBIAN_FRONTEND=noninteractive "$@"
  else
    die "this needs root and there is no sudo: $*"
  fi
}

is_debian() { (. /etc/os-release && [ "${ID:-}" = debian ]) 2>/dev/null; }

# A probe answers whether a thing is there, on any distribution.
probe() {
  local what=${1#*:}
  case $1 in
    cmd:*) command -v "$what" >/dev/null ;;
    pc:*) pkg-config --exists "$what" 2>/dev/null ;;
    file:*) compgen -G "$what" >/dev/null ;;
    *) die "unknown probe $1" ;;
  esac
}

# apt_get ARG...: quiet unless it fails.
apt_get() {
  local log
  log=$(mktemp)
  if ! as_root apt-get -o DPkg::Lock::Timeout=300 -q "$@" >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

apt_update_once() {
  [ -z "${apt_updated:-}" ] || return 0
  apt_get update || return 1
  apt_updated=1
}

# need_packages LIST...: each line of a list is "PACKAGE PROBE", # begins a comment. What the probes do not find
# is installed on Debian; elsewhere it is named, all of it at once.
need_packages() {
  local list package what missing=() names=()
  for list in "$@"; do
    while read -r package what _; do
      case $package in '' | '#'*) continue ;; esac
      probe "$what" && continue
      missing+=("$package")
      names+=("  ${what#*:} (Debian package $package)")
    done <"$list"
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! is_debian || ! command -v apt-get >/dev/null; then
    say "this system lacks:"
    printf '%s\n' "${names[@]}" >&2
    die "install these with the system's own tools, then run this again"
  fi
  say "installing ${missing[*]}"
  if ! apt_update_once || ! apt_get install -y --no-install-recommends "${missing[@]}"; then
    die "could not install the packages above"
  fi
}

# bootstrap LOG: makes configure when it is not there, or older than what it is made from.
bootstrap() { { [ -x configure ] && ! [ configure.ac -nt configure ]; } || autoreconf -fi >"$1" 2>&1; }

# build_tree DIR LOG TARGETS CONFIGURE-ARG...: configures DIR, below the source tree, and makes TARGETS there. The
# present folder is the source tree's root. Only what changed is done again; without arguments any configuration will do.
build_tree() {
  local dir=$1 log=$2 targets=$3 args
  shift 3
  args=$(printf '%q ' "$@")
  bootstrap "$log" || return 1
  mkdir -p "$dir"
  (
    cd "$dir" || exit 1
    if [ ! -e config.status ] || [ ../configure -nt config.status ] ||
      { [ $# -gt 0 ] && [ "$(cat .configured 2>/dev/null)" != "$args" ]; }; then
      rm -f .configured
      ../configure --quiet "$@" || exit 1
      printf '%s\n' "$args" >.configured
    fi
    # shellcheck disable=SC2086 # words
    make -s -j"$(nproc)" $targets
  ) >>"$log" 2>&1 </dev/null
}
