/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the engine share. */
#ifndef RPMAD_DAEMON_ENGINE_IMPL_H
#define RPMAD_DAEMON_ENGINE_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/conns.h"
#include "daemon/cq.h"
#include "daemon/device.h"
#include "daemon/devnode.h"
#include "daemon/engine.h"
#include "daemon/ledger.h"
#include "daemon/listeners.h"
#include "daemon/loop.h"
#include "daemon/named_count.h"
#include "daemon/pool.h"
#include "daemon/sender.h"
#include "daemon/settings.h"
#include "daemon/srq.h"

struct ibv_wc;
struct rpma_cm;

#define ENGINE_NO_LISTENER \
	"no device is configured and nothing listens: use rpmactl listen"
#define EMPTY_WINDOW_S 60u /* how far back "in the last minute" looks */

/* How long the queue was empty while somebody was connected, looked at once a second. */
struct stalls {
	uint64_t ns;
	uint64_t empty_ns;    /* of the queue, so far; and these so far: */
	uint64_t established; /* connections ever */
	bool was_connected;
	uint64_t samples[EMPTY_WINDOW_S]; /* of ns */
	unsigned int sample;
};

struct engine {
	struct loop *loop;
	const struct settings *settings;
	struct engine_hooks hooks;
	struct events *events; /* may be NULL */
	enum engine_state state;
	char reason[sizeof(((struct err *)0)->text)];

	/* for the engine's life */
	struct pool pool;
	struct ledger *ledger; /* the pool's */
	struct srq *srq;
	struct sender *sender;
	struct conns conns;
	struct listeners listeners;
	struct cq recv_cq;
	struct engine_clock drain_clock; /* when the reading of completions began */
	struct loop_timer *tick;
	struct loop_deferred work;

	/* while a device is open */
	struct device *device;
	struct rpma_cm *cm;
	struct loop_fd *recv_fd, *send_fd, *cm_fd, *async_fd;

	struct device *left; /* the last one, which is not used and not let go either */
	struct devnode node; /* of device, or of left */

	bool is_started;  /* engine_new() is through: what fails now is tried again */
	bool is_init;     /* conns is initialised */
	bool wants_drain; /* read both completion queues on the next turn */
	bool wants_ready; /* tell the owner that messages are ready */
	bool is_device_lost; /* take the device down on the next turn */
	bool is_removed;     /* because it is being removed */
	bool is_stopped_told;
	bool is_refill_failing;
	const char *lost_reason; /* close reason of the connections then */
	uint64_t tick_due_ns;    /* 0: the timer is not running */
	uint64_t second_ns;      /* when the once-a-second work is due */
	uint64_t retry_ns;       /* when to look for the device again */
	uint64_t retry_delay_ns;
	uint64_t up_ns; /* when the device was opened last */
	uint64_t stop_deadline_ns;
	struct stalls stalls;

	/* counters */
	uint64_t messages, imms, polled, redelivered, acked, nacked, expired;
	uint64_t auto_acked, flushed, dropped, unknown_events, ledger_faults;
	uint64_t maybe_lost; /* receives that were posted when a queue died */
	struct named_counts recv_errors, drops;
	struct histogram size_bytes, queue_ns, hold_ns;
	uint64_t *
	    leased_ns; /* of each slot: when its message was delivered last; 0: never */
};

/* Completions of the receive queue; arg is the engine. */
void engine_on_recv_wcs(void *arg, const struct ibv_wc *wcs, int count);
/* How long a message has waited. The wall clock, which it keeps over a restart, may go back. */
static inline uint64_t
engine_waited_ns(uint64_t received_ns, const struct engine_clock *clock)
{
	return clock->wall_ns > received_ns ? clock->wall_ns - received_ns : 0;
}

/* engine_lease() to an owner at a time that was read before. */
bool engine_lease_at(struct engine *engine, struct ledger_owner *owner,
    const struct engine_clock *clock, struct ledger_message *out);
/* leased -> ready. See ledger_nack(). */
enum ledger_result engine_give_back(struct engine *engine, uint32_t slot,
    uint32_t generation);

/* Look whether the shared receive queue is low or empty, and tell of a change. */
void engine_watch_srq(struct engine *engine);
/* Have the deferred work done on the next turn. */
void engine_kick(struct engine *engine);
/* Free slots were made: refill and tell. */
void engine_slots_freed(struct engine *engine);

/*
 * Open the device and all that needs it.
 * return   0; ERR_ADDR_NOT_RDMA or ERR_DEVICE_GONE: it is not there; other errors: it
 * cannot be used. All is closed again then.
 */
int engine_up(struct engine *engine, struct err *err);
/* Let the device go: connections end with that reason, posted slots are free again. */
void engine_down(struct engine *engine, const char *reason, bool release);
/*
 * Look whether the device is being removed. A connection or a listener hears of it by an event;
 * without one the kernel would wait for this process, which would wait for nothing.
 */
void engine_watch_removal(struct engine *engine);
/*
 * Bring wanted listeners up, all that can be; err (may be NULL) is the last that could not for
 * another reason than ERR_ADDR_NOT_RDMA, which the return code tells.
 */
int engine_listeners_up(struct engine *engine, struct err *err);
/*
 * Read a completion queue within the budget; see to it that the rest is read on the next turn,
 * and that a dead queue is made anew. return whether it was seen empty
 */
bool engine_drain(struct engine *engine, struct cq *cq, enum cq_cause cause);
/* The device is to be let go on the next turn; "device_gone" outweighs other reasons. */
void engine_lose(struct engine *engine, const char *reason);
/* Serve the events of the connections' channel that are there now. */
void engine_read_cm(struct engine *engine);
void engine_set_state(struct engine *engine, enum engine_state state,
    const char *reason);

/* How long the queue was empty while somebody was connected; empty_ns: how long at all. */
uint64_t engine_stalled_ns(const struct engine *engine, uint64_t empty_ns);

#endif
