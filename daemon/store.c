/* SPDX-License-Identifier: BSD-3-Clause */
/* The pools in the service manager's store of descriptors, by name. */
#include <config.h>

#include "daemon/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/notify.h"
#include "lib/core/log.h"

#define POOLS_MAX  33u /* of all that can be handed over, and a new one */
#define ASIDE_MAX  4u  /* what the shipped unit has room for while pools change names */
#define PATH_BYTES 64u

struct store {
	struct store_pool pools[POOLS_MAX];
	size_t count;
	bool is_ending;
};

/* The current one has this name alone, the others "-" and a time behind it. */
static const char *const names[] = {
	[STORE_CURRENT] = "rpmad-pool",
	[STORE_UNFIT] = "rpmad-unfit",
	[STORE_CRASHED] = "rpmad-crashed",
	[STORE_DAMAGED] = "rpmad-damaged",
	[STORE_VERSION] = "rpmad-version",
};
#define KINDS (sizeof(names) / sizeof(names[0]))

const char *
store_kind_reason(enum store_kind kind)
{
	switch (kind) {
	case STORE_CURRENT:
		return "it is in use";
	case STORE_UNFIT:
		return "messages in it do not fit the configured pool";
	case STORE_CRASHED:
		return "rpmad crashed three times within a minute of restoring it";
	case STORE_DAMAGED:
		return "it is damaged";
	case STORE_VERSION:
		return "another version of rpmad wrote it";
	}
	return "";
}

/* KINDS: no pool has such a name. */
static size_t
kind_of(const char *name)
{
	size_t kind, len;

	for (kind = 0; kind < KINDS; kind++) {
		len = strlen(names[kind]);
		if (strncmp(name, names[kind], len) == 0 &&
		    name[len] == (kind == STORE_CURRENT ? '\0' : '-'))
			break;
	}
	return kind;
}

/* Whether a memfd was made under that name, whatever is in it. */
static bool
is_called(int fd, const char *wanted)
{
	char path[PATH_BYTES], target[2 * PATH_BYTES], whole[2 * PATH_BYTES];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	(void)snprintf(whole, sizeof(whole), "/memfd:%s (deleted)", wanted);
	return strcmp(target, whole) == 0;
}

static struct store_pool *
by_name(struct store *store, const char *name)
{
	size_t i;

	for (i = 0; i < store->count; i++)
		if (strcmp(store->pools[i].name, name) == 0)
			return &store->pools[i];
	return NULL;
}

static struct store_pool *
add(struct store *store, enum store_kind kind, const char *name)
{
	struct store_pool *pool = &store->pools[store->count++];

	pool->kind = kind;
	(void)snprintf(pool->name, sizeof(pool->name), "%s", name);
	pool->pool_fd = -1;
	pool->ledger_fd = -1;
	return pool;
}

/* Take one descriptor; false: it belongs to no pool, or is there twice. */
static bool
take(struct store *store, int fd, const char *name)
{
	bool is_pool = is_called(fd, STORE_POOL_FD);
	size_t kind = kind_of(name);
	struct store_pool *pool = by_name(store, name);
	int *place;

	if (kind == KINDS || (!is_pool && !is_called(fd, STORE_LEDGER_FD)))
		return false;
	if (!pool) {
		if (store->count == POOLS_MAX - 1)
			return false;
		pool = add(store, (enum store_kind)kind, name);
	}
	place = is_pool ? &pool->pool_fd : &pool->ledger_fd;
	if (*place >= 0)
		return false;
	*place = fd;
	return true;
}

static void
close_pool(struct store_pool *pool)
{
	if (pool->pool_fd >= 0)
		(void)close(pool->pool_fd);
	if (pool->ledger_fd >= 0)
		(void)close(pool->ledger_fd);
	pool->pool_fd = -1;
	pool->ledger_fd = -1;
}

/* Out of the list, whose order stays. */
static void
take_out(struct store *store, struct store_pool *pool)
{
	size_t behind = (size_t)(&store->pools[--store->count] - pool);

	memmove(pool, pool + 1, behind * sizeof(*pool));
}

/* When the memory of a pool was made; 0: unknown. */
static int64_t
made_ns(const struct store_pool *pool)
{
	struct stat st;

	if (fstat(pool->ledger_fd, &st) != 0)
		return 0;
	return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

static int
by_age(const void *a, const void *b)
{
	int64_t first = made_ns(a), second = made_ns(b);

	return (first > second) - (first < second);
}

/* Half a pool is none: no message can be told by it. */
static void
drop_halves(struct store *store)
{
	size_t i = 0;

	while (i < store->count) {
		struct store_pool *pool = &store->pools[i];

		if (pool->pool_fd >= 0 && pool->ledger_fd >= 0) {
			i++;
			continue;
		}
		log_warning("store",
		    "the service manager kept only half of the pool %s: it is dropped, "
		    "with the messages in it (is FileDescriptorStoreMax= too small?)",
		    pool->name);
		store_drop(store, pool);
	}
}

/* Whether two pools are the same memory. */
static bool
is_same(const struct store_pool *a, const struct store_pool *b)
{
	struct stat first, second;

	return fstat(a->ledger_fd, &first) == 0 && fstat(b->ledger_fd, &second) == 0 &&
	    first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* When a pool was given its name, as a text that grows; the current one has none. */
static const char *
named_at(const struct store_pool *pool)
{
	return pool->name + strlen(names[pool->kind]);
}

/*
 * A process that died while it set a pool aside has left it under both names, and what was
 * done to one would be done to the other. The later name is the one that was meant.
 */
static void
drop_doubles(struct store *store)
{
	size_t i = 0, j;

	while (i < store->count) {
		struct store_pool *pool = &store->pools[i++];

		for (j = 0; j < store->count; j++)
			if (is_same(&store->pools[j], pool) &&
			    strcmp(named_at(&store->pools[j]), named_at(pool)) > 0)
				break;
		if (j == store->count)
			continue;
		log_notice("store", "%s is what is kept as %s, and loses that name",
		    pool->name, store->pools[j].name);
		store_drop(store, pool);
		i = 0;
	}
}

int
store_new(const struct notify_fds *fds, struct store **out)
{
	struct store *store = calloc(1, sizeof(*store));
	size_t i;

	if (!store)
		return -ENOMEM;
	for (i = 0; i < fds->kept_count; i++) {
		if (take(store, fds->kept[i].fd, fds->kept[i].name))
			continue;
		log_warning("store",
		    "the service manager kept something that is no pool under the name "
		    "\"%s\": it is left alone",
		    fds->kept[i].name);
		(void)close(fds->kept[i].fd);
	}
	drop_halves(store);
	drop_doubles(store);
	qsort(store->pools, store->count, sizeof(store->pools[0]), by_age);
	*out = store;
	return 0;
}

void
store_free(struct store *store)
{
	size_t i;

	if (!store)
		return;
	for (i = 0; i < store->count; i++)
		close_pool(&store->pools[i]);
	free(store);
}

struct store_pool *
store_current(struct store *store)
{
	return by_name(store, names[STORE_CURRENT]);
}

size_t
store_count_aside(const struct store *store)
{
	size_t count = 0, i;

	for (i = 0; i < store->count; i++)
		count += store->pools[i].kind != STORE_CURRENT;
	return count;
}

struct store_pool *
store_aside(struct store *store, size_t index)
{
	size_t i;

	for (i = 0; i < store->count; i++)
		if (store->pools[i].kind != STORE_CURRENT && index-- == 0)
			return &store->pools[i];
	return NULL;
}

int
store_keep(struct store *store, int pool_fd, int ledger_fd)
{
	const int fds[] = { pool_fd, ledger_fd };
	struct store_pool own = { .kind = STORE_CURRENT,
		.pool_fd = fcntl(pool_fd, F_DUPFD_CLOEXEC, 0),
		.ledger_fd = fcntl(ledger_fd, F_DUPFD_CLOEXEC, 0) };
	int rc = own.pool_fd < 0 || own.ledger_fd < 0
	    ? -errno
	    : notify_keep(names[STORE_CURRENT], fds, 2);

	if (rc <= 0) {
		close_pool(&own);
		return rc;
	}
	(void)snprintf(own.name, sizeof(own.name), "%s", names[STORE_CURRENT]);
	store->pools[store->count++] = own;
	return rc;
}

/* Which of those that are set aside goes first: nobody can read a damaged one. */
static struct store_pool *
least(struct store *store)
{
	struct store_pool *found = NULL;
	size_t i;

	for (i = 0; i < store_count_aside(store); i++) {
		struct store_pool *pool = store_aside(store, i);
		bool is_worse = found && pool->kind == STORE_DAMAGED &&
		    found->kind != STORE_DAMAGED;
		bool is_better = found && pool->kind != STORE_DAMAGED &&
		    found->kind == STORE_DAMAGED;

		if (!found || is_worse ||
		    (!is_better && made_ns(pool) < made_ns(found)))
			found = pool;
	}
	return found;
}

void
store_make_room(struct store *store)
{
	while (store_count_aside(store) > ASIDE_MAX) {
		struct store_pool *pool = least(store);

		log_warning("store",
		    "more than %u pools are set aside: %s is dropped with the messages "
		    "in it",
		    ASIDE_MAX, pool->name);
		store_drop(store, pool);
	}
}

/*
 * Another description of the same memory: the manager does not take the same one twice, and
 * at no time may it have none.
 */
static bool
reopen(int *fd)
{
	char path[PATH_BYTES];
	struct stat st;
	int again;

	/* What clients read in is not writable by its mode. */
	if (fstat(*fd, &st) != 0 || fchmod(*fd, 0600) != 0)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", *fd);
	again = open(path, O_RDWR | O_CLOEXEC);
	(void)fchmod(*fd, st.st_mode & 07777);
	if (again < 0)
		return false;
	(void)close(*fd);
	*fd = again;
	return true;
}

static void
new_name(enum store_kind kind, char name[STORE_NAME_MAX])
{
	struct timespec now = { 0 };
	char text[32] = "";
	struct tm tm;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (gmtime_r(&now.tv_sec, &tm))
		(void)strftime(text, sizeof(text), "%Y%m%dT%H%M%S", &tm);
	(void)snprintf(name, STORE_NAME_MAX, "%s-%s.%06ldZ", names[kind], text,
	    now.tv_nsec / 1000);
}

void
store_set_aside(struct store *store, struct store_pool *pool, enum store_kind kind)
{
	struct store_pool moved = *pool;
	char old[STORE_NAME_MAX];
	bool is_other;
	int fds[2], rc;

	(void)snprintf(old, sizeof(old), "%s", pool->name);
	take_out(store, pool);
	moved.kind = kind;
	is_other = reopen(&moved.pool_fd) && reopen(&moved.ledger_fd);
	new_name(kind, moved.name);
	fds[0] = moved.pool_fd;
	fds[1] = moved.ledger_fd;
	if (!is_other)
		notify_unkeep(old);
	rc = notify_keep(moved.name, fds, 2);
	if (rc < 0)
		log_error("store",
		    "the pool %s cannot be handed to the service manager as %s: %s; %s",
		    old, moved.name, strerror(-rc),
		    is_other ? "it stays there under its old name"
			     : "the messages in it end with the daemon");
	else if (is_other)
		notify_unkeep(old);
	store->pools[store->count++] = moved;
}

void
store_drop(struct store *store, struct store_pool *pool)
{
	notify_unkeep(pool->name);
	close_pool(pool);
	take_out(store, pool);
}

void
store_end(struct store *store)
{
	store->is_ending = true;
}

bool
store_is_ending(const struct store *store)
{
	return store->is_ending;
}
