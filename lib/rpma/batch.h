/* SPDX-License-Identifier: BSD-3-Clause */
/* batch.h: linked receives that an SRQ keeps ready, so that a batch has little to fill in. */
#ifndef RPMAD_LIB_RPMA_BATCH_H
#define RPMAD_LIB_RPMA_BATCH_H

struct rpmai_batch;

/* Allocate one, to be given to free(3). NULL: out of memory. */
struct rpmai_batch *rpmai_batch_new(void);

#endif
