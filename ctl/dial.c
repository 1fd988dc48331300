/* SPDX-License-Identifier: BSD-3-Clause */
/* One call for each address of a name, until one succeeds. */
#include <config.h>

#include "ctl/dial.h"

#include <errno.h>
#include <stdbool.h>

#include <jansson.h>

#include "ctl/ctl.h"
#include "ctl/must.h"
#include "ctl/resolve.h"
#include "lib/core/addr.h"

/* Whether the next address may do what this one did not. */
static bool
is_about_address(enum err_code code)
{
	return code == ERR_ADDR_NOT_RDMA || code == ERR_ADDR_UNRESOLVED ||
	    code == ERR_WRONG_DEVICE || code == ERR_CONN_REJECTED ||
	    code == ERR_CONN_UNREACHABLE;
}

int
dial_call(struct ctl *ctl, enum method_id method, const char *hostport,
    struct json_t *params, struct json_t **result)
{
	struct sockaddr_storage addrs[RESOLVE_MAX];
	char text[ADDR_TEXT_MAX];
	json_t *all;
	int i, count, rc = -EINVAL;

	count = resolve_hostport(hostport, addrs, &ctl->err);
	if (count < 0)
		return count;
	for (i = 0; i < count; i++) {
		all = must(json_pack("{s:s, s:i}", "addr",
		    addr_format_ip(&addrs[i], text, sizeof(text)), "port",
		    (int)addr_port(&addrs[i])));
		must_0(json_object_update(all, params));
		rc = ctl_call(ctl, method, all, result);
		if (rc != -EREMOTEIO || !is_about_address(ctl->err.code))
			break;
	}
	return rc;
}
