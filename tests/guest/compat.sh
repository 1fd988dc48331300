# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# One program, compiled against the header of the archived librpma 1.2.0, plays every scenario with that library and with ours,
# as server and as client, in all four mixes. What each role sees depends neither on its own library nor on its peer's, but
# for the remedied defects that are listed here.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

PEER=$TOP_BUILDDIR/tests/peers/rpma_peer
declare -A library=(
  [old]=$TOP_BUILDDIR/tests/peers/debian/usr/lib/x86_64-linux-gnu
  [new]=$TOP_BUILDDIR/lib/rpma/.libs
)
scenarios="send rcq srq-own-cq srq-conn-cq srq-conn-rcq shared-channel read read-nothing write flush atomic-write private-data reject nobody
  client-ends server-ends arguments remedies beyond tail-flush"
# iWARP has no immediate data. And there the old library dies of the last one, instead of refusing it.
[ "$RDMA_DEV" = siw0 ] || scenarios="send-imm write-imm $scenarios recv-with-srq"
# A role that dies in one is done with that.
last="client-dies server-dies"
mkdir -p "$OUT/compat"
words() { wc -w <<<"$*"; }

for which in old new; do
  case $(LD_LIBRARY_PATH=${library[$which]} ldd "$PEER" | sed -n 's/.*librpma\.so\.0 => \([^ ]*\).*/\1/p') in
    "${library[$which]}/"*) pass "the $which library is used where it should be" ;;
    *) fail "the $which library is used where it should be" "$(LD_LIBRARY_PATH=${library[$which]} ldd "$PEER")" ;;
  esac
done

# peer ROLE LIBRARY PORT SCENARIO...: its transcript goes to stdout.
peer() {
  local role=$1 own=$2 port=$3
  shift 3
  LD_LIBRARY_PATH=${library[$own]} exec "$PEER" "$role" "$RDMA_IP" "$port" "$@"
}

# mix SERVER CLIENT PORT: leaves server.SERVER.CLIENT and client.CLIENT.SERVER, transcripts by role, own library, peer's.
mix() {
  local server_out=server.$1.$2 client_out=client.$2.$1 port=$3 server statuses
  # shellcheck disable=SC2086 # words
  {
    # The shell's remarks on who was killed are of no use.
    {
      (peer server "$1" "$port" $scenarios $last) >"$server_out" 2>"$server_out.err"
      echo $? >server.status
    } 2>/dev/null &
    server=$!
    background+=("$server")
    wait_until 20 grep -q listening "$server_out"
    { (peer client "$2" "$port" $scenarios client-dies) >"$client_out" 2>"$client_out.err"; } 2>/dev/null
    statuses=$?
    { (peer client "$2" "$port" server-dies) >>"$client_out" 2>>"$client_out.err"; } 2>/dev/null
    statuses="$statuses $?"
  }
  # It has an alarm clock, and ends in any case.
  wait "$server"
  cp "$server_out" "$client_out" "$OUT/compat/"
  check_is "$1 server, $2 client: each ends as it should" "137 0 137" "$statuses $(cat server.status)"
  check_is "$1 server, $2 client: no complaints" "" "$(cat "$server_out.err" "$client_out.err")"
  check_is "$1 server, $2 client: all scenarios are played" "$(($(words $scenarios) + 1)) $(($(words $scenarios) + 1))" \
    "$(grep -c 'is done$' "$server_out") $(grep -c 'is done$' "$client_out")"
  check_is "$1 server, $2 client: all contents are as they were sent" "" "$(grep DIFFERS "$server_out" "$client_out")"
}

# same NAME FILE FILE
same() {
  check_is "$1" "" "$(diff "$2" "$3" | grep '^[<>]' | head -n 20)"
}

mix old old $PORT
mix old new $((PORT + 1))
mix new old $((PORT + 2))
mix new new $((PORT + 3))

for own in old new; do
  for role in server client; do
    same "a $role with the $own library cannot tell its peer's" "$role.$own.old" "$role.$own.new"
  done
done

# Defects of the old library (<) that ours (>) does not have, each a line of the transcript:
# - a non-blocking descriptor without an event was a failure of the provider;
# - a configuration could not be rid of its SRQ, and a wildcard address was a success without a device;
# - memory that cannot be written was refused as the source of writes;
# - ranges beyond a region, local or remote, were queued, and lengths over 4 GiB cut to what fits in 32 bits;
# - a flush of an unknown type was done as some other;
# - receives of a connection with an SRQ were refused instead of going there;
# - a flush near the end of a region read beyond it, which ended the connection.
declare -A remedied
common='< remedies: a source of writes that cannot be written: Provider error occurred
< remedies: no SRQ any more: Invalid argument
< remedies: no event waits: Provider error occurred
< remedies: receive beyond the region: Success
< remedies: receive of 4 GiB and 5 bytes: Success
< remedies: the device of no address: Success
> remedies: a source of writes that cannot be written: Success
> remedies: no SRQ any more: Success
> remedies: no event waits: No next event available
> remedies: receive beyond the region: Invalid argument
> remedies: receive of 4 GiB and 5 bytes: Invalid argument
> remedies: the device of no address: Provider error occurred'
remedied[server]='< remedies: no request waits: Provider error occurred
> remedies: no request waits: No next event available'
[ "$RDMA_DEV" = siw0 ] || remedied[server]+='
< recv-with-srq: receive on a connection with an SRQ: Provider error occurred
> recv-with-srq: receive on a connection with an SRQ: Success'
remedied[client]="< beyond: read beyond the peer's region: the connection fails
< remedies: flush of a type that is none: opcode 2, context 0
< tail-flush: flush of the last 4 bytes: the connection fails
> beyond: read beyond the peer's region: Invalid argument
> remedies: flush of a type that is none: Invalid argument
> tail-flush: flush of the last 4 bytes: it worked"
for role in server client; do
  check_is "a $role sees the same with both libraries, remedied defects apart" \
    "$(printf '%s\n' "$common" "${remedied[$role]}" | sort)" "$(diff "$role.old.old" "$role.new.new" | grep '^[<>]' | sort)"
done
finish
