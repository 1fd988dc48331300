/* SPDX-License-Identifier: BSD-3-Clause */
/* Device nodes are tried by opening them: nothing else knows what a control group forbids. */
#include <config.h>

#include "daemon/devnode.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/sysfs.h"

static bool
is_of(const char *name, int class, const char *device)
{
	char ibdev[DEVNODE_NAME_MAX + sizeof("/ibdev")], owner[SYSFS_TEXT_MAX];

	(void)snprintf(ibdev, sizeof(ibdev), "%.*s/ibdev", (int)DEVNODE_NAME_MAX - 1,
	    name);
	sysfs_text(class, ibdev, owner);
	return strcmp(owner, device) == 0;
}

/* Whether who uses a device ("": any) opens a node of that name. */
static bool
is_needed(const char *name, int class, const char *device)
{
	if (strcmp(name, "rdma_cm") == 0)
		return true;
	if (strncmp(name, "uverbs", strlen("uverbs")) != 0 ||
	    strlen(name) >= DEVNODE_NAME_MAX)
		return false;
	return device[0] == '\0' || is_of(name, class, device);
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

/* The number of an entry, which no later one has; 0: there is none. */
static uint64_t
inode_of(int class, const char *name)
{
	struct stat st;

	return fstatat(class, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_ino : 0;
}

void
devnode_find(const char *class, const char *device, struct devnode *out)
{
	DIR *dir = opendir(class);
	const struct dirent *entry;

	*out = (struct devnode){ .inode = 0 };
	if (!dir)
		return;
	while (out->inode == 0 && (entry = readdir(dir)) != NULL) {
		if (strlen(entry->d_name) >= sizeof(out->name) ||
		    !is_of(entry->d_name, dirfd(dir), device))
			continue;
		(void)snprintf(out->name, sizeof(out->name), "%.*s",
		    (int)sizeof(out->name) - 1, entry->d_name);
		out->inode = inode_of(dirfd(dir), out->name);
	}
	(void)closedir(dir);
}

bool
devnode_is_gone(const char *class, const struct devnode *node)
{
	int dir = open(class, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool is_gone;

	/* Where nothing can be looked at, nothing is known. */
	if (dir < 0)
		return false;
	is_gone = node->inode != 0 && inode_of(dir, node->name) != node->inode;
	(void)close(dir);
	return is_gone;
}
