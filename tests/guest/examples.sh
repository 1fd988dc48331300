# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The examples, built by stage.sh from what was installed and with the installed library, do what their README says.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

EXAMPLES=$TOP_BUILDDIR/stage/examples
export LD_LIBRARY_PATH=$TOP_BUILDDIR/stage/library

# serve PROGRAM [ARG...]: starts a server and returns when it listens; it writes to server.out.
serve() {
  local program=$1
  shift
  "$EXAMPLES/$program" server "$RDMA_IP" $PORT "$@" >server.out 2>&1 &
  server=$!
  background+=("$server")
  wait_until 15 listens_or_ended
}

listens_or_ended() { grep -q '^listening' server.out || is_gone "$server"; }

# client PROGRAM [ARG...]
client() {
  local program=$1
  shift
  timeout 60 "$EXAMPLES/$program" client "$RDMA_IP" $PORT "$@"
}

# check_served NAME WANTED: the server ends by itself, with success, and has said so much more.
check_served() {
  local status
  wait_until 15 is_gone "$server" || kill -KILL "$server"
  wait "$server"
  status=$?
  check_is "$1" "0: $2" "$status: $(grep -v '^listening' server.out)"
}

case $(ldd "$EXAMPLES/ping_pong" | sed -n 's/.*librpma\.so\.0 => \([^ ]*\).*/\1/p') in
  "$TOP_BUILDDIR/stage/"*) pass "they use the installed library" ;;
  *) fail "they use the installed library" "$(ldd "$EXAMPLES/ping_pong")" ;;
esac

serve ping_pong
check "ping_pong: 200 rounds" client ping_pong 200
check_served "ping_pong: the server answered them all" "answered 200 messages"

serve srq_server 4
check "srq_server: a client with two messages" client srq_server one two
check "srq_server: another one" client srq_server three
check "srq_server: and the last one" client srq_server ""
check_served "srq_server: all messages came, each from its client" "client 1: one
client 1: two
client 1 is gone
client 2: three
client 2 is gone
client 3: 
client 3 is gone"

serve write_flush
check_is "write_flush: the client writes and flushes" "wrote and flushed 18 bytes" "$(client write_flush "written from afar" 2>&1)"
check_served "write_flush: it is there" "the memory says: written from afar"

serve write_imm
out=$(client write_imm alpha beta 2>&1)
status=$?
if [ "$RDMA_DEV" = siw0 ]; then
  # iWARP has no immediate data, and soft-iWARP no empty receives: both programs end, and say at which call.
  wait_until 15 is_gone "$server"
  check_is "write_imm: a failure has its reason" \
    "rpma_conn_req_recv(req, NULL, 0, 0, NULL): Provider error occurred (Invalid argument)" "$(grep -v '^listening' server.out)"
  check_is "write_imm: its client ends, too" 1 "$status"
  kill -KILL "$server" 2>/dev/null
else
  check_is "write_imm: two slots" "0: filled 2 slots" "$status: $out"
  check_served "write_imm: the server was told of each" "slot 0, 6 bytes: alpha
slot 1, 5 bytes: beta"
fi

"$EXAMPLES/ping_pong" nonsense >/dev/null 2>&1
check_is "wrong usage is status 2" 2 $?
out=$(client ping_pong 1 2>&1)
out="$?: $out"
# soft-iWARP knows when the connection is asked for, InfiniBand and RoCE learn it from the answer.
case $RDMA_DEV in
  siw0) said="1: rpma_conn_req_connect(&req, pdata, &conn): Provider error occurred (Connection refused)" ;;
  *) said="1: Connection rejected" ;;
esac
check_is "nobody listens: the client says so" "$said" "$out"
finish
