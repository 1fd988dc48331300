/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A configuration file: what is accepted is within its bounds, and printed it is read
 * again as the same; what is refused is named.
 */
#include <config.h>

#include <string.h>

#include <jansson.h>

#include "daemon/settings.h"
#include "tests/fuzz/fuzz.h"

static void
check_bounds(const struct settings *settings)
{
	FUZZ_CHECK(settings->listen_count <= SETTINGS_LISTEN_MAX);
	FUZZ_CHECK(settings->conns_allow_count <= SETTINGS_ALLOW_MAX);
	FUZZ_CHECK(settings->pool_slots >= 1 && settings->pool_slots <= 65536);
	FUZZ_CHECK(settings->pool_slot_size % 64 == 0);
	FUZZ_CHECK(settings->receive_low_watermark >= 1);
	FUZZ_CHECK(settings->receive_low_watermark <= settings->receive_target);
	FUZZ_CHECK(settings->receive_target <= settings->pool_slots);
	FUZZ_CHECK(settings->control_mode <= 0777);
	FUZZ_CHECK(settings->control_socket[0] != '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct settings *first, *second;
	json_t *printed, *again;
	struct err err;
	char *text;

	if (settings_parse((const char *)data, size, "file", &first, &err) < 0) {
		FUZZ_CHECK(strncmp(err.text, "file: ", 6) == 0);
		return 0;
	}
	check_bounds(first);
	printed = settings_to_json(first);
	text = json_dumps(printed, 0);
	FUZZ_CHECK(text);
	FUZZ_CHECK(settings_parse(text, strlen(text), "again", &second, &err) == 0);
	again = settings_to_json(second);
	FUZZ_CHECK(json_equal(printed, again));
	free(text);
	json_decref(printed);
	json_decref(again);
	settings_free(first);
	settings_free(second);
	return 0;
}
