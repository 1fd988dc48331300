/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors: one table of all error names of the protocol, and an error with its sentence.
 */
#ifndef RPMAD_LIB_CORE_ERR_H
#define RPMAD_LIB_CORE_ERR_H

#include <stdbool.h>

#include "lib/core/compiler.h"

/* The error names of the protocol; the table in err.c has a row for each. */
enum err_code {
	ERR_NONE,
	/* JSON-RPC 2.0, section 5.1 */
	ERR_PARSE_ERROR,
	ERR_INVALID_REQUEST,
	ERR_METHOD_NOT_FOUND,
	ERR_INVALID_PARAMS,
	ERR_INTERNAL_ERROR,
	/* the daemon */
	ERR_NOT_READY,
	ERR_BUSY,
	ERR_DENIED,
	ERR_TIMEOUT,
	ERR_CANCELLED,
	ERR_TOO_LARGE,
	ERR_TOO_MANY_CLIENTS,
	ERR_SHUTTING_DOWN,
	ERR_UNSUPPORTED,
	ERR_LIMIT,
	/* its subject */
	ERR_SRQ_FULL,
	ERR_SRQ_UNSUPPORTED,
	ERR_SLOT_BUSY,
	ERR_SLOT_RANGE,
	ERR_NO_SUCH_CONN,
	ERR_NO_SUCH_LISTENER,
	ERR_NO_SUCH_TOKEN,
	ERR_ALREADY_EXISTS,
	ERR_ADDR_NOT_RDMA,
	ERR_ADDR_IN_USE,
	ERR_WRONG_DEVICE,
	ERR_ADDR_UNRESOLVED,
	ERR_CONN_REJECTED,
	ERR_CONN_UNREACHABLE,
	ERR_CONN_LOST,
	ERR_DEVICE_GONE,
	ERR_MEMLOCK_LIMIT,
	ERR_PROVIDER,
	ERR_CONFIG_INVALID,
	ERR_CODE_COUNT
};

/* One row of the table. */
struct err_info {
	const char *name;    /* "SRQ_FULL"; what scripts match */
	int rpc_code;        /* -32010 */
	int errnum;          /* the errno that a function returns (negated) with it */
	int exit_code;       /* of rpmactl */
	bool retryable;      /* the same request may succeed later */
	const char *meaning; /* one line, for the manual */
};

/* The row of a code; never NULL (an unknown code gives that of ERR_INTERNAL_ERROR). */
const struct err_info *err_info(enum err_code code);

/* The code with that name, or of that JSON-RPC number; otherwise ERR_NONE. */
enum err_code err_code_by_name(const char *name);
enum err_code err_code_by_rpc_code(int rpc_code);

/* An error on its way to the person who must act. All texts end without a full stop. */
struct err {
	enum err_code code;
	int errnum;     /* the system's or provider's cause, 0 when there is none */
	char path[128]; /* "params.count", "pool.slots"; "" when it concerns no input */
	char text[512]; /* what, which one, why */
	char hint[512]; /* the remedy; "" when the text says it all */
};

/*
 * Fill *err (may be NULL) and return -err_info(code)->errnum, so that the failing line
 * is one statement; ERR_INTERNAL_ERROR, which stands for any failure of the system,
 * returns -errnum when there is one. errnum (positive) becomes the cause; path and hint
 * become empty. Texts too long are cut; control characters and what is no UTF-8 become
 * '?', here and below.
 */
int err_set(struct err *err, enum err_code code, int errnum, const char *fmt, ...)
    RPMAD_PRINTF(4, 5);

/* Add the remedy, or the path, to an error that was set. err may be NULL. */
void err_hint(struct err *err, const char *fmt, ...) RPMAD_PRINTF(2, 3);
void err_path(struct err *err, const char *fmt, ...) RPMAD_PRINTF(2, 3);

/* strerror(3) without its shared buffer: a text in buf, which is returned. */
const char *err_errno_text(int errnum, char *buf, unsigned int size);

/* The symbolic name of an errno ("ENOMEM"), or "E?" when it has none. */
const char *err_errno_name(int errnum);

/* The errno of that symbolic name, or 0. */
int err_errno_by_name(const char *name);

#endif
