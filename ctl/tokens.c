/* SPDX-License-Identifier: BSD-3-Clause */
/* One call for each part of a list. */
#include <config.h>

#include "ctl/tokens.h"

#include <jansson.h>

#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/must.h"

int
tokens_call(struct ctl *ctl, enum method_id method, struct json_t *tokens)
{
	size_t i, n = json_array_size(tokens);
	json_t *part = NULL, *result;
	int rc = 0;

	for (i = 0; i < n && rc == 0; i++) {
		if (!part)
			part = must(json_array());
		must_0(json_array_append(part, json_array_get(tokens, i)));
		if (i + 1 < n && json_array_size(part) < RECV_TOKENS_MAX)
			continue;
		client_renew(ctl->client);
		rc = ctl_call(ctl, method, must(json_pack("{s:o}", "tokens", part)),
		    &result);
		part = NULL;
		if (rc == 0)
			json_decref(result);
	}
	must_0(json_array_clear(tokens));
	return rc;
}
