/* SPDX-License-Identifier: BSD-3-Clause */
/* err.c: error codes, their texts, and the provider's errno of the calling thread. */
#include <config.h>

#include "lib/rpma/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/rpma/librpma.h"
#include "lib/rpma/log.h"

/* Longest text of a provider call in the log; longer ones are cut. */
#define CALL_TEXT_SIZE 192

/* Longest text of an errno; glibc's are below 64. */
#define ERRNO_TEXT_SIZE 128

#define STRING_OF(x)  STRING_OF_(x)
#define STRING_OF_(x) #x

static _Thread_local int last_errno;

const char *
rpma_err_2str(int ret)
{
	switch (ret) {
	case 0:
		return "Success";
	case RPMA_E_NOSUPP:
		return "Not supported";
	case RPMA_E_PROVIDER:
		return "Provider error occurred";
	case RPMA_E_NOMEM:
		return "Out of memory";
	case RPMA_E_INVAL:
		return "Invalid argument";
	case RPMA_E_NO_COMPLETION:
		return "No next completion available";
	case RPMA_E_NO_EVENT:
		return "No next event available";
	case RPMA_E_AGAIN:
		return "Temporary error, try again";
	case RPMA_E_SHARED_CHANNEL:
		return "Completion channel is shared";
	case RPMA_E_NOT_SHARED_CHNL:
		return "Completion channel is not shared";
	case RPMA_E_UNKNOWN:
	default:
		return "Unknown error";
	}
}

int
rpma_err_last_errno(void)
{
	return last_errno;
}

const char *
rpma_version(void)
{
	return STRING_OF(RPMA_VERSION_MAJOR) "." STRING_OF(
	    RPMA_VERSION_MINOR) "." STRING_OF(RPMA_VERSION_PATCH);
}

int
rpmai_err_set(int ret, int errnum)
{
	last_errno = errnum > 0 ? errnum : 0;
	return ret;
}

int
rpmai_err_nomem(void)
{
	return rpmai_err_set(RPMA_E_NOMEM, ENOMEM);
}

int
rpmai_err_verbs(int rc)
{
	if (rc == -1)
		return errno;
	return rc < 0 ? -rc : rc;
}

/* Log "CALL failed: TEXT", CALL being printed by a format. */
static void __attribute__((format(printf, 5, 0))) log_failure(const char *file,
    int line, const char *func, int errnum, const char *format, va_list args)
{
	char call[CALL_TEXT_SIZE];
	char text[ERRNO_TEXT_SIZE];

	if (!rpmai_log_wanted(RPMA_LOG_LEVEL_ERROR))
		return;
	if (vsnprintf(call, sizeof(call), format, args) < 0)
		call[0] = '\0';
	RPMAI_LOG_AT(RPMA_LOG_LEVEL_ERROR, file, line, func, "%s failed: %s", call,
	    errnum > 0 ? strerror_r(errnum, text, sizeof(text)) : "no cause given");
}

int
rpmai_err_provider_at(const char *file, int line, const char *func, int errnum,
    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_failure(file, line, func, errnum, format, args);
	va_end(args);
	return rpmai_err_set(RPMA_E_PROVIDER, errnum);
}

void
rpmai_err_note_at(const char *file, int line, const char *func, int *ret, int errnum,
    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_failure(file, line, func, errnum, format, args);
	va_end(args);
	if (*ret == 0)
		*ret = rpmai_err_set(RPMA_E_PROVIDER, errnum);
}
