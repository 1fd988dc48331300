/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration, and what is known about it, as text for people and programs. */
#ifndef RPMAD_DAEMON_SETTINGS_PRINT_H
#define RPMAD_DAEMON_SETTINGS_PRINT_H

#include <stdio.h>

#include "daemon/settings.h"

/* All keys with their effective values, as a file. return   0; -ENOMEM; -EIO */
RPMAD_MUST_USE int settings_print(const struct settings *settings, FILE *file);
/* {"config": [keys], "methods": [rpc.list]}. return   0; -ENOMEM; -EIO */
RPMAD_MUST_USE int settings_print_schema(FILE *file);

#endif
