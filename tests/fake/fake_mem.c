/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_mem.c: protection domains and memory regions. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "tests/fake/fake_impl.h"

/* The header has a macro of this name in front of the symbol. */
#undef ibv_reg_mr

/* Where the two keys of a region differ. */
#define RKEY_BITS 0xc0de0000u

struct ibv_pd *
ibv_alloc_pd(struct ibv_context *context)
{
	int error = fake_begin("ibv_alloc_pd", "%s", "");
	struct fake_pd *pd = NULL;

	if (!error && fake_ctx_gone(context))
		error = EIO;
	if (!error) {
		pd = fake_alloc(sizeof(*pd));
		pd->pub.context = context;
		TAILQ_INSERT_TAIL(&fake_get()->pds, pd, entry);
		fake_count(FAKE_PD, 1);
	}
	return fake_end_ptr(error, pd);
}

static void
pd_free(struct fake_pd *pd)
{
	TAILQ_REMOVE(&fake_get()->pds, pd, entry);
	fake_count(FAKE_PD, -1);
	free(pd);
}

int
ibv_dealloc_pd(struct ibv_pd *pub)
{
	int error = fake_begin("ibv_dealloc_pd", "%s", "");
	struct fake_pd *pd = (struct fake_pd *)pub;

	if (pd->uses)
		error = EBUSY;
	else if (!error || !fake_options()->fail_keeps)
		pd_free(pd);
	return fake_end_verbs(error);
}

/* ---- memory regions ----------------------------------------------------------- */

static struct ibv_mr *
reg_mr(struct ibv_pd *pub, void *addr, size_t length, unsigned access)
{
	int error = fake_begin("ibv_reg_mr", "length=%zu,access=%u", length, access);
	struct fake *fake = fake_get();
	struct fake_pd *pd = (struct fake_pd *)pub;
	uint64_t limit = fake->options.memlock_bytes;
	struct fake_mr *mr = NULL;

	if (!error && fake_ctx_gone(pub->context))
		error = EIO;
	if (!error && limit && (length > limit || fake->mr_bytes > limit - length))
		error = ENOMEM;
	if (!error && fake->options.max_mr_bytes && length > fake->options.max_mr_bytes)
		error = EINVAL;
	if (!error && !fake_rma_has_access(access))
		error = EOPNOTSUPP;
	if (!error && access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE))
		error = EINVAL;
	if (!error) {
		mr = fake_alloc(sizeof(*mr));
		mr->pub.context = pub->context;
		mr->pub.pd = pub;
		mr->pub.addr = addr;
		mr->pub.length = length;
		mr->pub.lkey = fake->next_key++;
		mr->pub.rkey = mr->pub.lkey ^ RKEY_BITS;
		mr->access = access;
		pd->uses++;
		fake->mr_bytes += length;
		TAILQ_INSERT_TAIL(&fake->mrs, mr, entry);
		fake_count(FAKE_MR, 1);
	}
	return fake_end_ptr(error, mr);
}

struct ibv_mr *
ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return reg_mr(pd, addr, length, (unsigned)access);
}

struct ibv_mr *
ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
    unsigned access)
{
	(void)iova;
	return reg_mr(pd, addr, length, access);
}

static void
mr_free(struct fake_mr *mr)
{
	((struct fake_pd *)mr->pub.pd)->uses--;
	fake_get()->mr_bytes -= mr->pub.length;
	TAILQ_REMOVE(&fake_get()->mrs, mr, entry);
	fake_count(FAKE_MR, -1);
	free(mr);
}

int
ibv_dereg_mr(struct ibv_mr *pub)
{
	int error = fake_begin("ibv_dereg_mr", "%s", "");

	if (!error || !fake_options()->fail_keeps)
		mr_free((struct fake_mr *)pub);
	return fake_end_verbs(error);
}

/* The live region of a domain that covers an entry; NULL: the entry is not allowed. */
struct fake_mr *
fake_mr_find(const struct ibv_pd *pd, const struct ibv_sge *sge)
{
	struct fake_mr *mr;

	TAILQ_FOREACH(mr, &fake_get()->mrs, entry) {
		uint64_t start = (uint64_t)(uintptr_t)mr->pub.addr;

		if (mr->pub.lkey == sge->lkey && mr->pub.pd == pd &&
		    sge->addr >= start && sge->addr - start <= mr->pub.length &&
		    sge->length <= mr->pub.length - (sge->addr - start))
			return mr;
	}
	return NULL;
}

/* The live region that a far end may mean; NULL: none. */
struct fake_mr *
fake_mr_find_remote(uint32_t rkey, uint64_t addr, uint64_t len)
{
	struct fake_mr *mr;

	TAILQ_FOREACH(mr, &fake_get()->mrs, entry) {
		uint64_t start = (uint64_t)(uintptr_t)mr->pub.addr;

		if (mr->pub.rkey == rkey && addr >= start &&
		    addr - start <= mr->pub.length &&
		    len <= mr->pub.length - (addr - start))
			return mr;
	}
	return NULL;
}

int
fake_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
    struct ibv_sge *sge, uint32_t num_sge)
{
	int error = fake_begin("ibv_advise_mr", "advice=%d,flags=%u,n=%u", (int)advice,
	    flags, num_sge);
	uint32_t i;

	if (!error && !fake_options()->odp)
		error = EOPNOTSUPP;
	for (i = 0; !error && i < num_sge; i++) {
		if (!fake_mr_find(pd, &sge[i]))
			error = EFAULT;
	}
	return fake_end_verbs(error);
}

void
fake_mem_reset(void)
{
	struct fake *fake = fake_get();

	while (!TAILQ_EMPTY(&fake->mrs))
		mr_free(TAILQ_FIRST(&fake->mrs));
	while (!TAILQ_EMPTY(&fake->pds))
		pd_free(TAILQ_FIRST(&fake->pds));
}
