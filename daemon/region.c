/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of pool, ledger and send buffers. */
#include <config.h>

#include "daemon/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int
map(const char *name, size_t bytes, struct region *region, struct err *err)
{
	void *base =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, region->fd, 0);

	if (base == MAP_FAILED)
		return err_set(err, ERR_INTERNAL_ERROR, errno,
		    "cannot map %zu bytes of memory for %s", bytes, name);
	region->base = base;
	region->bytes = bytes;
	/* Only a larger core file is at stake. */
	(void)madvise(base, bytes, MADV_DONTDUMP);
	return 0;
}

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
	return map(name, bytes, region, err);
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

int
region_adopt(int fd, size_t bytes_min, struct region *out, struct err *err)
{
	struct region region = REGION_NONE;
	int seals = fcntl(fd, F_GET_SEALS), rc;
	struct stat st;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st) != 0)
		return err_set(err, ERR_INTERNAL_ERROR, EBADF,
		    "the memory that was kept is not sealed");
	if (st.st_size <= 0 || (uint64_t)st.st_size < bytes_min)
		return err_set(err, ERR_INTERNAL_ERROR, EBADMSG,
		    "the memory that was kept has %lld bytes instead of %zu",
		    (long long)st.st_size, bytes_min);
	region.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (region.fd < 0)
		return err_set(err, ERR_INTERNAL_ERROR, errno,
		    "cannot use the memory that was kept");
	rc = map("what was kept", (size_t)st.st_size, &region, err);
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
