# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Messages of two foreign senders are read where they are, in the memory of a daemon that runs as the user rpmad, by a user of
# its group: COUNT of each sender, each exactly once and whole. Then KILLS consumers of that kind are killed while senders go
# on: nothing is lost, and nothing comes again that was acknowledged.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

count=${COUNT:-1000}
kills=${KILLS:-50}
# Messages for each consumer that is killed: it has 80 at the most, and what it held comes again.
per_kill=60
# On iWARP an empty queue is the end of the connection, so there the pool holds all that may come.
pool='.pool = {share: true}'
kill_pool='.pool = {share: true, slots: 128, slot_size: 1024}'
if [ "$RDMA_DEV" = siw0 ]; then
  [ "$count" -le 1000 ] || count=1000
  pool=".pool = {share: true, slots: $((2 * count + 64))} | .receive = {target: $((2 * count + 64))}"
  slots=$((kills * per_kill + 64))
  kill_pool=".pool = {share: true, slots: $slots, slot_size: 1024} | .receive = {target: $slots}"
fi

getent group rpmad >/dev/null || groupadd -r rpmad
getent passwd rpmad >/dev/null || useradd -r -M -g rpmad -d / -s /usr/sbin/nologin rpmad
useradd -M -U -d / -G rpmad reader

# What other users run, read and write.
chmod 755 "$DIR"
install -m 755 "$RPMAD" "$RPMACTL" "$TOP_BUILDDIR"/tests/peers/{consume_in_place,unframe} "$DIR/"
install -d -o rpmad -g rpmad -m 750 "$DIR/run"
install -d -o reader -m 755 "$DIR/read"
export RPMAD_SOCKET=$DIR/run/rpmad.sock
: >rpmad.log && chown rpmad rpmad.log

# as USER COMMAND...: with all groups of that user; in place of this shell.
as() {
  local user=$1
  shift
  exec setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups "$@"
}

# start_shared POOL
start_shared() {
  write_config "$1"
  chmod 644 rpmad.json
  (ulimit -l unlimited && as rpmad "$DIR/rpmad" -c "$DIR/rpmad.json") >>rpmad.log 2>&1 &
  RPMAD_PID=$!
  wait_until 15 rpmad_runs || fail "rpmad starts as the user rpmad" "$("$RPMACTL" status 2>&1)" "$(tail -n 5 rpmad.log)"
}

# of_manifests FILE...: "LEN SHA256" of what was sent, sorted.
of_manifests() { awk '{ print $3, $4 }' "$@" | sort; }

# --- a flow ---

start_shared "$pool"
(as reader ./rpmactl poll --raw --length-prefix --in-place --follow) >received 2>follow.err &
follow=$!
background+=("$follow")
"$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 4 --count $((count / 4)) --seed 11 --manifest cm.manifest >cm.out 2>&1 &
cm=$!
"$RPMA12_SEND" --addr "$RDMA_IP" --port $PORT --conns 4 --count $((count / 4)) --seed 22 --manifest rpma.manifest >rpma.out 2>&1 &
rpma=$!
wait $cm
check_is "no errors at the plain librdmacm sender" "0 cm_send: messages=$count" "$? $(cut -d' ' -f1-2 cm.out)"
wait $rpma
check_is "no errors at the librpma 1.2.0 sender" "0 rpma12_send: messages=$count" "$? $(cut -d' ' -f1-2 rpma.out)"
check "all are acknowledged" wait_until 60 stats_say ".recv.acked_total == $((2 * count))"
kill -TERM "$follow"
wait "$follow"
check_is "the consumer ends in order, and has nothing to say" "0 0" "$? $(wc -c <follow.err)"
./unframe <received >received.list
check_is "what it wrote ends with a message" 0 $?
sort received.list >received.sorted
of_manifests cm.manifest rpma.manifest >sent.sorted
check_is "there are as many as were sent" "$((2 * count)) $((2 * count))" "$(wc -l <sent.sorted) $(wc -l <received.sorted)"
check "each exactly once, with its length and SHA-256" diff sent.sorted received.sorted
check_json "the counters agree" \
  ".recv.messages_total == 2 * $count and .recv.redelivered_total == 0 and .slots.ready == 0 and .slots.leased == 0 and .recv.errors == []" \
  "$("$RPMACTL" stats --json)"
check_conserved
check_stop

# --- consumers that are killed ---

start_shared "$kill_pool"
start_sampler
# Sixty messages to a connection, so that there are new ones all the time.
"$CM_SEND" --addr "$RDMA_IP" --port $PORT --conns 2 --rounds $((kills / 2)) --count $per_kill --max-len 1024 --seed 33 \
  --manifest kill.manifest >sender.out 2>&1 &
sender=$!
background+=("$sender")
total=$((kills / 2 * 2 * per_kill))
(as reader ./consume_in_place "$RPMAD_SOCKET" read/log "$kills" 1) >killed.out 2>&1
check_is "consumers are killed, and one lives" "0 killed=$kills" "$? $(cut -d' ' -f1 killed.out)"
diag_file killed.out
wait $sender
check_is "all sends completed" "0 cm_send: messages=$total" "$? $(cut -d' ' -f1-2 sender.out)"
check_sampler
diag "$(stat_of '"\(.recv.messages_total) messages, \(.recv.polled_total) deliveries, \(.recv.redelivered_total) repeated"')"
check "none that was acknowledged came again, and each repetition counts one more" awk '
  $1 == "acked" { for (i = 2; i <= NF; i++) acked[$i] = 1; next }
  $2 in acked { printf "message %d came after it was acknowledged\n", $2; bad = 1 }
  $2 in tries && $3 <= tries[$2] { printf "message %d: delivery %d after %d\n", $2, $3, tries[$2]; bad = 1 }
  $2 in is && is[$2] != $5 { printf "message %d has other bytes than before\n", $2; bad = 1 }
  { tries[$2] = $3; is[$2] = $5 }
  END { exit bad }' read/log
awk '$1 == "got" && !($2 in seen) { seen[$2] = 1; print $4, $5 }' read/log | sort >killed.sorted
of_manifests kill.manifest >sent.sorted
check_is "there are as many as were sent" "$total $total" "$(wc -l <sent.sorted) $(wc -l <killed.sorted)"
check "each was delivered, with its length and SHA-256" diff sent.sorted killed.sorted
check_json "every message was acknowledged once, and some were held by one that died" \
  ".recv.acked_total == $total and .recv.redelivered_total > 0 and .slots.ready == 0 and .slots.leased == 0" "$("$RPMACTL" stats --json)"
check_conserved
check_stop
finish
