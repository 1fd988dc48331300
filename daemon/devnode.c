/* SPDX-License-Identifier: BSD-3-Clause */
/* Device nodes are tried by opening them: nothing else knows what a control group forbids. */
#include <config.h>

#include "daemon/devnode.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/sysfs.h"

#define DEVNODE_NAME_MAX 64u

/* Whether who uses a device ("": any) opens a node of that name. */
static bool
is_needed(const char *name, int class, const char *device)
{
	char ibdev[DEVNODE_NAME_MAX + sizeof("/ibdev")], owner[SYSFS_TEXT_MAX];

	if (strcmp(name, "rdma_cm") == 0)
		return true;
	if (strncmp(name, "uverbs", strlen("uverbs")) != 0 ||
	    strlen(name) >= DEVNODE_NAME_MAX)
		return false;
	if (device[0] == '\0')
		return true;
	(void)snprintf(ibdev, sizeof(ibdev), "%.*s/ibdev", (int)DEVNODE_NAME_MAX - 1,
	    name);
	sysfs_text(class, ibdev, owner);
	return strcmp(owner, device) == 0;
}

int
devnode_forbidden(const char *root, const char *class, const char *device,
    char path[DEVNODE_PATH_MAX])
{
	int class_fd = open(class, O_PATH | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = opendir(root);
	const struct dirent *entry;
	char node[DEVNODE_PATH_MAX];
	int found = 0, fd;

	if (!dir)
		goto done;
	while (found == 0 && (entry = readdir(dir)) != NULL) {
		if (!is_needed(entry->d_name, class_fd, device))
			continue;
		(void)snprintf(node, sizeof(node), "%s/%s", root, entry->d_name);
		fd = open(node, O_RDWR | O_CLOEXEC);
		if (fd >= 0)
			(void)close(fd);
		else if (errno == EPERM || errno == EACCES)
			found = errno;
	}
	(void)closedir(dir);
	if (found != 0)
		memcpy(path, node, sizeof(node));
done:
	if (class_fd >= 0)
		(void)close(class_fd);
	return found;
}
