# SPDX-License-Identifier: BSD-3-Clause
# verbs.awk: the verbs.h of rdma-core 44 with what 45 added for flushes, so that what uses it is compiled and tested
# where the headers are older, too. Names, numbers and the place of wr_flush are those of 45: ibv_wr_post(3), and
# enum ib_uverbs_* of the kernel's rdma/ib_user_verbs.h.
# No warnings for what is not ours.
NR == 1 { print "#pragma GCC system_header" }
/^struct ibv_qp_ex \{/ { inside = 1 }
inside && /^\};/ {
	print "\tvoid (*wr_flush)(struct ibv_qp_ex *, uint32_t, uint64_t, size_t, uint8_t, uint8_t);"
	print
	print "enum { IBV_ACCESS_FLUSH_GLOBAL = 1 << 8, IBV_ACCESS_FLUSH_PERSISTENT = 1 << 9 };"
	print "enum { IBV_QP_EX_WITH_FLUSH = 1 << 11 };"
	print "enum { IBV_FLUSH_GLOBAL = 1, IBV_FLUSH_PERSISTENT = 2 };"
	print "enum { IBV_FLUSH_RANGE = 0, IBV_FLUSH_MR = 1 };"
	print "static inline void"
	print "ibv_wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, size_t len, uint8_t type, uint8_t level)"
	print "{"
	print "\tqp->wr_flush(qp, rkey, addr, len, type, level);"
	print "}"
	inside = 0
	done = 1
	next
}
{ print }
END {
	if (!done) {
		print "verbs.awk: no struct ibv_qp_ex to extend" >"/dev/stderr"
		exit 1
	}
}
