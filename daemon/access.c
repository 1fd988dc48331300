/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may do what: the holders of each role as numbers. */
#include <config.h>

#include "daemon/access.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define POST_GROUP "rpmad"

/* The holders of one role. */
struct holders {
	uid_t users[SETTINGS_NAMES_MAX];
	size_t user_count;
	gid_t groups[SETTINGS_NAMES_MAX];
	size_t group_count;
};

/* settings.roles and holders[] have the same order: from ROLE_READ on. */
struct access {
	struct holders holders[ARRAY_LEN(((struct settings *)0)->roles)];
};

static enum role
role_of(size_t index)
{
	return (enum role)(ROLE_READ + index);
}

static int
no_such(const char *what, const char *name, enum role role, const char *key, size_t i,
    struct err *err)
{
	int rc =
	    err_set(err, ERR_INVALID_PARAMS, 0, "there is no %s \"%s\"", what, name);

	err_path(err, "control.roles.%s.%s[%zu]", role_name(role), key, i);
	return rc;
}

static int
resolve(const struct settings_role *names, enum role role, struct holders *out,
    struct err *err)
{
	const struct passwd *user;
	const struct group *group;
	size_t i;

	for (i = 0; i < names->user_count; i++) {
		user = getpwnam(names->users[i]);
		if (!user)
			return no_such("user", names->users[i], role, "users", i, err);
		out->users[out->user_count++] = user->pw_uid;
	}
	for (i = 0; i < names->group_count; i++) {
		group = getgrnam(names->groups[i]);
		if (!group)
			return no_such("group", names->groups[i], role, "groups", i,
			    err);
		out->groups[out->group_count++] = group->gr_gid;
	}
	return 0;
}

static void
set_default(enum role role, gid_t socket_group, struct holders *out)
{
	const struct group *group;

	switch (role) {
	case ROLE_NONE:
		break;
	case ROLE_READ:
		if (socket_group != ACCESS_NO_GROUP)
			out->groups[out->group_count++] = socket_group;
		break;
	case ROLE_POST:
		group = getgrnam(POST_GROUP);
		if (group)
			out->groups[out->group_count++] = group->gr_gid;
		break;
	case ROLE_ADMIN:
		out->users[out->user_count++] = 0;
		out->users[out->user_count++] = geteuid();
		break;
	}
}

int
access_update(struct access *access, const struct settings *settings,
    gid_t socket_group, struct err *err)
{
	struct access fresh = { 0 };
	size_t i;
	int rc;

	for (i = 0; i < ARRAY_LEN(fresh.holders); i++) {
		if (!settings->roles[i].is_given) {
			set_default(role_of(i), socket_group, &fresh.holders[i]);
			continue;
		}
		rc = resolve(&settings->roles[i], role_of(i), &fresh.holders[i], err);
		if (rc < 0)
			return rc;
	}
	*access = fresh;
	return 0;
}

int
access_new(const struct settings *settings, gid_t socket_group, struct access **out,
    struct err *err)
{
	struct access *access = calloc(1, sizeof(*access));
	int rc;

	if (!access)
		return err_set(err, ERR_INTERNAL_ERROR, ENOMEM, "out of memory");
	rc = access_update(access, settings, socket_group, err);
	if (rc < 0) {
		access_free(access);
		return rc;
	}
	*out = access;
	return 0;
}

void
access_free(struct access *access)
{
	free(access);
}

static bool
holds(const struct holders *holders, uid_t uid, const gid_t *gids, size_t gid_count)
{
	size_t i, j;

	for (i = 0; i < holders->user_count; i++)
		if (holders->users[i] == uid)
			return true;
	for (i = 0; i < holders->group_count; i++)
		for (j = 0; j < gid_count; j++)
			if (holders->groups[i] == gids[j])
				return true;
	return false;
}

enum role
access_role(const struct access *access, uid_t uid, const gid_t *gids, size_t gid_count)
{
	size_t i = ARRAY_LEN(access->holders);

	while (i-- > 0)
		if (holds(&access->holders[i], uid, gids, gid_count))
			return role_of(i);
	return ROLE_NONE;
}
