/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control plane, built and torn down in the order of daemon/daemon.c, over whichever
 * engine it is linked with. It knows no test library.
 */
#ifndef RPMAD_TESTS_UNIT_CRIG_BUILD_H
#define RPMAD_TESTS_UNIT_CRIG_BUILD_H

#include "daemon/access.h"
#include "daemon/control.h"
#include "daemon/events.h"
#include "daemon/loop.h"
#include "daemon/rpc.h"
#include "daemon/settings.h"

#define CRIG_LOG_MAX 16384

struct crig {
	struct loop *loop;
	struct settings *settings;
	struct access *access;
	struct rpc *rpc;
	struct engine *engine;
	struct events *events;
	struct control *control;
	unsigned int stop_calls;  /* that daemon.stop caused */
	unsigned int stall_ms;    /* for crig_build(); 0: the usual */
	const char *devices_root; /* likewise */
	const char *file;         /* what daemon.reload reads */
	char log[CRIG_LOG_MAX];   /* "level tag: text\n" ... */
};

/*
 * Make it all; config is JSON text or NULL. Zero-initialise the rig first.
 * return   0; negative errno with err, and what was made stays for crig_tear_down()
 */
RPMAD_MUST_USE int crig_build(struct crig *rig, const char *config, struct err *err);
void crig_tear_down(struct crig *rig);

#endif
