/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * librpma_1_0.c: the numbers, sizes and types that programs made for librpma 1.3.0 have
 * compiled in. It compiles with the header of that library and with ours, or the header
 * is wrong. See check_abi.sh.
 */
#include <librpma.h>

#define SAME(a, b) _Static_assert((a) == (b), #a)

#ifndef RPMA_W_WAIT_FOR_COMPLETION
#error "RPMA_W_WAIT_FOR_COMPLETION is no macro"
#endif

SAME(LIBRPMA_H, 1);
SAME(RPMA_W_WAIT_FOR_COMPLETION, 1);
SAME(RPMA_E_UNKNOWN, -100000);
SAME(RPMA_E_NOSUPP, -100001);
SAME(RPMA_E_PROVIDER, -100002);
SAME(RPMA_E_NOMEM, -100003);
SAME(RPMA_E_INVAL, -100004);
SAME(RPMA_E_NO_COMPLETION, -100005);
SAME(RPMA_E_NO_EVENT, -100006);
SAME(RPMA_E_AGAIN, -100007);
SAME(RPMA_E_SHARED_CHANNEL, -100008);
SAME(RPMA_E_NOT_SHARED_CHNL, -100009);
SAME(RPMA_DEFAULT_TIMEOUT_MS, 1000);
SAME(RPMA_MR_USAGE_READ_SRC, 0x01);
SAME(RPMA_MR_USAGE_READ_DST, 0x02);
SAME(RPMA_MR_USAGE_WRITE_SRC, 0x04);
SAME(RPMA_MR_USAGE_WRITE_DST, 0x08);
SAME(RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY, 0x10);
SAME(RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, 0x20);
SAME(RPMA_MR_USAGE_SEND, 0x40);
SAME(RPMA_MR_USAGE_RECV, 0x80);
SAME(RPMA_F_COMPLETION_ON_ERROR, 1);
SAME(RPMA_F_COMPLETION_ALWAYS, 3);
SAME(RPMA_ATOMIC_WRITE_ALIGNMENT, 8);
SAME(sizeof(RPMA_LOG_USE_DEFAULT_FUNCTION), sizeof(void *));

SAME(RPMA_UTIL_IBV_CONTEXT_LOCAL, 0);
SAME(RPMA_UTIL_IBV_CONTEXT_REMOTE, 1);
SAME(RPMA_CONN_UNDEFINED, -1);
SAME(RPMA_CONN_ESTABLISHED, 0);
SAME(RPMA_CONN_CLOSED, 1);
SAME(RPMA_CONN_LOST, 2);
SAME(RPMA_CONN_REJECTED, 3);
SAME(RPMA_CONN_UNREACHABLE, 4);
SAME(RPMA_FLUSH_TYPE_PERSISTENT, 0);
SAME(RPMA_FLUSH_TYPE_VISIBILITY, 1);
SAME(RPMA_LOG_DISABLED, -1);
SAME(RPMA_LOG_LEVEL_FATAL, 0);
SAME(RPMA_LOG_LEVEL_ERROR, 1);
SAME(RPMA_LOG_LEVEL_WARNING, 2);
SAME(RPMA_LOG_LEVEL_NOTICE, 3);
SAME(RPMA_LOG_LEVEL_INFO, 4);
SAME(RPMA_LOG_LEVEL_DEBUG, 5);
SAME(RPMA_LOG_THRESHOLD, 0);
SAME(RPMA_LOG_THRESHOLD_AUX, 1);
SAME(RPMA_LOG_THRESHOLD_MAX, 2);

/* Which type stands for an enumeration: one with a negative number is signed. */
#define IS_SIGNED(type) ((type)-1 < (type)0)
SAME(sizeof(enum rpma_util_ibv_context_type), 4);
SAME(sizeof(enum rpma_conn_event), 4);
SAME(sizeof(enum rpma_flush_type), 4);
SAME(sizeof(enum rpma_log_level), 4);
SAME(sizeof(enum rpma_log_threshold), 4);
SAME(IS_SIGNED(enum rpma_util_ibv_context_type), 0);
SAME(IS_SIGNED(enum rpma_conn_event), 1);
SAME(IS_SIGNED(enum rpma_flush_type), 0);
SAME(IS_SIGNED(enum rpma_log_level), 1);
SAME(IS_SIGNED(enum rpma_log_threshold), 0);

SAME(offsetof(struct rpma_conn_private_data, ptr), 0);
SAME(offsetof(struct rpma_conn_private_data, len), sizeof(void *));
SAME(sizeof(struct rpma_conn_private_data), 2 * sizeof(void *));
SAME(sizeof(((struct rpma_conn_private_data *)0)->len), 1);

/* A type of functions, not of pointers to them. */
SAME(__builtin_types_compatible_p(rpma_log_function,
	 void(enum rpma_log_level, const char *, const int, const char *, const char *,
	     ...)),
    1);

/* What the header brings along, and handles that are declared alone. */
uint64_t *librpma_stdint;
FILE *librpma_stdio;
bool *librpma_stdbool;
struct ibv_wc librpma_verbs;
struct rpma_peer_cfg *librpma_peer_cfg;
struct rpma_peer *librpma_peer;
struct rpma_mr_local *librpma_mr_local;
struct rpma_mr_remote *librpma_mr_remote;
struct rpma_conn_cfg *librpma_conn_cfg;
struct rpma_srq *librpma_srq;
struct rpma_conn *librpma_conn;
struct rpma_cq *librpma_cq;
struct rpma_conn_req *librpma_conn_req;
struct rpma_ep *librpma_ep;
struct rpma_srq_cfg *librpma_srq_cfg;
