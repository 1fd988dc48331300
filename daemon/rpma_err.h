/* SPDX-License-Identifier: BSD-3-Clause */
/* librpma's errors and verbs' numbers in the daemon's words. */
#ifndef RPMAD_DAEMON_RPMA_ERR_H
#define RPMAD_DAEMON_RPMA_ERR_H

#include <stdint.h>

#include "lib/core/compiler.h"
#include "lib/core/err.h"

/*
 * Fill err from the result of a librpma call: ERR_PROVIDER with the provider's errno,
 * or ERR_INTERNAL_ERROR for want of memory. fmt says what could not be done. Returns as
 * err_set().
 */
int rpma_err_set(struct err *err, int rpma_rc, const char *fmt, ...) RPMAD_PRINTF(3, 4);

/*
 * The cause of a librpma call's result by the name of its errno, "ENOMEM"; "unknown" when
 * none was given, or one without a name. Not later than the thread's next call.
 */
const char *rpma_err_name(int rpma_rc);

/* "SUCCESS", "LOC_LEN_ERR" ...: an enum ibv_wc_status without its prefix. */
const char *wc_status_name(int status);

/*
 * The code of the shortest RNR NAK timer that is not below the given time.
 * source   InfiniBand Architecture Specification volume 1, table 45 (9.7.5.2.8)
 */
unsigned int rnr_timer_code(uint32_t us);
/* Its time; code 0 .. 31. */
uint32_t rnr_timer_us(unsigned int code);

#endif
