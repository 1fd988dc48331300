/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * err.h: how a failure becomes a result of the library: the code, the provider's errno
 * kept per thread, and one line in the log.
 *
 * Functions that are shared between files of the library but not public begin with
 * rpmai_, so that programs linking the static library may use short names of their own.
 */
#ifndef RPMAD_LIB_RPMA_ERR_H
#define RPMAD_LIB_RPMA_ERR_H

/*
 * Remember the provider's cause of a result.
 *
 * errnum   a positive errno; anything else is remembered as 0, "not given"
 * return   ret
 */
int rpmai_err_set(int ret, int errnum);

/* An allocation of our own failed: RPMA_E_NOMEM, with ENOMEM as its cause. */
int rpmai_err_nomem(void);

/*
 * What a verbs call that answers with an errno meant by rc: some drivers negate it,
 * others answer -1 and set errno.
 */
int rpmai_err_verbs(int rc);

/*
 * A call of the provider failed: log it, remember its errno.
 *
 * errnum   positive errno, 0 when there is none
 * format   the call, as printf(3); " failed: ..." is added
 * return   RPMA_E_PROVIDER
 */
#define rpmai_err_provider(errnum, ...) \
	rpmai_err_provider_at(__FILE__, __LINE__, __func__, (errnum), __VA_ARGS__)

int rpmai_err_provider_at(const char *file, int line, const char *func, int errnum,
    const char *format, ...) __attribute__((format(printf, 5, 6), cold));

/*
 * A step of taking something apart failed. It is logged; *ret becomes RPMA_E_PROVIDER,
 * and errnum is remembered, only when *ret is still 0: the first failure is the one to
 * report.
 */
#define rpmai_err_note(ret, errnum, ...) \
	rpmai_err_note_at(__FILE__, __LINE__, __func__, (ret), (errnum), __VA_ARGS__)

void rpmai_err_note_at(const char *file, int line, const char *func, int *ret,
    int errnum, const char *format, ...) __attribute__((format(printf, 6, 7), cold));

#endif
