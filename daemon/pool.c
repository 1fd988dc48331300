/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool from its beginning to the next one: made, kept, taken over, set aside. */
#include <config.h>

#include "daemon/pool.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "daemon/fault.h"
#include "daemon/store.h"
#include "lib/core/log.h"
#include "lib/core/text.h"

#define FAULTS_MAX 3u /* crashes in a row that set a pool aside */

/* ---- one that was kept ---- */

/* A kept pool that is mapped and whose header is good. */
struct kept {
	struct region memory;
	struct region ledger_memory;
	uint32_t slots;
	uint32_t slot_size;
};

static void
kept_close(struct kept *kept)
{
	region_close(&kept->memory);
	region_close(&kept->ledger_memory);
}

static int
kept_open(const struct store_pool *from, struct kept *out, struct err *err)
{
	struct kept kept = { .memory = REGION_NONE, .ledger_memory = REGION_NONE };
	int rc = region_adopt(from->ledger_fd, 1, &kept.ledger_memory, err);

	if (rc == 0)
		rc = ledger_probe(kept.ledger_memory.base, kept.ledger_memory.bytes,
		    &kept.slots, &kept.slot_size, err);
	if (rc == 0)
		rc = region_adopt(from->pool_fd, (size_t)kept.slots * kept.slot_size,
		    &kept.memory, err);
	if (rc != 0) {
		kept_close(&kept);
		return rc;
	}
	*out = kept;
	return 0;
}

/*
 * Whether a pool that kept_open() refused can never be used by this program, and as what it
 * is set aside. Other faults are the system's and may pass: no memory, no descriptors.
 */
static bool
is_unusable(const struct err *why, enum store_kind *kind)
{
	*kind = why->errnum == EPROTONOSUPPORT ? STORE_VERSION : STORE_DAMAGED;
	return why->errnum == EPROTONOSUPPORT || why->errnum == EBADMSG ||
	    why->errnum == EBADF;
}

static void
set_aside(struct pool *pool, struct store_pool *from, enum store_kind kind,
    const char *why)
{
	store_set_aside(pool->store, from, kind);
	from = store_aside(pool->store, store_count_aside(pool->store) - 1);
	log_error("pool", "the pool that was kept cannot be used: %s; it is kept as %s",
	    why, from->name);
}

/* What was found when a pool was taken over. */
static void
tell_restored(const struct ledger_restored *found)
{
	log_notice("pool",
	    "messages=%u leased=%u are there again from before the start",
	    found->messages, found->leased);
	if (found->posted > 0)
		log_warning("pool",
		    "rpmad had crashed with %u receive%s posted: up to %u message%s whose "
		    "sender saw success may be lost",
		    found->posted, text_plural(found->posted), found->posted,
		    text_plural(found->posted));
	if (found->bad > 0)
		log_warning("pool",
		    "found %u damaged record%s: messages in these slots, if any, are lost",
		    found->bad, text_plural(found->bad));
}

/* Crashes in a row, of which its content may be the cause; the next is written to it. */
static uint32_t
begin_life(struct kept *kept)
{
	uint32_t faults = ledger_begin_life(kept->ledger_memory.base, fault_now_ns());

	if (faults < FAULTS_MAX)
		fault_watch(ledger_fault_mark(kept->ledger_memory.base));
	return faults;
}

static int
restore(struct pool *pool, struct kept *kept, struct err *err)
{
	struct ledger_restored found;
	int rc = ledger_restore(kept->ledger_memory.base, kept->ledger_memory.bytes,
	    kept->slots, kept->slot_size, &pool->ledger, &found, err);

	if (rc != 0)
		return rc;
	pool->memory = kept->memory;
	pool->ledger_memory = kept->ledger_memory;
	pool->is_kept = true;
	pool->restored = found.messages;
	pool->maybe_lost = found.posted;
	pool->bad = found.bad;
	tell_restored(&found);
	return 0;
}

static bool
is_as_configured(const struct kept *kept, const struct settings *settings)
{
	const bool is_huge = kept->memory.page_size > (size_t)sysconf(_SC_PAGESIZE);

	return kept->slots == settings->pool_slots &&
	    kept->slot_size == settings->pool_slot_size &&
	    is_huge == settings->pool_huge_pages;
}

/* Use the pool that was kept. pool->ledger stays NULL where it cannot be. */
static int
take_over(struct pool *pool, const struct settings *settings, struct store_pool *from,
    struct err *err)
{
	enum store_kind kind;
	struct kept kept;
	struct err why;
	int rc = kept_open(from, &kept, &why);

	if (rc != 0) {
		if (!is_unusable(&why, &kind)) {
			*err = why;
			return rc;
		}
		set_aside(pool, from, kind, why.text);
		return 0;
	}
	if (!is_as_configured(&kept, settings)) {
		log_notice("pool",
		    "was of %u slots of %u bytes and is made anew with %u of %u%s",
		    kept.slots, kept.slot_size, settings->pool_slots,
		    settings->pool_slot_size,
		    settings->pool_huge_pages ? " in huge pages" : "");
		store_set_aside(pool->store, from, STORE_UNFIT);
	} else if (begin_life(&kept) >= FAULTS_MAX) {
		set_aside(pool, from, STORE_CRASHED, store_kind_reason(STORE_CRASHED));
	} else {
		rc = restore(pool, &kept, err);
		if (rc == 0)
			return 0;
	}
	fault_watch(NULL);
	kept_close(&kept);
	return rc;
}

/* ---- a new one ---- */

static int
make_memory(const struct settings *settings, struct region *out, struct err *err)
{
	size_t bytes = (size_t)settings->pool_slots * settings->pool_slot_size;
	int rc;

	if (!settings->pool_huge_pages)
		return region_open(STORE_POOL_FD, bytes, out, err);
	rc = region_open_huge(STORE_POOL_FD, bytes, out, err);
	if (rc != 0)
		err_path(err, "pool.huge_pages");
	return rc;
}

static int
make(struct pool *pool, const struct settings *settings, struct err *err)
{
	uint64_t instance = 0;
	int rc = make_memory(settings, &pool->memory, err);

	if (rc == 0)
		rc = region_open(STORE_LEDGER_FD,
		    ledger_memory_size(settings->pool_slots), &pool->ledger_memory,
		    err);
	if (rc != 0)
		return rc;
	while (instance == 0)
		if (getrandom(&instance, sizeof(instance), 0) != sizeof(instance))
			return err_set(err, ERR_INTERNAL_ERROR, errno,
			    "no random numbers");
	rc = ledger_new(pool->ledger_memory.base, settings->pool_slots,
	    settings->pool_slot_size, instance, &pool->ledger);
	if (rc != 0)
		return err_set(err, ERR_INTERNAL_ERROR, -rc, "ledger: out of memory");
	if (!pool->store)
		return 0;
	rc = store_keep(pool->store, pool->memory.fd, pool->ledger_memory.fd);
	pool->is_kept = rc > 0;
	if (rc < 0)
		log_error("pool",
		    "the pool cannot be handed to the service manager: %s; messages that "
		    "are left in it will end with the daemon",
		    strerror(-rc));
	return 0;
}

/* ---- messages that did not fit at an earlier start ---- */

struct move {
	const struct kept *from;
	const struct pool *to;
	uint32_t to_slot_size;
};

static void
copy(void *arg, uint32_t from_slot, uint32_t to_slot, uint32_t len)
{
	const struct move *move = arg;

	memcpy((char *)move->to->memory.base + (size_t)to_slot * move->to_slot_size,
	    (const char *)move->from->memory.base +
		(size_t)from_slot * move->from->slot_size,
	    len);
}

static void
tell_moved(struct pool *pool, struct store_pool *from, uint32_t moved, uint32_t left)
{
	if (moved > 0)
		log_notice("pool", "messages=%u were moved from an earlier pool",
		    moved);
	if (left == 0) {
		store_drop(pool->store, from);
		return;
	}
	if (from->kind != STORE_UNFIT) {
		store_set_aside(pool->store, from, STORE_UNFIT);
		from = store_aside(pool->store, store_count_aside(pool->store) - 1);
	}
	log_warning("pool",
	    "messages=%u of an earlier pool do not fit into pool.slots of "
	    "pool.slot_size: they are kept as %s and tried again at the next start",
	    left, from->name);
}

static int
move_in(struct pool *pool, const struct settings *settings, struct store_pool *from,
    struct err *err)
{
	struct ledger_restored found;
	struct ledger *ledger = NULL;
	struct kept kept;
	struct move move = { &kept, pool, settings->pool_slot_size };
	uint32_t moved;
	int rc = kept_open(from, &kept, err);

	if (rc != 0)
		return rc;
	if (begin_life(&kept) >= FAULTS_MAX) {
		set_aside(pool, from, STORE_CRASHED, store_kind_reason(STORE_CRASHED));
	} else {
		rc = ledger_restore(kept.ledger_memory.base, kept.ledger_memory.bytes,
		    kept.slots, kept.slot_size, &ledger, &found, err);
		if (rc == 0) {
			moved = ledger_move(ledger, pool->ledger, copy, &move);
			pool->restored += moved;
			pool->maybe_lost += found.posted;
			pool->bad += found.bad;
			tell_restored(&found);
			tell_moved(pool, from, moved, found.messages - moved);
		}
		ledger_free(ledger);
	}
	fault_watch(NULL);
	kept_close(&kept);
	return rc;
}

/* One that waits for slots that it fits, or for a program that can read it. */
static void
try_move(struct pool *pool, const struct settings *settings, struct store_pool *from)
{
	enum store_kind kind;
	struct err err;

	if ((from->kind != STORE_UNFIT && from->kind != STORE_VERSION) ||
	    move_in(pool, settings, from, &err) == 0)
		return;
	if (!is_unusable(&err, &kind))
		log_error("pool", "%s cannot be read: %s; the next start tries again",
		    from->name, err.text);
	else if (kind != from->kind)
		set_aside(pool, from, kind, err.text);
}

/*
 * The oldest first. Into a pool that nobody keeps no message is moved from one that the
 * manager has.
 */
static void
move_all_in(struct pool *pool, const struct settings *settings)
{
	size_t count = store_count_aside(pool->store), at = 0;
	char name[STORE_NAME_MAX];

	if (count > 0 && !pool->is_kept) {
		log_error("pool",
		    "the service manager keeps %zu earlier pool%s, with the messages in "
		    "there, until a start that can hand it a new one",
		    count, text_plural(count));
		return;
	}
	while (count-- > 0) {
		(void)snprintf(name, sizeof(name), "%s",
		    store_aside(pool->store, at)->name);
		try_move(pool, settings, store_aside(pool->store, at));
		if (at < store_count_aside(pool->store) &&
		    strcmp(store_aside(pool->store, at)->name, name) == 0)
			at++;
	}
	store_make_room(pool->store);
}

/* ---- all of it ---- */

static int
open_all(struct pool *pool, const struct settings *settings, struct err *err)
{
	struct store_pool *current = pool->store ? store_current(pool->store) : NULL;
	int rc = current ? take_over(pool, settings, current, err) : 0;

	if (rc == 0 && !pool->ledger)
		rc = make(pool, settings, err);
	if (rc != 0)
		return rc;
	if (pool->store)
		move_all_in(pool, settings);
	if (pool->is_kept)
		fault_watch(ledger_fault_mark(pool->ledger_memory.base));
	return 0;
}

int
pool_open(const struct settings *settings, struct store *store, struct pool *out,
    struct err *err)
{
	struct pool pool = {
		.memory = REGION_NONE, .ledger_memory = REGION_NONE, .store = store
	};
	int rc = open_all(&pool, settings, err);

	if (rc != 0) {
		pool_close(&pool);
		return rc;
	}
	*out = pool;
	return 0;
}

void
pool_tell_end(const struct pool *pool)
{
	struct ledger_counts counts;
	uint32_t left;

	ledger_counts(pool->ledger, &counts);
	left = counts.ready + counts.leased;
	if (left == 0)
		return;
	if (!pool->is_kept)
		log_warning("pool",
		    "messages=%u were not acknowledged and end with the daemon", left);
	else if (store_is_ending(pool->store))
		log_warning("pool",
		    "messages=%u were not acknowledged and end with the service, which is "
		    "stopped and not restarted",
		    left);
	else
		log_notice("pool",
		    "messages=%u were handed to the service manager for the next start",
		    left);
}

void
pool_close(struct pool *pool)
{
	fault_watch(NULL);
	ledger_free(pool->ledger);
	pool->ledger = NULL;
	region_close(&pool->ledger_memory);
	region_close(&pool->memory);
}

void
pool_warnings(const struct pool *pool, void (*fn)(void *arg, const char *sentence),
    void *arg)
{
	char text[256];
	size_t i, count = pool->store ? store_count_aside(pool->store) : 0;

	if (pool->maybe_lost > 0) {
		(void)snprintf(text, sizeof(text),
		    "rpmad had crashed before this start: up to %u message%s whose sender "
		    "saw success may be lost",
		    pool->maybe_lost, text_plural(pool->maybe_lost));
		fn(arg, text);
	}
	if (pool->bad > 0) {
		(void)snprintf(text, sizeof(text),
		    "the pool that was kept had %u damaged slot%s: messages in there, if "
		    "any, are lost",
		    pool->bad, text_plural(pool->bad));
		fn(arg, text);
	}
	for (i = 0; i < count; i++) {
		const struct store_pool *aside = store_aside(pool->store, i);

		(void)snprintf(text, sizeof(text),
		    "an earlier pool is set aside as %s: %s", aside->name,
		    store_kind_reason(aside->kind));
		fn(arg, text);
	}
}

/* The messages in a pool, as far as it can be read. */
static uint32_t
count_messages(const struct store_pool *from)
{
	struct kept kept;
	struct err err;
	uint32_t count;

	if (!from || kept_open(from, &kept, &err) != 0)
		return 0;
	count = ledger_count_messages(kept.ledger_memory.base);
	kept_close(&kept);
	return count;
}

void
pool_tell_unused(struct store *store)
{
	uint64_t count = count_messages(store_current(store));
	size_t i;

	for (i = 0; i < store_count_aside(store); i++)
		count += count_messages(store_aside(store, i));
	if (count > 0)
		log_warning("pool",
		    "messages=%llu were kept for this start, which failed: unless the "
		    "service manager tries again they are lost",
		    (unsigned long long)count);
}
