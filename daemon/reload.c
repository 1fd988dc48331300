/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration read once more: all of it is good, or nothing changes. */
#include <config.h>

#include "daemon/reload.h"

#include <errno.h>
#include <stdio.h>

#include "daemon/access.h"
#include "daemon/rpc.h"
#include "lib/core/log.h"

#define NAMES_MAX 1024

/* "log.level,control.roles", or "none". */
static const char *
list_keys(const struct settings_keys *keys, char buf[NAMES_MAX])
{
	size_t i, len = 0;

	(void)snprintf(buf, NAMES_MAX, "none");
	for (i = 0; i < keys->count && len < NAMES_MAX; i++)
		len += (size_t)snprintf(buf + len, NAMES_MAX - len, "%s%s",
		    i > 0 ? "," : "", keys->names[i]);
	return buf;
}

/* Another name for what is wrong: the request was fine, the file is not. */
static int
refuse(int rc, const struct err *cause, struct err *err)
{
	if (settings_is_fault(cause)) {
		*err = *cause;
		return rc;
	}
	rc = err_set(err, ERR_CONFIG_INVALID, cause->errnum, "%s", cause->text);
	err_path(err, "%s", cause->path);
	err_hint(err, "%s",
	    cause->hint[0] != '\0'
		? cause->hint
		: "the settings stay as they were; correct the file and reload again");
	return rc;
}

int
reload_run(const struct reload *reload, struct settings_diff *diff, struct err *err)
{
	struct settings *current = reload->settings, *fresh;
	const char *file = settings_file(reload->file);
	char changed[NAMES_MAX], pending[NAMES_MAX];
	struct err cause, role;
	int rc;

	rc = settings_load(file, &fresh, &cause);
	if (rc < 0)
		return refuse(rc, &cause, err);
	/* log.set may have changed it meanwhile. */
	current->log_level = log_get_level();
	rc = settings_compare(current, fresh, diff);
	if (rc < 0) {
		rc = err_set(&cause, ERR_INTERNAL_ERROR, -rc, "out of memory");
	} else {
		rc = access_update(reload->access, fresh, reload->socket_group, &role);
		if (rc < 0)
			settings_name_error(file, &role, &cause);
	}
	if (rc < 0) {
		settings_free(fresh);
		return refuse(rc, &cause, err);
	}
	settings_take(current, fresh, diff);
	settings_free(fresh);
	log_set_level(current->log_level);
	log_notice("reload", "changed=%s needs_restart=%s",
	    list_keys(&diff->changed, changed), list_keys(&diff->pending, pending));
	rpc_roles_changed(reload->rpc);
	return 0;
}
