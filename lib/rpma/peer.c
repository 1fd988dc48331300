/* SPDX-License-Identifier: BSD-3-Clause */
/* peer.c: a protection domain on a device, and what the device can do. */
#include <config.h>

#include "lib/rpma/peer.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rpma/err.h"
#include "lib/rpma/flush.h"
#include "lib/rpma/librpma.h"
#include "lib/rpma/native.h"
#include "lib/rpma/utils.h"

/* A signed count of struct ibv_device_attr as the number that it stands for. */
static uint32_t
count(int value)
{
	return value < 0 ? 0 : (uint32_t)value;
}

int
rpma_peer_new(struct ibv_context *ibv_ctx, struct rpma_peer **peer_ptr)
{
	struct ibv_device_attr_ex attr;
	struct rpma_peer *peer;
	int ret;

	if (!ibv_ctx || !peer_ptr)
		return RPMA_E_INVAL;
	ret = rpmai_utils_query_device(ibv_ctx, &attr);
	if (ret)
		return ret;
	peer = calloc(1, sizeof(*peer));
	if (!peer)
		return rpmai_err_nomem();
	rpmai_ref_init(&peer->ref);
	peer->ibv_ctx = ibv_ctx;
	peer->max_cqe = count(attr.orig_attr.max_cqe);
	peer->is_iwarp = ibv_ctx->device->transport_type == IBV_TRANSPORT_IWARP;
	peer->is_odp_capable = rpmai_utils_is_odp_capable(&attr);
	peer->native_ops = rpmai_native_of_device(&attr);
	peer->flush_access = rpmai_native_flush_access(&attr);
	errno = 0;
	peer->pd = ibv_alloc_pd(ibv_ctx);
	if (!peer->pd) {
		int errnum = errno;

		free(peer);
		ret = rpmai_err_provider(errnum, "ibv_alloc_pd()");
		if (errnum == ENOMEM)
			return RPMA_E_NOMEM;
		return errnum ? ret : RPMA_E_UNKNOWN;
	}
	*peer_ptr = peer;
	return 0;
}

void
rpmai_peer_release(struct rpma_peer *peer, int *ret)
{
	int rc;

	if (!rpmai_ref_give(&peer->ref))
		return;
	rpmai_flush_buffer_free(peer, ret);
	rc = ibv_dealloc_pd(peer->pd);
	if (rc)
		rpmai_err_note(ret, rpmai_err_verbs(rc), "ibv_dealloc_pd()");
	free(peer);
}

int
rpma_peer_delete(struct rpma_peer **peer_ptr)
{
	struct rpma_peer *peer;
	int ret = 0;

	if (!peer_ptr)
		return RPMA_E_INVAL;
	peer = *peer_ptr;
	if (!peer)
		return 0;
	*peer_ptr = NULL;
	if (rpmai_ref_is_shared(&peer->ref))
		rpmai_err_note(&ret, EBUSY, "deleting a peer that is in use");
	rpmai_peer_release(peer, &ret);
	return ret;
}

int
rpma_peer_get_limits(const struct rpma_peer *peer, struct rpma_peer_limits *limits)
{
	struct ibv_device_attr attr;
	const char *name;
	int rc;

	if (!peer || !limits)
		return RPMA_E_INVAL;
	memset(&attr, 0, sizeof(attr));
	rc = ibv_query_device(peer->ibv_ctx, &attr);
	if (rc)
		return rpmai_err_provider(rpmai_err_verbs(rc), "ibv_query_device()");
	*limits = (struct rpma_peer_limits){
		.node_guid = be64toh(attr.node_guid),
		.vendor_id = attr.vendor_id,
		.vendor_part_id = attr.vendor_part_id,
		.is_iwarp = peer->is_iwarp,
		.ports = attr.phys_port_cnt,
		.max_srq = count(attr.max_srq),
		.max_srq_wr = count(attr.max_srq_wr),
		.max_cqe = count(attr.max_cqe),
		.max_qp = count(attr.max_qp),
		.max_qp_wr = count(attr.max_qp_wr),
		.max_mr_bytes = attr.max_mr_size,
	};
	name = rpma_utils_ibv_context_2name(peer->ibv_ctx);
	(void)snprintf(limits->device, sizeof(limits->device), "%s", name);
	return 0;
}

int
rpma_peer_get_port(const struct rpma_peer *peer, uint8_t port_num,
    struct rpma_peer_port *port)
{
	struct ibv_port_attr attr;
	int rc;

	if (!peer || !port || port_num == 0)
		return RPMA_E_INVAL;
	memset(&attr, 0, sizeof(attr));
	rc = ibv_query_port(peer->ibv_ctx, port_num, &attr);
	if (rc)
		return rpmai_err_provider(rpmai_err_verbs(rc),
		    "ibv_query_port(port_num=%u)", port_num);
	*port = (struct rpma_peer_port){
		.state = attr.state,
		.max_msg_bytes = attr.max_msg_sz,
		/* IBV_MTU_256 is 1, and each next one is twice as large */
		.active_mtu_bytes = attr.active_mtu ? 128U << attr.active_mtu : 0,
	};
	return 0;
}

int
rpmai_peer_check_device(const struct rpma_peer *peer, const struct ibv_context *verbs)
{
	if (!verbs)
		return rpmai_err_provider(ENODEV,
		    "finding the RDMA device of the address");
	if (verbs != peer->ibv_ctx)
		return rpmai_err_provider(EXDEV,
		    "using device %s with a peer on device %s",
		    ibv_get_device_name(verbs->device),
		    ibv_get_device_name(peer->ibv_ctx->device));
	return 0;
}
