/* SPDX-License-Identifier: BSD-3-Clause */
/* listen and connect: commands that take an address by name or number. */
#include <config.h>

#include <jansson.h>

#include "ctl/args.h"
#include "ctl/ctl.h"
#include "ctl/dial.h"
#include "ctl/run.h"
#include "ctl/view.h"

static int
call_and_show(struct ctl *ctl, const struct args *args, enum method_id method,
    command_view_fn view)
{
	json_t *result;
	int rc;

	rc = dial_call(ctl, method, args->words[0], args->params, &result);
	if (rc != 0)
		return ctl_status(ctl, rc);
	rc = ctl_show(ctl, view, result);
	json_decref(result);
	return rc;
}

int
run_listen(struct ctl *ctl, const struct args *args)
{
	return call_and_show(ctl, args, METHOD_LISTENER_ADD, view_listening);
}

int
run_connect(struct ctl *ctl, const struct args *args)
{
	return call_and_show(ctl, args, METHOD_CONN_OPEN, view_opened);
}
