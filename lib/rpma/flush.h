/* SPDX-License-Identifier: BSD-3-Clause */
/* flush.h: the memory that flushes by reading read into. */
#ifndef RPMAD_LIB_RPMA_FLUSH_H
#define RPMAD_LIB_RPMA_FLUSH_H

struct rpma_peer;

/* Free what the flushes of a peer's connections made. ret: see rpmai_err_note(). */
void rpmai_flush_buffer_free(struct rpma_peer *peer, int *ret);

#endif
