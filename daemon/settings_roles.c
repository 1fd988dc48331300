/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration's key control.roles: from and to JSON. */
#include <config.h>

#include "daemon/settings_roles.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "lib/core/method.h"

#define ROLE_COUNT 3

/* roles[] begins with ROLE_READ. */
static const char *
name_of(size_t i)
{
	return role_name((enum role)(ROLE_READ + i));
}

/* jansson's iterators want a pointer to non-const, though they change nothing. */
static json_t *
unconst(const json_t *json)
{
	return (json_t *)(uintptr_t)json;
}

struct role_lists {
	struct param_list users;
	struct param_list groups;
};

static const struct param_spec role_specs[] = {
	{ .name = "users",
	    .type = PARAM_STRINGS,
	    .max = SETTINGS_NAMES_MAX,
	    .doc = "names of users",
	    .offset = offsetof(struct role_lists, users) },
	{ .name = "groups",
	    .type = PARAM_STRINGS,
	    .max = SETTINGS_NAMES_MAX,
	    .doc = "names of groups",
	    .offset = offsetof(struct role_lists, groups) },
};

static int
read_role(const json_t *json, const char *path, struct settings_role *out,
    struct err *err)
{
	const struct param_table table = { role_specs, ARRAY_LEN(role_specs) };
	struct role_lists lists;
	int rc;

	rc = param_decode(&table, json, path, true, &lists, err);
	if (rc < 0)
		return rc;
	out->is_given = true;
	for (; out->user_count < lists.users.count; out->user_count++)
		out->users[out->user_count] =
		    param_list_at(&lists.users, out->user_count);
	for (; out->group_count < lists.groups.count; out->group_count++)
		out->groups[out->group_count] =
		    param_list_at(&lists.groups, out->group_count);
	return 0;
}

/* The index of a role's name, ROLE_COUNT when there is none. */
static size_t
find_role(const char *name)
{
	size_t i;

	for (i = 0; i < ROLE_COUNT; i++)
		if (strcmp(name, name_of(i)) == 0)
			break;
	return i;
}

int
settings_roles_read(const json_t *json, struct settings_role roles[3], struct err *err)
{
	char path[sizeof(err->path)];
	const char *key;
	json_t *value;
	size_t i;
	int rc;

	json_object_foreach(unconst(json), key, value) {
		if (key[0] == '#')
			continue;
		i = find_role(key);
		if (i == ROLE_COUNT) {
			rc = err_set(err, ERR_INVALID_PARAMS, 0,
			    "unknown role \"%.64s\"", key);
			err_path(err, "control.roles.%s", key);
			err_hint(err, "roles: read, post, admin");
			return rc;
		}
		(void)snprintf(path, sizeof(path), "control.roles.%s", key);
		if (!json_is_object(value)) {
			rc = err_set(err, ERR_INVALID_PARAMS, 0,
			    "must be an object with users and groups");
			err_path(err, "%s", path);
			return rc;
		}
		rc = read_role(value, path, &roles[i], err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static json_t *
names_to_json(const char *const *names, size_t count)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < count; i++) {
		if (json_array_append_new(list, json_string(names[i])) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

json_t *
settings_roles_to_json(const struct settings_role roles[3])
{
	json_t *object = json_object(), *role;
	size_t i;

	for (i = 0; i < ROLE_COUNT; i++) {
		if (!roles[i].is_given)
			continue;
		role = json_pack("{s:o, s:o}", "users",
		    names_to_json(roles[i].users, roles[i].user_count), "groups",
		    names_to_json(roles[i].groups, roles[i].group_count));
		if (json_object_set_new(object, name_of(i), role) < 0) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}
