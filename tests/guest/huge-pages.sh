# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A pool of huge pages: they are taken and given back, messages come through them; where there are too few the start says how many.
# shellcheck source=tests/guest/lib.sh
. "$TOP_SRCDIR/tests/guest/lib.sh"

# meminfo KEY: HugePages_Free counts those that are set aside, HugePages_Rsvd only until they are touched.
meminfo() { sed -n "s/^$1:[[:space:]]*\([0-9]*\).*/\1/p" /proc/meminfo; }
available() { echo $(($(meminfo HugePages_Free) - $(meminfo HugePages_Rsvd))); }

page=$(($(meminfo Hugepagesize) * 1024))
pages=3
# One byte over two pages, in a manner of speaking.
pool=".pool = {slots: $((2 * page / 4096 + 1)), slot_size: 4096, huge_pages: true}"

sysctl -q vm.nr_hugepages=$((pages - 1))
write_config "$pool"
"$RPMAD" -c rpmad.json >start.out 2>&1
check_is "without enough of them it does not start" 1 $?
check "and says how many it needs, how many there are, and what to do" \
  grep -q "needs $pages huge pages of $((page / 1024)) KiB, $((pages - 1)) are free.*vm.nr_hugepages=$pages .*pool.huge_pages" start.out
diag_file start.out
sysctl -q vm.nr_hugepages=$pages
check_is "the system has some" $pages "$(available)"

start_rpmad "$pool"
check_json "they are what was asked for, and what is in effect" \
  ".huge_pages and .page_size == $page and .pool_bytes == $((pages * page)) and .effective >= .asked" "$("$RPMACTL" srq --json)"
check_is "so many bytes are in them" $((pages * page)) "$(stat_of .memory.huge_page_bytes)"
check_is "they are taken" 0 "$(available)"
"$CM_SEND" --addr "$RDMA_IP" --port $PORT --count 100 --manifest sent.manifest >sender.out 2>&1
check_is "all sends completed" 0 $?
"$RPMACTL" poll -n 100 --json >received.json
check "what was sent came, unharmed" "$VERIFY" received.json sent.manifest
check_conserved
check_stop
check_is "they are given back" $pages "$(available)"

start_rpmad .
check_json "not asked for, they are not taken" '(.huge_pages | not) and .page_size == 4096' "$("$RPMACTL" srq --json)"
check_is "nothing is in them" 0 "$(stat_of .memory.huge_page_bytes)"
check_is "by nobody" $pages "$(available)"
check_stop
sysctl -q vm.nr_hugepages=0
finish
