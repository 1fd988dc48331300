/* SPDX-License-Identifier: BSD-3-Clause */
/* events: what has happened lately, and with -f what happens from now on. */
#include <config.h>

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#include "ctl/args.h"
#include "ctl/client.h"
#include "ctl/columns.h"
#include "ctl/ctl.h"
#include "ctl/field.h"
#include "ctl/interrupt.h"
#include "ctl/must.h"
#include "ctl/run.h"
#include "ctl/view.h"
#include "lib/core/text.h"

struct events_options {
	bool is_follow;
};

static const struct param_spec specs[] = {
	{ .name = "follow",
	    .type = PARAM_BOOL,
	    .def = "false",
	    .option = "f",
	    .doc = "go on until interrupted, writing each event at once",
	    .offset = offsetof(struct events_options, is_follow) },
};
const struct param_table run_events_options = { specs, ARRAY_LEN(specs) };

/* What stands for events that are gone, in the form of one. */
static json_t *
gap_event(long long missed)
{
	char reason[64];

	(void)snprintf(reason, sizeof(reason), "missed %lld event%s", missed,
	    text_plural((uint64_t)missed));
	return must(json_pack("{s:n, s:n, s:s, s:n, s:n, s:s, s:n, s:I}", "seq", "at",
	    "type", "event.gap", "conn", "addr", "reason", reason, "duration_ns",
	    "count", (json_int_t)missed));
}

/* Write events one by one, each a line. return   0, or a negative errno */
static int
write_events(struct ctl *ctl, struct columns *columns, const json_t *result,
    bool *has_titles)
{
	const json_t *event;
	size_t i;

	json_array_foreach(json_object_get(result, "events"), i, event) {
		if (ctl->out.is_json)
			out_json(&ctl->out, event);
		else
			view_event(columns, event);
	}
	if (!ctl->out.is_json && columns_rows(columns) > 0) {
		columns_print(columns, &ctl->out, *has_titles);
		*has_titles = false;
	}
	return out_flush(&ctl->out, &ctl->err);
}

/* Ask for what comes behind the last one, until interrupted. */
static int
follow(struct ctl *ctl, json_t *params)
{
	struct columns *columns = view_events_new();
	bool has_titles = ctl->out.is_terminal;
	long long missed;
	json_t *result;
	int rc = ctl_watch(ctl);

	if (rc == 0)
		rc = ctl_connect(ctl);
	if (rc == 0 && ctl->client)
		client_watch(ctl->client, ctl->interrupt_fd, ctl->out.fd);
	while (rc == 0) {
		must_0(json_object_set_new(params, "wait_ms",
		    json_integer(CTL_FOLLOW_WAIT_MS)));
		if (ctl->client)
			client_renew(ctl->client);
		rc = ctl_call(ctl, METHOD_EVENT_GET, must(json_deep_copy(params)),
		    &result);
		if (rc != 0)
			break;
		/* What was before the first request was not missed. */
		missed = field_number(result, "missed");
		if (missed > 0 && field_number(params, "since") > 0)
			must_0(json_array_insert_new(json_object_get(result, "events"),
			    0, gap_event(missed)));
		rc = write_events(ctl, columns, result, &has_titles);
		must_0(json_object_set(params, "since",
		    json_object_get(result, "next")));
		json_decref(result);
		if (rc == 0 && interrupt_is_pending(ctl->interrupt_fd))
			rc = -EINTR;
	}
	columns_free(columns);
	return ctl_status_of_watch(ctl, rc);
}

int
run_events(struct ctl *ctl, const struct args *args)
{
	struct events_options options;
	json_t *params, *result;
	int rc;

	rc = param_decode(&run_events_options, args->own, "", false, &options,
	    &ctl->err);
	if (rc != 0)
		return ctl_status(ctl, rc);
	if (options.is_follow && field_is_set(args->params, "wait_ms"))
		return ctl_usage(ctl, "--follow waits for ever: no -w");
	if (options.is_follow && field_is_set(args->params, "limit"))
		return ctl_usage(ctl, "--follow writes all events: no -n");
	params = must(json_deep_copy(args->params));
	if (options.is_follow) {
		rc = follow(ctl, params);
		json_decref(params);
		return rc;
	}
	rc = ctl_call(ctl, METHOD_EVENT_GET, params, &result);
	if (rc != 0)
		return ctl_status(ctl, rc);
	rc = ctl_show(ctl, view_events, result);
	json_decref(result);
	return rc;
}
