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

/*
 * Whether a look-up found nothing because there is nothing.
 * source   getpwnam(3), getgrnam(3): what errno is then
 */
static bool
is_absent(int errnum)
{
	return errnum == 0 || errnum == ENOENT || errnum == ESRCH || errnum == EBADF ||
	    errnum == EPERM;
}

/* It may be there: the system cannot tell now. */
static int
cannot_tell(const char *what, const char *name, int errnum, struct err *err)
{
	return err_set(err, ERR_INTERNAL_ERROR, errnum,
	    "the %s \"%s\" of control.roles cannot be looked up", what, name);
}

static int
not_found(const char *what, const char *name, int errnum, enum role role,
    const char *key, size_t i, struct err *err)
{
	return is_absent(errnum) ? no_such(what, name, role, key, i, err)
				 : cannot_tell(what, name, errnum, err);
}

static int
resolve(const struct settings_role *names, enum role role, struct holders *out,
    struct err *err)
{
	const struct passwd *user;
	const struct group *group;
	size_t i;

	for (i = 0; i < names->user_count; i++) {
		errno = 0;
		user = getpwnam(names->users[i]);
		if (!user)
			return not_found("user", names->users[i], errno, role, "users",
			    i, err);
		out->users[out->user_count++] = user->pw_uid;
	}
	for (i = 0; i < names->group_count; i++) {
		errno = 0;
		group = getgrnam(names->groups[i]);
		if (!group)
			return not_found("group", names->groups[i], errno, role,
			    "groups", i, err);
		out->groups[out->group_count++] = group->gr_gid;
	}
	return 0;
}

/* The group whose members may post; where there is none nobody may. */
static int
default_posters(struct holders *out, struct err *err)
{
	const struct group *group;

	errno = 0;
	group = getgrnam(POST_GROUP);
	if (group)
		out->groups[out->group_count++] = group->gr_gid;
	else if (!is_absent(errno))
		return cannot_tell("group", POST_GROUP, errno, err);
	return 0;
}

static int
set_default(enum role role, gid_t socket_group, struct holders *out, struct err *err)
{
	switch (role) {
	case ROLE_NONE:
		break;
	case ROLE_READ:
		if (socket_group != ACCESS_NO_GROUP)
			out->groups[out->group_count++] = socket_group;
		break;
	case ROLE_POST:
		return default_posters(out, err);
	case ROLE_ADMIN:
		out->users[out->user_count++] = 0;
		out->users[out->user_count++] = geteuid();
		break;
	}
	return 0;
}

int
access_update(struct access *access, const struct settings *settings,
    gid_t socket_group, struct err *err)
{
	struct access fresh = { 0 };
	size_t i;
	int rc;

	for (i = 0; i < ARRAY_LEN(fresh.holders); i++) {
		if (settings->roles[i].is_given)
			rc = resolve(&settings->roles[i], role_of(i), &fresh.holders[i],
			    err);
		else
			rc = set_default(role_of(i), socket_group, &fresh.holders[i],
			    err);
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
