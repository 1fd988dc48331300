/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the small files and folders of sysfs. */
#include <config.h>

#include "daemon/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/core/num.h"

#define FILE_MAX 128 /* bytes of a file that is read */

void
sysfs_text(int dir, const char *name, char out[SYSFS_TEXT_MAX])
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	char bytes[FILE_MAX];
	ssize_t n = -1;
	size_t len;

	out[0] = '\0';
	if (fd < 0)
		return;
	n = read(fd, bytes, sizeof(bytes));
	(void)close(fd);
	if (n <= 0)
		return;
	for (len = 0; len < (size_t)n && len < SYSFS_TEXT_MAX - 1; len++)
		if (bytes[len] == '\n' || bytes[len] == '\0')
			break;
	memcpy(out, bytes, len);
	out[len] = '\0';
}

void
sysfs_word(int dir, const char *name, char out[SYSFS_TEXT_MAX])
{
	const char *colon;

	sysfs_text(dir, name, out);
	colon = strstr(out, ": ");
	if (colon)
		memmove(out, colon + 2, strlen(colon + 2) + 1);
}

static int
compare_names(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

int
sysfs_each(int dir, const char *path, sysfs_entry_fn fn, void *arg)
{
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent **entries;
	int i, count, rc = 0;

	if (fd < 0)
		return 0;
	count = scandirat(fd, ".", &entries, NULL, compare_names);
	if (count < 0)
		rc = errno == ENOMEM ? -ENOMEM : 0;
	for (i = 0; i < count; i++) {
		if (rc == 0 && entries[i]->d_name[0] != '.')
			rc = fn(fd, entries[i]->d_name, arg);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	(void)close(fd);
	return rc;
}

/* What is done with each folder. */
struct folder_walk {
	sysfs_entry_fn fn;
	void *arg;
};

static int
enter(int dir, const char *name, void *arg)
{
	const struct folder_walk *walk = arg;
	int fd = openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC), rc;

	if (fd < 0)
		return 0;
	rc = walk->fn(fd, name, walk->arg);
	(void)close(fd);
	return rc;
}

int
sysfs_each_folder(int dir, const char *path, sysfs_entry_fn fn, void *arg)
{
	struct folder_walk walk = { fn, arg };

	return sysfs_each(dir, path, enter, &walk);
}

void *
sysfs_grow(void *list, size_t count, size_t size)
{
	char *grown = reallocarray(list, count + 1, size);

	if (grown)
		memset(grown + count * size, 0, size);
	return grown;
}

bool
sysfs_index(const char *name, uint32_t *out)
{
	uint64_t value;

	if (num_parse_u64(name, &value) < 0 || value > UINT32_MAX)
		return false;
	*out = (uint32_t)value;
	return true;
}
