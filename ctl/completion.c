/* SPDX-License-Identifier: BSD-3-Clause */
/* The payload of a message, out of its base64. */
#include <config.h>

#include "ctl/completion.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "ctl/field.h"
#include "ctl/must.h"
#include "lib/core/base64.h"

int
completion_bytes(const struct json_t *completion, uint8_t **bytes, size_t *len,
    struct err *err)
{
	const json_t *data = json_object_get(completion, "data");
	size_t text_len = json_string_length(data);
	uint8_t *decoded = must(malloc(base64_decoded_max(text_len) + 1));

	if (!json_is_string(data) ||
	    strcmp(field_text(completion, "encoding"), "base64") != 0 ||
	    base64_decode(json_string_value(data), text_len, decoded, len) != 0) {
		free(decoded);
		(void)err_set(err, ERR_INTERNAL_ERROR, EPROTO,
		    "the daemon gave message %lld in no form that is known here",
		    field_number(completion, "seq"));
		return -EPROTO;
	}
	*bytes = decoded;
	return 0;
}
