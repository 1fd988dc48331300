/* SPDX-License-Identifier: BSD-3-Clause */
/* A service manager that keeps descriptors, as sd_notify(3) and systemd.service(5) tell. */
#ifndef RPMAD_TESTS_UNIT_MANAGER_RIG_H
#define RPMAD_TESTS_UNIT_MANAGER_RIG_H

#include <stddef.h>

#include "daemon/notify.h"

#define MANAGER_KEPT_MAX 16u /* FileDescriptorStoreMax= */

struct manager {
	int socket;
	struct {
		int fd;
		char name[NOTIFY_NAME_MAX];
	} kept[MANAGER_KEPT_MAX];
	size_t count;
	unsigned int refused; /* descriptors for which there was no room */
};

/* Set NOTIFY_SOCKET; children inherit it. */
void manager_start(struct manager *manager);
/* Close everything. */
void manager_end(struct manager *manager);

/* Read what has been told meanwhile. */
void manager_read(struct manager *manager);
/* What the next process is given: copies, as after a start of its own. */
void manager_hand_over(struct manager *manager, struct notify_fds *out);
/* How many descriptors are kept under names that begin so. */
size_t manager_count(const struct manager *manager, const char *prefix);
/* The descriptor of a name that was made by memfd_create(2) with that one; -1: none. */
int manager_fd(const struct manager *manager, const char *name, const char *memfd);

#endif
