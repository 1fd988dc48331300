/* SPDX-License-Identifier: BSD-3-Clause */
/* The way to the daemon, and the pool it shares. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/rpmac/impl.h"

#define SOCKET_VARIABLE "RPMAD_SOCKET"
#define RETRY_MS        10     /* between attempts while too many others connect */
#define SLOTS_MAX       65536u /* that a daemon has */

/* ---- which socket ---- */

static int
find_socket(struct rpmac *rpmac, const char *where, struct sockaddr_un *out)
{
	int len;

	if (!where)
		where = secure_getenv(SOCKET_VARIABLE);
	if (!where || where[0] == '\0')
		where = RPMAD_RUNSTATEDIR "/rpmad.sock";
	*out = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strchr(where, '/'))
		len = snprintf(out->sun_path, sizeof(out->sun_path), "%s", where);
	else
		len = snprintf(out->sun_path, sizeof(out->sun_path),
		    RPMAD_RUNSTATEDIR "/%s.sock", where);
	if ((size_t)len >= sizeof(out->sun_path))
		return rpmac_fail(rpmac, -EINVAL,
		    "the path of the socket of \"%.200s\" has %d bytes, over the system's "
		    "limit of %zu",
		    where, len, sizeof(out->sun_path) - 1);
	return 0;
}

/* ---- the connection ---- */

static int
connect_failed(struct rpmac *rpmac, const char *path, int errnum)
{
	switch (errnum) {
	case ENOENT:
		return rpmac_fail(rpmac, -errnum,
		    "there is no socket %s: rpmad does not run; start it with: systemctl "
		    "start rpmad",
		    path);
	case ECONNREFUSED:
		return rpmac_fail(rpmac, -errnum,
		    "nobody listens at %s: rpmad has died; start it again with: systemctl "
		    "restart rpmad",
		    path);
	case EACCES:
	case EPERM:
		return rpmac_fail(rpmac, -EACCES,
		    "no permission to connect to %s; join the group rpmad, or ask the "
		    "administrator",
		    path);
	case ETIMEDOUT:
		return rpmac_fail(rpmac, -errnum,
		    "rpmad did not take the connection at %s within %d ms", path,
		    rpmac->answer_ms);
	default:
		return rpmac_fail(rpmac, -errnum, "cannot connect to %s: %s", path,
		    strerrordesc_np(errnum));
	}
}

static int
connect_socket(struct rpmac *rpmac, const struct sockaddr_un *address, uint64_t end_ms)
{
	int errnum;

	rpmac->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (rpmac->fd < 0)
		return connect_failed(rpmac, address->sun_path, errno);
	/* A full queue is EAGAIN here. */
	while (connect(rpmac->fd, (const struct sockaddr *)address, sizeof(*address)) !=
	    0) {
		errnum = errno;
		if (errnum != EAGAIN && errnum != EINTR)
			return connect_failed(rpmac, address->sun_path, errnum);
		if (rpmac_now_ms() >= end_ms)
			return connect_failed(rpmac, address->sun_path, ETIMEDOUT);
		(void)poll(NULL, 0, RETRY_MS);
	}
	return 0;
}

/* ---- the pool ---- */

/* Map what came: it must be what the reply says, and not become shorter. */
static int
map_pool(struct rpmac *rpmac)
{
	const size_t bytes = rpmac->bytes;
	struct stat st;
	void *base;
	int seals;

	if (rpmac->fd_count != 1)
		return rpmac_fail(rpmac, -EPROTO,
		    "rpmad sent no descriptor of its pool");
	seals = fcntl(rpmac->fds[0], F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(rpmac->fds[0], &st) != 0 ||
	    (uint64_t)st.st_size < bytes || rpmac->slots == 0 ||
	    rpmac->slots > SLOTS_MAX || rpmac->slot_size == 0 ||
	    bytes / rpmac->slot_size < rpmac->slots)
		return rpmac_fail(rpmac, -EPROTO,
		    "the memory that rpmad sent is not the pool that it tells of");
	base = mmap(NULL, bytes, PROT_READ, MAP_SHARED, rpmac->fds[0], 0);
	if (base == MAP_FAILED)
		return rpmac_fail(rpmac, -errno, "cannot map the pool's %zu bytes: %s",
		    bytes, strerrordesc_np(errno));
	rpmac->base = base;
	rpmac_wire_drop_fds(rpmac);
	return 0;
}

/* Have an item for each slot. */
static int
make_items(struct rpmac *rpmac)
{
	struct item *items;

	if (rpmac->item_count >= rpmac->slots)
		return 0;
	items = calloc(rpmac->slots, sizeof(*items));
	if (!items)
		return rpmac_fail_memory(rpmac);
	free(rpmac->items);
	rpmac->items = items;
	rpmac->item_count = rpmac->slots;
	return 0;
}

static int
get_pool(struct rpmac *rpmac, uint64_t end_ms)
{
	int rc;

	rpmac->slots = rpmac->slot_size = 0;
	rpmac->bytes = 0;
	rc = rpmac_wire_call(rpmac, REQUEST_MAP,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pool.map\"}\n", end_ms);
	if (rc == 0)
		rc = map_pool(rpmac);
	return rc == 0 ? make_items(rpmac) : rc;
}

static int
get_ring(struct rpmac *rpmac, uint64_t end_ms)
{
	int rc = rpmac_wire_call(rpmac, REQUEST_RING,
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"recv.ring\"}\n", end_ms);
	return rc == 0 ? rpmac_ring_begin(rpmac) : rc;
}

int
rpmac_open(struct rpmac *rpmac, const char *where, int answer_ms)
{
	struct sockaddr_un address;
	uint64_t end_ms;
	int rc;

	if (!rpmac)
		return -EINVAL;
	rpmac_shut(rpmac);
	rpmac->name[0] = rpmac->text[0] = rpmac->instance[0] = '\0';
	if (answer_ms <= 0)
		return rpmac_fail(rpmac, -EINVAL,
		    "rpmac_open(): answer_ms is %d, not above 0", answer_ms);
	rpmac->answer_ms = answer_ms;
	end_ms = rpmac_now_ms() + (uint64_t)answer_ms;
	rc = find_socket(rpmac, where, &address);
	if (rc == 0)
		rc = connect_socket(rpmac, &address, end_ms);
	if (rc == 0)
		rc = get_pool(rpmac, end_ms);
	if (rc == 0)
		rc = get_ring(rpmac, end_ms);
	if (rc < 0)
		rpmac_shut(rpmac);
	return rc;
}
