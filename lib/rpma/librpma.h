/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * librpma.h: messages and remote memory access over RDMA CM connections.
 *
 * The calls of version node LIBRPMA_1.0 keep the names, prototypes, numbers and error
 * codes of the library of this name, version 1.3.0; those of LIBRPMA_1.4 are new.
 *
 * Conventions of every call, unless its own text says otherwise:
 * - int results are 0 or one of RPMA_E_*; errno is not part of the contract, see
 *   rpma_err_last_errno() for the provider's cause.
 * - output pointers are written on success only.
 * - "delete" calls take the address of a handle: NULL is RPMA_E_INVAL, a handle that is
 *   already NULL is a success, and the handle is NULL after the call even when an error
 *   is returned.
 * - what was made from a handle is deleted before it: regions, SRQs and connections before
 *   their peer, connections before their SRQ and their send CQ. Where it is not, the delete
 *   call says so (RPMA_E_PROVIDER, errno EBUSY), and the object goes with the last of them.
 * - different handles may be used by different threads at once; one handle by one thread
 *   at a time. A peer, a memory region and a configuration that nobody changes may be used
 *   by many threads, and connections that share a shared receive queue or a queue for sends
 *   each by its own; posting to the former is for one thread at a time. The CM channel of a
 *   struct rpma_cm and all that came out of it count as one handle. The calls of
 *   LIBRPMA_1.0 allow more, as they did: see "Threads" in librpma(7).
 */
#ifndef LIBRPMA_H
#define LIBRPMA_H 1

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sockaddr;
struct sockaddr_storage;

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header; rpma_version() tells that of the library at run time. */
#define RPMA_VERSION_MAJOR 1
#define RPMA_VERSION_MINOR 4
#define RPMA_VERSION_PATCH 0

/* Errors. */

#define RPMA_E_UNKNOWN         (-100000) /* an unexpected answer of the provider */
#define RPMA_E_NOSUPP          (-100001) /* not supported */
#define RPMA_E_PROVIDER        (-100002) /* libibverbs or librdmacm failed */
#define RPMA_E_NOMEM           (-100003) /* out of memory */
#define RPMA_E_INVAL           (-100004) /* invalid argument */
#define RPMA_E_NO_COMPLETION   (-100005) /* no completion now */
#define RPMA_E_NO_EVENT        (-100006) /* no event now */
#define RPMA_E_AGAIN           (-100007) /* temporary, try again */
#define RPMA_E_SHARED_CHANNEL  (-100008) /* the completion channel is shared */
#define RPMA_E_NOT_SHARED_CHNL (-100009) /* the completion channel is not shared */

/*
 * The text of an error code: a static string, never NULL; any number that is neither 0 nor
 * one of RPMA_E_* gives "Unknown error".
 */
const char *rpma_err_2str(int ret);

/*
 * The errno that the provider left behind the last RPMA_E_PROVIDER (or RPMA_E_NOSUPP,
 * RPMA_E_NOMEM) that a call of this library returned in the calling thread, always
 * positive; 0 when there was none or the provider gave none. To be read right behind the call
 * that failed: one that succeeds may leave the cause of what it got over.
 */
int rpma_err_last_errno(void);

/* The version of the library at run time, "MAJOR.MINOR.PATCH"; a static string. */
const char *rpma_version(void);

/* Log. */

enum rpma_log_level {
	RPMA_LOG_DISABLED = -1,
	RPMA_LOG_LEVEL_FATAL = 0,
	RPMA_LOG_LEVEL_ERROR = 1,
	RPMA_LOG_LEVEL_WARNING = 2,
	RPMA_LOG_LEVEL_NOTICE = 3,
	RPMA_LOG_LEVEL_INFO = 4,
	RPMA_LOG_LEVEL_DEBUG = 5,
};

enum rpma_log_threshold {
	RPMA_LOG_THRESHOLD = 0, /* what reaches the log function; initially WARNING */
	RPMA_LOG_THRESHOLD_AUX = 1, /* what is printed on stderr; initially DISABLED */
	RPMA_LOG_THRESHOLD_MAX = 2,
};

/*
 * A log function. message_format is a printf(3) format that ends in a newline; file_name
 * may be NULL. It may be called from any thread that calls the library.
 */
typedef void rpma_log_function(enum rpma_log_level level, const char *file_name,
    const int line_no, const char *function_name, const char *message_format, ...);

#define RPMA_LOG_USE_DEFAULT_FUNCTION (NULL)

/*
 * Install a log function for the whole process; NULL is the default function, which writes
 * to syslog(3) with the tag in the message (the program's own openlog(3) is left alone) and
 * to stderr what the AUX threshold lets through. Always 0.
 */
int rpma_log_set_function(rpma_log_function *log_function);

/* RPMA_E_INVAL: threshold is neither of the two, or level is outside -1 .. 5. */
int rpma_log_set_threshold(enum rpma_log_threshold threshold,
    enum rpma_log_level level);

/* RPMA_E_INVAL: threshold is neither of the two, or level is NULL. */
int rpma_log_get_threshold(enum rpma_log_threshold threshold,
    enum rpma_log_level *level);

/* Utilities. */

enum rpma_util_ibv_context_type {
	RPMA_UTIL_IBV_CONTEXT_LOCAL = 0, /* addr is an address of this host */
	RPMA_UTIL_IBV_CONTEXT_REMOTE = 1 /* addr is a peer's address */
};

/*
 * The RDMA device behind an address. Each address that a host name stands for is tried in
 * turn; a remote one blocks for up to RPMA_DEFAULT_TIMEOUT_MS each.
 *
 * ibv_ctx_ptr  borrowed from librdmacm, which keeps it open; never ibv_close_device() it
 * return       RPMA_E_INVAL addr or ibv_ctx_ptr NULL, type neither of the two; RPMA_E_NOMEM;
 *              RPMA_E_PROVIDER the address is unknown, unreachable or belongs to no RDMA
 *              device (a wildcard or loopback address belongs to none)
 * source       rdma_getaddrinfo(3), rdma_bind_addr(3), rdma_resolve_addr(3)
 */
int rpma_utils_get_ibv_context(const char *addr, enum rpma_util_ibv_context_type type,
    struct ibv_context **ibv_ctx_ptr);

/*
 * The context of an RDMA device by its name ("rxe0", "mlx5_0"), as librdmacm has it open, so
 * that it serves for connections too; never ibv_close_device() it.
 *
 * return       RPMA_E_INVAL name or ibv_ctx_ptr NULL; RPMA_E_PROVIDER the devices cannot be
 *              listed, or (errno ENODEV) there is none of that name
 * source       rdma_get_devices(3)
 */
int rpma_utils_ibv_context_by_name(const char *name, struct ibv_context **ibv_ctx_ptr);

/*
 * The device name of a context, "" for NULL; borrowed from the context.
 * source       ibv_get_device_name(3)
 */
const char *rpma_utils_ibv_context_2name(struct ibv_context *ibv_ctx);

/*
 * Let the kernel remove the device behind a context that librdmacm holds open for the life
 * of the process: its command and event descriptors are replaced by /dev/null. Only after
 * the last object made from the context is gone; the context is dead afterwards, and
 * librdmacm frees it once it looks for devices and misses this one. Until then a second call
 * does nothing.
 *
 * return       RPMA_E_INVAL ibv_ctx NULL; RPMA_E_PROVIDER /dev/null cannot be opened or put
 *              in place
 */
int rpma_utils_ibv_context_release(struct ibv_context *ibv_ctx);

/*
 * Whether the device does on-demand paging for RC reads and writes.
 * return       RPMA_E_INVAL an argument is NULL; RPMA_E_PROVIDER ibv_query_device_ex(3)
 *              failed (*is_odp_capable is 0 then)
 */
int rpma_utils_ibv_context_is_odp_capable(struct ibv_context *ibv_ctx,
    int *is_odp_capable);

/* Peer: a protection domain on a device. */

struct rpma_peer;

/*
 * ibv_ctx      borrowed; one that librdmacm has open (rpma_utils_get_ibv_context(),
 *              rpma_utils_ibv_context_by_name()), or connections cannot be made
 * return       RPMA_E_INVAL an argument is NULL; RPMA_E_PROVIDER a query of the device or
 *              ibv_alloc_pd(3) failed; RPMA_E_NOMEM; RPMA_E_UNKNOWN ibv_alloc_pd(3) failed
 *              without an errno
 */
int rpma_peer_new(struct ibv_context *ibv_ctx, struct rpma_peer **peer_ptr);

/*
 * return       RPMA_E_INVAL peer_ptr NULL; RPMA_E_PROVIDER ibv_dealloc_pd(3) failed, or
 *              (EBUSY) something made from the peer still lives
 */
int rpma_peer_delete(struct rpma_peer **peer_ptr);

/* What a device can do; sizes in entries (work requests, completions, objects). */
struct rpma_peer_limits {
	char device[64];    /* its name */
	uint64_t node_guid; /* host byte order */
	uint32_t vendor_id;
	uint32_t vendor_part_id;
	bool is_iwarp;
	uint8_t ports; /* 1 .. ports */
	uint32_t max_srq;
	uint32_t max_srq_wr; /* 0: the device has no shared receive queues */
	uint32_t max_cqe;
	uint32_t max_qp;
	uint32_t max_qp_wr;
	uint64_t max_mr_bytes;
};

/*
 * return       RPMA_E_INVAL an argument is NULL; RPMA_E_PROVIDER ibv_query_device(3) failed
 */
int rpma_peer_get_limits(const struct rpma_peer *peer, struct rpma_peer_limits *limits);

/* State of one port. */
struct rpma_peer_port {
	enum ibv_port_state state;
	uint32_t max_msg_bytes;
	uint32_t active_mtu_bytes;
};

/*
 * port_num     1 .. rpma_peer_limits.ports
 * return       RPMA_E_INVAL peer or port NULL, port_num 0; RPMA_E_PROVIDER
 *              ibv_query_port(3) failed
 */
int rpma_peer_get_port(const struct rpma_peer *peer, uint8_t port_num,
    struct rpma_peer_port *port);

enum rpma_async_kind {
	RPMA_ASYNC_OTHER = 0,        /* ibv_type tells */
	RPMA_ASYNC_LAST_WQE = 1,     /* qp_num takes no more receives from its SRQ */
	RPMA_ASYNC_QP_FATAL = 2,     /* qp_num is in error */
	RPMA_ASYNC_CQ_ERR = 3,       /* a completion queue was overrun */
	RPMA_ASYNC_SRQ_ERR = 4,      /* a shared receive queue is dead */
	RPMA_ASYNC_SRQ_LIMIT = 5,    /* fewer posted than rpma_srq_set_limit() asked */
	RPMA_ASYNC_PORT_ACTIVE = 6,  /* port_num */
	RPMA_ASYNC_PORT_ERR = 7,     /* port_num */
	RPMA_ASYNC_DEVICE_FATAL = 8, /* the device is gone or dead */
};

struct rpma_async_event {
	enum rpma_async_kind kind;
	enum ibv_event_type ibv_type;
	uint32_t qp_num;
	uint8_t port_num;
};

/*
 * The descriptor that is readable when an asynchronous event of the device waits. It is
 * shared by all users of the context and made non-blocking by this call; never close it.
 * return       RPMA_E_INVAL an argument is NULL; RPMA_E_PROVIDER fcntl(2) failed
 */
int rpma_peer_get_async_fd(const struct rpma_peer *peer, int *fd);

/*
 * Take one asynchronous event; never blocks. The event is acknowledged before return.
 * return       RPMA_E_INVAL an argument is NULL; RPMA_E_NO_EVENT; RPMA_E_PROVIDER
 *              ibv_get_async_event(3) failed
 */
int rpma_peer_next_async_event(struct rpma_peer *peer, struct rpma_async_event *event);

/* What a node tells its peers about itself, by one byte that the program carries. */

struct rpma_peer_cfg;

/*
 * A configuration of the defaults: direct write to persistent memory does not work.
 * return       RPMA_E_INVAL pcfg_ptr NULL; RPMA_E_NOMEM
 */
int rpma_peer_cfg_new(struct rpma_peer_cfg **pcfg_ptr);

/* RPMA_E_INVAL: pcfg_ptr NULL. */
int rpma_peer_cfg_delete(struct rpma_peer_cfg **pcfg_ptr);

/*
 * Whether what a peer writes to this node reaches persistent memory without a cache in
 * between, so that a flush can make it persistent. RPMA_E_INVAL: an argument is NULL.
 */
int rpma_peer_cfg_set_direct_write_to_pmem(struct rpma_peer_cfg *pcfg, bool supported);
int rpma_peer_cfg_get_direct_write_to_pmem(const struct rpma_peer_cfg *pcfg,
    bool *supported);

/*
 * The configuration as a descriptor for peers: 1 byte, 0 no or 1 yes.
 *
 * desc         the caller's, of rpma_peer_cfg_get_descriptor_size() bytes, any alignment
 * desc_size    bytes, always 1
 * return       RPMA_E_INVAL an argument is NULL
 */
int rpma_peer_cfg_get_descriptor(const struct rpma_peer_cfg *pcfg, void *desc);
int rpma_peer_cfg_get_descriptor_size(const struct rpma_peer_cfg *pcfg,
    size_t *desc_size);

/*
 * The configuration that a descriptor stands for: any byte but 0 is yes, bytes after the
 * first are not read.
 *
 * desc         borrowed for the call
 * return       RPMA_E_INVAL desc or pcfg_ptr NULL, desc_size 0; RPMA_E_NOMEM
 */
int rpma_peer_cfg_from_descriptor(const void *desc, size_t desc_size,
    struct rpma_peer_cfg **pcfg_ptr);

/* Memory regions. */

struct rpma_mr_local;
struct rpma_mr_remote;

#define RPMA_MR_USAGE_READ_SRC              (1 << 0)
#define RPMA_MR_USAGE_READ_DST              (1 << 1)
#define RPMA_MR_USAGE_WRITE_SRC             (1 << 2)
#define RPMA_MR_USAGE_WRITE_DST             (1 << 3)
#define RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY (1 << 4)
#define RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT (1 << 5)
#define RPMA_MR_USAGE_SEND                  (1 << 6)
#define RPMA_MR_USAGE_RECV                  (1 << 7)

/*
 * Register memory for the uses given. Memory for SEND or RECV alone is out of reach of every
 * peer. The memory stays the caller's and outlives the region. Memory to be flushed can be
 * read by peers, because a flush may be a read; where the device flushes by itself, it is
 * registered for that, too. Memory that cannot be pinned is paged on demand, where the device
 * can do that: see rpma_mr_advise().
 *
 * size         bytes, at least 1
 * usage        one or more RPMA_MR_USAGE_* bits
 * return       RPMA_E_INVAL peer, ptr or mr_ptr NULL, size 0, usage 0 or with other bits;
 *              RPMA_E_NOMEM; RPMA_E_PROVIDER ibv_reg_mr(3) failed (ENOMEM: RLIMIT_MEMLOCK)
 */
int rpma_mr_reg(struct rpma_peer *peer, void *ptr, size_t size, int usage,
    struct rpma_mr_local **mr_ptr);

/* return       RPMA_E_INVAL mr_ptr NULL; RPMA_E_PROVIDER ibv_dereg_mr(3) failed */
int rpma_mr_dereg(struct rpma_mr_local **mr_ptr);

/* The registered address. RPMA_E_INVAL: an argument is NULL. */
int rpma_mr_get_ptr(const struct rpma_mr_local *mr, void **ptr);

/* The registered length in bytes. RPMA_E_INVAL: an argument is NULL. */
int rpma_mr_get_size(const struct rpma_mr_local *mr, size_t *size);

/*
 * The region as a descriptor for peers: 21 bytes, little endian: the address (8 bytes), the
 * size (8), the key (4) and the usage (1). Whoever has it can access the region over any
 * connection of the same struct rpma_peer, within the usage.
 *
 * desc         the caller's, of rpma_mr_get_descriptor_size() bytes, any alignment
 * desc_size    bytes, always 21
 * return       RPMA_E_INVAL an argument is NULL
 */
int rpma_mr_get_descriptor(const struct rpma_mr_local *mr, void *desc);
int rpma_mr_get_descriptor_size(const struct rpma_mr_local *mr, size_t *desc_size);

/*
 * Advise the device of what will be done with a range, for instance to page it in.
 *
 * offset, len  bytes within the region
 * advice       IBV_ADVISE_MR_ADVICE_*
 * flags        IBV_ADVISE_MR_FLAG_*, or 0
 * return       RPMA_E_INVAL mr NULL, a range beyond the region, len over 4 GiB - 1, or the
 *              device says that the advice or the range is invalid (errno EINVAL, EFAULT);
 *              RPMA_E_NOSUPP the device takes no such advice; RPMA_E_PROVIDER
 *              ibv_advise_mr(3) failed
 */
int rpma_mr_advise(struct rpma_mr_local *mr, size_t offset, size_t len, int advice,
    uint32_t flags);

/*
 * The region of a peer that a descriptor stands for; of no connection, and good for all.
 * What the descriptor says is believed.
 *
 * desc         borrowed for the call; bytes after the 21st are not read
 * return       RPMA_E_INVAL desc or mr_ptr NULL, desc_size under 21, a usage of 0;
 *              RPMA_E_NOMEM
 */
int rpma_mr_remote_from_descriptor(const void *desc, size_t desc_size,
    struct rpma_mr_remote **mr_ptr);

/* RPMA_E_INVAL: mr_ptr NULL. */
int rpma_mr_remote_delete(struct rpma_mr_remote **mr_ptr);

/* The size in bytes. RPMA_E_INVAL: an argument is NULL. */
int rpma_mr_remote_get_size(const struct rpma_mr_remote *mr, size_t *size);

/*
 * Which flushes it is registered for: RPMA_MR_USAGE_FLUSH_TYPE_* bits, 0 for none. (Not the
 * numbers of enum rpma_flush_type.) RPMA_E_INVAL: an argument is NULL.
 */
int rpma_mr_remote_get_flush_type(const struct rpma_mr_remote *mr, int *flush_type);

/*
 * What else the descriptor said: RPMA_MR_USAGE_* bits, the address at its owner, and the key.
 * RPMA_E_INVAL: an argument is NULL.
 */
int rpma_mr_remote_get_usage(const struct rpma_mr_remote *mr, int *usage);
int rpma_mr_remote_get_addr(const struct rpma_mr_remote *mr, uint64_t *addr);
int rpma_mr_remote_get_rkey(const struct rpma_mr_remote *mr, uint32_t *rkey);

/* Shared receive queue. */

struct rpma_srq_cfg;
struct rpma_srq;
struct rpma_cq;

/* Defaults: rq_size 20, rcq_size 20. RPMA_E_INVAL cfg_ptr NULL; RPMA_E_NOMEM. */
int rpma_srq_cfg_new(struct rpma_srq_cfg **cfg_ptr);
int rpma_srq_cfg_delete(struct rpma_srq_cfg **cfg_ptr);

/* rq_size: receives that can be posted at once. RPMA_E_INVAL: an argument is NULL. */
int rpma_srq_cfg_set_rq_size(struct rpma_srq_cfg *cfg, uint32_t rq_size);
int rpma_srq_cfg_get_rq_size(const struct rpma_srq_cfg *cfg, uint32_t *rq_size);

/*
 * rcq_size: completions that the SRQ's own completion queue holds; 0: it has none, and each
 * connection's queue takes what that connection received. RPMA_E_INVAL: an argument is NULL.
 */
int rpma_srq_cfg_set_rcq_size(struct rpma_srq_cfg *cfg, uint32_t rcq_size);
int rpma_srq_cfg_get_rcq_size(const struct rpma_srq_cfg *cfg, uint32_t *rcq_size);

/*
 * cfg          borrowed for the call; NULL: the defaults
 * return       RPMA_E_INVAL peer or srq_ptr NULL; RPMA_E_NOMEM; RPMA_E_PROVIDER
 *              ibv_create_srq(3), ibv_create_comp_channel(3), ibv_create_cq(3) or
 *              ibv_req_notify_cq(3) failed
 */
int rpma_srq_new(struct rpma_peer *peer, struct rpma_srq_cfg *cfg,
    struct rpma_srq **srq_ptr);

/*
 * After all connections that use it. RPMA_E_INVAL srq_ptr NULL; RPMA_E_PROVIDER, with errno
 * EBUSY while there are such.
 */
int rpma_srq_delete(struct rpma_srq **srq_ptr);

/*
 * Prepare one buffer for a message that any connection attached to the SRQ may receive. A
 * buffer must be prepared beforehand: no buffer, no receive. The prepared buffers are an
 * unordered set: nothing follows from the order in which they were given.
 *
 * dst          the region of the buffer; NULL (with offset 0 and len 0): an empty receive
 * offset, len  bytes within dst
 * op_context   comes back as wr_id of the completion read with rpma_cq_get_wc()
 * return       RPMA_E_INVAL srq NULL; dst NULL with offset or len not 0; offset + len beyond
 *              the region, or len over 4 GiB - 1; RPMA_E_PROVIDER ibv_post_srq_recv(3) failed
 */
int rpma_srq_recv(struct rpma_srq *srq, struct rpma_mr_local *dst, size_t offset,
    size_t len, const void *op_context);

/* One buffer of rpma_srq_recv_batch(). */
struct rpma_srq_buf {
	size_t offset; /* bytes into dst */
	size_t len;    /* bytes */
	const void *op_context;
};

/* The most buffers that one rpma_srq_recv_batch() takes. */
#define RPMA_SRQ_BATCH_MAX 64

/*
 * Prepare up to RPMA_SRQ_BATCH_MAX buffers with one call of the provider. Fastest where no
 * buffer is empty and the region is below 4 GiB. One thread at a time may do so for an SRQ,
 * rpma_srq_recv() excepted.
 *
 * dst          the region of all the buffers, not NULL
 * bufs         n buffers, borrowed for the call
 * n            1 .. RPMA_SRQ_BATCH_MAX
 * posted       how many of bufs, from the first on, were taken; written on success and on
 *              RPMA_E_PROVIDER
 * return       RPMA_E_INVAL srq, dst, bufs or posted NULL, n out of range, a buffer outside
 *              the region (nothing is posted then); RPMA_E_PROVIDER ibv_post_srq_recv(3)
 *              refused bufs[*posted]
 */
int rpma_srq_recv_batch(struct rpma_srq *srq, struct rpma_mr_local *dst,
    const struct rpma_srq_buf *bufs, size_t n, size_t *posted);

/* The SRQ's own completion queue, borrowed; NULL when it has none. RPMA_E_INVAL. */
int rpma_srq_get_rcq(const struct rpma_srq *srq, struct rpma_cq **rcq_ptr);

/*
 * The number of receives that the SRQ holds, as its creation returned it; at least what was
 * asked for. (Queries are not trusted: soft-iWARP answers nonsense.) RPMA_E_INVAL.
 */
int rpma_srq_get_size(const struct rpma_srq *srq, uint32_t *size);

/*
 * Ask for one RPMA_ASYNC_SRQ_LIMIT when fewer than limit receives are posted; it disarms
 * itself. 0 disarms. RPMA_E_INVAL srq NULL; RPMA_E_PROVIDER ibv_modify_srq(3) failed.
 */
int rpma_srq_set_limit(struct rpma_srq *srq, uint32_t limit);

/* Completion queues. */

/*
 * A completion queue for the sends of many connections, with a completion channel of its
 * own, armed. Pass it to rpma_conn_cfg_set_cq(); delete it after the connections.
 *
 * size         completions it holds, at least 1
 * return       RPMA_E_INVAL peer or cq_ptr NULL, size 0 or over INT_MAX; RPMA_E_NOMEM;
 *              RPMA_E_PROVIDER
 */
int rpma_cq_new(struct rpma_peer *peer, uint32_t size, struct rpma_cq **cq_ptr);

/*
 * Only for queues of rpma_cq_new(). RPMA_E_INVAL cq_ptr NULL, or *cq_ptr belongs to an SRQ or
 * a connection (it is left alone then); RPMA_E_PROVIDER, with errno EBUSY while connections
 * use it.
 */
int rpma_cq_delete(struct rpma_cq **cq_ptr);

/* The completion channel's descriptor; may be made non-blocking, never closed. INVAL. */
int rpma_cq_get_fd(const struct rpma_cq *cq, int *fd);

/*
 * Take one completion event, acknowledge it and arm the queue again. Blocks unless the
 * descriptor is non-blocking. One event may stand for many completions, and for none that are
 * left: poll with rpma_cq_get_wc() until RPMA_E_NO_COMPLETION after it.
 *
 * return       RPMA_E_INVAL cq NULL; RPMA_E_SHARED_CHANNEL see rpma_conn_wait();
 *              RPMA_E_NO_COMPLETION no event waits; RPMA_E_PROVIDER the event cannot be read,
 *              or (the event is consumed) ibv_req_notify_cq(3) failed
 */
int rpma_cq_wait(struct rpma_cq *cq);

/* For the flags of rpma_conn_wait() and rpma_cq_wait_flags(). */
#define RPMA_W_WAIT_FOR_COMPLETION 1        /* what they do anyway */
#define RPMA_W_NO_ARM              (1 << 8) /* leave it to rpma_cq_arm() */

/*
 * rpma_cq_wait() that may leave the queue unarmed, so that what completes while the program
 * reads completions anyway raises no event. Read until RPMA_E_NO_COMPLETION, arm the queue
 * with rpma_cq_arm(), and read once more before the next wait: what completed before the
 * queue was armed raised no event either.
 *
 * flags        RPMA_W_* bits, or 0
 * return       as rpma_cq_wait(); RPMA_E_INVAL also other bits
 */
int rpma_cq_wait_flags(struct rpma_cq *cq, int flags);

/*
 * Ask for an event at the next completion. RPMA_E_INVAL cq NULL; RPMA_E_PROVIDER
 * ibv_req_notify_cq(3) failed.
 */
int rpma_cq_arm(struct rpma_cq *cq);

/*
 * Acknowledge events n at a time, because each acknowledgement takes a lock. What is left is
 * acknowledged when the queue is destroyed.
 *
 * n            events, at least 1, which is the default
 * return       RPMA_E_INVAL cq NULL, n 0
 * source       ibv_get_cq_event(3)
 */
int rpma_cq_set_ack_batch(struct rpma_cq *cq, unsigned int n);

/*
 * Read up to num_entries completions; never blocks. With a status other than IBV_WC_SUCCESS
 * only wr_id, status, qp_num and vendor_err of an entry are valid.
 *
 * wc               array of num_entries
 * num_entries_got  may be NULL when num_entries is 1
 * return           RPMA_E_INVAL cq or wc NULL, num_entries < 1, num_entries > 1 with
 *                  num_entries_got NULL; RPMA_E_NO_COMPLETION; RPMA_E_PROVIDER
 *                  ibv_poll_cq(3) failed; RPMA_E_UNKNOWN it gave more than asked
 */
int rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc,
    int *num_entries_got);

/* Connection configuration. */

struct rpma_conn_cfg;

#define RPMA_DEFAULT_TIMEOUT_MS 1000

/*
 * Defaults: timeout_ms 1000, cq_size 10, rcq_size 0, sq_size 10, rq_size 10, no shared
 * completion channel, no SRQ, no send CQ, rnr_retry 7. A configuration is read during the
 * call that takes it and not kept. RPMA_E_INVAL cfg_ptr NULL; RPMA_E_NOMEM.
 */
int rpma_conn_cfg_new(struct rpma_conn_cfg **cfg_ptr);
int rpma_conn_cfg_delete(struct rpma_conn_cfg **cfg_ptr);

/* Milliseconds for each of the two steps of address resolution. INVAL: cfg NULL, < 0. */
int rpma_conn_cfg_set_timeout(struct rpma_conn_cfg *cfg, int timeout_ms);
int rpma_conn_cfg_get_timeout(const struct rpma_conn_cfg *cfg, int *timeout_ms);

/* Entries of the main completion queue. RPMA_E_INVAL: an argument is NULL. */
int rpma_conn_cfg_set_cq_size(struct rpma_conn_cfg *cfg, uint32_t cq_size);
int rpma_conn_cfg_get_cq_size(const struct rpma_conn_cfg *cfg, uint32_t *cq_size);

/* Entries of a receive completion queue of its own; 0: none. RPMA_E_INVAL. */
int rpma_conn_cfg_set_rcq_size(struct rpma_conn_cfg *cfg, uint32_t rcq_size);
int rpma_conn_cfg_get_rcq_size(const struct rpma_conn_cfg *cfg, uint32_t *rcq_size);

/* Work requests of the send queue. RPMA_E_INVAL. */
int rpma_conn_cfg_set_sq_size(struct rpma_conn_cfg *cfg, uint32_t sq_size);
int rpma_conn_cfg_get_sq_size(const struct rpma_conn_cfg *cfg, uint32_t *sq_size);

/* Work requests of the receive queue; not used with an SRQ. RPMA_E_INVAL. */
int rpma_conn_cfg_set_rq_size(struct rpma_conn_cfg *cfg, uint32_t rq_size);
int rpma_conn_cfg_get_rq_size(const struct rpma_conn_cfg *cfg, uint32_t *rq_size);

/* One completion channel for both queues of the connection, see rpma_conn_wait(). INVAL. */
int rpma_conn_cfg_set_compl_channel(struct rpma_conn_cfg *cfg, bool shared);
int rpma_conn_cfg_get_compl_channel(const struct rpma_conn_cfg *cfg, bool *shared);

/* The SRQ that the connection receives from, borrowed; NULL: none. INVAL: cfg NULL. */
int rpma_conn_cfg_set_srq(struct rpma_conn_cfg *cfg, struct rpma_srq *srq);
int rpma_conn_cfg_get_srq(const struct rpma_conn_cfg *cfg, struct rpma_srq **srq_ptr);

/*
 * The queue of rpma_cq_new() that takes the connection's send completions, borrowed; NULL:
 * the connection makes its own. With it, cq_size is not used. RPMA_E_INVAL: cfg NULL.
 */
int rpma_conn_cfg_set_cq(struct rpma_conn_cfg *cfg, struct rpma_cq *cq);
int rpma_conn_cfg_get_cq(const struct rpma_conn_cfg *cfg, struct rpma_cq **cq_ptr);

/*
 * How often a send of the peer that met no receive here is tried again: 0 .. 6 times, 7 for
 * ever. The peer is told. RPMA_E_INVAL: cfg NULL, over 7. Source: rdma_connect(3),
 * rdma_accept(3), rnr_retry_count.
 */
int rpma_conn_cfg_set_rnr_retry(struct rpma_conn_cfg *cfg, unsigned int rnr_retry);
int rpma_conn_cfg_get_rnr_retry(const struct rpma_conn_cfg *cfg,
    unsigned int *rnr_retry);

/*
 * Operations of remote memory that newer devices do by themselves. Without them a flush is a
 * short read and an atomic write an ordinary one of 8 bytes, which every device can do.
 */
#define RPMA_NATIVE_FLUSH        (1U << 0)
#define RPMA_NATIVE_ATOMIC_WRITE (1U << 1)

/*
 * Leave operations to the device where it, its driver and this build know them; where not,
 * they go the other way, see rpma_conn_get_native_ops(). None is the default, because both
 * ends must know them: a peer whose device or library does not flush by itself answers a
 * native flush with an error, which ends the connection.
 *
 * ops          RPMA_NATIVE_* bits, or 0
 * return       RPMA_E_INVAL cfg NULL, other bits; of the getter: an argument is NULL
 */
int rpma_conn_cfg_set_native_ops(struct rpma_conn_cfg *cfg, unsigned int ops);
int rpma_conn_cfg_get_native_ops(const struct rpma_conn_cfg *cfg, unsigned int *ops);

/* Connection requests. */

struct rpma_conn;
struct rpma_conn_req;

/*
 * Private data of connection establishment. On InfiniBand and RoCE the receiver sees the
 * whole field, zero padded (56 bytes of a request, 196 of a reply), whatever was sent.
 */
struct rpma_conn_private_data {
	void *ptr;
	uint8_t len; /* bytes */
};

/*
 * Start a connection: resolve the peer and make the queues. Blocks for a name lookup, and for
 * up to twice the configured time-out for each address of the name.
 *
 * addr, port   names or numbers
 * cfg          NULL: the defaults
 * return       RPMA_E_INVAL peer, addr, port or req_ptr NULL; a shared completion channel
 *              together with an SRQ that has its own queue, or with a send CQ;
 *              RPMA_E_NOMEM; RPMA_E_PROVIDER
 */
int rpma_conn_req_new(struct rpma_peer *peer, const char *addr, const char *port,
    const struct rpma_conn_cfg *cfg, struct rpma_conn_req **req_ptr);

/* Refuses an incoming request that was not accepted. RPMA_E_INVAL; RPMA_E_PROVIDER. */
int rpma_conn_req_delete(struct rpma_conn_req **req_ptr);

/*
 * Connect, or accept an incoming request; returns before the connection is established.
 *
 * req_ptr      consumed: *req_ptr is NULL afterwards, on failure too, unless RPMA_E_INVAL
 *              says that req_ptr or *req_ptr was NULL
 * pdata        NULL: none; borrowed for the call
 * return       RPMA_E_INVAL req_ptr, *req_ptr or conn_ptr NULL; pdata with ptr NULL or len 0;
 *              a request of rpma_cm_next_event(); RPMA_E_NOMEM; RPMA_E_PROVIDER
 */
int rpma_conn_req_connect(struct rpma_conn_req **req_ptr,
    const struct rpma_conn_private_data *pdata, struct rpma_conn **conn_ptr);

/*
 * Prepare a receive before the connection is established. With an SRQ the buffer goes there.
 * RPMA_E_INVAL as rpma_recv(); RPMA_E_PROVIDER.
 */
int rpma_conn_req_recv(struct rpma_conn_req *req, struct rpma_mr_local *dst,
    size_t offset, size_t len, const void *op_context);

/* What the client sent; {NULL, 0} for an outgoing request. Borrowed. RPMA_E_INVAL. */
int rpma_conn_req_get_private_data(const struct rpma_conn_req *req,
    struct rpma_conn_private_data *pdata);

/* The address of the other end of a request. RPMA_E_INVAL: an argument is NULL. */
int rpma_conn_req_get_peer_addr(const struct rpma_conn_req *req,
    struct sockaddr_storage *addr);

/* Connections. */

enum rpma_conn_event {
	RPMA_CONN_UNDEFINED = -1,
	RPMA_CONN_ESTABLISHED = 0,
	RPMA_CONN_CLOSED = 1,
	RPMA_CONN_LOST = 2,
	RPMA_CONN_REJECTED = 3,
	RPMA_CONN_UNREACHABLE = 4,
};

/* Its text: a static string, never NULL. */
const char *rpma_utils_conn_event_2str(enum rpma_conn_event conn_event);

/*
 * The descriptor of the connection's own CM channel. RPMA_E_INVAL; RPMA_E_NOSUPP for a
 * connection of a struct rpma_cm, whose events rpma_cm_next_event() gives.
 */
int rpma_conn_get_event_fd(const struct rpma_conn *conn, int *fd);

/*
 * Take one event. Blocks unless the descriptor is non-blocking. Events that only inform
 * (ADDR_CHANGE) are skipped.
 *
 * return       RPMA_E_INVAL; RPMA_E_NOSUPP as above; RPMA_E_NO_EVENT none waits;
 *              RPMA_E_PROVIDER rdma_get_cm_event(3) or rdma_ack_cm_event(3) failed;
 *              RPMA_E_UNKNOWN an event that has no meaning here (*event is
 *              RPMA_CONN_UNDEFINED then)
 */
int rpma_conn_next_event(struct rpma_conn *conn, enum rpma_conn_event *event);

/*
 * What librdmacm said of the last event that rpma_conn_next_event() gave: 0, a negative errno,
 * or of REJECTED the peer's reason (28: the program there refused; 8: nobody listens). 0 before
 * the first, and always for a connection of a struct rpma_cm, whose events carry it.
 * RPMA_E_INVAL: an argument is NULL. Source: rdma_get_cm_event(3), status.
 */
int rpma_conn_get_event_status(const struct rpma_conn *conn, int *status);

/*
 * What the peer sent along with RPMA_CONN_REJECTED, {NULL, 0} when nothing; borrowed from the
 * connection. On InfiniBand and RoCE all 148 bytes of the field come, zeros behind what was
 * sent. RPMA_E_INVAL: an argument is NULL.
 */
int rpma_conn_get_reject_data(const struct rpma_conn *conn,
    struct rpma_conn_private_data *pdata);

/* What the peer sent, {NULL, 0} when nothing; borrowed from the connection. INVAL. */
int rpma_conn_get_private_data(const struct rpma_conn *conn,
    struct rpma_conn_private_data *pdata);

/*
 * Let the connection know what the peer told about itself: without it, and when the peer
 * takes no direct writes to persistent memory, a persistent flush is RPMA_E_NOSUPP.
 *
 * pcfg         borrowed for the call
 * return       RPMA_E_INVAL an argument is NULL
 */
int rpma_conn_apply_remote_peer_cfg(struct rpma_conn *conn,
    const struct rpma_peer_cfg *pcfg);

/*
 * Which of the operations that rpma_conn_cfg_set_native_ops() asked for the device does by
 * itself, RPMA_NATIVE_* bits; 0 also while a dial has no queue pair. RPMA_E_INVAL.
 */
int rpma_conn_get_native_ops(const struct rpma_conn *conn, unsigned int *ops);

/* The number that its completions carry as qp_num; 0 while a dial has none yet. INVAL. */
int rpma_conn_get_qp_num(const struct rpma_conn *conn, uint32_t *qp_num);

/* The queue of its send completions, borrowed; NULL while a dial has none yet. INVAL. */
int rpma_conn_get_cq(const struct rpma_conn *conn, struct rpma_cq **cq_ptr);

/* Its own receive completion queue, borrowed; NULL: none. RPMA_E_INVAL. */
int rpma_conn_get_rcq(const struct rpma_conn *conn, struct rpma_cq **rcq_ptr);

/* Descriptor of the shared completion channel. RPMA_E_INVAL; RPMA_E_NOT_SHARED_CHNL. */
int rpma_conn_get_compl_fd(const struct rpma_conn *conn, int *fd);

/*
 * Take one event of the shared completion channel, acknowledge it and arm its queue again
 * (unless flags say otherwise, see rpma_cq_wait_flags(); rpma_cq_set_ack_batch() counts here,
 * too).
 *
 * flags        RPMA_W_*; bits of no meaning do not count
 * cq           the queue to poll, borrowed
 * is_rcq       whether it is the receive queue; may be NULL
 * return       RPMA_E_INVAL conn or cq NULL; RPMA_E_NOT_SHARED_CHNL; RPMA_E_NO_COMPLETION no
 *              event waits; RPMA_E_PROVIDER as rpma_cq_wait(); RPMA_E_UNKNOWN the event is of
 *              no queue of this connection
 */
int rpma_conn_wait(struct rpma_conn *conn, int flags, struct rpma_cq **cq,
    bool *is_rcq);

/*
 * Ask the peer to end the connection, or answer it; does not block. What is outstanding
 * completes with IBV_WC_WR_FLUSH_ERR on InfiniBand and RoCE. RPMA_E_INVAL; RPMA_E_PROVIDER.
 */
int rpma_conn_disconnect(struct rpma_conn *conn);

/*
 * Put the queue pair into the error state, so that what is outstanding completes and its
 * completion queues can be emptied before rpma_conn_delete(); drivers may drop completions
 * that are still unread then. Harmless when repeated.
 *
 * return       RPMA_E_INVAL conn NULL; RPMA_E_PROVIDER ibv_modify_qp(3) failed; 0 also when
 *              the connection has no queue pair yet
 */
int rpma_conn_drain(struct rpma_conn *conn);

/* Frees all that is the connection's own. RPMA_E_INVAL; RPMA_E_PROVIDER. */
int rpma_conn_delete(struct rpma_conn **conn_ptr);

/*
 * How long a peer whose message met no receive waits before it tries again, from now on.
 *
 * code         0 .. 31, the encoding of InfiniBand's RNR NAK timer field: 0 is 655.36 ms,
 *              1 is 0.01 ms, 12 is 0.64 ms, 31 is 491.52 ms
 * return       RPMA_E_INVAL conn NULL, code over 31; RPMA_E_PROVIDER ibv_modify_qp(3)
 *              failed (ENOTCONN: a dial that has no queue pair yet); RPMA_E_NOSUPP on iWARP,
 *              which has no such timer
 * source       ibv_modify_qp(3) min_rnr_timer; InfiniBand Architecture Specification
 *              volume 1, 9.7.5.2.8
 */
int rpma_conn_set_min_rnr_timer(struct rpma_conn *conn, unsigned int code);

/* The addresses of both ends. RPMA_E_INVAL: an argument is NULL. */
int rpma_conn_get_peer_addr(const struct rpma_conn *conn,
    struct sockaddr_storage *addr);
int rpma_conn_get_local_addr(const struct rpma_conn *conn,
    struct sockaddr_storage *addr);

/* A pointer of the caller's kept with the connection; NULL at first. RPMA_E_INVAL. */
int rpma_conn_set_context(struct rpma_conn *conn, void *context);
int rpma_conn_get_context(const struct rpma_conn *conn, void **context);

/* Messages. */

#define RPMA_F_COMPLETION_ON_ERROR (1 << 0)
#define RPMA_F_COMPLETION_ALWAYS   (1 << 1 | RPMA_F_COMPLETION_ON_ERROR)

/*
 * Queue one message; never blocks. One that needs no receive buffer longer than len at the
 * peer. The memory must stay as it is until the completion.
 *
 * src          NULL with offset 0 and len 0: an empty message
 * flags        RPMA_F_COMPLETION_*, not 0
 * op_context   comes back as wr_id of the completion
 * return       RPMA_E_INVAL conn NULL, flags 0, src NULL with offset or len not 0, a range
 *              beyond the region, len over 4 GiB - 1; RPMA_E_PROVIDER ibv_post_send(3) failed
 *              (ENOMEM: the send queue is full), or (ENOTCONN) a dial has no queue pair yet
 */
int rpma_send(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset,
    size_t len, int flags, const void *op_context);

/*
 * As rpma_send(), with a number that the receiver's completion carries (host order). iWARP
 * devices may refuse it (errno EINVAL).
 */
int rpma_send_with_imm(struct rpma_conn *conn, const struct rpma_mr_local *src,
    size_t offset, size_t len, int flags, uint32_t imm, const void *op_context);

/*
 * Prepare one buffer for a message of this connection. On a connection with an SRQ the buffer
 * goes there, as by rpma_srq_recv().
 *
 * dst          NULL with offset 0 and len 0: an empty receive
 * return       RPMA_E_INVAL conn NULL, dst NULL with offset or len not 0, a range beyond the
 *              region, len over 4 GiB - 1; RPMA_E_PROVIDER ibv_post_recv(3) failed, or
 *              (ENOTCONN) there is no queue pair and no SRQ yet
 */
int rpma_recv(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t offset,
    size_t len, const void *op_context);

/*
 * Remote memory.
 *
 * Each call queues one operation and never blocks. Operations take effect in the order of the
 * calls, reads excepted: what is queued behind a read or a flush may be done before it.
 *
 * flags        RPMA_F_COMPLETION_*, not 0; with ON_ERROR alone the operation has no completion
 *              of success, and its place in the send queue is free only when a later one has
 *              completed
 * op_context   comes back as wr_id of the completion
 *
 * A range that reaches beyond its region is refused before anything is queued: on the wire it
 * would end the connection, and so do a key that is not valid any more and a use that the
 * region was not registered for.
 */

/*
 * Read a peer's memory. The completion says that dst is filled.
 *
 * dst, src     regions; both NULL with offsets and len 0: a read of nothing
 * offsets, len bytes within the regions, len up to 4 GiB - 1
 * return       RPMA_E_INVAL conn NULL, flags 0, one region NULL or both with an offset or len
 *              not 0, a range beyond either region, len over 4 GiB - 1; RPMA_E_PROVIDER
 *              ibv_post_send(3) failed (ENOMEM: the send queue is full), or (ENOTCONN) a dial
 *              has no queue pair yet
 * source       ibv_post_send(3), IBV_WR_RDMA_READ
 */
int rpma_read(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t dst_offset,
    const struct rpma_mr_remote *src, size_t src_offset, size_t len, int flags,
    const void *op_context);

/*
 * Write to a peer's memory, without the peer noticing. src must stay as it is until the
 * completion. That it completed does not say that the peer's processor sees the data, nor
 * that it is persistent: see rpma_flush(). Else as rpma_read(); IBV_WR_RDMA_WRITE.
 */
int rpma_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
    const struct rpma_mr_local *src, size_t src_offset, size_t len, int flags,
    const void *op_context);

/*
 * Write as rpma_write(), then tell the peer: it takes one receive of the peer's, whose
 * completion (IBV_WC_RECV_RDMA_WITH_IMM) carries imm in network order, and the length.
 */
int rpma_write_with_imm(struct rpma_conn *conn, struct rpma_mr_remote *dst,
    size_t dst_offset, const struct rpma_mr_local *src, size_t src_offset, size_t len,
    int flags, uint32_t imm, const void *op_context);

#define RPMA_ATOMIC_WRITE_ALIGNMENT 8

/*
 * Write 8 bytes of which the peer sees all or none, after what was queued before it and after
 * the flushes among that. Where the connection has the native operation, the completion is
 * IBV_WC_ATOMIC_WRITE; else it is a write (IBV_WC_RDMA_WRITE), and that it is seen as a whole
 * is a property of the peer's hardware.
 *
 * dst_offset   bytes; the address there is a multiple of RPMA_ATOMIC_WRITE_ALIGNMENT
 * src          8 bytes, copied
 * return       RPMA_E_INVAL conn, dst or src NULL, flags 0, fewer than 8 bytes at dst_offset,
 *              an address that is not aligned; RPMA_E_PROVIDER as rpma_read()
 * source       ibv_post_send(3), IBV_SEND_INLINE, IBV_SEND_FENCE; ibv_wr_post(3)
 */
int rpma_atomic_write(struct rpma_conn *conn, struct rpma_mr_remote *dst,
    size_t dst_offset, const char src[8], int flags, const void *op_context);

enum rpma_flush_type {
	RPMA_FLUSH_TYPE_PERSISTENT = 0, /* survives a loss of power */
	RPMA_FLUSH_TYPE_VISIBILITY = 1, /* is seen by the peer's processor */
};

/*
 * Let what was written before reach its place: once the flush has completed, it has.
 *
 * Where the connection has the native operation, the completion is IBV_WC_FLUSH, and the range
 * counts; else it is a read of up to 8 bytes of the range (IBV_WC_RDMA_READ), which pushes all
 * that was written over this connection before. It is read into 8 bytes that all connections
 * of a peer share; the first flush registers them.
 *
 * dst_offset   bytes
 * len          bytes, of any size; 0: as far as reading goes, the memory near dst_offset
 * return       RPMA_E_INVAL conn or dst NULL, flags 0, a range beyond the region, type neither
 *              of the two; RPMA_E_NOSUPP for PERSISTENT: no rpma_conn_apply_remote_peer_cfg()
 *              with direct write to persistent memory, or dst is not registered with
 *              RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT; for VISIBILITY: dst is not
 *              registered with RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY; RPMA_E_NOMEM,
 *              RPMA_E_PROVIDER the first flush cannot register its memory; RPMA_E_PROVIDER
 *              as rpma_read()
 * source       ibv_post_send(3), IBV_WR_RDMA_READ; ibv_wr_post(3)
 */
int rpma_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
    size_t len, enum rpma_flush_type type, int flags, const void *op_context);

/* Listening endpoints. */

struct rpma_ep;

/*
 * Listen at an address of the peer's device, or at a wildcard address.
 * return       RPMA_E_INVAL an argument is NULL; RPMA_E_NOMEM; RPMA_E_PROVIDER, with errno
 *              EXDEV when another device has the address
 */
int rpma_ep_listen(struct rpma_peer *peer, const char *addr, const char *port,
    struct rpma_ep **ep_ptr);

/* Established connections and requests already taken survive it. INVAL; PROVIDER. */
int rpma_ep_shutdown(struct rpma_ep **ep_ptr);

/* RPMA_E_INVAL; RPMA_E_NOSUPP for an endpoint of a struct rpma_cm. */
int rpma_ep_get_fd(const struct rpma_ep *ep, int *fd);

/* The address and port it listens at, also after port 0. RPMA_E_INVAL. */
int rpma_ep_get_addr(const struct rpma_ep *ep, struct sockaddr_storage *addr);

/*
 * Take one incoming request and make its queues. Blocks unless the descriptor is
 * non-blocking. A request that cannot be served is refused, never left hanging.
 *
 * return       RPMA_E_INVAL ep or req_ptr NULL, an event that is no request, a configuration
 *              as for rpma_conn_req_new() (the request stays queued then); RPMA_E_NOSUPP as
 *              rpma_ep_get_fd(); RPMA_E_NO_EVENT none waits; RPMA_E_NOMEM; RPMA_E_PROVIDER
 *              also (errno EXDEV) when the request came in on another device
 */
int rpma_ep_next_conn_req(struct rpma_ep *ep, const struct rpma_conn_cfg *cfg,
    struct rpma_conn_req **req_ptr);

/* One CM channel for many endpoints and connections. */

struct rpma_cm;

enum rpma_cm_event_kind {
	RPMA_CM_REQUEST = 0,     /* ep, req: accept or refuse it */
	RPMA_CM_ESTABLISHED = 1, /* conn */
	RPMA_CM_CLOSED = 2,   /* conn: the peer, or rpma_conn_disconnect(), ended it */
	RPMA_CM_LOST = 3,     /* conn: it failed; status */
	RPMA_CM_REJECTED = 4, /* conn: the peer refused; status is its reason */
	RPMA_CM_UNREACHABLE = 5, /* conn: no route, or no answer; status */
	RPMA_CM_UNRESOLVED = 6,  /* conn: no RDMA device leads there (-ENODEV), another
	                               one does (-EXDEV), or the address is not answered */
	RPMA_CM_DEVICE_REMOVED = 7, /* ep or conn: its device is going away */
	RPMA_CM_PATH_CHANGED =
	    9,             /* conn: established, the way to its peer changed (Linux
	                               6.0 and later); it may live on, or be closed */
	RPMA_CM_OTHER = 8, /* ep or conn or neither: status is the number of the
	                               enum rdma_cm_event_type; nothing to be done */
};

struct rpma_cm_event {
	enum rpma_cm_event_kind kind;
	int status;         /* 0, a negative errno, or the peer's reason to refuse */
	struct rpma_ep *ep; /* borrowed */
	struct rpma_conn *conn;    /* borrowed */
	struct rpma_conn_req *req; /* the caller's, until accepted or refused */
	uint8_t private_data_len;  /* bytes */
	uint8_t private_data[256]; /* of ESTABLISHED (active side) and REJECTED */
};

/* A CM event channel that never blocks. RPMA_E_INVAL; RPMA_E_NOMEM; RPMA_E_PROVIDER. */
int rpma_cm_new(struct rpma_cm **cm_ptr);

/* After all endpoints, requests and connections of it. RPMA_E_INVAL cm_ptr NULL. */
int rpma_cm_delete(struct rpma_cm **cm_ptr);

/* Readable when an event waits; never close it. RPMA_E_INVAL. */
int rpma_cm_get_fd(const struct rpma_cm *cm, int *fd);

/*
 * Take one event. The steps of rpma_cm_dial() are taken in here. An event is acknowledged
 * before return, so what it names may be deleted at once. What happens to a request between
 * this call and its acceptance shows when it is accepted.
 *
 * return       RPMA_E_INVAL an argument is NULL; RPMA_E_NO_EVENT; RPMA_E_NOMEM a request was
 *              refused for want of memory; RPMA_E_PROVIDER
 */
int rpma_cm_next_event(struct rpma_cm *cm, struct rpma_cm_event *event);

/*
 * Listen at a numeric address; port 0 chooses one, see rpma_ep_get_addr(). End it with
 * rpma_ep_shutdown().
 *
 * backlog      requests that may wait; 0: the kernel's maximum
 * return       RPMA_E_INVAL an argument is NULL, an address family other than AF_INET and
 *              AF_INET6, backlog < 0; RPMA_E_NOMEM; RPMA_E_PROVIDER with errno EADDRINUSE,
 *              EADDRNOTAVAIL or ENODEV (no RDMA device has the address), EXDEV (another
 *              device than the peer's has it), or of the failing call
 */
int rpma_cm_listen(struct rpma_cm *cm, struct rpma_peer *peer,
    const struct sockaddr *addr, int backlog, struct rpma_ep **ep_ptr);

/*
 * Start a connection and return at once; its end is RPMA_CM_ESTABLISHED, UNRESOLVED,
 * UNREACHABLE, REJECTED or LOST. It may be deleted at any time. (Kernel drivers of iWARP may
 * wait: soft-iWARP for TCP while rpma_cm_next_event() asks the peer, and for the answer, up to
 * 10 s, while a connection that was asked for is deleted.)
 *
 * cfg          its SRQ and send CQ must outlive the connection; copied
 * timeout_ms   for each of the two steps of address resolution, at least 1
 * pdata        NULL: none; copied
 * return       RPMA_E_INVAL cm, peer, dst or conn_ptr NULL, family, timeout_ms < 1, pdata with
 *              ptr NULL or len 0, a configuration as for rpma_conn_req_new(); RPMA_E_NOMEM;
 *              RPMA_E_PROVIDER
 */
int rpma_cm_dial(struct rpma_cm *cm, struct rpma_peer *peer, const struct sockaddr *dst,
    const struct rpma_conn_cfg *cfg, int timeout_ms,
    const struct rpma_conn_private_data *pdata, struct rpma_conn **conn_ptr);

/*
 * Accept a request of rpma_cm_next_event(): its queue pair is made here. What follows is
 * RPMA_CM_ESTABLISHED, LOST, or CLOSED alone when the client came and went at once.
 *
 * req_ptr      consumed, as by rpma_conn_req_connect(); refused when this fails
 * return       RPMA_E_INVAL req_ptr, *req_ptr or conn_ptr NULL, pdata with ptr NULL or len 0,
 *              a request of another call, a configuration as for rpma_conn_req_new();
 *              RPMA_E_NOMEM; RPMA_E_PROVIDER (EXDEV: it came in on
 *              another device than the endpoint's peer)
 */
int rpma_cm_accept(struct rpma_conn_req **req_ptr, const struct rpma_conn_cfg *cfg,
    const struct rpma_conn_private_data *pdata, struct rpma_conn **conn_ptr);

/*
 * Refuse a request; costs no queue pair. A request that has already died is no error. One of
 * rpma_ep_next_conn_req() is refused as well, one of rpma_conn_req_new() is given up.
 *
 * req_ptr      consumed, as by rpma_conn_req_connect(), also when pdata is invalid
 * pdata        NULL: none
 * return       RPMA_E_INVAL req_ptr or *req_ptr NULL, pdata with ptr NULL or len 0;
 *              RPMA_E_PROVIDER
 */
int rpma_cm_reject(struct rpma_conn_req **req_ptr,
    const struct rpma_conn_private_data *pdata);

#ifdef __cplusplus
}
#endif

#endif /* LIBRPMA_H */
