/* SPDX-License-Identifier: BSD-3-Clause */
/* The engines, their manager and their log. */
#include <config.h>

#include "tests/unit/restore_rig.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/store.h"
#include "lib/core/log.h"

struct rig rig;
struct manager manager;
char logged[8192];

static void
sink(void *arg, enum log_level level, const char *tag, const char *text)
{
	size_t used = strlen(logged);

	(void)arg;
	(void)snprintf(logged + used, sizeof(logged) - used, "%s %s: %s\n",
	    log_level_name(level), tag, text);
}

void
restore_setup(void)
{
	fake_reset();
	fake_set_kind(FAKE_RXE);
	rig_settings(&rig);
	manager_start(&manager);
	log_set_sink(sink, NULL);
}

void
restore_teardown(void)
{
	manager_end(&manager);
}

void
restore_begin(void)
{
	struct notify_fds fds;

	logged[0] = '\0';
	manager_hand_over(&manager, &fds);
	ck_assert_int_eq(store_new(&fds, &rig.store), 0);
	ck_assert_int_eq(rig_start(&rig), 0);
}

void
restore_end(void)
{
	rig_end(&rig);
	store_free(rig.store);
	rig.store = NULL;
	manager_read(&manager);
}

void
restore_receive(unsigned int count)
{
	struct fake_peer *peer = rig_peer(&rig);
	char text[16];
	unsigned int i;

	for (i = 0; i < count; i++) {
		memset(text, '0' + (int)i, i + 1);
		text[i + 1] = '\0';
		ck_assert_int_eq(rig_send(peer, text), (int)i);
	}
	rig_settle(&rig);
	ck_assert_uint_eq(rig_counts(&rig).ready, count);
}

void
restore_die(unsigned int messages, int number)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		restore_begin();
		if (messages > 0)
			restore_receive(messages);
		(void)raise(number);
		_exit(99);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), number);
	manager_read(&manager);
}

void
restore_logged(const char *text)
{
	ck_assert_msg(strstr(logged, text) != NULL, "no \"%s\" in:\n%s", text, logged);
}

static char warnings[4096];

static void
add_warning(void *arg, const char *sentence)
{
	size_t used = strlen(warnings);

	(void)arg;
	(void)snprintf(warnings + used, sizeof(warnings) - used, "%s\n", sentence);
}

void
restore_warns(const char *text)
{
	warnings[0] = '\0';
	engine_warnings(rig.engine, add_warning, NULL);
	ck_assert_msg(strstr(warnings, text) != NULL, "no \"%s\" in:\n%s", text,
	    warnings);
}
