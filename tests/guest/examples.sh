# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The examples, built by stage.sh from what was installed and with the installed library, do what their README says.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

EXAMPLES=$TOP_BUILDDIR/stage/examples
export LD_LIBRARY_PATH=$TOP_BUILDDIR/stage/library

# Soft-iWARP of Linux 6.1 may leave what arrives right behind the answer to a connection request until more arrives: siw_accept()
# sends the answer before it listens for data. So there, what fails is tried again.
tries=1
[ "$RDMA_DEV" != siw0 ] || tries=3

# play NAME FUNCTION WANTED: what the function prints is what is wanted.
play() {
  local got try
  for try in $(seq $tries); do
    got=$("$2" 2>&1)
    [ "$got" != "$3" ] || break
    diag "try $try of $2: ${got//$'\n'/; }"
  done
  check_is "$1" "$3" "$got"
}

# serve PROGRAM [ARG...]: starts a server and returns when it listens; it writes to server.out.
serve() {
  local program=$1
  shift
  "$EXAMPLES/$program" server "$RDMA_IP" $PORT "$@" >server.out 2>&1 &
  server=$!
  wait_until 15 listens_or_ended
}

listens_or_ended() { grep -q '^listening' server.out || is_gone "$server"; }

# client PROGRAM [ARG...]: what it prints, and its status.
client() {
  local program=$1
  shift
  timeout 20 "$EXAMPLES/$program" client "$RDMA_IP" $PORT "$@" | sed 's/, [0-9.]* us each//'
  echo "client: ${PIPESTATUS[0]}"
}

# served: what the server printed, and its status; it ends by itself.
served() {
  wait_until 10 is_gone "$server" || kill -KILL "$server"
  wait "$server"
  echo "server: $?"
  grep -v '^listening' server.out
}

case $(ldd "$EXAMPLES/ping_pong" | sed -n 's/.*librpma\.so\.0 => \([^ ]*\).*/\1/p') in
  "$TOP_BUILDDIR/stage/"*) pass "they use the installed library" ;;
  *) fail "they use the installed library" "$(ldd "$EXAMPLES/ping_pong")" ;;
esac

ping_pong() {
  serve ping_pong
  client ping_pong 200
  served
}
play "ping_pong: 200 rounds" ping_pong "200 rounds
client: 0
server: 0
answered 200 messages"

srq_server() {
  serve srq_server 4
  client srq_server one two
  client srq_server three
  client srq_server ""
  served
}
play "srq_server: all messages come, each from its client" srq_server "client: 0
client: 0
client: 0
server: 0
client 1: one
client 1: two
client 1 is gone
client 2: three
client 2 is gone
client 3: 
client 3 is gone"

write_flush() {
  serve write_flush
  client write_flush "written from afar"
  served
}
play "write_flush: what was written is there" write_flush "wrote and flushed 18 bytes
client: 0
server: 0
the memory says: written from afar"

write_imm() {
  serve write_imm
  client write_imm alpha beta
  served
}
if [ "$RDMA_DEV" != siw0 ]; then
  play "write_imm: the server is told of each slot" write_imm "filled 2 slots
client: 0
server: 0
slot 0, 6 bytes: alpha
slot 1, 5 bytes: beta"
else
  # iWARP has no immediate data, and soft-iWARP no empty receives: both programs end, and the server says at which call.
  server_of_none() { write_imm 2>/dev/null | sed -n '/^client: 1$/p; /^server: /,$p'; }
  play "write_imm: a failure has its reason" server_of_none "client: 1
server: 1
rpma_conn_req_recv(req, NULL, 0, 0, NULL): Provider error occurred (Invalid argument)"
fi

"$EXAMPLES/ping_pong" nonsense >/dev/null 2>&1
check_is "wrong usage is status 2" 2 $?
# Soft-iWARP knows when the connection is asked for, InfiniBand and RoCE learn it from the answer.
case $RDMA_DEV in
  siw0) said="rpma_conn_req_connect(&req, pdata, &conn): Provider error occurred (Connection refused)" ;;
  *) said="Connection rejected" ;;
esac
check_is "nobody listens: the client says so" "$said
client: 1" "$(client ping_pong 1 2>&1)"
finish
