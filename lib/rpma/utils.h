/* SPDX-License-Identifier: BSD-3-Clause */
/* utils.h: queries of a device that more than one file makes. */
#ifndef RPMAD_LIB_RPMA_UTILS_H
#define RPMAD_LIB_RPMA_UTILS_H

#include <stdbool.h>

struct ibv_context;
struct ibv_device_attr_ex;

/*
 * What the device can do.
 * return   0; RPMA_E_PROVIDER
 * source   ibv_query_device_ex(3)
 */
int rpmai_utils_query_device(struct ibv_context *ibv_ctx,
    struct ibv_device_attr_ex *attr);

/* Whether it does on-demand paging for reads and writes of reliable connections. */
bool rpmai_utils_is_odp_capable(const struct ibv_device_attr_ex *attr);

#endif
