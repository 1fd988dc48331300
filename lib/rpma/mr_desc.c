/* SPDX-License-Identifier: BSD-3-Clause */
/* mr_desc.c: descriptors of memory regions, and the remote regions made of them. */
#include <config.h>

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rpma/err.h"
#include "lib/rpma/librpma.h"
#include "lib/rpma/log.h"
#include "lib/rpma/mr.h"

/*
 * The descriptor: little endian, without gaps. Programs keep it in buffers of 24 bytes,
 * and no bit of it is spare.
 */
enum {
	AT_ADDR = 0,  /* 8 bytes */
	AT_SIZE = 8,  /* 8 bytes */
	AT_RKEY = 16, /* 4 bytes */
	AT_USAGE = 20,
	DESCRIPTOR_SIZE = 21,
};

#define FLUSH_USAGES \
	(RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT)

int
rpma_mr_get_descriptor(const struct rpma_mr_local *mr, void *desc)
{
	unsigned char *bytes = desc;
	uint64_t addr;
	uint64_t size;
	uint32_t rkey;

	if (!mr || !desc)
		return RPMA_E_INVAL;
	addr = htole64(mr->base);
	size = htole64(mr->size);
	rkey = htole32(mr->ibv_mr->rkey);
	memcpy(bytes + AT_ADDR, &addr, sizeof(addr));
	memcpy(bytes + AT_SIZE, &size, sizeof(size));
	memcpy(bytes + AT_RKEY, &rkey, sizeof(rkey));
	bytes[AT_USAGE] = mr->usage;
	return 0;
}

int
rpma_mr_get_descriptor_size(const struct rpma_mr_local *mr, size_t *desc_size)
{
	if (!mr || !desc_size)
		return RPMA_E_INVAL;
	*desc_size = DESCRIPTOR_SIZE;
	return 0;
}

int
rpma_mr_remote_from_descriptor(const void *desc, size_t desc_size,
    struct rpma_mr_remote **mr_ptr)
{
	const unsigned char *bytes = desc;
	struct rpma_mr_remote *mr;
	uint64_t addr;
	uint64_t size;
	uint32_t rkey;

	if (!desc || !mr_ptr)
		return RPMA_E_INVAL;
	if (desc_size < DESCRIPTOR_SIZE) {
		RPMAI_ERROR("a descriptor of a memory region has %d bytes, not %zu",
		    DESCRIPTOR_SIZE, desc_size);
		return RPMA_E_INVAL;
	}
	if (!bytes[AT_USAGE]) {
		RPMAI_ERROR("the descriptor is of a memory region without any use");
		return RPMA_E_INVAL;
	}
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return rpmai_err_nomem();
	memcpy(&addr, bytes + AT_ADDR, sizeof(addr));
	memcpy(&size, bytes + AT_SIZE, sizeof(size));
	memcpy(&rkey, bytes + AT_RKEY, sizeof(rkey));
	mr->base = le64toh(addr);
	mr->size = le64toh(size);
	mr->rkey = le32toh(rkey);
	mr->usage = bytes[AT_USAGE];
	RPMAI_DEBUG("remote region: addr=%#" PRIx64 " size=%" PRIu64 " rkey=%#" PRIx32
		    " usage=%#x",
	    mr->base, mr->size, mr->rkey, (unsigned int)mr->usage);
	*mr_ptr = mr;
	return 0;
}

int
rpma_mr_remote_delete(struct rpma_mr_remote **mr_ptr)
{
	if (!mr_ptr)
		return RPMA_E_INVAL;
	free(*mr_ptr);
	*mr_ptr = NULL;
	return 0;
}

int
rpma_mr_remote_get_size(const struct rpma_mr_remote *mr, size_t *size)
{
	if (!mr || !size)
		return RPMA_E_INVAL;
	*size = mr->size;
	return 0;
}

int
rpma_mr_remote_get_flush_type(const struct rpma_mr_remote *mr, int *flush_type)
{
	if (!mr || !flush_type)
		return RPMA_E_INVAL;
	*flush_type = mr->usage & FLUSH_USAGES;
	return 0;
}

int
rpma_mr_remote_get_usage(const struct rpma_mr_remote *mr, int *usage)
{
	if (!mr || !usage)
		return RPMA_E_INVAL;
	*usage = mr->usage;
	return 0;
}

int
rpma_mr_remote_get_addr(const struct rpma_mr_remote *mr, uint64_t *addr)
{
	if (!mr || !addr)
		return RPMA_E_INVAL;
	*addr = mr->base;
	return 0;
}

int
rpma_mr_remote_get_rkey(const struct rpma_mr_remote *mr, uint32_t *rkey)
{
	if (!mr || !rkey)
		return RPMA_E_INVAL;
	*rkey = mr->rkey;
	return 0;
}
