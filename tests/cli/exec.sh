#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# poll --exec: a command for each message, and every way in which one can fail.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

start a '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 64, "slot_size": 65536}'
port=$(ctl a listeners --json | first port)
send() { "$fake_send" "127.0.0.1:$port" "$@"; }
# ready N: that many messages are there and nobody holds any.
ready() {
  wait_for sh -c "'$rpmactl' -s '$dir/a.sock' status | grep 'ready $1 leased 0'"
  result "$2"
}

# What a command gets: the bytes, and the rest in its environment.
cat >"$dir/show" <<'END'
#!/bin/sh
od -An -tx1 | tr -d ' \n'
env | grep -E '^RPMAD?_' | sort | sed -e 's/^RPMA_PEER=.*:[0-9]*$/RPMA_PEER=HOST:PORT/' -e "s|$dir|DIR|"
END
chmod +x "$dir/show"
export dir
printf '\000\377 \n' >"$dir/bytes"
send --count 1 --file "$dir/bytes" --imm 7
exits 'a command for a message' 0 env RPMA_CONTEXT=old RPMA_OTHER=kept \
  "$rpmactl" -s "$dir/a.sock" poll -w 20 --exec -- "$dir/show"
is 'has it all' "$(cat "$dir/out")" '00ff200aRPMAD_SOCKET=DIR/a.sock
RPMA_CONN=1
RPMA_DELIVERIES=1
RPMA_IMM=7
RPMA_LEN=4
RPMA_OTHER=kept
RPMA_PEER=HOST:PORT
RPMA_SEQ=1'
is 'nothing is said' "$(cat "$dir/err")" ''
is 'acknowledged' "$(counter a recv.acked_total)" 1
exits 'nothing arrived' 12 ctl a poll --exec -- true
exits 'no command' 2 ctl a poll --exec
one_error 'no command' 'rpmactl: poll: --exec needs a command: *'
exits 'a command without --exec' 2 ctl a poll -- true
exits 'retries without a folder' 2 ctl a poll --exec --retries 1 -- true
exits 'a folder that is not there' 2 ctl a poll --exec --dead-letter "$dir/no" -- true
one_error 'no folder' "rpmactl: poll: cannot write into the folder $dir/no: *(mkdir $dir/no)"
exits 'a dry run' 0 ctl none --dry-run poll --exec -- true
like 'is the first request' "$(cat "$dir/out")" '*"method":"recv.poll"*'

# A command may leave its input unread, and print as it likes.
head -c 65536 /dev/zero >"$dir/large"
send --count 3 --file "$dir/large"
exits 'unread input' 0 ctl a poll -w 20 --exec -- sh -c 'echo "$0 $RPMA_SEQ"' word
is 'in order, one after another' "$(cat "$dir/out")" 'word 2
word 3
word 4'

# Failures without following: each message is tried once, and comes back.
send --count 4 --size 10
wait_for sh -c "'$rpmactl' -s '$dir/a.sock' status | grep 'ready 4'"
exits 'some fail' 1 ctl a poll --exec -- sh -c 'test $((RPMA_SEQ % 2)) -eq 0'
is 'each is named' "$(cat "$dir/err")" \
  'rpmactl: poll: message 5: exit status 1; it is given back
rpmactl: poll: message 7: exit status 1; it is given back
rpmactl: poll: the command failed for 2 of 4 messages: 2 given back, 0 dead letters'
ready 2 'the failed ones are there again'
exits 'for the second time' 0 ctl a poll --exec -- sh -c 'echo "$RPMA_SEQ $RPMA_DELIVERIES"'
is 'both' "$(cat "$dir/out")" '5 2
7 2'
send --count 1 --text x
exits 'a command that is not there' 1 ctl a poll -w 20 --exec -- "$dir/no-such-command"
one_error 'no such command' "rpmactl: poll: cannot run $dir/no-such-command: *"
ready 1 'the message stays'
exits 'a signal is a failure' 1 ctl a poll --exec -- sh -c 'kill -KILL $$'
like 'which' "$(cat "$dir/err")" '*message 9: signal 9; *'
ready 1 'it stays'

# Retries and dead letters.
mkdir "$dir/dead"
exits 'until it is a dead letter' 0 ctl a poll --follow -n 2 --retry-delay 0 --retries 4 \
  --dead-letter "$dir/dead" --exec -- sh -c 'echo "$RPMA_DELIVERIES"; test "$RPMA_SEQ" != 9 ||
    { test "$RPMA_DELIVERIES" -lt 5 || '"$fake_send 127.0.0.1:$port"' --count 1 --text y; exit 3; }'
is 'it was tried 1 + 4 times, then came the next' "$(tr '\n' ' ' <"$dir/out")" '3 4 5 1 '
like 'the last attempt is told' "$(sed -n '$p' "$dir/err")" \
  "rpmactl: poll: message 9: exit status 3; it is in $dir/dead"
is 'a file' "$(find "$dir/dead" -type f | wc -l)" 1
letter=$(echo "$dir"/dead/*.json)
like 'with the message' "$(cat "$letter")" \
  '{"token":"*","seq":9,*"deliveries":5,"encoding":"base64","data":"eA==","failure":"exit status 3"}'
is 'named by its token' "${letter##*/}" "$(first token <"$letter").json"
is 'readable by its owner alone' "$(find "$letter" -perm 600)" "$letter"
ready 0 'nothing is left'

# A full disk: the message stays, and the command ends with the reason.
send --count 2 --size 3000
mkdir "$dir/disk"
if unshare -rm mount -t tmpfs none "$dir/disk" 2>/dev/null; then
  cat >"$dir/full" <<'END'
mount -t tmpfs -o size=4k none "$dir/disk"
head -c 4096 /dev/zero >"$dir/disk/filler"
"$@"
status=$?
find "$dir/disk" -name '*.json*'
exit $status
END
  exits 'a full disk' 1 unshare -rm sh "$dir/full" "$rpmactl" -s "$dir/a.sock" poll --follow \
    --retries 0 --dead-letter "$dir/disk" --exec -- false
  one_error 'a full disk' "rpmactl: poll: cannot write message 11 into $dir/disk: No space left on device"
else
  skip 'a full disk' 'no file system can be mounted here'
fi
ready 2 'the messages stay'
# The same where a limit of the process is what is full; the half that was written is removed.
exits 'a limit of file sizes' 1 sh -c 'trap "" XFSZ; ulimit -f 8; exec "$@"' sh "$rpmactl" -s "$dir/a.sock" \
  poll --follow --retries 0 --dead-letter "$dir/dead" --exec -- false
one_error 'a limit of file sizes' "rpmactl: poll: cannot write message 11 into $dir/dead: File too large"
is 'nothing is left of it' "$(find "$dir/dead" -type f | wc -l)" 1
ready 2 'the messages stay as well'
exits 'they are taken' 0 ctl a poll --exec -- true

# A command that hangs is ended, also one that does not want to.
send --count 1 --text z
exits 'a command that hangs' 1 ctl a poll -w 20 --job-timeout 0.2 --exec -- sleep 1000
like 'is told of' "$(cat "$dir/err")" '*message 13: not ended within 200 ms; it is given back*'
exits 'one that hangs on' 1 ctl a poll -w 20 --job-timeout 1 --exec -- \
  sh -c 'trap "" TERM; echo $$; while :; do sleep 0.1; done'
like 'is told of' "$(cat "$dir/err")" '*message 13: not ended within 1 s; it is given back*'
pid=$(cat "$dir/out") # none, where it was ended before it could say so
[ -z "$pid" ] || ! kill -0 "$pid" 2>/dev/null
result 'it is gone'
ready 1 'the message is there'
exits 'it is taken' 0 ctl a poll --exec -- true

# Commands side by side, as many as there are places for; no more messages are held than run.
mkdir "$dir/run"
send --count 8 --size 10
"$rpmactl" -s "$dir/a.sock" poll --follow -n 8 --jobs 3 --exec -- \
  sh -c ': >"$dir/run/$RPMA_SEQ"; until [ -e "$dir/go" ]; do sleep 0.02; done' 2>"$dir/last" &
follower=$!
pids="$pids $follower"
wait_for sh -c "[ \$(ls '$dir/run' | wc -l) -eq 3 ]"
result 'three run'
is 'three are held' "$(counter a slots.leased)" 3
: >"$dir/go"
wait $follower
is 'all end well' $? 0
is 'eight ran' "$(find "$dir/run" -type f | wc -l)" 8
is 'nothing is said' "$(cat "$dir/last")" ''

# SIGTERM: running commands end, waiting messages are given back.
rm "$dir/go" "$dir"/run/*
send --count 3 --size 10
follow() {
  "$rpmactl" -s "$dir/a.sock" poll --follow "$@" 2>"$dir/last" &
  follower=$!
  pids="$pids $follower"
}
follow --exec -- sh -c ': >"$dir/run/$RPMA_SEQ"; until [ -e "$dir/go" ]; do sleep 0.02; done'
wait_for test -e "$dir/run/22"
acked=$(counter a recv.acked_total)
kill -TERM $follower
wait_for sh -c "grep -qE '^ShdPnd:.0+$' /proc/$follower/status"
: >"$dir/go"
wait $follower
is 'SIGTERM ends it well' $? 0
is 'the one that ran is acknowledged' "$(counter a recv.acked_total)" $((acked + 1))
ready 2 'the others stay'
rm "$dir/go"
follow --exec -- sh -c ': >"$dir/run/$RPMA_SEQ"; exec sleep 1000'
wait_for test -e "$dir/run/23"
kill -TERM $follower
wait_for sh -c "grep -qE '^ShdPnd:.0+$' /proc/$follower/status"
kill -TERM $follower
wait $follower
is 'a second one does not wait for the command' $? 0
ready 2 'whose message stays'

"$rpmactl" -s "$dir/a.sock" poll --exec -- sh -c ': >"$dir/run/$RPMA_SEQ-once"; exec sleep 1000' 2>"$dir/last" &
follower=$!
pids="$pids $follower"
wait_for test -e "$dir/run/23-once"
kill -TERM $follower
wait_for sh -c "grep -qE '^ShdPnd:.0+$' /proc/$follower/status"
kill -TERM $follower
wait $follower
is 'without --follow that is a failure' "$? $(cat "$dir/last")" '1 rpmactl: poll: message 23: interrupted; it is given back
rpmactl: poll: the command failed for 1 of 1 message: 1 given back, 0 dead letters'
ready 2 'the message stays'

# What the command has started is ended with it, also where it outlives the command and wants no end.
# is_gone PID: it has ended, though perhaps nobody has asked for its status yet.
is_gone() {
  ! kill -0 "$1" 2>/dev/null || grep -q '^State:.[ZX]' "/proc/$1/status" 2>/dev/null
}
follow --exec -- sh -c 'sh -c "trap \"\" TERM; echo \$\$ >\"$dir/run/new\"
  mv \"$dir/run/new\" \"$dir/run/worker\"; exec sleep 1000" & wait' >"$dir/out"
wait_for test -s "$dir/run/worker"
worker=$(cat "$dir/run/worker")
kill -TERM $follower
wait_for sh -c "grep -qE '^ShdPnd:.0+$' /proc/$follower/status"
kill -TERM $follower
wait $follower
is 'the command ends at once, its worker does not' $? 0
wait_for is_gone "$worker"
result 'the worker is gone'
kill -KILL "$worker" 2>/dev/null
ready 2 'the message stays'

# A failed command keeps its place for the pause, and the pause ends with the daemon's or our end.
follow --retry-delay 60 --exec -- sh -c ': >"$dir/run/failed"; exit 1'
wait_for grep -q 'attempt' "$dir/last"
like 'the pause is told' "$(cat "$dir/last")" 'rpmactl: poll: message 23: exit status 1; attempt *, the next in 60 s'
kill -TERM $follower
wait $follower
is 'interrupted in a pause' $? 0
ready 2 'the message is back'

# The reader of what commands print goes away: neither they nor the messages are to blame.
{
  ctl a poll --follow --retries 0 --dead-letter "$dir/dead" --exec -- sh -c 'cat; echo; exec sleep 0.1' 2>"$dir/err"
  echo $? >"$dir/status"
} | true
wait_for test -s "$dir/status"
is 'a lost reader ends it' "$(cat "$dir/status")" 1
: >"$dir/out"
like 'a lost reader' "$(sed -n '$p' "$dir/err")" 'rpmactl: poll: nobody reads standard output any more'
is 'and makes no dead letters' "$(find "$dir/dead" -type f | wc -l)" 1

# Whoever kills us gives back what was held.
wait_for sh -c "'$rpmactl' -s '$dir/a.sock' status | grep 'leased 0'"
send --count 1 --text k
follow --exec -- sh -c 'echo $$ >"$dir/run/pid"; exec sleep 1000'
wait_for test -s "$dir/run/pid"
kill -KILL $follower
wait $follower 2>/dev/null
kill -KILL "$(cat "$dir/run/pid")"
wait_for sh -c "'$rpmactl' -s '$dir/a.sock' status | grep 'leased 0'"
result 'killed: nothing is held'
ctl a poll -n 64 --exec -- true 2>"$dir/err"

# Where several things go wrong, the first is told: a reader that is gone, then a daemon that stops.
start c '"listen": ["127.0.0.1:0"]' '"pool": {"slots": 64, "slot_size": 1024}'
mkfifo "$dir/pipe"
"$fake_send" "127.0.0.1:$(ctl c listeners --json | first port)" --count 1 --text t
until [ -e "$dir/close" ]; do sleep 0.02; done <"$dir/pipe" &
reader=$!
"$rpmactl" -s "$dir/c.sock" poll --follow --jobs 2 --exec -- \
  sh -c ': >"$dir/run/two"; until [ -e "$dir/go" ]; do sleep 0.02; done' >"$dir/pipe" 2>"$dir/last" &
follower=$!
pids="$pids $reader $follower"
wait_for test -e "$dir/run/two"
: >"$dir/close"
wait $reader
stop c
is 'the daemon stops' $? 0
: >"$dir/go"
wait $follower
is 'the first reason is the exit status' $? 1
is 'and the error' "$(sed -n '$p' "$dir/last")" 'rpmactl: poll: nobody reads standard output any more'

# The path of the socket need not be text.
odd=$dir/$(printf '\377')
ln -s a.sock "$odd"
send --count 1 --text o
exits 'a path that is no text' 0 env RPMAD_SOCKET="$odd" "$rpmactl" poll -w 20 --exec -- sh -c 'printf %s "$RPMAD_SOCKET"'
is 'is passed on' "$(cat "$dir/out")" "$odd"

# The daemon stops while a command runs.
send --count 1 --text s
rm -f "$dir/go"
follow --exec -- sh -c ': >"$dir/run/stop"; until [ -e "$dir/go" ]; do sleep 0.02; done'
wait_for test -e "$dir/run/stop"
stop a
is 'the daemon stops' $? 0
: >"$dir/go"
wait $follower
ended=$?
[ $ended -eq 9 ] || [ $ended -eq 3 ]
result "the follower is told (exit $ended)"
like 'why' "$(cat "$dir/last")" 'rpmactl: poll: *'
finish
