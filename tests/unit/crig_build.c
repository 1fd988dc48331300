/* SPDX-License-Identifier: BSD-3-Clause */
/* The control plane over an engine that is linked in. */
#include <config.h>

#include "tests/unit/crig_build.h"

#include <string.h>

#include "daemon/engine.h"
#include "daemon/reload.h"

static void
on_stop(void *arg)
{
	struct crig *rig = arg;

	rig->stop_calls++;
}

static int
on_reload(void *arg, struct settings_diff *diff, struct err *err)
{
	struct crig *rig = arg;
	const struct reload reload = { .file = rig->file,
		.settings = rig->settings,
		.access = rig->access,
		.socket_group = ACCESS_NO_GROUP,
		.rpc = rig->rpc };

	return reload_run(&reload, diff, err);
}

static void
on_ready(void *arg)
{
	struct crig *rig = arg;

	rpc_messages_ready(rig->rpc);
}

static int
build_control(struct crig *rig, struct err *err)
{
	const struct control_config config = { .listen_fd = -1,
		.max_clients = rig->settings->control_max_clients,
		.max_request = rig->settings->control_max_request,
		.stall_ms = rig->stall_ms,
		.refusal = rpc_refusal(rig->rpc),
		.hooks = rpc_hooks(rig->rpc) };

	return control_new(rig->loop, &config, &rig->control, err);
}

static int
build_rpc(struct crig *rig, struct err *err)
{
	const struct rpc_config config = { .loop = rig->loop,
		.settings = rig->settings,
		.access = rig->access,
		.events = rig->events,
		.stop = on_stop,
		.reload = on_reload,
		.arg = rig,
		.devices_root = rig->devices_root };

	return rpc_new(&config, &rig->rpc, err);
}

int
crig_build(struct crig *rig, const char *config, struct err *err)
{
	struct engine_hooks hooks = { .arg = rig, .ready = on_ready };
	int rc;

	rc = config
	    ? settings_parse(config, strlen(config), "test", &rig->settings, err)
	    : settings_load(NULL, &rig->settings, err);
	if (rc == 0)
		rc = loop_new(&rig->loop, err);
	if (rc == 0)
		rc = access_new(rig->settings, ACCESS_NO_GROUP, &rig->access, err);
	if (rc == 0 && (rc = events_new(&rig->events)) != 0)
		(void)err_set(err, ERR_INTERNAL_ERROR, -rc, "events: out of memory");
	if (rc == 0)
		rc = build_rpc(rig, err);
	hooks.events = rig->events;
	if (rc == 0)
		rc = engine_new(rig->loop, rig->settings, &hooks, &rig->engine, err);
	if (rc == 0)
		rc = build_control(rig, err);
	if (rc == 0)
		rpc_attach(rig->rpc, rig->engine, rig->control);
	return rc;
}

void
crig_tear_down(struct crig *rig)
{
	control_free(rig->control);
	engine_free(rig->engine);
	rpc_free(rig->rpc);
	events_free(rig->events);
	access_free(rig->access);
	loop_free(rig->loop);
	settings_free(rig->settings);
}
