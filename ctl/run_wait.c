/* SPDX-License-Identifier: BSD-3-Clause */
/* wait: until a number of stats.get is as it should be. */
#include <config.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "ctl/args.h"
#include "ctl/buf.h"
#include "ctl/ctl.h"
#include "ctl/format.h"
#include "ctl/interrupt.h"
#include "ctl/must.h"
#include "ctl/numbers.h"
#include "ctl/run.h"
#include "ctl/suggest.h"
#include "lib/core/num.h"
#include "lib/core/usock.h"

#define PAUSE_MS       100  /* between two looks */
#define LAST_LOOK_MS   1000 /* before the end: a look that is not answered is no news */
#define NAME_MAX_BYTES 96u

enum comparison {
	LESS = 1,
	EQUAL = 2,
	GREATER = 4
};

/* The longer ones first. A number compares to another in one of three ways. */
static const struct {
	const char *text;
	unsigned int holds; /* set of enum comparison */
} operators[] = {
	{ ">=", GREATER | EQUAL },
	{ "<=", LESS | EQUAL },
	{ "!=", LESS | GREATER },
	{ "==", EQUAL },
	{ ">", GREATER },
	{ "<", LESS },
	{ "=", EQUAL },
};

struct condition {
	char name[NAME_MAX_BYTES + 1];
	const char *sign; /* as in the table */
	unsigned int holds;
	uint64_t limit;
};

struct found {
	json_int_t number;
	bool is_listed; /* else it is 0 for want of anything that has the name */
};

/* The search for the name. */
struct look {
	const char *name;
	const json_t *value;    /* borrowed; NULL: nothing has that name */
	struct suggest suggest; /* best is in near */
	char near[SUGGEST_NAME_MAX + 1];
};

/* ---- the expression ---- */

static int
no_expression(struct ctl *ctl, const char *text, const char *why)
{
	(void)ctl_usage(ctl, "\"%s\" is no expression: %s", text, why);
	err_hint(&ctl->err,
	    "NAME, one of >= <= != == > <, and a number, as in "
	    "'slots.ready>=10'; rpmactl stats lists the names");
	return -EINVAL;
}

/* Blanks may stand around the operator. */
static int
parse(struct ctl *ctl, const char *text, struct condition *out)
{
	static const char blanks[] = " \t";
	const char *at = text + strspn(text, blanks);
	size_t len = strcspn(at, " \t<>=!"), i = 0;

	if (len == 0 || len > NAME_MAX_BYTES)
		return no_expression(ctl, text, "it does not begin with a name");
	memcpy(out->name, at, len);
	out->name[len] = '\0';
	at += len;
	at += strspn(at, blanks);
	while (i < ARRAY_LEN(operators) &&
	    strncmp(at, operators[i].text, strlen(operators[i].text)) != 0)
		i++;
	if (i == ARRAY_LEN(operators))
		return no_expression(ctl, text, "there is no comparison in it");
	out->sign = operators[i].text;
	out->holds = operators[i].holds;
	at += strlen(operators[i].text);
	at += strspn(at, blanks);
	if (num_parse_u64(at, &out->limit) != 0 || out->limit > INT64_MAX)
		return no_expression(ctl, text,
		    "what the name is compared with is no whole number");
	return 0;
}

/* ---- the number ---- */

static void
on_number(void *arg, const char *name, const json_t *value)
{
	struct look *look = arg;

	if (strcmp(name, look->name) == 0)
		look->value = value;
	suggest_offer(&look->suggest, name);
	if (look->suggest.best == name) {
		(void)snprintf(look->near, sizeof(look->near), "%s", name);
		look->suggest.best = look->near;
	}
}

/*
 * Find the number. What is in a list appears there with its first count: up to then it
 * is 0.
 * return   0; -EINVAL with ctl->err
 */
static int
find(struct ctl *ctl, const struct condition *condition, json_t *stats,
    struct found *found)
{
	struct look look = { .name = condition->name,
		.suggest = { .word = condition->name } };

	numbers_each(stats, on_number, &look);
	if (json_is_integer(look.value)) {
		found->number = json_integer_value(look.value);
		found->is_listed = true;
		return 0;
	}
	if (!look.value && numbers_is_in_list(stats, condition->name)) {
		*found = (struct found){ 0 };
		return 0;
	}
	(void)ctl_usage(ctl,
	    look.value ? "\"%s\" is not a number" : "there is no number \"%s\"",
	    condition->name);
	if (look.suggest.best && !look.value)
		err_hint(&ctl->err, "did you mean %s?", look.suggest.best);
	else
		err_hint(&ctl->err, "rpmactl stats lists the names");
	return -EINVAL;
}

static bool
holds(const struct condition *condition, json_int_t number)
{
	json_int_t limit = (json_int_t)condition->limit;
	unsigned int is = number < limit ? LESS : number > limit ? GREATER : EQUAL;

	return condition->holds & is;
}

/* ---- the command ---- */

static void
view_waited(struct out *out, const json_t *result)
{
	buf_printf(&out->buf, "%s is %lld\n",
	    json_string_value(json_object_get(result, "name")),
	    (long long)json_integer_value(json_object_get(result, "value")));
}

static int
show(struct ctl *ctl, const struct condition *condition, json_int_t number)
{
	json_t *result =
	    must(json_pack("{s:s, s:I}", "name", condition->name, "value", number));
	int rc = ctl_show(ctl, view_waited, result);

	json_decref(result);
	return rc;
}

static int
timed_out(struct ctl *ctl, const struct condition *condition, const struct found *found)
{
	char time[FORMAT_TIME_MAX];

	(void)err_set(&ctl->err, ERR_TIMEOUT, 0, "%s was %lld, not %s %llu, within %s",
	    condition->name, (long long)found->number, condition->sign,
	    (unsigned long long)condition->limit,
	    format_ms(ctl->settings.timeout_ms, time, sizeof(time)));
	err_hint(&ctl->err,
	    found->is_listed
		? "-t gives it longer"
		: "nothing was counted by that name so far: see that it is "
		  "right, or give it longer with -t");
	return -ETIMEDOUT;
}

/* Look until it holds. return   0 with *found; a negative errno with ctl->err */
static int
wait_until(struct ctl *ctl, const struct condition *condition, struct found *found)
{
	uint64_t end, now;
	bool is_found = false;
	json_t *stats;
	int rc;

	rc = ctl_connect(ctl);
	if (rc != 0)
		return rc;
	end = usock_now_ms() + ctl->settings.timeout_ms;
	for (;;) {
		now = usock_now_ms();
		rc = ctl_call(ctl, METHOD_STATS_GET, NULL, &stats);
		/* The last look came too late: what it was before is the answer. */
		if (rc == -ETIMEDOUT && is_found && now + LAST_LOOK_MS >= end)
			return timed_out(ctl, condition, found);
		if (rc != 0)
			return rc;
		rc = find(ctl, condition, stats, found);
		json_decref(stats);
		if (rc != 0 || holds(condition, found->number))
			return rc;
		is_found = true;
		now = usock_now_ms();
		/* No look is begun that the time might cut off. */
		if (now + PAUSE_MS >= end) {
			if (now < end)
				(void)interrupt_pause(-1, -1, (int)(end - now));
			return timed_out(ctl, condition, found);
		}
		(void)interrupt_pause(-1, -1, PAUSE_MS);
	}
}

int
run_wait(struct ctl *ctl, const struct args *args)
{
	struct condition condition;
	struct found found;
	int rc;

	rc = parse(ctl, args->words[0], &condition);
	if (rc == 0)
		rc = wait_until(ctl, &condition, &found);
	return rc == 0 ? show(ctl, &condition, found.number) : ctl_status(ctl, rc);
}
