/* SPDX-License-Identifier: BSD-3-Clause */
/* fake.c: the one state of the doubles, its lock, faults, trace and counts. */
#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_impl.h"

#define TRACE_MAX ((size_t)1 << 20)

static struct fake state;
static pthread_mutex_t state_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
/* Volatile: a compiler that knows calloc() would not count around it. */
static _Thread_local volatile unsigned state_depth;

void
fake_lock(void)
{
	pthread_mutex_lock(&state_lock);
	state_depth++;
}

void
fake_unlock(void)
{
	state_depth--;
	pthread_mutex_unlock(&state_lock);
}

bool
fake_inside(void)
{
	return state_depth > 0;
}

void *
fake_alloc(size_t size)
{
	void *ptr;

	state_depth++;
	ptr = calloc(1, size);
	state_depth--;
	if (!ptr)
		abort();
	return ptr;
}

static void
init_lists(struct fake *fake)
{
	TAILQ_INIT(&fake->faults);
	TAILQ_INIT(&fake->ctxs);
	TAILQ_INIT(&fake->addrs);
	TAILQ_INIT(&fake->pds);
	TAILQ_INIT(&fake->mrs);
	TAILQ_INIT(&fake->comps);
	TAILQ_INIT(&fake->cqs);
	TAILQ_INIT(&fake->srqs);
	TAILQ_INIT(&fake->qps);
	TAILQ_INIT(&fake->channels);
	TAILQ_INIT(&fake->ids);
	TAILQ_INIT(&fake->scripts);
	TAILQ_INIT(&fake->peers);
	TAILQ_INIT(&fake->held);
	TAILQ_INIT(&fake->fetched);
}

struct fake *
fake_get(void)
{
	if (!state.ready) {
		fake_lock();
		if (!state.ready) {
			state.ready = true;
			init_lists(&state);
			state.random = 2463534242u;
			state.next_key = 0x1000;
			state.next_qp_num = 0x11;
			state.next_port = 40000;
			fake_options_default(&state.options);
			fake_addr_reset(true);
			state.ctx[0] = fake_ctx_new(0);
			state.ctx[1] = fake_ctx_new(1);
		}
		fake_unlock();
	}
	return &state;
}

static void
free_texts(struct fake *fake)
{
	free(fake->misuse.s);
	free(fake->trace.s);
	free(fake->trace_args.s);
	free(fake->leaks.s);
}

void
fake_reset(void)
{
	struct fake *fake = fake_get();
	struct fake_fault *fault;
	struct fake_ctx *ctx;

	fake_lock();
	fake_event_reset();
	fake_peer_reset();
	fake_cq_reset();
	fake_srq_reset();
	fake_mem_reset();
	fake_addr_reset(false);
	while ((ctx = TAILQ_FIRST(&fake->ctxs)))
		fake_ctx_free(ctx);
	while ((fault = TAILQ_FIRST(&fake->faults))) {
		TAILQ_REMOVE(&fake->faults, fault, entry);
		free(fault);
	}
	free_texts(fake);
	memset(fake, 0, sizeof(*fake));
	fake_unlock();
}

/* xorshift32 over the seed of the options. */
uint32_t
fake_random(void)
{
	struct fake *fake = fake_get();

	if (fake->options.seed) {
		fake->random = fake->options.seed;
		fake->options.seed = 0;
	}
	fake->random ^= fake->random << 13;
	fake->random ^= fake->random >> 17;
	fake->random ^= fake->random << 5;
	return fake->random;
}

void
fake_count(enum fake_object kind, int delta)
{
	struct fake *fake = fake_get();

	fake->live[kind] = (unsigned)((int)fake->live[kind] + delta);
	if (delta > 0)
		fake->made[kind] += (unsigned)delta;
}

/* ---- texts -------------------------------------------------------------------- */

static void __attribute__((format(printf, 2, 0)))
text_vadd(struct fake_text *text, const char *format, va_list ap)
{
	char part[512];
	int n = vsnprintf(part, sizeof(part), format, ap);
	size_t len = n < 0 ? 0 : (size_t)n;

	if (len >= sizeof(part))
		len = sizeof(part) - 1;
	if (text->len + len + 1 > text->size) {
		size_t size = (text->len + len + 1) * 2;
		char *s = fake_alloc(size);

		if (text->s)
			memcpy(s, text->s, text->len);
		free(text->s);
		text->s = s;
		text->size = size;
	}
	memcpy(text->s + text->len, part, len);
	text->len += len;
	text->s[text->len] = '\0';
}

void
fake_text_add(struct fake_text *text, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	text_vadd(text, format, ap);
	va_end(ap);
}

void
fake_blame(const char *format, ...)
{
	struct fake *fake = fake_get();
	va_list ap;

	va_start(ap, format);
	text_vadd(&fake->misuse, format, ap);
	va_end(ap);
	fake_text_add(&fake->misuse, "\n");
}

static const char *
text_get(const struct fake_text *text)
{
	return text->s ? text->s : "";
}

const char *
fake_misuse(void)
{
	return text_get(&fake_get()->misuse);
}

const char *
fake_trace(void)
{
	return text_get(&fake_get()->trace);
}

const char *
fake_trace_args(void)
{
	return text_get(&fake_get()->trace_args);
}

static void
text_clear(struct fake_text *text)
{
	text->len = 0;
	if (text->s)
		text->s[0] = '\0';
}

void
fake_trace_clear(void)
{
	fake_lock();
	text_clear(&fake_get()->trace);
	text_clear(&fake_get()->trace_args);
	fake_unlock();
}

/* ---- faults and counts -------------------------------------------------------- */

void
fake_fail_nth(unsigned n, int error)
{
	struct fake *fake = fake_get();

	fake_lock();
	fake->fail_n = n;
	fake->fail_error = error;
	fake->calls = 0;
	fake->fired = false;
	fake_unlock();
}

void
fake_remove_nth(unsigned n)
{
	struct fake *fake = fake_get();

	fake_lock();
	fake->remove_n = n;
	fake->calls = 0;
	fake->fired = false;
	fake_unlock();
}

void
fake_fail_call(const char *name, unsigned n, int error)
{
	struct fake *fake = fake_get();
	struct fake_fault *fault;

	fake_lock();
	TAILQ_FOREACH(fault, &fake->faults, entry) {
		if (strcmp(fault->name, name) == 0)
			break;
	}
	if (fault) {
		TAILQ_REMOVE(&fake->faults, fault, entry);
		free(fault);
	}
	if (error) {
		fault = fake_alloc(sizeof(*fault));
		snprintf(fault->name, sizeof(fault->name), "%s", name);
		fault->n = n;
		fault->error = error;
		TAILQ_INSERT_TAIL(&fake->faults, fault, entry);
		fake->fired = false;
	}
	fake_unlock();
}

bool
fake_fired(void)
{
	return fake_get()->fired;
}

unsigned
fake_calls(void)
{
	return fake_get()->calls;
}

/* What is often looked for moves to the front, so that it costs the same whatever else was called. */
static struct fake_tally *
tally_find(struct fake *fake, const char *name)
{
	struct fake_tally *tallies = fake->tallies, found;
	size_t n = sizeof(fake->tallies) / sizeof(fake->tallies[0]);
	size_t i;

	for (i = 0; i < n && tallies[i].name; i++) {
		if (strcmp(tallies[i].name, name) != 0)
			continue;
		if (i == 0)
			return &tallies[0];
		found = tallies[i];
		tallies[i] = tallies[i - 1];
		tallies[i - 1] = found;
		return &tallies[i - 1];
	}
	return i < n ? &tallies[i] : NULL;
}

unsigned
fake_called(const char *name)
{
	struct fake_tally *tally;
	unsigned n;

	fake_lock();
	tally = tally_find(fake_get(), name);
	n = tally && tally->name ? tally->n : 0;
	fake_unlock();
	return n;
}

static void
tally_add(struct fake *fake, const char *name)
{
	struct fake_tally *tally = tally_find(fake, name);

	if (tally) {
		tally->name = name;
		tally->n++;
	}
}

static int
fault_due(struct fake *fake, const char *name)
{
	struct fake_fault *fault;
	int error = 0;

	fake->calls++;
	if (fake->remove_n && --fake->remove_n == 0) {
		fake_device_remove(0);
		fake->fired = true;
	}
	if (fake->fail_n && --fake->fail_n == 0)
		error = fake->fail_error;
	TAILQ_FOREACH(fault, &fake->faults, entry) {
		if (strcmp(fault->name, name) != 0)
			continue;
		if (fault->n > 1) {
			fault->n--;
			continue;
		}
		error = fault->error;
		if (fault->n == 1) {
			TAILQ_REMOVE(&fake->faults, fault, entry);
			free(fault);
		}
		break;
	}
	if (error)
		fake->fired = true;
	return error;
}

static void __attribute__((format(printf, 2, 0)))
trace_vadd(const char *name, const char *format, va_list ap)
{
	struct fake *fake = fake_get();
	struct fake_text *args = &fake->trace_args;
	size_t mark;

	if (fake->wire || args->len > TRACE_MAX)
		return;
	fake_text_add(&fake->trace, "%s%s", fake->trace.len ? " " : "", name);
	fake_text_add(args, "%s%s", args->len ? " " : "", name);
	mark = args->len;
	fake_text_add(args, "(");
	text_vadd(args, format, ap);
	if (args->len == mark + 1)
		args->s[args->len = mark] = '\0';
	else
		fake_text_add(args, ")");
}

void
fake_trace_add(const char *name, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	trace_vadd(name, format, ap);
	va_end(ap);
}

int
fake_begin(const char *name, const char *format, ...)
{
	va_list ap;

	fake_lock();
	va_start(ap, format);
	trace_vadd(name, format, ap);
	va_end(ap);
	tally_add(fake_get(), name);
	return fault_due(fake_get(), name);
}

int
fake_begin_quiet(const char *name)
{
	fake_lock();
	tally_add(fake_get(), name);
	return fault_due(fake_get(), name);
}

void
fake_begin_void(const char *name, const char *format, ...)
{
	va_list ap;

	fake_lock();
	va_start(ap, format);
	trace_vadd(name, format, ap);
	va_end(ap);
	tally_add(fake_get(), name);
}

int
fake_end_rdma(int error)
{
	fake_unlock();
	if (!error)
		return 0;
	errno = error;
	return -1;
}

int
fake_end_verbs(int error)
{
	fake_unlock();
	return error;
}

void *
fake_end_ptr(int error, void *ptr)
{
	fake_unlock();
	if (!error)
		return ptr;
	errno = error;
	return NULL;
}
