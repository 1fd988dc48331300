/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_query.c: what a device tells about itself, and the texts of numbers. */
#include <config.h>

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "tests/fake/fake_impl.h"

/* The header has a macro of this name in front of the symbol. */
#undef ibv_query_port

static int
gone_or(int error, const struct ibv_context *context)
{
	if (!error && fake_ctx_gone(context))
		return EIO;
	return error;
}

static void
fill_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	const struct fake_options *options = fake_options();

	memset(attr, 0, sizeof(*attr));
	snprintf(attr->fw_ver, sizeof(attr->fw_ver), "1.0");
	attr->node_guid = htobe64(0x0200f4fe00000000u + fake_ctx_of(context)->device);
	attr->sys_image_guid = attr->node_guid;
	attr->max_mr_size = options->max_mr_bytes ? options->max_mr_bytes : UINT64_MAX;
	attr->page_size_cap = 4096;
	attr->vendor_id = 0xfafa;
	attr->vendor_part_id = 1;
	attr->max_qp = (int)options->max_qp;
	attr->max_qp_wr = (int)options->max_qp_wr;
	attr->max_sge = FAKE_SGE_MAX;
	attr->max_cq = 65536;
	attr->max_cqe = (int)options->max_cqe;
	attr->max_mr = 65536;
	attr->max_pd = 65536;
	attr->max_qp_rd_atom = 16;
	attr->max_qp_init_rd_atom = 16;
	attr->max_srq = options->max_srq_wr ? 1024 : 0;
	attr->max_srq_wr = (int)options->max_srq_wr;
	attr->max_srq_sge = options->max_srq_wr ? FAKE_SGE_MAX : 0;
	attr->max_pkeys = 1;
	attr->phys_port_cnt = 1;
}

int
ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	int error = gone_or(fake_begin("ibv_query_device", "%s", ""), context);

	if (!error)
		fill_device(context, attr);
	return fake_end_verbs(error);
}

int
fake_query_device_ex(struct ibv_context *context,
    const struct ibv_query_device_ex_input *input, struct ibv_device_attr_ex *attr,
    size_t size)
{
	int error = gone_or(fake_begin("ibv_query_device_ex", "%s", ""), context);

	(void)input;
	if (!error) {
		memset(attr, 0, size);
		fill_device(context, &attr->orig_attr);
		attr->device_cap_flags_ex = fake_rma_device_caps();
		if (fake_options()->odp) {
			attr->odp_caps.general_caps = IBV_ODP_SUPPORT;
			attr->odp_caps.per_transport_caps.rc_odp_caps =
			    IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV |
			    IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ |
			    IBV_ODP_SUPPORT_SRQ_RECV;
		}
	}
	return fake_end_verbs(error);
}

/* What verbs.h calls the old port attributes: the first members of the new ones. */
int
ibv_query_port(struct ibv_context *context, uint8_t port_num,
    struct _compat_ibv_port_attr *compat)
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)(void *)compat;
	int error = gone_or(fake_begin("ibv_query_port", "port=%u", port_num), context);

	if (!error && port_num != 1)
		error = EINVAL;
	if (!error) {
		attr->state = (enum ibv_port_state)fake_options()->port_state;
		attr->max_mtu = IBV_MTU_4096;
		attr->active_mtu = IBV_MTU_1024;
		attr->gid_tbl_len = 2;
		attr->max_msg_sz = 1u << 30;
		attr->pkey_tbl_len = 1;
		attr->phys_state = 5;
		attr->link_layer = IBV_LINK_LAYER_ETHERNET;
	}
	return fake_end_verbs(error);
}

/* GID 0: the first IPv4 address of the device, mapped; GID 1: the first IPv6 one. */
int
ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index,
    union ibv_gid *gid)
{
	int error =
	    gone_or(fake_begin("ibv_query_gid", "port=%u,index=%d", port_num, index),
		context);
	unsigned device = fake_ctx_of(context)->device;
	const struct fake_addr *row;
	struct sockaddr_in sin;
	struct sockaddr_in6 sin6;

	if (!error && (port_num != 1 || index < 0 || index > 1))
		error = EINVAL;
	if (error)
		return fake_end_rdma(error);
	memset(gid, 0, sizeof(*gid));
	row = fake_addr_of_device(device, index == 0 ? AF_INET : AF_INET6);
	if (row && index == 0) {
		memcpy(&sin, &row->addr, sizeof(sin));
		memset(gid->raw + 10, 0xff, 2);
		memcpy(gid->raw + 12, &sin.sin_addr, 4);
	} else if (row) {
		memcpy(&sin6, &row->addr, sizeof(sin6));
		memcpy(gid->raw, &sin6.sin6_addr, 16);
	}
	return fake_end_rdma(0);
}

/* ---- texts -------------------------------------------------------------------- */

const char *
ibv_wc_status_str(enum ibv_wc_status status)
{
	static const char *const texts[] = {
		[IBV_WC_SUCCESS] = "success",
		[IBV_WC_LOC_LEN_ERR] = "local length error",
		[IBV_WC_LOC_QP_OP_ERR] = "local QP operation error",
		[IBV_WC_LOC_PROT_ERR] = "local protection error",
		[IBV_WC_WR_FLUSH_ERR] = "Work Request Flushed Error",
		[IBV_WC_REM_INV_REQ_ERR] = "remote invalid request error",
		[IBV_WC_REM_OP_ERR] = "remote operation error",
		[IBV_WC_RETRY_EXC_ERR] = "transport retry counter exceeded",
		[IBV_WC_RNR_RETRY_EXC_ERR] = "RNR retry counter exceeded",
		[IBV_WC_GENERAL_ERR] = "general error",
	};
	unsigned i = (unsigned)status;

	if (i >= sizeof(texts) / sizeof(texts[0]) || !texts[i])
		return "unknown";
	return texts[i];
}

const char *
ibv_event_type_str(enum ibv_event_type event)
{
	static const char *const texts[] = {
		[IBV_EVENT_CQ_ERR] = "CQ error",
		[IBV_EVENT_QP_FATAL] = "local work queue catastrophic error",
		[IBV_EVENT_DEVICE_FATAL] = "local catastrophic error",
		[IBV_EVENT_PORT_ACTIVE] = "port active",
		[IBV_EVENT_PORT_ERR] = "port error",
		[IBV_EVENT_SRQ_ERR] = "SRQ catastrophic error",
		[IBV_EVENT_SRQ_LIMIT_REACHED] = "SRQ limit reached",
		[IBV_EVENT_QP_LAST_WQE_REACHED] = "last WQE reached",
	};
	unsigned i = (unsigned)event;

	if (i >= sizeof(texts) / sizeof(texts[0]) || !texts[i])
		return "unknown";
	return texts[i];
}

const char *
rdma_event_str(enum rdma_cm_event_type event)
{
	static const char *const texts[] = {
		"RDMA_CM_EVENT_ADDR_RESOLVED",
		"RDMA_CM_EVENT_ADDR_ERROR",
		"RDMA_CM_EVENT_ROUTE_RESOLVED",
		"RDMA_CM_EVENT_ROUTE_ERROR",
		"RDMA_CM_EVENT_CONNECT_REQUEST",
		"RDMA_CM_EVENT_CONNECT_RESPONSE",
		"RDMA_CM_EVENT_CONNECT_ERROR",
		"RDMA_CM_EVENT_UNREACHABLE",
		"RDMA_CM_EVENT_REJECTED",
		"RDMA_CM_EVENT_ESTABLISHED",
		"RDMA_CM_EVENT_DISCONNECTED",
		"RDMA_CM_EVENT_DEVICE_REMOVAL",
		"RDMA_CM_EVENT_MULTICAST_JOIN",
		"RDMA_CM_EVENT_MULTICAST_ERROR",
		"RDMA_CM_EVENT_ADDR_CHANGE",
		"RDMA_CM_EVENT_TIMEWAIT_EXIT",
	};
	unsigned i = (unsigned)event;

	return i < sizeof(texts) / sizeof(texts[0]) ? texts[i] : "UNKNOWN EVENT";
}
