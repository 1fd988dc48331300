#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The examples of the manual do what their text says: each is taken from the page and run as it stands there.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

builddir=$(cd "$top_builddir" && pwd)
man=$(cd "$top_srcdir/man" && pwd)
fake_send=$builddir/tests/fake/fake-send
mkdir "$dir/bin" "$dir/here"
ln -s "$builddir/rpmactl" "$dir/bin/rpmactl"
RPMAD_SOCKET=$dir/a.sock
PATH=$dir/bin:$PATH
PYTHONUNBUFFERED=1
export RPMAD_SOCKET PATH PYTHONUNBUFFERED dir

# example PAGE NAME: the block behind the comment "example NAME", without the escapes of the page; prompts are gone, and
# so is what is printed between them.
example() {
  awk -v mark=".\\\\\" example $2" '
    $0 == mark { found = 1; next }
    found && /^\.Ed/ { exit }
    inside { print }
    found && /^\.Bd/ { inside = 1 }' "$man/$1" |
    sed -e 's/\\e/\\/g' -e 's/\\-/-/g' -e 's/\\&//g' -e "s|/run/rpmad/rpmad\\.sock|$RPMAD_SOCKET|" |
    awk '/^\$ / { prompts = 1; goes_on = 1; sub(/^\$ /, "") }
      !prompts || goes_on { print }
      prompts { goes_on = /[|\\]$/ }'
}
# begin PAGE NAME [COMMAND...]: run an example in the background, in a folder of its own; sets $pid, which is its group.
begin() {
  mkdir -p "$dir/here/$2"
  example "$1" "$2" >"$dir/$2.example"
  [ -s "$dir/$2.example" ] || echo "# there is no example $2 in $1"
  name=$2
  shift 2
  (cd "$dir/here/$name" && exec setsid "${@:-sh}" "$dir/$name.example" >"$dir/$name.out" 2>"$dir/$name.err") &
  pid=$!
  pids="$pids $pid"
}
# over NAME: end what begin began, with all that it started.
over() {
  kill -TERM -"$pid" 2>/dev/null
  wait "$pid" 2>/dev/null
  is "$1: nothing is said" "$(cat "$dir/$1.err")" ''
}
has() { command -v "$1" >/dev/null; }
send() { "$fake_send" "127.0.0.1:$port" "$@"; }

start a '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 64, "slot_size": 4096}'
port=$(ctl a listeners --json | first port)

if has jq; then
  begin rpmactl.1 files
  mkdir "$dir/sent"
  send --count 20 --random-max 4000 --dump "$dir/sent"
  wait_for sh -c "rpmactl stats | grep 'recv.acked_total  *20'"
  # Acknowledged is what the pipe has; the last file is written behind that.
  wait_for cmp "$dir/sent/0-19" "$dir/here/files/message-20"
  i=0
  while [ $i -lt 20 ]; do
    cmp "$dir/sent/0-$i" "$dir/here/files/message-$((i + 1))" || break
    i=$((i + 1))
  done
  is 'files: every message is a file' $i 20
  over files

  begin rpmactl.1 count
  send --count 60 --size 100
  send --count 40 --size 50
  wait "$pid"
  is 'count: it ends well' $? 0
  is 'count: messages and bytes of each peer' \
    "$(jq -c '[.messages, .bytes]' "$dir/count.out" | sort | tr '\n' ' ')" '[40,2000] [60,6000] '
  is 'count: the peers are named' "$(jq -r .peer "$dir/count.out" | grep -c '^127\.0\.0\.1:[0-9]*$')" 2

  # The work fails for each message once.
  cat >"$dir/bin/process-one" <<'END'
#!/bin/sh
text=$(cat)
echo "$text" >>"$dir/processed"
[ "$(grep -cx "$text" "$dir/processed")" -gt 1 ]
END
  chmod +x "$dir/bin/process-one"
  begin rpmactl.1 careful
  send --count 1 --text one
  send --count 1 --text two
  wait_for sh -c "[ \$(wc -l <'$dir/processed') -eq 4 ]"
  is 'careful: what failed comes again' "$(tr '\n' ' ' <"$dir/processed")" 'one one two two '
  wait_for sh -c "rpmactl stats | grep 'slots.leased  *0'"
  result 'careful: nothing is left'
  kill -TERM -"$pid" 2>/dev/null
  wait "$pid" 2>/dev/null
else
  skip 'files, count, careful' 'no jq here'
fi

mkdir -p "$dir/here/reply/dead"
begin rpmactl.1 reply
send --count 3 --text 'hello you' --hold 5 --show-received >"$dir/replies" &
sender=$!
wait $sender
is 'reply: each is answered' "$(sed 's/received [0-9]* //' "$dir/replies" | grep -v '^imm' | sort | tr '\n' ' ')" \
  '48454c4c4f20594f55 48454c4c4f20594f55 48454c4c4f20594f55 '
is 'reply: no dead letters' "$(ls "$dir/here/reply/dead")" ''
kill -TERM -"$pid"
wait "$pid" 2>/dev/null

if has socat && has jq; then
  begin rpmad-rpc.7 socat
  wait "$pid"
  is 'socat: a reply' "$(jq -c '[.id, (.result | keys_unsorted)]' "$dir/socat.out")" '[1,["accepted","posted","free"]]'
else
  skip 'socat' 'no socat or no jq here'
fi
if has nc && has jq && nc -h 2>&1 | grep -q -- '-N'; then
  send --count 1 --text hello
  begin rpmad-rpc.7 nc
  wait "$pid"
  is 'nc: the message' "$(cat "$dir/nc.out")" hello
else
  skip 'nc' 'no nc of OpenBSD here'
fi
if has python3; then
  acked=$(counter a recv.acked_total)
  begin rpmad-rpc.7 python python3
  send --count 3 --text hello
  wait_for sh -c "[ \$(wc -l <'$dir/python.out') -eq 3 ]"
  is 'python: each message' "$(sed 's/^127\.0\.0\.1:[0-9]* //' "$dir/python.out" | sort | uniq -c | tr -s ' ')" " 3 b'hello'"
  # What it has of a round is acknowledged with the next request, which another message does not have to bring.
  wait_for sh -c "[ \$(rpmactl stats | sed -n 's/^recv.acked_total  *//p') -eq $((acked + 3)) ]"
  is 'python: acknowledged' "$(counter a recv.acked_total)" $((acked + 3))
  kill -TERM -"$pid"
  wait "$pid" 2>/dev/null
else
  skip 'python' 'no python3 here'
fi
stop a
is 'the daemon left nothing behind' $? 0

# The queue runs empty: one slot is posted, and a message takes it.
start b '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 8, "slot_size": 1024}' '"receive": {"refill": "manual"}'
RPMAD_SOCKET=$dir/b.sock
port=$(ctl b listeners --json | first port)
# shellcheck disable=SC2016
printf '#!/bin/sh\nprintf "%%s\\n" "$*" >>"$dir/logged"\n' >"$dir/bin/logger"
chmod +x "$dir/bin/logger"
begin rpmactl.1 alert
ctl b post -n 1 >"$dir/out"
send --count 1 --text hello
wait_for test -s "$dir/logged"
like 'alert: it is logged' "$(sed 1q "$dir/logged")" '-p daemon.warning rpmad: *"type":"srq.empty"*'
over alert
stop b
is 'the daemon left nothing behind' $? 0
finish
