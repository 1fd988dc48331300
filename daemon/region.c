/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of pool, ledger and send buffers. */
#include <config.h>

#include "daemon/region.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int
fill(const char *name, size_t bytes, struct region *region, struct err *err)
{
	region->fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (region->fd < 0)
		return err_set(err, ERR_INTERNAL_ERROR, errno,
		    "cannot make memory for %s", name);
	if (fchmod(region->fd, 0600) != 0 || ftruncate(region->fd, (off_t)bytes) != 0)
		return err_set(err, ERR_INTERNAL_ERROR, errno,
		    "cannot make %zu bytes of memory for %s", bytes, name);
	if (fcntl(region->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) !=
	    0)
		return err_set(err, ERR_INTERNAL_ERROR, errno, "cannot seal %s", name);
	region->base =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, region->fd, 0);
	if (region->base == MAP_FAILED) {
		region->base = NULL;
		return err_set(err, ERR_INTERNAL_ERROR, errno,
		    "cannot map %zu bytes of memory for %s", bytes, name);
	}
	region->bytes = bytes;
	/* Only a larger core file is at stake. */
	(void)madvise(region->base, bytes, MADV_DONTDUMP);
	return 0;
}

int
region_open(const char *name, size_t bytes, struct region *out, struct err *err)
{
	struct region region = REGION_NONE;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int rc = fill(name, (bytes + page - 1) / page * page, &region, err);

	if (rc != 0) {
		region_close(&region);
		return rc;
	}
	*out = region;
	return 0;
}

void
region_close(struct region *region)
{
	if (region->base)
		(void)munmap(region->base, region->bytes);
	if (region->fd >= 0)
		(void)close(region->fd);
	*region = (struct region)REGION_NONE;
}
