/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting, refilling, and the clock of an empty queue. */
#include <config.h>

#include "daemon/srq.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "daemon/ledger_path.h"
#include "daemon/loop.h"
#include "daemon/rpma_err.h"
#include "lib/core/text.h"
#include "lib/rpma/librpma.h"

/*
 * Room in the completion queue beyond one entry for each slot: a completion that is
 * being polled still occupies its entry on some devices while its slot is posted again.
 */
#define CQ_MARGIN 64u

struct srq {
	struct ledger *ledger;
	const struct region *pool;
	const struct settings *settings;
	struct rpma_mr_local *mr;
	struct rpma_srq *rpma;
	struct rpma_cq *rcq; /* of rpma */
	uint32_t effective;
	struct srq_stats stats;
	struct named_counts failures; /* posts that were refused, by errno */
	bool is_low;
	bool is_opening; /* not filled for the first time yet */
	uint64_t empty_since_ns;
};

int
srq_new(struct ledger *ledger, const struct region *pool,
    const struct settings *settings, struct srq **out)
{
	struct srq *srq = calloc(1, sizeof(*srq));

	if (!srq)
		return -ENOMEM;
	srq->ledger = ledger;
	srq->pool = pool;
	srq->settings = settings;
	*out = srq;
	return 0;
}

void
srq_free(struct srq *srq)
{
	if (!srq)
		return;
	srq_close(srq);
	free(srq);
}

uint64_t
memory_lock_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

int
memory_register(struct device *device, const struct region *region, int usage,
    const char *what, struct rpma_mr_local **out, struct err *err)
{
	uint64_t limit = memory_lock_limit();
	struct device_limits limits;
	int rc =
	    rpma_mr_reg(device_peer(device), region->base, region->bytes, usage, out);

	if (rc == 0)
		return 0;
	if (rpma_err_last_errno() == ENOMEM && limit != UINT64_MAX) {
		rc = err_set(err, ERR_MEMLOCK_LIMIT, ENOMEM,
		    "%s needs %zu bytes of locked memory, the limit of the process is %llu "
		    "in all",
		    what, region->bytes, (unsigned long long)limit);
		err_hint(err,
		    "add LimitMEMLOCK=infinity to the [Service] section of "
		    "rpmad.service, or run ulimit -l unlimited before rpmad, or "
		    "lower pool.slots");
		return rc;
	}
	/* Not looked at before: soft-iWARP says the lock limit of who asks. */
	device_get_limits(device, &limits);
	if (region->bytes > limits.max_mr_bytes) {
		rc = err_set(err, ERR_LIMIT, 0,
		    "%s needs %zu bytes in one piece, device %s registers at most %llu",
		    what, region->bytes, device_name(device),
		    (unsigned long long)limits.max_mr_bytes);
		err_hint(err, "lower pool.slots or pool.slot_size, or send.slots");
		return rc;
	}
	return rpma_err_set(err, rc, "cannot register %zu bytes for %s", region->bytes,
	    what);
}

static int
check_limits(const struct srq *srq, struct device *device, struct err *err)
{
	uint32_t slots = srq->settings->pool_slots;
	struct device_limits limits;
	int rc;

	device_get_limits(device, &limits);
	if (limits.max_srq == 0 || limits.max_srq_wr == 0)
		return err_set(err, ERR_SRQ_UNSUPPORTED, 0,
		    "device %s has no shared receive queues", device_name(device));
	if (slots <= limits.max_srq_wr && slots + CQ_MARGIN <= limits.max_cqe)
		return 0;
	rc = err_set(err, ERR_LIMIT, 0,
	    "pool.slots %u is more than device %s can hold: %u receives, %u completions",
	    slots, device_name(device), limits.max_srq_wr, limits.max_cqe);
	err_path(err, "pool.slots");
	if (limits.max_cqe <= CQ_MARGIN)
		return rc;
	err_hint(err, "set pool.slots to at most %u",
	    limits.max_srq_wr < limits.max_cqe - CQ_MARGIN
		? limits.max_srq_wr
		: limits.max_cqe - CQ_MARGIN);
	return rc;
}

static int
make_queue(struct srq *srq, struct device *device, struct err *err)
{
	uint32_t slots = srq->settings->pool_slots;
	struct rpma_srq_cfg *cfg = NULL;
	int rc = rpma_srq_cfg_new(&cfg);

	if (rc == 0)
		rc = rpma_srq_cfg_set_rq_size(cfg, slots);
	if (rc == 0)
		rc = rpma_srq_cfg_set_rcq_size(cfg, slots + CQ_MARGIN);
	if (rc == 0)
		rc = rpma_srq_new(device_peer(device), cfg, &srq->rpma);
	if (rc == 0)
		rc = rpma_srq_get_rcq(srq->rpma, &srq->rcq);
	if (rc == 0)
		rc = rpma_srq_get_size(srq->rpma, &srq->effective);
	if (rc != 0)
		rc = rpma_err_set(err, rc,
		    "cannot make a shared receive queue for %u receive%s on device %s",
		    slots, text_plural(slots), device_name(device));
	/* Only NULL can make this fail. */
	(void)rpma_srq_cfg_delete(&cfg);
	return rc;
}

int
srq_open(struct srq *srq, struct device *device, struct err *err)
{
	int rc = check_limits(srq, device, err);

	if (rc == 0)
		rc = memory_register(device, srq->pool, RPMA_MR_USAGE_RECV,
		    "the receive pool", &srq->mr, err);
	if (rc == 0)
		rc = make_queue(srq, device, err);
	if (rc != 0) {
		srq_close(srq);
		return rc;
	}
	/* The first filling is no running dry, and no crossing of the watermark. */
	srq->is_low = true;
	srq->is_opening = srq->settings->refill == REFILL_AUTO;
	return 0;
}

void
srq_close(struct srq *srq)
{
	uint32_t slot;

	/* A failure leaves an object behind that the device's own end removes. */
	(void)rpma_srq_delete(&srq->rpma);
	(void)rpma_mr_dereg(&srq->mr);
	srq->rcq = NULL;
	srq->effective = 0;
	for (slot = 0; slot < srq->settings->pool_slots; slot++)
		(void)ledger_unpost(srq->ledger, slot);
	if (srq->stats.is_empty)
		srq->stats.empty_ns += loop_now_ns() - srq->empty_since_ns;
	srq->stats.is_empty = false;
	srq->is_low = false;
}

struct rpma_srq *
srq_rpma(const struct srq *srq)
{
	return srq->rpma;
}

struct rpma_cq *
srq_rcq(const struct srq *srq)
{
	return srq->rcq;
}

uint64_t
srq_registered_bytes(const struct srq *srq)
{
	return srq->mr ? srq->pool->bytes : 0;
}

/* A post was refused: count it, with its cause. */
static void
count_failure(struct srq *srq, int rpma_rc)
{
	srq->stats.post_failures++;
	named_counts_add(&srq->failures, rpma_err_name(rpma_rc));
}

/* Post one batch of at most RPMA_SRQ_BATCH_MAX; what the provider refuses is free
 * again. */
static int
post_batch(struct srq *srq, uint32_t count, uint32_t *accepted, struct err *err)
{
	const size_t slot_size = srq->settings->pool_slot_size;
	struct rpma_srq_buf bufs[RPMA_SRQ_BATCH_MAX];
	struct ledger_counts counts;
	const uint32_t *slots;
	size_t n, posted = 0, i;
	int rc;

	*accepted = 0;
	ledger_counts(srq->ledger, &counts);
	n = count < counts.free ? count : counts.free;
	if (n > RPMA_SRQ_BATCH_MAX)
		n = RPMA_SRQ_BATCH_MAX;
	if (n == 0)
		return 0;
	slots = ledger_path_take_free(srq->ledger, (uint32_t)n);
	for (i = 0; i < n; i++) {
		const uint32_t slot = slots[n - 1 - i];

		ledger_path_posted(srq->ledger, slot);
		bufs[i].offset = slot * slot_size;
		bufs[i].len = slot_size;
		bufs[i].op_context = (const void *)(uintptr_t)slot;
	}
	rc = rpma_srq_recv_batch(srq->rpma, srq->mr, bufs, n, &posted);
	if (rc != 0 && rc != RPMA_E_PROVIDER)
		posted = 0;
	for (i = posted; i < n; i++)
		(void)ledger_unpost(srq->ledger,
		    (uint32_t)(uintptr_t)bufs[i].op_context);
	srq->stats.posted += posted;
	*accepted = (uint32_t)posted;
	if (rc == 0)
		return 0;
	count_failure(srq, rc);
	return rpma_err_set(err, rc,
	    "the provider refused receive %zu of a batch of %zu", posted + 1, n);
}

static int
not_open(struct err *err)
{
	return err_set(err, ERR_NOT_READY, 0,
	    "there is no shared receive queue: no RDMA device is open");
}

static int
nothing_free(const struct srq *srq, struct err *err)
{
	struct ledger_counts counts;
	int rc;

	ledger_counts(srq->ledger, &counts);
	rc = err_set(err, ERR_SRQ_FULL, 0,
	    "no slot is free: %u posted, %u ready, %u leased of %u", counts.posted,
	    counts.ready, counts.leased, counts.total);
	err_hint(err, "%s",
	    counts.posted == counts.total ? "all of them are posted already"
					  : "poll and acknowledge messages first");
	return rc;
}

int
srq_post(struct srq *srq, uint32_t count, uint32_t *accepted, struct err *err)
{
	struct ledger_counts counts;
	uint32_t done = 0;

	if (!srq->rpma)
		return not_open(err);
	ledger_counts(srq->ledger, &counts);
	if (counts.free == 0)
		return nothing_free(srq, err);
	while (done < count) {
		uint32_t some;
		int rc = post_batch(srq, count - done, &some, err);

		done += some;
		if (rc != 0 && done == 0)
			return rc;
		if (rc != 0 || some == 0)
			break;
	}
	*accepted = done;
	return 0;
}

int
srq_post_slot(struct srq *srq, uint32_t slot, uint32_t len, const char *context,
    size_t context_len, struct err *err)
{
	size_t slot_size = srq->settings->pool_slot_size;
	int rc;

	if (!srq->rpma)
		return not_open(err);
	if (slot >= srq->settings->pool_slots) {
		rc = err_set(err, ERR_SLOT_RANGE, 0,
		    "there is no slot %u: they are 0 .. %u", slot,
		    srq->settings->pool_slots - 1);
		err_path(err, "params.slot");
		return rc;
	}
	if (len > slot_size) {
		rc = err_set(err, ERR_INVALID_PARAMS, 0,
		    "len %u is over the slot size of %zu bytes", len, slot_size);
		err_path(err, "params.len");
		return rc;
	}
	if (ledger_post_slot(srq->ledger, slot, context, context_len) != 0) {
		rc = err_set(err, ERR_SLOT_BUSY, 0, "slot %u is %s, not free", slot,
		    slot_state_name(ledger_state(srq->ledger, slot)));
		err_path(err, "params.slot");
		return rc;
	}
	rc = rpma_srq_recv(srq->rpma, srq->mr, slot * slot_size, len,
	    (const void *)(uintptr_t)slot);
	if (rc == 0) {
		srq->stats.posted++;
		return 0;
	}
	(void)ledger_unpost(srq->ledger, slot);
	count_failure(srq, rc);
	return rpma_err_set(err, rc, "the provider refused slot %u", slot);
}

int
srq_refill(struct srq *srq, struct err *err)
{
	uint32_t target = srq->settings->receive_target;
	struct ledger_counts counts;
	uint32_t accepted;
	int rc;

	ledger_counts(srq->ledger, &counts);
	if (!srq->rpma || srq->settings->refill != REFILL_AUTO || counts.free == 0 ||
	    counts.posted >= target)
		return 0;
	rc = post_batch(srq, target - counts.posted, &accepted, err);
	if (rc != 0)
		return rc;
	srq->stats.refills++;
	ledger_counts(srq->ledger, &counts);
	return counts.free > 0 && counts.posted < target;
}

void
srq_watch(struct srq *srq, uint64_t now_ns)
{
	struct ledger_counts counts;
	bool empty, low;

	if (!srq->rpma)
		return;
	ledger_counts(srq->ledger, &counts);
	if (counts.posted > 0)
		srq->is_opening = false;
	empty = counts.posted == 0 && !srq->is_opening;
	low = counts.posted < srq->settings->receive_low_watermark;
	if (low && !srq->is_low)
		srq->stats.times_low++;
	srq->is_low = low;
	if (empty && !srq->stats.is_empty) {
		srq->stats.times_empty++;
		srq->empty_since_ns = now_ns;
	} else if (!empty && srq->stats.is_empty) {
		srq->stats.last_stall_ns = now_ns - srq->empty_since_ns;
		srq->stats.empty_ns += srq->stats.last_stall_ns;
	}
	srq->stats.is_empty = empty;
	if (empty)
		srq->stats.last_empty_ns = now_ns;
}

bool
srq_is_short(const struct srq *srq)
{
	struct ledger_counts counts;

	ledger_counts(srq->ledger, &counts);
	return counts.free + counts.posted < srq->settings->receive_low_watermark;
}

void
srq_get_stats(const struct srq *srq, uint64_t now_ns, struct srq_stats *out)
{
	*out = srq->stats;
	if (srq->stats.is_empty && now_ns > srq->empty_since_ns)
		out->empty_ns += now_ns - srq->empty_since_ns;
}

const struct named_counts *
srq_failures(const struct srq *srq)
{
	return &srq->failures;
}

void
srq_get_info(const struct srq *srq, struct srq_info *out)
{
	const struct settings *settings = srq->settings;

	out->is_active = srq->rpma != NULL;
	out->asked = settings->pool_slots;
	out->effective = srq->effective;
	out->cq_asked = settings->pool_slots + CQ_MARGIN;
	out->huge_pages = settings->pool_huge_pages;
	out->pool_bytes = srq->pool->bytes;
	out->page_size = srq->pool->page_size;
	out->target = settings->receive_target;
	out->low_watermark = settings->receive_low_watermark;
	out->refill = settings->refill;
	out->min_rnr_timer_code = rnr_timer_code(settings->min_rnr_timer_us);
	out->min_rnr_timer_us = rnr_timer_us(out->min_rnr_timer_code);
}
