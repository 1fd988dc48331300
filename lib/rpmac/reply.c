/* SPDX-License-Identifier: BSD-3-Clause */
/* What the daemon answers, see rpmad-rpc(7), in place of the line that was read. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/rpmac/impl.h"
#include "lib/rpmac/scan.h"

#define INTEGER_MAX 9007199254740991u /* of JSON: 2^53 - 1 */

/* ---- results ---- */

static void
read_map(struct rpmac *rpmac, struct scan *scan)
{
	bool first = true;
	const char *key;

	scan_want(scan, '{');
	while (scan_more(scan, &first, '}')) {
		key = scan_key(scan);
		if (strcmp(key, "slots") == 0)
			rpmac->slots = scan_number(scan, UINT32_MAX);
		else if (strcmp(key, "slot_size") == 0)
			rpmac->slot_size = scan_number(scan, UINT32_MAX);
		else if (strcmp(key, "bytes") == 0)
			rpmac->bytes = (size_t)scan_number(scan, INTEGER_MAX);
		else if (strcmp(key, "instance") == 0)
			(void)snprintf(rpmac->instance, sizeof(rpmac->instance), "%s",
			    scan_string(scan));
		else
			scan_skip(scan);
	}
}

static void
read_ring(struct rpmac *rpmac, struct scan *scan)
{
	bool first = true;
	const char *key;

	rpmac->ring_bytes = rpmac->ring_entries = 0;
	scan_want(scan, '{');
	while (scan_more(scan, &first, '}')) {
		key = scan_key(scan);
		if (strcmp(key, "bytes") == 0)
			rpmac->ring_bytes = (size_t)scan_number(scan, INTEGER_MAX);
		else if (strcmp(key, "entries") == 0)
			rpmac->ring_entries = (uint32_t)scan_number(scan, UINT32_MAX);
		else
			scan_skip(scan);
	}
}

static int
read_result(struct rpmac *rpmac, struct scan *scan, enum request request)
{
	if (request == REQUEST_MAP)
		read_map(rpmac, scan);
	else
		read_ring(rpmac, scan);
	return scan->is_bad ? rpmac_fail_protocol(rpmac, "a result of another form")
			    : 0;
}

/* ---- errors ---- */

static int
error_number(const char *name)
{
	static const struct {
		const char *name;
		int errnum;
	} rows[] = {
		{ "DENIED", EACCES },
		{ "METHOD_NOT_FOUND", EOPNOTSUPP },
		{ "SHUTTING_DOWN", ESHUTDOWN },
		{ "TOO_MANY_CLIENTS", EUSERS },
		{ "UNSUPPORTED", EOPNOTSUPP },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].errnum;
	return EREMOTEIO;
}

/* data of an error: its hint, and its name into name. */
static const char *
read_data(struct scan *scan, char name[RPMAC_NAME_MAX])
{
	const char *key, *hint = NULL;
	bool first = true;

	scan_want(scan, '{');
	while (scan_more(scan, &first, '}')) {
		key = scan_key(scan);
		if (strcmp(key, "name") == 0)
			(void)snprintf(name, RPMAC_NAME_MAX, "%s", scan_string(scan));
		else if (strcmp(key, "hint") == 0)
			hint = scan_string_or_null(scan);
		else
			scan_skip(scan);
	}
	return hint;
}

static int
read_error(struct rpmac *rpmac, struct scan *scan)
{
	const char *message = "", *hint = NULL, *key;
	char name[RPMAC_NAME_MAX] = "";
	bool first = true;
	int rc;

	scan_want(scan, '{');
	while (scan_more(scan, &first, '}')) {
		key = scan_key(scan);
		if (strcmp(key, "message") == 0)
			message = scan_string(scan);
		else if (strcmp(key, "data") == 0)
			hint = read_data(scan, name);
		else
			scan_skip(scan);
	}
	if (scan->is_bad)
		return rpmac_fail_protocol(rpmac, "an error of another form");
	rc = rpmac_fail(rpmac, -error_number(name), "%s%s%s", message, hint ? "; " : "",
	    hint ? hint : "");
	memcpy(rpmac->name, name, sizeof(name));
	return rc;
}

/* ---- a line ---- */

/* Whether that is the id of the answer that is due. */
static bool
read_id(const struct rpmac *rpmac, struct scan *scan)
{
	return !scan_word(scan, "null") &&
	    scan_number(scan, REQUEST_RING) == (uint64_t)rpmac->waits_for;
}

int
rpmac_reply(struct rpmac *rpmac, char *line, size_t len)
{
	struct scan scan = { .at = line, .end = line + len },
		    value = { .is_bad = true };
	bool first = true, is_error = false, is_ours = false;
	const char *key;

	line[len] = '\0';
	scan_want(&scan, '{');
	while (scan_more(&scan, &first, '}')) {
		key = scan_key(&scan);
		if (strcmp(key, "id") == 0) {
			is_ours = read_id(rpmac, &scan);
		} else if (strcmp(key, "result") == 0 || strcmp(key, "error") == 0) {
			is_error = key[0] == 'e';
			value = scan;
			scan_skip(&scan);
		} else {
			scan_skip(&scan);
		}
	}
	/* The refusal of one client too many has no id. */
	if (scan.is_bad || value.is_bad || (!is_ours && !is_error))
		return rpmac_fail_protocol(rpmac, "a reply to nothing that was asked");
	return is_error ? read_error(rpmac, &value)
			: read_result(rpmac, &value, rpmac->waits_for);
}
