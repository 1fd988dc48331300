# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests in this folder: TAP, and daemons over the doubles of the device.
# shellcheck shell=sh disable=SC2034

LC_ALL=C
export LC_ALL
unset RPMAD_SOCKET
: "${top_srcdir:=.}" "${top_builddir:=.}"
rpmactl=$top_builddir/rpmactl
rpmad_fake=$top_builddir/tests/fake/rpmad-fake
fake_send=$top_builddir/tests/fake/fake-send
golden=$top_srcdir/tests/cli/golden

count=0
failures=0
pids=
dir=$(mktemp -d "${TMPDIR:-/tmp}/rpmactl-cli.XXXXXX") || exit 1

# is_child PID: it is a child of this script, as it was. Where it has ended, its number may be another's, of a test beside this one.
is_child() { [ "$(sed 's/.*) [^ ]* \([0-9]*\) .*/\1/' "/proc/$1/stat" 2>/dev/null)" = $$ ]; }

# Whatever ends the script ends what it started.
cleanup() {
  for pid in $pids; do
    ! is_child "$pid" || kill -KILL "$pid"
  done
  rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

skip_all() {
  echo "1..0 # SKIP $1"
  exit 0
}

for program in "$rpmactl" "$rpmad_fake" "$fake_send"; do
  [ -x "$program" ] || skip_all "there is no $program"
done

# result NAME: a line of TAP for the status of the command before.
result() {
  status=$?
  count=$((count + 1))
  if [ "$status" -eq 0 ]; then
    echo "ok $count - $1"
  else
    echo "not ok $count - $1"
    failures=$((failures + 1))
  fi
}

skip() {
  count=$((count + 1))
  echo "ok $count - $1 # SKIP $2"
}

# is NAME GOT WANTED
is() {
  [ "$2" = "$3" ]
  result "$1"
  [ "$status" -eq 0 ] || printf '%s\n' "got:    $2" "wanted: $3" | sed 's/^/# /'
}

# like NAME GOT PATTERN: a pattern of the shell
like() {
  # shellcheck disable=SC2254
  case $2 in
    $3) true ;;
    *) false ;;
  esac
  result "$1"
  [ "$status" -eq 0 ] || printf '%s\n' "got:    $2" "wanted: $3" | sed 's/^/# /'
}

# exits NAME WANTED COMMAND...: runs it; output in $dir/out and $dir/err
exits() {
  name=$1
  wanted=$2
  shift 2
  "$@" >"$dir/out" 2>"$dir/err"
  got=$?
  [ "$got" -eq "$wanted" ]
  result "$name"
  [ "$status" -eq 0 ] || sed "s/^/# exit $got, not $wanted: /" "$dir/err"
}

# one_error NAME PATTERN: what exits() left on stderr is one line like this, and nothing
# went to stdout
one_error() {
  [ "$(wc -l <"$dir/err")" -eq 1 ] && [ ! -s "$dir/out" ]
  result "$1: one line"
  like "$1: text" "$(cat "$dir/err")" "$2"
}

# golden NAME FILE: the same as the golden file, what differs in each run apart.
# UPDATE=1 rewrites it.
golden() {
  sed -e 's/127\.0\.0\.1:[0-9][0-9]*/127.0.0.1:PORT/g' -e 's/pid [0-9][0-9]*/pid PID/' \
    -e 's/instance [0-9a-f]*/instance INSTANCE/' -e 's/up [0-9.smhd ]*$/up TIME/' \
    -e 's/rpmad [0-9.]*,/rpmad VERSION,/' \
    -e 's/[0-9-]*T[0-9:.]*Z/TIME/g' -e 's/  *[0-9.]*s  / AGE  /g' -e 's/   */  /g' \
    "$2" >"$dir/normal"
  [ -z "$UPDATE" ] || cp "$dir/normal" "$golden/$1.out"
  diff -u "$golden/$1.out" "$dir/normal" >"$dir/diff" 2>&1
  result "golden $1"
  [ "$status" -eq 0 ] || sed 's/^/# /' "$dir/diff"
}

# wait_for COMMAND...: until it succeeds, 20 s at the most
wait_for() {
  tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 200 ] || return 1
    sleep 0.1
  done
}

# start NAME [KEY...]: a daemon with socket $dir/NAME.sock; keys of the configuration as
# JSON members. Sets NAME_pid.
start() {
  name=$1
  shift
  members="\"control\": {\"socket\": \"$dir/$name.sock\"}"
  for member; do
    members="$members, $member"
  done
  echo "{$members}" >"$dir/$name.json"
  "$rpmad_fake" -c "$dir/$name.json" >"$dir/$name.log" 2>&1 &
  pids="$pids $!"
  eval "${name}_pid=$!"
  ctl "$name" --wait-daemon 20 status >/dev/null 2>"$dir/err" || {
    cat "$dir/$name.log" "$dir/err"
    echo "Bail out! no daemon"
    exit 1
  }
}

# stop NAME: in an orderly way; the daemon's exit status
stop() {
  eval "pid=\$${1}_pid"
  kill -TERM "$pid"
  wait "$pid"
}

# ctl NAME ARGUMENT...: rpmactl for that daemon
ctl() {
  socket=$dir/$1.sock
  shift
  "$rpmactl" -s "$socket" "$@"
}

# member KEY: the integer or string of a key in the JSON on stdin (the first of them)
member() {
  sed -n "s/^[^\"]*\"/\"/; s/.*[{,]\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p" | sed -n 1p
}

# first KEY: as member, of the first object of several in a line
first() {
  tr '{' '\n' | sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p" | sed -n 1p
}

# counter NAME KEY: a line of stats
counter() {
  ctl "$1" stats | sed -n "s/^$2  *//p"
}

# finish: the plan, and the daemons' verdicts
finish() {
  echo "1..$count"
  [ "$failures" -eq 0 ]
  exit
}
