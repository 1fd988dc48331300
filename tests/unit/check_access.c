/* SPDX-License-Identifier: BSD-3-Clause */
/* Roles of users and groups. */
#include <config.h>

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/access.h"
#include "tests/unit/harness.h"

#define NOBODY  65000u
#define GROUP_A 61001u
#define GROUP_B 61002u

/* What look-ups of users and groups fail with; 0: they do not. */
static int lookup_errno;

struct passwd *__real_getpwnam(const char *name);
struct passwd *__wrap_getpwnam(const char *name);
struct group *__real_getgrnam(const char *name);
struct group *__wrap_getgrnam(const char *name);

struct passwd *
__wrap_getpwnam(const char *name)
{
	if (lookup_errno == 0)
		return __real_getpwnam(name);
	errno = lookup_errno;
	return NULL;
}

struct group *
__wrap_getgrnam(const char *name)
{
	if (lookup_errno == 0)
		return __real_getgrnam(name);
	errno = lookup_errno;
	return NULL;
}

static struct settings *settings;
static struct access *access_;

static int
try(const char *roles, gid_t socket_group, struct err *err)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "{\"control\": {\"roles\": {%s}}}", roles);
	ck_assert_int_eq(settings_parse(text, strlen(text), "test", &settings, err), 0);
	return access_new(settings, socket_group, &access_, err);
}

static void
load(const char *roles, gid_t socket_group)
{
	struct err err;

	ck_assert_msg(try(roles, socket_group, &err) == 0, "%s", err.text);
}

static void
unload(void)
{
	access_free(access_);
	settings_free(settings);
	access_ = NULL;
	settings = NULL;
}

static enum role
role_of(uid_t uid, gid_t a, gid_t b)
{
	const gid_t gids[] = { a, b };

	return access_role(access_, uid, gids, 2);
}

START_TEST(test_defaults)
{
	const struct group *post = getgrnam("rpmad");

	load("", GROUP_A);
	ck_assert_int_eq(role_of(0, 0, 0), ROLE_ADMIN);
	ck_assert_int_eq(role_of(geteuid(), NOBODY, NOBODY), ROLE_ADMIN);
	ck_assert_int_eq(role_of(NOBODY, NOBODY, GROUP_A), ROLE_READ);
	ck_assert_int_eq(role_of(NOBODY, GROUP_A, NOBODY), ROLE_READ);
	ck_assert_int_eq(role_of(NOBODY, NOBODY, GROUP_B), ROLE_NONE);
	ck_assert_int_eq(access_role(access_, NOBODY, NULL, 0), ROLE_NONE);
	if (post)
		ck_assert_int_eq(role_of(NOBODY, NOBODY, post->gr_gid), ROLE_POST);
	unload();
	load("", ACCESS_NO_GROUP);
	ck_assert_int_eq(role_of(NOBODY, NOBODY, ACCESS_NO_GROUP), ROLE_NONE);
	unload();
}
END_TEST

/* A role that is given has the holders that are given, the others keep theirs. */
START_TEST(test_given)
{
	const struct group *group = getgrnam("daemon");
	const struct passwd *user = getpwnam("daemon");

	ck_assert(group && user);
	load(
	    "\"post\": {\"users\": [\"daemon\"]}, \"read\": {\"groups\": [\"daemon\"]}",
	    GROUP_A);
	ck_assert_int_eq(role_of(user->pw_uid, NOBODY, NOBODY), ROLE_POST);
	ck_assert_int_eq(role_of(NOBODY, NOBODY, group->gr_gid), ROLE_READ);
	ck_assert_int_eq(role_of(NOBODY, NOBODY, GROUP_A), ROLE_NONE);
	ck_assert_int_eq(role_of(0, 0, 0), ROLE_ADMIN);
	unload();
	/* Nobody, root included. */
	load("\"admin\": {}", GROUP_A);
	ck_assert_int_eq(role_of(0, GROUP_A, 0), ROLE_READ);
	unload();
	/* The highest counts. */
	load(
	    "\"admin\": {\"groups\": [\"daemon\"]}, \"read\": {\"users\": [\"daemon\"]}",
	    GROUP_A);
	ck_assert_int_eq(role_of(user->pw_uid, NOBODY, NOBODY), ROLE_READ);
	ck_assert_int_eq(role_of(user->pw_uid, group->gr_gid, NOBODY), ROLE_ADMIN);
	unload();
}
END_TEST

START_TEST(test_unknown_names)
{
	struct err err;

	ck_assert_int_lt(try("\"post\": {\"groups\": [\"daemon\", \"no-such-group\"]}",
			     ACCESS_NO_GROUP, &err),
	    0);
	ck_assert_int_eq(err.code, ERR_INVALID_PARAMS);
	ck_assert_str_eq(err.path, "control.roles.post.groups[1]");
	ck_assert_str_eq(err.text, "there is no group \"no-such-group\"");
	unload();
	ck_assert_int_lt(try("\"admin\": {\"users\": [\"no-such-user\"]}",
			     ACCESS_NO_GROUP, &err),
	    0);
	ck_assert_str_eq(err.path, "control.roles.admin.users[0]");
	unload();
	access_free(NULL);
}
END_TEST

static const char *const looked_up[] = {
	"\"admin\": {\"users\": [\"daemon\"]}", "\"post\": {\"groups\": [\"daemon\"]}",
	"", /* the group rpmad, which has the role post by default */
};

/* Where nobody can tell whether a name is there, no settings are to blame. */
START_TEST(test_lookup_fails)
{
	static const int faults[] = { EIO, EMFILE, ENFILE, ENOMEM, EINTR, ERANGE };
	struct err err;
	size_t i;

	for (i = 0; i < ARRAY_LEN(faults); i++) {
		lookup_errno = faults[i];
		ck_assert_int_lt(try(looked_up[_i], ACCESS_NO_GROUP, &err), 0);
		ck_assert_int_eq(err.code, ERR_INTERNAL_ERROR);
		ck_assert_int_eq(err.errnum, faults[i]);
		ck_assert_ptr_nonnull(strstr(err.text, "cannot be looked up"));
		ck_assert(settings_is_fault(&err));
		unload();
	}
	/* As getpwnam(3) says, these tell that there is none. */
	lookup_errno = ENOENT;
	if (looked_up[_i][0] == '\0') {
		load("", ACCESS_NO_GROUP);
	} else {
		ck_assert_int_lt(try(looked_up[_i], ACCESS_NO_GROUP, &err), 0);
		ck_assert_int_eq(err.code, ERR_INVALID_PARAMS);
		ck_assert(!settings_is_fault(&err));
	}
	unload();
	lookup_errno = 0;
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("access");
	TCase *tc = tcase_create("access");

	tcase_add_test(tc, test_defaults);
	tcase_add_test(tc, test_given);
	tcase_add_test(tc, test_unknown_names);
	tcase_add_loop_test(tc, test_lookup_fails, 0, (int)ARRAY_LEN(looked_up));
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
