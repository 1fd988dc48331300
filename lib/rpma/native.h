/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * native.h: operations of remote memory that newer devices do by themselves, where the
 * headers of this build know them. Sets of operations are of RPMA_NATIVE_*.
 */
#ifndef RPMAD_LIB_RPMA_NATIVE_H
#define RPMAD_LIB_RPMA_NATIVE_H

#include <stddef.h>
#include <stdint.h>

struct ibv_device_attr_ex;
struct ibv_qp;
struct ibv_qp_init_attr_ex;
struct rpma_mr_remote;

/* Which operations a device does. */
unsigned int rpmai_native_of_device(const struct ibv_device_attr_ex *attr);

/* Which kinds of access for flushes by the device it understands, IBV_ACCESS_FLUSH_*. */
int rpmai_native_flush_access(const struct ibv_device_attr_ex *attr);

/* Which of them a region with a usage of RPMA_MR_USAGE_* wants. */
int rpmai_native_usage_access(int usage);

/* Ask for a queue pair with these operations; without any, attr is left as it is. */
void rpmai_native_ask(struct ibv_qp_init_attr_ex *attr, unsigned int ops);

/* Which of the operations that were asked for a queue pair has. */
unsigned int rpmai_native_of_qp(struct ibv_qp *qp, unsigned int asked);

/*
 * Post one operation to a queue pair that has it.
 *
 * offset, len  bytes within mr; of an atomic write the 8 bytes at src
 * type         enum rpma_flush_type
 * flags        RPMA_F_COMPLETION_*
 * return       0, or what the provider answered
 * source       ibv_wr_post(3)
 */
int rpmai_native_flush(struct ibv_qp *qp, const struct rpma_mr_remote *mr,
    uint64_t offset, size_t len, int type, int flags, uint64_t wr_id);
int rpmai_native_atomic_write(struct ibv_qp *qp, const struct rpma_mr_remote *mr,
    uint64_t offset, const char src[8], int flags, uint64_t wr_id);

#endif
