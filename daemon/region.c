/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of pool, ledger and send buffers. */
#include <config.h>

#include "daemon/region.h"
#include "lib/core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* MADV_POPULATE_WRITE, which the headers of older systems lack. */
#define POPULATE_WRITE 23

/* Size, seal and map what memfd_create(2) made. */
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
	if (fchmod(region->fd, 0600) != 0 || ftruncate(region->fd, (off_t)bytes) != 0)
		return err_set(err, ERR_INTERNAL_ERROR, errno,
		    "cannot make %zu bytes of memory for %s", bytes, name);
	if (fcntl(region->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) !=
	    0)
		return err_set(err, ERR_INTERNAL_ERROR, errno, "cannot seal %s", name);
	return map(name, bytes, region, err);
}

/*
 * The size of a memfd's pages. st_blksize does not tell it: it is that of a huge page for
 * ordinary memory, too, where the system makes transparent huge pages of it.
 */
static int
page_size_of(int fd, size_t *out)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return -errno;
	*out = (uint32_t)fs.f_type == HUGETLBFS_MAGIC ? (size_t)fs.f_bsize
						      : (size_t)sysconf(_SC_PAGESIZE);
	return 0;
}

static size_t
whole_pages(size_t bytes, size_t page_size)
{
	return (bytes + page_size - 1) / page_size * page_size;
}

/* What exceeds the machine could be made, and killed when it is used. */
static int
check_size(const char *name, size_t bytes, size_t page_size, struct err *err)
{
	const size_t pages = (size_t)sysconf(_SC_PHYS_PAGES);
	int rc;

	if (bytes / page_size < pages)
		return 0;
	rc = err_set(err, ERR_LIMIT, ENOMEM,
	    "%s needs %zu MiB of memory, the machine has %zu MiB in all", name,
	    bytes >> 20, pages * page_size >> 20);
	err_hint(err, "lower pool.slots, send.slots or pool.slot_size");
	return rc;
}

int
region_open(const char *name, size_t bytes, struct region *out, struct err *err)
{
	struct region region = REGION_NONE;
	int rc;

	region.page_size = (size_t)sysconf(_SC_PAGESIZE);
	rc = check_size(name, bytes, region.page_size, err);
	if (rc != 0)
		return rc;
	region.fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (region.fd < 0)
		return err_set(err, ERR_INTERNAL_ERROR, errno,
		    "cannot make memory for %s", name);
	rc = fill(name, whole_pages(bytes, region.page_size), &region, err);
	if (rc != 0) {
		region_close(&region);
		return rc;
	}
	*out = region;
	return 0;
}

/* Of that size, one number about them: "free_hugepages"; -1: the system does not say. */
static long
huge_pages(size_t page_size, const char *what)
{
	long value = -1;
	char path[96];
	FILE *file;

	(void)snprintf(path, sizeof(path),
	    "/sys/kernel/mm/hugepages/hugepages-%zukB/%s", page_size / 1024, what);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%ld", &value) != 1)
		value = -1;
	(void)fclose(file);
	return value;
}

/* Too few are left: how many are needed, how many there are, what to do. */
static int
too_few(const char *name, size_t bytes, size_t page_size, struct err *err)
{
	long free_pages = huge_pages(page_size, "free_hugepages");
	long reserved = huge_pages(page_size, "resv_hugepages");
	long total = huge_pages(page_size, "nr_hugepages");
	size_t need = bytes / page_size;
	char have[48] = "more than are free";
	int rc;

	/* The free ones include those that others have set aside. */
	if (free_pages >= 0 && reserved >= 0)
		(void)snprintf(have, sizeof(have), "%ld are free",
		    free_pages > reserved ? free_pages - reserved : 0);
	rc = err_set(err, ERR_LIMIT, ENOMEM, "%s needs %zu huge page%s of %zu KiB, %s",
	    name, need, text_plural(need), page_size / 1024, have);
	if (free_pages >= 0 && reserved >= 0 && total >= 0)
		err_hint(err,
		    "run sysctl vm.nr_hugepages=%ld (in /etc/sysctl.d for every start), or "
		    "set pool.huge_pages to false",
		    total - (free_pages - reserved) + (long)need);
	else
		err_hint(err, "raise vm.nr_hugepages, or set pool.huge_pages to false");
	return rc;
}

/* There is no file of huge pages: because the system has none, or for another reason. */
static int
no_huge_file(const char *name, int errnum, struct err *err)
{
	int rc;

	if (errnum != ENOSYS && errnum != EINVAL && errnum != ENODEV &&
	    errnum != ENOENT)
		return err_set(err, ERR_INTERNAL_ERROR, errnum,
		    "cannot make memory of huge pages for %s", name);
	rc = err_set(err, ERR_LIMIT, errnum, "%s: this system has no huge pages", name);
	err_hint(err, "set pool.huge_pages to false");
	return rc;
}

int
region_open_huge(const char *name, size_t bytes, struct region *out, struct err *err)
{
	struct region region = REGION_NONE;
	int rc;

	region.fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
	if (region.fd < 0)
		return no_huge_file(name, errno, err);
	rc = page_size_of(region.fd, &region.page_size);
	if (rc != 0) {
		region_close(&region);
		return err_set(err, ERR_INTERNAL_ERROR, -rc,
		    "cannot make memory of huge pages for %s", name);
	}
	bytes = whole_pages(bytes, region.page_size);
	rc = fill(name, bytes, &region, err);
	/* The mapping sets them aside. */
	if (rc == -ENOMEM)
		rc = too_few(name, bytes, region.page_size, err);
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
	rc = page_size_of(region.fd, &region.page_size);
	if (rc != 0)
		rc = err_set(err, ERR_INTERNAL_ERROR, -rc,
		    "cannot use the memory that was kept");
	else
		rc = map("what was kept", (size_t)st.st_size, &region, err);
	if (rc != 0) {
		region_close(&region);
		return rc;
	}
	*out = region;
	return 0;
}

int
region_open_readonly(const struct region *region, int *fd, struct err *err)
{
	char path[64];
	int opened = -1;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", region->fd);
	if (fchmod(region->fd, 0400) == 0)
		opened = open(path, O_RDONLY | O_CLOEXEC);
	if (opened < 0)
		return err_set(err,
		    errno == EMFILE || errno == ENFILE ? ERR_LIMIT : ERR_INTERNAL_ERROR,
		    errno, "cannot open the pool's memory for reading");
	*fd = opened;
	return 0;
}

int
region_populate(const struct region *region, const char *name, void (*step)(void *arg),
    void *arg, struct err *err)
{
	size_t at, bytes;

	for (at = 0; at < region->bytes; at += bytes) {
		bytes =
		    region->bytes - at < REGION_STEP ? region->bytes - at : REGION_STEP;
		while (madvise((char *)region->base + at, bytes, POPULATE_WRITE) != 0) {
			if (errno == EINTR || errno == EAGAIN)
				continue;
			if (errno == EINVAL)
				return 0;
			return err_set(err, ERR_LIMIT, errno,
			    "%s: the system has no memory for more than %zu of %zu MiB",
			    name, at >> 20, region->bytes >> 20);
		}
		if (step)
			step(arg);
	}
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
