/* SPDX-License-Identifier: BSD-3-Clause */
/* config.h: of this build, had it headers of rdma-core 45: those of verbs.awk. */
#include_next <config.h>

#undef HAVE_DECL_IBV_WR_FLUSH
#define HAVE_DECL_IBV_WR_FLUSH 1
