/* SPDX-License-Identifier: BSD-3-Clause */
/* What of the configuration may change while the daemon runs. */
#ifndef RPMAD_DAEMON_SETTINGS_RELOAD_H
#define RPMAD_DAEMON_SETTINGS_RELOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/settings.h"

#define SETTINGS_KEYS_MAX 64u

/* Keys, by their names in settings_table. */
struct settings_keys {
	const char *names[SETTINGS_KEYS_MAX];
	size_t count;
};

/* How two settings differ. */
struct settings_diff {
	struct settings_keys changed; /* take effect at once */
	struct settings_keys pending; /* need a restart */
};

/* Whether a key takes effect while the daemon runs. */
bool settings_can_reload(const char *key);

/* return   0; -ENOMEM */
RPMAD_MUST_USE int settings_compare(const struct settings *current,
    const struct settings *fresh, struct settings_diff *out);

/*
 * Take over what differs and may change. The texts that current's names point to are
 * exchanged with those of fresh, which is good for settings_free() alone from then on.
 */
void settings_take(struct settings *current, struct settings *fresh,
    const struct settings_diff *diff);

#endif
