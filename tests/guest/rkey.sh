# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Memory that is registered for RECV or SEND alone cannot be read or written by a peer, though it knows address and key.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

mkfifo hold
"$TOP_BUILDDIR/tests/peers/rkey_owner" "$RDMA_IP" $PORT <hold >owner.out 2>&1 &
owner=$!
background+=("$owner")
exec 8>hold
wait_until 15 grep -q listening owner.out

# probe OPERATION REGION
probe() {
  local address key
  read -r address key < <(sed -n "s/^$2 \([0-9]* [0-9]*\)\$/\1/p" owner.out)
  timeout 60 "$TOP_BUILDDIR/tests/peers/rkey_probe" "$RDMA_IP" $PORT "$1" "$address" "$key" 2>&1
}

# refused OPERATION REGION
refused() {
  local got
  got=$(probe "$1" "$2")
  if [[ $got =~ ^($denied)$ ]]; then pass "$1 of memory for $2 is refused"; else fail "$1 of memory for $2 is refused" "$got"; fi
}

# That the probe can succeed.
check_is "read of memory for read works" "0 the peer's" "$(probe read read)"
if [ "$RDMA_DEV" = siw0 ]; then
  # Writes complete before the peer has them: that nothing gets through behind them, and below that the memory is unchanged, says
  # that they are refused. Reads prove nothing of a registration here: soft-iWARP of Linux 6.1 answers them without a look at
  # what memory is registered for (siw_qp_tx.c, the check of a read response asks for no right).
  check_is "write of memory for write works" "0 then 0" "$(probe write+read write)"
  # The write, or what is behind it, ends with IBV_WC_LOC_QP_OP_ERR or IBV_WC_WR_FLUSH_ERR as the connection breaks, or never.
  denied="(0 then )?(2|5|-1)"
  for region in recv send send-recv read; do refused write+read $region; done
else
  check_is "write of memory for write works" 0 "$(probe write write)"
  # IBV_WC_REM_ACCESS_ERR.
  denied=10
  for region in recv send send-recv; do
    refused read $region
    refused write $region
  done
  refused write read
  refused read write
fi

exec 8>&-
wait_until 15 is_gone "$owner"
wait "$owner"
check_is "the owner ends in order" 0 $?
check_is "nothing was written but where it may be" "recv unchanged
send unchanged
send-recv unchanged
read unchanged
write changed" "$(grep changed owner.out)"
finish
