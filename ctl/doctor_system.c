/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings about the machine: device nodes, the socket's file, and the service. */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/doctor.h"
#include "lib/core/num.h"
#include "lib/core/text.h"
#include "lib/core/usock.h"

#define UNIT_MAX    160
#define GROUPS_MAX  256
#define PATH_BYTES  512
#define SHOW_BYTES  4096
#define SHOW_MAX_MS 5000u

/* ---- who may use a file ---- */

struct who {
	uid_t uid;
	gid_t groups[GROUPS_MAX];
	int count;
};

static bool
is_member(const struct who *who, gid_t group)
{
	int i;

	for (i = 0; i < who->count; i++)
		if (who->groups[i] == group)
			return true;
	return false;
}

/* Whether the mode lets them read and write; a control group may still forbid it. */
static bool
may_use(const struct who *who, const struct stat *st)
{
	mode_t rights = st->st_mode;

	if (who->uid == 0)
		return true;
	if (st->st_uid == who->uid)
		rights >>= 6;
	else if (is_member(who, st->st_gid))
		rights >>= 3;
	return (rights & 06) == 06;
}

static bool
find_user(const char *name, struct who *who)
{
	const struct passwd *entry = getpwnam(name);

	if (!entry)
		return false;
	who->uid = entry->pw_uid;
	who->count = GROUPS_MAX;
	if (getgrouplist(name, entry->pw_gid, who->groups, &who->count) < 0)
		who->count = GROUPS_MAX;
	return true;
}

/* ---- device nodes ---- */

/* Look at one node; whether it is one of uverbs. */
static bool
node(const struct doctor *doctor, const char *root, const char *name,
    const struct who *who, const char *user)
{
	bool is_verbs = strncmp(name, "uverbs", strlen("uverbs")) == 0;
	char path[PATH_BYTES];
	struct stat st;

	if (!is_verbs && strcmp(name, "rdma_cm") != 0)
		return false;
	(void)snprintf(path, sizeof(path), "%s/%s", root, name);
	if (stat(path, &st) != 0)
		doctor_add(doctor, "nodes", DOCTOR_PROBLEM,
		    "see the rights of its folder", "%s: %s", path, strerror(errno));
	else if (!may_use(who, &st))
		doctor_add(doctor, "nodes", DOCTOR_PROBLEM,
		    "install the udev rules of rdma-core, or give the user a group that "
		    "may",
		    "user %s may not read and write %s (mode %03o)", user, path,
		    (unsigned int)st.st_mode & 0777);
	else
		doctor_add(doctor, "nodes", DOCTOR_OK, NULL,
		    "user %s may read and write %s", user, path);
	return is_verbs;
}

void
doctor_nodes(const struct doctor *doctor, const char *root, const char *user,
    bool is_service)
{
	bool has_cm = false, has_verbs = false;
	const struct dirent *entry;
	DIR *dir = opendir(root);
	struct who who = { 0 };

	if (!find_user(user, &who)) {
		if (is_service)
			doctor_add(doctor, "user", DOCTOR_PROBLEM, "systemd-sysusers",
			    "there is no user %s for the service", user);
		who.uid = geteuid();
		user = "you";
	}
	while (dir && (entry = readdir(dir)) != NULL) {
		has_cm |= strcmp(entry->d_name, "rdma_cm") == 0;
		has_verbs |= node(doctor, root, entry->d_name, &who, user);
	}
	if (dir)
		(void)closedir(dir);
	if (!has_cm)
		doctor_add(doctor, "nodes", DOCTOR_PROBLEM, "modprobe rdma_ucm",
		    "there is no %s/rdma_cm", root);
	if (!has_verbs)
		doctor_add(doctor, "nodes", DOCTOR_PROBLEM,
		    "modprobe ib_uverbs, and the driver of the device",
		    "there is no device in %s", root);
}

/* ---- the socket ---- */

/* The unit whose service the daemon is: "rpmad.socket". */
static const char *
socket_unit(const struct doctor *doctor, char buf[UNIT_MAX])
{
	(void)snprintf(buf, UNIT_MAX, "%.*s.socket",
	    (int)(strlen(doctor->unit) - strlen(".service")), doctor->unit);
	return buf;
}

void
doctor_socket(const struct doctor *doctor, const char *path)
{
	struct who who = { .uid = geteuid() };
	char remedy[DOCTOR_REMEDY_MAX], unit[UNIT_MAX];
	const struct group *group;
	char name[64];
	struct stat st;

	if (stat(path, &st) != 0) {
		doctor_add(doctor, "socket", DOCTOR_PROBLEM,
		    errno == EACCES ? "usermod -aG rpmad USER, then log in again"
				    : doctor_remedy(remedy,
					  "systemctl start %s, or start the daemon",
					  socket_unit(doctor, unit)),
		    "%s: %s", path, strerror(errno));
		return;
	}
	if (!S_ISSOCK(st.st_mode)) {
		doctor_add(doctor, "socket", DOCTOR_PROBLEM, "move it away",
		    "%s is no socket", path);
		return;
	}
	who.count = getgroups(GROUPS_MAX - 1, who.groups);
	if (who.count < 0)
		who.count = 0;
	who.groups[who.count++] = getegid();
	group = getgrgid(st.st_gid);
	(void)snprintf(name, sizeof(name), "%s", group ? group->gr_name : "?");
	if (may_use(&who, &st))
		doctor_add(doctor, "socket", DOCTOR_OK, NULL,
		    "you may use %s (group %s, mode %03o)", path, name,
		    (unsigned int)st.st_mode & 0777);
	else
		doctor_add(doctor, "socket", DOCTOR_PROBLEM,
		    "usermod -aG rpmad USER, then log in again",
		    "you may not use %s (group %s, mode %03o)", path, name,
		    (unsigned int)st.st_mode & 0777);
}

/* ---- the service ---- */

/* All that a program writes within the time, as one string; false: it did not run. */
static bool
read_all(int fd, char *text, size_t size)
{
	const uint64_t end_ms = usock_now_ms() + SHOW_MAX_MS;
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	size_t used = 0;

	for (;;) {
		uint64_t now_ms = usock_now_ms();
		ssize_t n;

		if (now_ms >= end_ms || poll(&wait, 1, (int)(end_ms - now_ms)) <= 0)
			return false;
		n = read(fd, text + used, size - 1 - used);
		if (n <= 0)
			break;
		used += (size_t)n;
		if (used == size - 1)
			break;
	}
	text[used] = '\0';
	return true;
}

static bool
show(const char *program, const char *unit, char text[SHOW_BYTES])
{
	const char *const argv[] = { program, "show", unit,
		"-pLoadState,ActiveState,UnitFileState,Result,NRestarts,"
		"FileDescriptorStoreMax",
		NULL };
	posix_spawn_file_actions_t actions;
	int fds[2], status;
	bool is_read;
	pid_t pid;
	int rc;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return false;
	rc = posix_spawn_file_actions_init(&actions);
	if (rc == 0) {
		rc = posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
		if (rc == 0)
			rc = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO,
			    "/dev/null", O_WRONLY, 0);
		if (rc == 0)
			rc = posix_spawnp(&pid, program, &actions, NULL,
			    (char *const *)(uintptr_t)argv, environ);
		(void)posix_spawn_file_actions_destroy(&actions);
	}
	(void)close(fds[1]);
	is_read = rc == 0 && read_all(fds[0], text, SHOW_BYTES);
	(void)close(fds[0]);
	if (rc != 0)
		return false;
	if (!is_read)
		(void)kill(pid, SIGKILL);
	return waitpid(pid, &status, 0) == pid && is_read && WIFEXITED(status) &&
	    WEXITSTATUS(status) == 0;
}

/* A property's value, "" where it is not shown. */
static const char *
property(const char *text, const char *name, char value[64])
{
	size_t len = strlen(name);

	value[0] = '\0';
	for (; *text != '\0'; text += strcspn(text, "\n"), text += *text == '\n')
		if (strncmp(text, name, len) == 0 && text[len] == '=')
			(void)snprintf(value, 64, "%.*s",
			    (int)strcspn(text + len + 1, "\n"), text + len + 1);
	return value;
}

static uint64_t
number(const char *text, const char *name)
{
	char value[64];
	uint64_t n = 0;

	(void)num_parse_u64(property(text, name, value), &n);
	return n;
}

static void
active(const struct doctor *doctor, const char *text)
{
	char state[64], result[64], remedy[DOCTOR_REMEDY_MAX];

	(void)property(text, "ActiveState", state);
	(void)property(text, "Result", result);
	if (strcmp(state, "failed") == 0)
		doctor_add(doctor, "service", DOCTOR_PROBLEM,
		    doctor_remedy(remedy,
			"journalctl -u %s tells why; then systemctl start it",
			doctor->unit),
		    "%s failed (%s)", doctor->unit, result);
	else
		doctor_add(doctor, "service", DOCTOR_OK, NULL, "%s is %s", doctor->unit,
		    state);
}

/* Whether something starts the daemon when the machine starts: its service, or the
 * socket of that, with the first client. */
static bool
is_enabled(const struct doctor *doctor, const char *program, const char *text)
{
	char of_socket[SHOW_BYTES], unit[UNIT_MAX], value[64];

	if (strcmp(property(text, "UnitFileState", value), "disabled") != 0)
		return true;
	return show(program, socket_unit(doctor, unit), of_socket) &&
	    strncmp(property(of_socket, "UnitFileState", value), "enabled",
		strlen("enabled")) == 0;
}

static void
restarts(const struct doctor *doctor, const char *text)
{
	char remedy[DOCTOR_REMEDY_MAX];
	uint64_t count = number(text, "NRestarts");

	if (count > 0)
		doctor_add(doctor, "service", DOCTOR_WARNING,
		    doctor_remedy(remedy,
			"journalctl -u %s tells why; please report crashes",
			doctor->unit),
		    "%s was started again %llu time%s after it died", doctor->unit,
		    (unsigned long long)count, text_plural(count));
}

bool
doctor_service(const struct doctor *doctor, const char *program)
{
	char text[SHOW_BYTES], value[64];

	if (!show(program, doctor->unit, text)) {
		doctor_add(doctor, "service", DOCTOR_OK, NULL,
		    "systemd does not run here, or does not answer");
		return false;
	}
	if (strcmp(property(text, "LoadState", value), "loaded") != 0) {
		doctor_add(doctor, "service", DOCTOR_OK, NULL,
		    "%s is not installed: the daemon is run in another way",
		    doctor->unit);
		return false;
	}
	active(doctor, text);
	if (!is_enabled(doctor, program, text))
		doctor_add(doctor, "service", DOCTOR_WARNING,
		    "systemctl enable it, or its socket",
		    "%s is not started when the machine starts", doctor->unit);
	restarts(doctor, text);
	if (number(text, "FileDescriptorStoreMax") < 2)
		doctor_add(doctor, "service", DOCTOR_WARNING,
		    "set FileDescriptorStoreMax=16 in it, for an rpmad with libsystemd "
		    "(rpmad --version)",
		    "%s keeps no messages over a restart", doctor->unit);
	return true;
}
