/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the provider's numbers. */
#include <config.h>

#include "daemon/rpma_err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "lib/rpma/librpma.h"

int
rpma_err_set(struct err *err, int rpma_rc, const char *fmt, ...)
{
	int errnum = rpma_err_last_errno();
	char what[256], reason[128];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (rpma_rc == RPMA_E_NOMEM)
		return err_set(err, ERR_INTERNAL_ERROR, ENOMEM, "%s: out of memory",
		    what);
	if (rpma_rc == RPMA_E_PROVIDER && errnum != 0)
		return err_set(err, ERR_PROVIDER, errnum, "%s: %s", what,
		    err_errno_text(errnum, reason, sizeof(reason)));
	return err_set(err, ERR_PROVIDER, 0, "%s: %s", what, rpma_err_2str(rpma_rc));
}

const char *
rpma_err_name(int rpma_rc)
{
	const char *name;
	int errnum = 0;

	if (rpma_rc == RPMA_E_NOMEM)
		errnum = ENOMEM;
	else if (rpma_rc == RPMA_E_PROVIDER)
		errnum = rpma_err_last_errno();
	name = err_errno_name(errnum);
	return err_errno_by_name(name) != 0 ? name : "unknown";
}

const char *
wc_status_name(int status)
{
	static const char *const names[] = {
		[IBV_WC_SUCCESS] = "SUCCESS",
		[IBV_WC_LOC_LEN_ERR] = "LOC_LEN_ERR",
		[IBV_WC_LOC_QP_OP_ERR] = "LOC_QP_OP_ERR",
		[IBV_WC_LOC_EEC_OP_ERR] = "LOC_EEC_OP_ERR",
		[IBV_WC_LOC_PROT_ERR] = "LOC_PROT_ERR",
		[IBV_WC_WR_FLUSH_ERR] = "WR_FLUSH_ERR",
		[IBV_WC_MW_BIND_ERR] = "MW_BIND_ERR",
		[IBV_WC_BAD_RESP_ERR] = "BAD_RESP_ERR",
		[IBV_WC_LOC_ACCESS_ERR] = "LOC_ACCESS_ERR",
		[IBV_WC_REM_INV_REQ_ERR] = "REM_INV_REQ_ERR",
		[IBV_WC_REM_ACCESS_ERR] = "REM_ACCESS_ERR",
		[IBV_WC_REM_OP_ERR] = "REM_OP_ERR",
		[IBV_WC_RETRY_EXC_ERR] = "RETRY_EXC_ERR",
		[IBV_WC_RNR_RETRY_EXC_ERR] = "RNR_RETRY_EXC_ERR",
		[IBV_WC_LOC_RDD_VIOL_ERR] = "LOC_RDD_VIOL_ERR",
		[IBV_WC_REM_INV_RD_REQ_ERR] = "REM_INV_RD_REQ_ERR",
		[IBV_WC_REM_ABORT_ERR] = "REM_ABORT_ERR",
		[IBV_WC_INV_EECN_ERR] = "INV_EECN_ERR",
		[IBV_WC_INV_EEC_STATE_ERR] = "INV_EEC_STATE_ERR",
		[IBV_WC_FATAL_ERR] = "FATAL_ERR",
		[IBV_WC_RESP_TIMEOUT_ERR] = "RESP_TIMEOUT_ERR",
		[IBV_WC_GENERAL_ERR] = "GENERAL_ERR",
	};

	if (status < 0 || (size_t)status >= ARRAY_LEN(names) || !names[status])
		return "UNKNOWN";
	return names[status];
}

/* Microseconds by code; code 0 is the longest. */
static const uint32_t rnr_us[32] = { 655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320,
	480, 640, 960, 1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720,
	40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520 };

unsigned int
rnr_timer_code(uint32_t us)
{
	unsigned int code;

	for (code = 1; code < ARRAY_LEN(rnr_us); code++)
		if (rnr_us[code] >= us)
			return code;
	return 0;
}

uint32_t
rnr_timer_us(unsigned int code)
{
	return rnr_us[code % ARRAY_LEN(rnr_us)];
}
