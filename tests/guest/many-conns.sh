# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What many connections leave behind, and what they cost while they are there: nothing of the first, no descriptor of the second.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

count=${COUNT:-1000}
KNOCK=$TOP_BUILDDIR/tests/peers/knock
CROWD=$TOP_BUILDDIR/tests/peers/crowd

# The server's: descriptors, ids of the kernel's CM, KiB of memory.
fds() { find "/proc/$server/fd" -mindepth 1 | wc -l; }
cm_ids() { rdma resource show cm_id | grep -c "pid $server "; }
rss_kib() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$server/status"; }

settled() { [ "$(fds) $(cm_ids)" = "$1" ]; }

"$KNOCK" server "$RDMA_IP" $PORT >server.out 2>&1 &
server=$!
background+=("$server")
wait_until 15 grep -q listening server.out
# What is set up once: at the first of each kind, and at the first of many for an allocator's stocks.
for wish in reject accept; do check "some connections, $wish" "$KNOCK" client "$RDMA_IP" $PORT $wish 50; done
sleep 1
if [ "$(cm_ids)" -ge 1 ]; then pass "the id that listens is seen"; else fail "the id that listens is seen" "$(rdma resource show cm_id 2>&1)"; fi
before="$(fds) $(cm_ids)"
rss=$(rss_kib)
for wish in reject accept; do
  begin=$(now_ms)
  check "$count connections, $wish" timeout $((60 + count / 10)) "$KNOCK" client "$RDMA_IP" $PORT $wish "$count"
  diag "$(($(now_ms) - begin)) ms"
  # The kernel takes its time for the last ones.
  wait_until 10 settled "$before"
  check_is "$wish: descriptors and CM ids are as before" "$before" "$(fds) $(cm_ids)"
  grown=$(($(rss_kib) - rss))
  diag "$wish: memory grew by $grown KiB of $rss"
  # A hundred bytes for each would be more.
  check_below "$wish: memory does not grow with their number" $((100 + count / 20)) "$grown"
done
check "the last one" "$KNOCK" client "$RDMA_IP" $PORT last
wait_until 10 is_gone "$server"
wait "$server"
check_is "the server ends in order" 0 $?
diag_file server.out

# same_fds NAME FILE: with all connections, and with none again, a role has as many descriptors as with the first.
same_fds() {
  local one
  one=$(sed -n 's/^one //p' "$2")
  check_is "$1" "one $one all $one closed $one" "$(grep fds= "$2" | tr '\n' ' ' | sed 's/ $//')"
}

crowd=$((count / 10))
# A process has some 70 queue pairs of soft-iWARP: its library takes one of the possible offsets of their mappings for none
# (SIW_INVAL_UOBJ_KEY).
[ "$RDMA_DEV" != siw0 ] || [ "$crowd" -le 60 ] || crowd=60
"$CROWD" server "$RDMA_IP" $((PORT + 1)) "$crowd" >hall.out 2>&1 &
server=$!
background+=("$server")
wait_until 15 grep -q listening hall.out
timeout $((60 + count / 10)) "$CROWD" client "$RDMA_IP" $((PORT + 1)) "$crowd" >crowd.out 2>&1
check_is "$crowd connections at once, a message over each" "0: connections=$crowd messages=$crowd" "$?: $(tail -n 1 crowd.out)"
wait_until 40 is_gone "$server"
wait "$server"
check_is "their server got them all" "0: connections=$crowd messages=$crowd" "$?: $(tail -n 1 hall.out)"
same_fds "the server's descriptors do not grow with them" hall.out
same_fds "the client's descriptors do not grow with them" crowd.out
finish
