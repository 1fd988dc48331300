/* SPDX-License-Identifier: BSD-3-Clause */
/* stats: the numbers once, or again and again with what has changed. */
#include <config.h>

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "ctl/args.h"
#include "ctl/client.h"
#include "ctl/columns.h"
#include "ctl/ctl.h"
#include "ctl/field.h"
#include "ctl/interrupt.h"
#include "ctl/must.h"
#include "ctl/numbers.h"
#include "ctl/run.h"
#include "ctl/view.h"
#include "lib/core/usock.h"

#define WATCH_MIN_MS 100u
#define WATCH_MAX_MS 3600000u
#define AT_MAX       32

struct stats_options {
	uint64_t watch_ms; /* PARAM_UNSET: once */
};

static const struct param_spec specs[] = {
	{ .name = "watch_ms",
	    .type = PARAM_UINT,
	    .min = WATCH_MIN_MS,
	    .max = WATCH_MAX_MS,
	    .unit = "ms",
	    .option = "watch",
	    .bare = "1",
	    .doc =
		"go on until interrupted, and show what has changed every S seconds, 1 without a value",
	    .offset = offsetof(struct stats_options, watch_ms) },
};
const struct param_table run_stats_options = { specs, ARRAY_LEN(specs) };

/* A look, compared with the one before. */
struct watch {
	struct columns *columns;
	json_t *last; /* numbers by their names; owned */
	json_t *now;  /* owned while a look is taken */
	char at[AT_MAX];
};

/* A bucket counts all smaller samples too: one sample would be a line for each. */
static bool
is_bucket(const char *name)
{
	return strstr(name, ".buckets.le_");
}

static void
on_number(void *arg, const char *name, const json_t *value)
{
	struct watch *watch = arg;
	const json_t *last = json_object_get(watch->last, name);
	char change[32] = "";
	long long by;

	if (is_bucket(name))
		return;
	/* jansson counts references in values that are not to be changed. */
	must_0(json_object_set_new(watch->now, name, must(json_deep_copy(value))));
	if (last && json_equal(last, value))
		return;
	if (json_is_integer(value) && (!last || json_is_integer(last))) {
		by = (long long)(json_integer_value(value) - json_integer_value(last));
		if (watch->last)
			(void)snprintf(change, sizeof(change), "%+lld", by);
	}
	columns_text(watch->columns, watch->at);
	columns_text(watch->columns, name);
	field_value(watch->columns, value);
	columns_text(watch->columns, change);
}

static void
set_time(char at[AT_MAX])
{
	time_t now = time(NULL);
	struct tm tm;

	at[0] = '\0';
	if (gmtime_r(&now, &tm))
		(void)strftime(at, AT_MAX, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* Write what has changed; with nothing to compare with, all there is. */
static int
write_look(struct ctl *ctl, struct watch *watch, json_t *stats)
{
	bool is_first = !watch->last;

	if (ctl->out.is_json) {
		out_json(&ctl->out, stats);
		return out_flush(&ctl->out, &ctl->err);
	}
	set_time(watch->at);
	watch->now = must(json_object());
	numbers_each(stats, on_number, watch);
	json_decref(watch->last);
	watch->last = watch->now;
	columns_print(watch->columns, &ctl->out, is_first && ctl->out.is_terminal);
	return out_flush(&ctl->out, &ctl->err);
}

/* Looks begin at equal distances; those that took longer are left out. */
static int
watch_numbers(struct ctl *ctl, uint64_t interval_ms, struct watch *watch)
{
	uint64_t due_ms = usock_now_ms(), now_ms;
	json_t *stats;
	int rc = ctl_watch(ctl);

	if (rc == 0)
		rc = ctl_connect(ctl);
	if (rc == 0 && ctl->client)
		client_watch(ctl->client, ctl->interrupt_fd, ctl->out.fd);
	while (rc == 0) {
		if (ctl->client)
			client_renew(ctl->client);
		rc = ctl_call(ctl, METHOD_STATS_GET, NULL, &stats);
		if (rc != 0)
			break;
		rc = write_look(ctl, watch, stats);
		json_decref(stats);
		now_ms = usock_now_ms();
		due_ms += interval_ms;
		if (due_ms <= now_ms)
			due_ms +=
			    (now_ms - due_ms) / interval_ms * interval_ms + interval_ms;
		if (rc == 0)
			rc = interrupt_pause(ctl->interrupt_fd, ctl->out.fd,
			    (int)(due_ms - now_ms));
	}
	return rc;
}

static int
watch_stats(struct ctl *ctl, uint64_t interval_ms)
{
	static const struct column titles[] = {
		{ .title = "AT", .min_width = 20 },
		{ .title = "NAME", .min_width = 40 },
		{ .title = "VALUE", .min_width = 12, .is_right = true },
		{ .title = "CHANGE", .min_width = 8, .is_right = true },
	};
	struct watch watch = { .columns = columns_new(titles, ARRAY_LEN(titles)) };
	int rc = watch_numbers(ctl, interval_ms, &watch);

	columns_free(watch.columns);
	json_decref(watch.last);
	return ctl_status_of_watch(ctl, rc);
}

int
run_stats(struct ctl *ctl, const struct args *args)
{
	struct stats_options options;
	json_t *stats;
	int rc;

	rc =
	    param_decode(&run_stats_options, args->own, "", false, &options, &ctl->err);
	if (rc != 0)
		return ctl_status(ctl, rc);
	if (options.watch_ms != PARAM_UNSET)
		return watch_stats(ctl, options.watch_ms);
	rc = ctl_call(ctl, METHOD_STATS_GET, json_incref(args->params), &stats);
	if (rc != 0)
		return ctl_status(ctl, rc);
	rc = ctl_show(ctl, view_numbers, stats);
	json_decref(stats);
	return rc;
}
