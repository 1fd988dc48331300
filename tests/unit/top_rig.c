/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks out of JSON. */
#include <config.h>

#include "tests/unit/top_rig.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "lib/core/compiler.h"

/* 2026-01-02T03:04:15Z: 10 s after the connections below began. */
#define WALL_US UINT64_C(1767323055000000)

static json_t *
parse(const char *text)
{
	char *json = strdup(text), *at;
	json_t *value;

	for (at = json; *at != '\0'; at++)
		if (*at == '\'')
			*at = '"';
	value = json_loads(json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	ck_assert_msg(value != NULL, "%s", json);
	free(json);
	return value;
}

void
top_rig_look(struct top *top, uint64_t at_ms, const char *status, const char *stats,
    const char *conns)
{
	json_t *parts[] = { parse(status), parse(stats), NULL };
	struct top_sample sample;
	char text[4096];
	size_t i;

	(void)snprintf(text, sizeof(text), "{'conns':[%s]}", conns);
	parts[2] = parse(text);
	top_sample_read(&sample, parts[0], parts[1], parts[2], at_ms, WALL_US);
	top_add(top, &sample);
	for (i = 0; i < ARRAY_LEN(parts); i++)
		json_decref(parts[i]);
}

void
top_rig_two_looks(struct top *top)
{
	top_rig_look(top, 1000, STATUS("42", "5000", ""),
	    STATS("100", "6400", "1000", QUEUE("10", "20", "20", "20"), NONE),
	    CONN("2", "90", "6000", "1", "06") "," CONN("1", "10", "400", "0", "05"));
	top_rig_look(top, 3000, STATUS("42", "7000", ""),
	    STATS("1100", "70400", "1000", QUEUE("60", "110", "119", "120"), NONE),
	    CONN("2", "390", "25200", "1", "06") "," CONN("3", "600", "38400", "3",
		"07") "," CONN("1", "110", "6800", "2", "05"));
}
