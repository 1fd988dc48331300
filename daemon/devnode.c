/* SPDX-License-Identifier: BSD-3-Clause */
/* Device nodes are tried by opening them: nothing else knows what a control group forbids. */
#include <config.h>

#include "daemon/devnode.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int
devnode_forbidden(const char *root, char path[DEVNODE_PATH_MAX])
{
	DIR *dir = opendir(root);
	const struct dirent *entry;
	char node[DEVNODE_PATH_MAX];
	int found = 0, fd;

	if (!dir)
		return 0;
	while (found == 0 && (entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, "rdma_cm") != 0 &&
		    strncmp(entry->d_name, "uverbs", strlen("uverbs")) != 0)
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
	return found;
}
