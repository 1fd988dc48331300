#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The example in the help of each command is run as it stands there, but for what belongs to a machine: addresses, tokens
# and numbers of connections.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

builddir=$(cd "$top_builddir" && pwd)
fake_send=$builddir/tests/fake/fake-send
mkdir "$dir/bin" "$dir/here"
# It leaves its number, so that it alone can be ended, and what it feeds ends by itself.
cat >"$dir/bin/rpmactl" <<END
#!/bin/sh
echo \$\$ >"$dir/pid"
exec "$builddir/rpmactl" "\$@"
END
chmod +x "$dir/bin/rpmactl"
RPMAD_SOCKET=$dir/a.sock
PATH=$dir/bin:$PATH
export RPMAD_SOCKET PATH

has() { command -v "$1" >/dev/null; }
send() { "$fake_send" "127.0.0.1:$port" "$@"; }

# example COMMAND: what its help shows
example() {
  "$rpmactl" help "$1" | sed -n '/^example:$/{n;s/^  //p;}' |
    sed -e "s/192\.0\.2\.7:7471/127.0.0.1:$port/" -e "s/node7:7471/localhost:$port/" \
      -e "s/0123456789abcdef\.7\.1/$token/" -e "/^rpmactl \(dis\)*conn[a-z]* 3\$/s/3/$conn/"
}
# take COMMAND: it into $dir/example, with a shell to run it; false: it needs what is not here.
take() {
  example "$1" >"$dir/example"
  echo "$1" >>"$dir/shown"
  shell='sh'
  case $(cat "$dir/example") in
    '') return 0 ;;
    *'| jq'*) needs=jq ;;
    eval*)
      needs=bash
      shell='bash'
      ;;
    *) return 0 ;;
  esac
  has $needs || {
    skip "$1" "no $needs here"
    return 1
  }
}
# shows COMMAND PATTERN: its example ends well, says nothing on stderr, and prints what is like this
shows() {
  take "$1" || return 0
  exits "$1" 0 sh -c "cd '$dir/here' && exec $shell '$dir/example'"
  is "$1: no error" "$(cat "$dir/err")" ''
  like "$1: output" "$(cat "$dir/out")" "$2"
}
# begin COMMAND: one that goes on, in the background; false: it cannot be run here. over COMMAND PATTERN: end it.
begin() {
  take "$1" || return 1
  rm -f "$dir/pid"
  sh "$dir/example" >"$dir/$1.out" 2>"$dir/$1.err" &
  begun=$!
  pids="$pids $begun"
  wait_for test -s "$dir/pid"
  follower=$(cat "$dir/pid")
}
over() {
  kill -TERM "$follower"
  wait "$begun"
  is "$1: it ends well" $? 0
  is "$1: no error" "$(cat "$dir/$1.err")" ''
  like "$1: output" "$(cat "$dir/$1.out")" "$2"
}
# Take one message, and leave it to whoever has its token.
lease() { token=$(ctl a poll -n 1 --no-ack --lease 60 --json | member token); }

token=0.0.0
conn=0
start a '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 256, "slot_size": 1024}' '"receive": {"refill": "manual"}'
port=$(ctl a listeners --json | first port)

shows status 'state *running*'
shows stats '[0-9]*'
shows metrics ''
grep -q '^rpmad_slots{state="free"} [0-9]' "$dir/here/rpmad.prom"
result 'metrics: in the file'
shows post '64 slots posted; now 64 posted, 192 free'
shows call '{"accepted":4,"posted":68,"free":188}'
shows batch '{"line":1,"status":0,"result":{"accepted":4,*{"line":2,"status":0,"result":{"slots":*'

send --count 10 --text hello
shows wait '*'
lease
shows nack '1 message given back'
lease
shows ack '1 message acknowledged'
if begin poll; then
  wait_for ctl a wait 'recv.acked_total==10' -t 1
  over poll '127.0.0.1:*'
  is 'poll: a line for each message' "$(wc -l <"$dir/poll.out")" 9
fi

shows send "sent 5 bytes to 127.0.0.1:$port"
shows connect "connection * to 127.0.0.1:$port is open"
conn=$(sed 's/^connection \([0-9]*\) .*/\1/' "$dir/out")
shows conn "connection *$conn
state *established*"
shows conns '*closed*'

# It wants a terminal, and a key to end.
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
  take top
  : >"$dir/top.out"
  {
    wait_for grep -q 'by held' "$dir/top.out"
    printf q
  } | TERM=xterm script -qefc "sh '$dir/example'" /dev/null >>"$dir/top.out" 2>&1
  is 'top: it ends well' $? 0
  like 'top: output' "$(tr -d '\r' <"$dir/top.out")" '*by held*'
else
  echo top >>"$dir/shown"
  skip 'top' 'no script(1) that makes a terminal'
fi

if begin events; then
  shows disconnect "connection $conn is closed"
  wait_for grep -q "conn.closed  *$conn " "$dir/events.out"
  over events "*conn.closed*$conn *local*"
fi
shows unlisten 'listener 1 is closed'
shows listen "listener 2 at 127.0.0.1:$port"
shows listeners "*127.0.0.1*$port*"
shows srq 'device *fake0*'
shows devices '*'
shows doctor '*'
shows log 'level debug, was *'
shows reload '*log.level*'
shows methods '*recv.poll*'
shows completion ''
shows help 'usage: rpmactl poll *'

shows stop 'the daemon is stopping'
# shellcheck disable=SC2154
wait "$a_pid"
is 'the daemon stops well' $? 0

"$rpmactl" help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | sort >"$dir/commands"
is 'no command was left out' "$(sort -u "$dir/shown" | diff - "$dir/commands")" ''
finish
