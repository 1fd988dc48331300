/* SPDX-License-Identifier: BSD-3-Clause */
/* utils.c: devices by address or name, their release, and the texts of events. */
#include <config.h>

#include "lib/rpma/utils.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "lib/rpma/addr.h"
#include "lib/rpma/err.h"
#include "lib/rpma/librpma.h"

/* Numbers of /dev/null, see Documentation/admin-guide/devices.txt of Linux. */
#define NULL_MAJOR 1
#define NULL_MINOR 3

const char *
rpma_utils_conn_event_2str(enum rpma_conn_event conn_event)
{
	switch (conn_event) {
	case RPMA_CONN_UNDEFINED:
		return "Undefined connection event";
	case RPMA_CONN_ESTABLISHED:
		return "Connection established";
	case RPMA_CONN_CLOSED:
		return "Connection closed";
	case RPMA_CONN_LOST:
		return "Connection lost";
	case RPMA_CONN_REJECTED:
		return "Connection rejected";
	case RPMA_CONN_UNREACHABLE:
		return "Connection unreachable";
	default:
		return "Unsupported connection event";
	}
}

/* Where find_device() looks and what it found. */
struct device_search {
	enum rpma_util_ibv_context_type type;
	struct ibv_context *found;
};

/* One address: bind to it, or resolve it, and see which device the id got. */
static int
find_device(struct sockaddr *src, struct sockaddr *dst, void *arg)
{
	struct device_search *search = arg;
	struct rdma_cm_id *id;
	int ret = 0;

	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP))
		return rpmai_err_provider(errno, "rdma_create_id()");
	if (search->type == RPMA_UTIL_IBV_CONTEXT_LOCAL) {
		if (rdma_bind_addr(id, src))
			ret = rpmai_err_provider(errno, "rdma_bind_addr()");
	} else if (rdma_resolve_addr(id, src, dst, RPMA_DEFAULT_TIMEOUT_MS)) {
		ret = rpmai_err_provider(errno, "rdma_resolve_addr(timeout_ms=%d)",
		    RPMA_DEFAULT_TIMEOUT_MS);
	}
	if (!ret && !id->verbs)
		ret = rpmai_err_provider(ENODEV,
		    "finding the RDMA device of the address");
	if (!ret)
		search->found = id->verbs;
	if (rdma_destroy_id(id))
		rpmai_err_note(&ret, errno, "rdma_destroy_id()");
	return ret;
}

int
rpma_utils_get_ibv_context(const char *addr, enum rpma_util_ibv_context_type type,
    struct ibv_context **ibv_ctx_ptr)
{
	struct device_search search = { .type = type };
	bool is_local = type == RPMA_UTIL_IBV_CONTEXT_LOCAL;
	int ret;

	if (!addr || !ibv_ctx_ptr ||
	    (!is_local && type != RPMA_UTIL_IBV_CONTEXT_REMOTE))
		return RPMA_E_INVAL;
	ret = rpmai_addr_try(addr, NULL, is_local, find_device, &search);
	if (ret)
		return ret;
	*ibv_ctx_ptr = search.found;
	return 0;
}

int
rpma_utils_ibv_context_by_name(const char *name, struct ibv_context **ibv_ctx_ptr)
{
	struct ibv_context **list;
	struct ibv_context *found = NULL;
	int n = 0;

	if (!name || !ibv_ctx_ptr)
		return RPMA_E_INVAL;
	list = rdma_get_devices(&n);
	if (!list)
		return rpmai_err_provider(errno, "rdma_get_devices()");
	for (int i = 0; i < n && !found; i++) {
		if (!strcmp(ibv_get_device_name(list[i]->device), name))
			found = list[i];
	}
	rdma_free_devices(list);
	if (!found)
		return rpmai_err_provider(ENODEV, "finding the RDMA device %s", name);
	*ibv_ctx_ptr = found;
	return 0;
}

const char *
rpma_utils_ibv_context_2name(struct ibv_context *ibv_ctx)
{
	const char *name = ibv_ctx ? ibv_get_device_name(ibv_ctx->device) : NULL;

	return name ? name : "";
}

static bool
is_null_device(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISCHR(st.st_mode) &&
	    st.st_rdev == makedev(NULL_MAJOR, NULL_MINOR);
}

/* Let fd stand for /dev/null from now on. */
static int
replace_by_null(int fd)
{
	int ret = 0;
	int null_fd;

	if (is_null_device(fd))
		return 0;
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null_fd < 0)
		return rpmai_err_provider(errno, "open(/dev/null)");
	if (dup3(null_fd, fd, O_CLOEXEC) < 0)
		ret = rpmai_err_provider(errno, "dup3(newfd=%d)", fd);
	(void)close(null_fd); /* nothing was written */
	return ret;
}

int
rpma_utils_ibv_context_release(struct ibv_context *ibv_ctx)
{
	int ret;

	if (!ibv_ctx)
		return RPMA_E_INVAL;
	ret = replace_by_null(ibv_ctx->async_fd);
	if (ret)
		return ret;
	return replace_by_null(ibv_ctx->cmd_fd);
}

int
rpmai_utils_query_device(struct ibv_context *ibv_ctx, struct ibv_device_attr_ex *attr)
{
	int rc;

	memset(attr, 0, sizeof(*attr));
	rc = ibv_query_device_ex(ibv_ctx, NULL, attr);
	if (rc)
		return rpmai_err_provider(rpmai_err_verbs(rc), "ibv_query_device_ex()");
	return 0;
}

bool
rpmai_utils_is_odp_capable(const struct ibv_device_attr_ex *attr)
{
	const uint32_t needed = IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_WRITE;

	return attr->odp_caps.general_caps & IBV_ODP_SUPPORT &&
	    (attr->odp_caps.per_transport_caps.rc_odp_caps & needed) == needed;
}

int
rpma_utils_ibv_context_is_odp_capable(struct ibv_context *ibv_ctx, int *is_odp_capable)
{
	struct ibv_device_attr_ex attr;
	int ret;

	if (!ibv_ctx || !is_odp_capable)
		return RPMA_E_INVAL;
	*is_odp_capable = 0;
	ret = rpmai_utils_query_device(ibv_ctx, &attr);
	if (!ret)
		*is_odp_capable = rpmai_utils_is_odp_capable(&attr);
	return ret;
}
