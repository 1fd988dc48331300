/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration as a plain struct, see rpmad.json(5). */
#ifndef RPMAD_DAEMON_SETTINGS_H
#define RPMAD_DAEMON_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "lib/core/addr.h"
#include "lib/core/err.h"
#include "lib/core/log.h"
#include "lib/core/param.h"

struct json_t;

#define SETTINGS_DEFAULT_FILE RPMAD_SYSCONFDIR "/rpmad.json"
#define SETTINGS_LISTEN_MAX   64u
#define SETTINGS_ALLOW_MAX    256u
#define SETTINGS_NAMES_MAX    64u

enum refill_mode {
	REFILL_AUTO,
	REFILL_MANUAL
};

/* Names of users and groups of one role; pointers into the settings' own memory. */
struct settings_role {
	bool is_given; /* false: its default holders, see access.h */
	const char *users[SETTINGS_NAMES_MAX];
	size_t user_count;
	const char *groups[SETTINGS_NAMES_MAX];
	size_t group_count;
};

struct settings {
	struct sockaddr_storage listen[SETTINGS_LISTEN_MAX];
	size_t listen_count;
	char device[64]; /* "": the one behind the first listen address */

	uint32_t pool_slots;
	uint32_t pool_slot_size; /* bytes */
	bool pool_huge_pages;
	bool pool_share; /* pool.map is allowed */

	enum refill_mode refill;
	uint32_t receive_target;        /* slots; at most pool_slots */
	uint32_t receive_low_watermark; /* slots; at most receive_target */
	uint32_t min_rnr_timer_us;

	uint32_t send_slots;

	uint32_t conns_max;
	uint32_t conns_quota_slots; /* 0: none */
	uint64_t conns_idle_ms;     /* 0: never */
	bool conns_announce;
	struct addr_net conns_allow[SETTINGS_ALLOW_MAX];
	size_t conns_allow_count; /* 0: everybody */

	char control_socket[108];
	uint32_t control_mode;
	uint32_t control_max_clients;
	uint32_t control_max_request;  /* bytes */
	struct settings_role roles[3]; /* read, post, admin */

	enum log_level log_level;

	struct json_t *json; /* what it was read from; owned, backs the names */
};

/* The table of keys: for --schema, --print-config and the check of the manual. */
extern const struct param_table settings_table;

/*
 * Read a file (NULL: the defaults). Every key is checked, alone and against the others.
 * return   0 and *out; negative errno with err, whose path names the key
 */
int settings_load(const char *path, struct settings **out, struct err *err);
/*
 * Whether an error of settings_load() or access_new() is a fault of the system, which may
 * pass, and not one of the configuration: no memory, no descriptor left, a disk fails.
 */
bool settings_is_fault(const struct err *err);
/* Put the file's name (NULL: the defaults), and the key, before the text of an error. */
void settings_name_error(const char *file, const struct err *cause, struct err *err);
/* The file to read: the one that was named, else that of the installation, if it exists;
 * NULL: none. */
const char *settings_file(const char *named);
/* As settings_load(), from text, for tests. name stands for the file in messages. */
int settings_parse(const char *text, size_t len, const char *name,
    struct settings **out, struct err *err);
void settings_free(struct settings *settings);

/* All keys with their effective values, in the form of the file. A new reference. */
struct json_t *settings_to_json(const struct settings *settings);

#endif
