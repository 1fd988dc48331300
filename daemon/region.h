/* SPDX-License-Identifier: BSD-3-Clause */
/* A sealed memfd and its mapping: memory that neither fork nor a peer can pull away. */
#ifndef RPMAD_DAEMON_REGION_H
#define RPMAD_DAEMON_REGION_H

#include <stddef.h>

#include "lib/core/compiler.h"
#include "lib/core/err.h"

/* Zero-initialise with fd -1 before use: REGION_NONE. */
struct region {
	int fd;
	void *base;
	size_t bytes;     /* whole pages */
	size_t page_size; /* bytes */
};

#define REGION_NONE                                                \
	{                                                          \
		.fd = -1, .base = NULL, .bytes = 0, .page_size = 0 \
	}

/*
 * Make one of at least the given size: MAP_SHARED (so there is no copy-on-write after a
 * fork, and the pages that the device knows stay those that we read), zero-filled, mode
 * 0600, close-on-exec, sealed against shrinking, growing and further seals, left out of
 * core dumps.
 *
 * name     what /proc shows
 * return   0; negative errno with err: ERR_LIMIT the machine has less memory
 * source   memfd_create(2), fcntl(2) F_ADD_SEALS
 */
RPMAD_MUST_USE int region_open(const char *name, size_t bytes, struct region *out,
    struct err *err);
/*
 * Map one that an earlier process made. The descriptor stays the caller's.
 * return   0; negative errno with err: it is too small, it could shrink, no memory
 */
RPMAD_MUST_USE int region_adopt(int fd, size_t bytes_min, struct region *out,
    struct err *err);
/*
 * The same of the system's huge pages, of its default size: fewer entries in the tables of
 * processor and device. They are set aside for it, so that none can be missing later.
 *
 * return   0; negative errno with err, whose hint says how to get them
 * source   memfd_create(2) MFD_HUGETLB, the kernel's admin-guide/mm/hugetlbpage
 */
RPMAD_MUST_USE int region_open_huge(const char *name, size_t bytes, struct region *out,
    struct err *err);
/*
 * Another descriptor of it that can only read: neither write(2) nor a mapping for writing
 * works through it, and only root can open it anew for more, for nobody else may write to
 * the file from now on. A seal against writing would keep the next process from mapping
 * it.
 *
 * return   0, the descriptor being the caller's; negative errno with err: no more
 *          descriptors (ERR_LIMIT)
 * source   memfd_create(2), proc(5)
 */
RPMAD_MUST_USE int region_open_readonly(const struct region *region, int *fd,
    struct err *err);
/*
 * Have it given its memory now, REGION_STEP bytes at a time: tens of GiB take the system a while,
 * in which to register them with a device would hold up everything. What is in it stays.
 *
 * step     called after each step, by whoever wants to show that it goes on; NULL: nobody does
 * return   0, also where the system (before Linux 5.14) cannot do that, and gives it when it is
 *          used; ERR_LIMIT there is not that much
 * source   madvise(2) MADV_POPULATE_WRITE
 */
RPMAD_MUST_USE int region_populate(const struct region *region, const char *name,
    void (*step)(void *arg), void *arg, struct err *err);
#define REGION_STEP 67108864u
void region_close(struct region *region);

#endif
