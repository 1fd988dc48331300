/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the protocol's errors, and the making of an error. */
#include <config.h>

#include "lib/core/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/core/text.h"

/* Exit codes of rpmactl; rpmactl(1) lists them all. */
enum {
	EXIT_REFUSED = 1,
	EXIT_TIMEOUT = 4,
	EXIT_DENIED = 5,
	EXIT_NOT_FOUND = 6,
	EXIT_EXISTS = 7,
	EXIT_FULL = 8,
	EXIT_NOT_READY = 9,
	EXIT_DEVICE_GONE = 10,
	EXIT_PROTOCOL = 11
};

/* clang-format off */
static const struct err_info table[ERR_CODE_COUNT] = {
	[ERR_NONE]             = { "NONE", 0, 0, 0, false, "no error" },
	[ERR_PARSE_ERROR]      = { "PARSE_ERROR", -32700, EINVAL, EXIT_REFUSED, false, "the line is not valid JSON" },
	[ERR_INVALID_REQUEST]  = { "INVALID_REQUEST", -32600, EINVAL, EXIT_REFUSED, false, "the JSON is not a valid request" },
	[ERR_METHOD_NOT_FOUND] = { "METHOD_NOT_FOUND", -32601, ENOSYS, EXIT_PROTOCOL, false, "there is no such method" },
	[ERR_INVALID_PARAMS]   = { "INVALID_PARAMS", -32602, EINVAL, EXIT_REFUSED, false, "a parameter is missing, unknown, of the wrong type or out of range" },
	[ERR_INTERNAL_ERROR]   = { "INTERNAL_ERROR", -32603, EIO, EXIT_REFUSED, false, "the daemon or its system failed" },

	[ERR_NOT_READY]        = { "NOT_READY", -32000, EAGAIN, EXIT_NOT_READY, true, "the daemon has no usable device or listener yet" },
	[ERR_BUSY]             = { "BUSY", -32001, EBUSY, EXIT_FULL, true, "what the request needs is in use" },
	[ERR_DENIED]           = { "DENIED", -32002, EACCES, EXIT_DENIED, false, "the caller's role does not allow it" },
	[ERR_TIMEOUT]          = { "TIMEOUT", -32003, ETIMEDOUT, EXIT_TIMEOUT, true, "it did not happen in the time given" },
	[ERR_CANCELLED]        = { "CANCELLED", -32004, ECANCELED, EXIT_REFUSED, false, "the request was given up before it was done" },
	[ERR_TOO_LARGE]        = { "TOO_LARGE", -32005, EMSGSIZE, EXIT_REFUSED, false, "the request or message exceeds its limit in bytes" },
	[ERR_TOO_MANY_CLIENTS] = { "TOO_MANY_CLIENTS", -32006, EUSERS, EXIT_FULL, true, "no more clients are served at a time" },
	[ERR_SHUTTING_DOWN]    = { "SHUTTING_DOWN", -32007, ESHUTDOWN, EXIT_NOT_READY, false, "the daemon is stopping" },
	[ERR_UNSUPPORTED]      = { "UNSUPPORTED", -32008, EOPNOTSUPP, EXIT_REFUSED, false, "the device or this daemon cannot do that" },
	[ERR_LIMIT]            = { "LIMIT", -32009, EDQUOT, EXIT_FULL, false, "a fixed or configured limit would be exceeded" },

	[ERR_SRQ_FULL]         = { "SRQ_FULL", -32010, ENOBUFS, EXIT_FULL, true, "no free slot, or no room in the shared receive queue" },
	[ERR_SRQ_UNSUPPORTED]  = { "SRQ_UNSUPPORTED", -32011, EOPNOTSUPP, EXIT_REFUSED, false, "the device has no shared receive queues" },
	[ERR_SLOT_BUSY]        = { "SLOT_BUSY", -32012, EBUSY, EXIT_REFUSED, true, "the slot is not free" },
	[ERR_SLOT_RANGE]       = { "SLOT_RANGE", -32013, ERANGE, EXIT_REFUSED, false, "the pool has no such slot, or it is too small" },
	[ERR_NO_SUCH_CONN]     = { "NO_SUCH_CONN", -32014, ENOENT, EXIT_NOT_FOUND, false, "there is no such connection" },
	[ERR_NO_SUCH_LISTENER] = { "NO_SUCH_LISTENER", -32015, ENOENT, EXIT_NOT_FOUND, false, "there is no such listener" },
	[ERR_NO_SUCH_TOKEN]    = { "NO_SUCH_TOKEN", -32016, ENOENT, EXIT_NOT_FOUND, false, "none of the tokens names a leased message" },
	[ERR_ALREADY_EXISTS]   = { "ALREADY_EXISTS", -32017, EEXIST, EXIT_EXISTS, false, "it is there already" },
	[ERR_ADDR_NOT_RDMA]    = { "ADDR_NOT_RDMA", -32018, EADDRNOTAVAIL, EXIT_REFUSED, false, "the address belongs to no RDMA device" },
	[ERR_ADDR_IN_USE]      = { "ADDR_IN_USE", -32019, EADDRINUSE, EXIT_EXISTS, true, "somebody listens at that address and port" },
	[ERR_WRONG_DEVICE]     = { "WRONG_DEVICE", -32020, EXDEV, EXIT_REFUSED, false, "the address belongs to another device than the daemon's" },
	[ERR_ADDR_UNRESOLVED]  = { "ADDR_UNRESOLVED", -32021, EHOSTUNREACH, EXIT_REFUSED, true, "no way to the address was found" },
	[ERR_CONN_REJECTED]    = { "CONN_REJECTED", -32022, ECONNREFUSED, EXIT_REFUSED, false, "the peer refused the connection" },
	[ERR_CONN_UNREACHABLE] = { "CONN_UNREACHABLE", -32023, ENETUNREACH, EXIT_REFUSED, true, "the peer did not answer" },
	[ERR_CONN_LOST]        = { "CONN_LOST", -32024, ECONNRESET, EXIT_REFUSED, true, "the connection ended meanwhile" },
	[ERR_DEVICE_GONE]      = { "DEVICE_GONE", -32025, ENODEV, EXIT_DEVICE_GONE, true, "the RDMA device was removed" },
	[ERR_MEMLOCK_LIMIT]    = { "MEMLOCK_LIMIT", -32026, ENOMEM, EXIT_REFUSED, false, "the limit of locked memory is too low" },
	[ERR_PROVIDER]         = { "PROVIDER", -32027, EIO, EXIT_REFUSED, false, "the device's driver or library refused" },
	[ERR_CONFIG_INVALID]   = { "CONFIG_INVALID", -32028, EINVAL, EXIT_REFUSED, false, "the configuration's file cannot be read or is not valid" },
};

#define E(name) { name, #name }
static const struct {
	int errnum;
	const char *name;
} errno_names[] = {
	E(EPERM), E(ENOENT), E(ESRCH), E(EINTR), E(EIO), E(ENXIO), E(E2BIG), E(ENOEXEC),
	E(EBADF), E(ECHILD), E(EAGAIN), E(ENOMEM), E(EACCES), E(EFAULT), E(ENOTBLK),
	E(EBUSY), E(EEXIST), E(EXDEV), E(ENODEV), E(ENOTDIR), E(EISDIR), E(EINVAL),
	E(ENFILE), E(EMFILE), E(ENOTTY), E(ETXTBSY), E(EFBIG), E(ENOSPC), E(ESPIPE),
	E(EROFS), E(EMLINK), E(EPIPE), E(EDOM), E(ERANGE), E(EDEADLK), E(ENAMETOOLONG),
	E(ENOLCK), E(ENOSYS), E(ENOTEMPTY), E(ELOOP), E(ENOMSG), E(EIDRM), E(ENOSTR),
	E(ENODATA), E(ETIME), E(ENOLINK), E(EPROTO), E(EBADMSG), E(EOVERFLOW),
	E(ENOTUNIQ), E(EBADFD), E(EILSEQ), E(EUSERS), E(ENOTSOCK), E(EDESTADDRREQ),
	E(EMSGSIZE), E(EPROTOTYPE), E(ENOPROTOOPT), E(EPROTONOSUPPORT),
	E(ESOCKTNOSUPPORT), E(EOPNOTSUPP), E(EPFNOSUPPORT), E(EAFNOSUPPORT),
	E(EADDRINUSE), E(EADDRNOTAVAIL), E(ENETDOWN), E(ENETUNREACH), E(ENETRESET),
	E(ECONNABORTED), E(ECONNRESET), E(ENOBUFS), E(EISCONN), E(ENOTCONN),
	E(ESHUTDOWN), E(ETOOMANYREFS), E(ETIMEDOUT), E(ECONNREFUSED), E(EHOSTDOWN),
	E(EHOSTUNREACH), E(EALREADY), E(EINPROGRESS), E(ESTALE), E(EREMOTEIO),
	E(EDQUOT), E(ECANCELED), E(EOWNERDEAD), E(ENOTRECOVERABLE),
};
#undef E
/* clang-format on */

const struct err_info *
err_info(enum err_code code)
{
	if ((unsigned int)code >= ERR_CODE_COUNT)
		code = ERR_INTERNAL_ERROR;
	return &table[code];
}

enum err_code
err_code_by_name(const char *name)
{
	unsigned int code;

	for (code = 0; code < ERR_CODE_COUNT; code++)
		if (strcmp(table[code].name, name) == 0)
			return (enum err_code)code;
	return ERR_NONE;
}

enum err_code
err_code_by_rpc_code(int rpc_code)
{
	unsigned int code;

	for (code = 0; code < ERR_CODE_COUNT; code++)
		if (table[code].rpc_code == rpc_code)
			return (enum err_code)code;
	return ERR_NONE;
}

static void fill(char *buf, size_t size, const char *fmt, va_list args)
    RPMAD_PRINTF(3, 0);

/* A cut in the middle of a character is mended, so that every text is UTF-8. */
static void
fill(char *buf, size_t size, const char *fmt, va_list args)
{
	if (vsnprintf(buf, size, fmt, args) < 0)
		buf[0] = '\0';
	text_clean(buf);
}

int
err_set(struct err *err, enum err_code code, int errnum, const char *fmt, ...)
{
	va_list args;

	if (err) {
		err->code = code;
		err->errnum = errnum;
		err->path[0] = '\0';
		err->hint[0] = '\0';
		va_start(args, fmt);
		fill(err->text, sizeof(err->text), fmt, args);
		va_end(args);
	}
	if (code == ERR_INTERNAL_ERROR && errnum > 0)
		return -errnum;
	return -err_info(code)->errnum;
}

void
err_hint(struct err *err, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return;
	va_start(args, fmt);
	fill(err->hint, sizeof(err->hint), fmt, args);
	va_end(args);
}

void
err_path(struct err *err, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return;
	va_start(args, fmt);
	fill(err->path, sizeof(err->path), fmt, args);
	va_end(args);
}

const char *
err_errno_text(int errnum, char *buf, unsigned int size)
{
	const char *text = strerror_r(errnum, buf, size);

	/* GNU's strerror_r() may return a constant and leave buf alone. */
	if (text != buf)
		(void)snprintf(buf, size, "%s", text);
	return buf;
}

const char *
err_errno_name(int errnum)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(errno_names); i++)
		if (errno_names[i].errnum == errnum)
			return errno_names[i].name;
	return "E?";
}

int
err_errno_by_name(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(errno_names); i++)
		if (strcmp(errno_names[i].name, name) == 0)
			return errno_names[i].errnum;
	return 0;
}
