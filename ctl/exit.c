/* SPDX-License-Identifier: BSD-3-Clause */
/* Exit statuses: their meanings, and the mapping of failures to them. */
#include <config.h>

#include "ctl/exit.h"

#include <errno.h>

const char *
exit_status_meaning(enum exit_status status)
{
	switch (status) {
	case EXIT_STATUS_OK:
		return "done";
	case EXIT_STATUS_FAILED:
		return "the daemon said no, a command failed, or the output could not be written";
	case EXIT_STATUS_USAGE:
		return "the command line is wrong";
	case EXIT_STATUS_NO_DAEMON:
		return "there is no daemon at the socket";
	case EXIT_STATUS_TIMED_OUT:
		return "timed out";
	case EXIT_STATUS_DENIED:
		return "permission denied";
	case EXIT_STATUS_NOT_FOUND:
		return "no such connection, listener or token";
	case EXIT_STATUS_EXISTS:
		return "it is there already";
	case EXIT_STATUS_FULL:
		return "full or busy: try again later";
	case EXIT_STATUS_NOT_READY:
		return "the daemon is not ready, or stopping";
	case EXIT_STATUS_DEVICE_GONE:
		return "the RDMA device is gone";
	case EXIT_STATUS_PROTOCOL:
		return "rpmactl and the daemon do not understand each other";
	case EXIT_STATUS_NOTHING:
		return "nothing arrived within the wait";
	case EXIT_STATUS_COUNT:
		break;
	}
	return "unknown";
}

enum exit_status
exit_status_of(int rc, const struct err *err)
{
	int code;

	switch (-rc) {
	case 0:
	case ECANCELED: /* a dry run ends here */
		return EXIT_STATUS_OK;
	case EREMOTEIO:
		code = err_info(err->code)->exit_code;
		return code > 0 && code < EXIT_STATUS_COUNT ? (enum exit_status)code
							    : EXIT_STATUS_FAILED;
	case EINVAL:
		return EXIT_STATUS_USAGE;
	case ENOTCONN:
		return EXIT_STATUS_NO_DAEMON;
	case ETIMEDOUT:
		return EXIT_STATUS_TIMED_OUT;
	case EACCES:
		return EXIT_STATUS_DENIED;
	case EPROTO:
		return EXIT_STATUS_PROTOCOL;
	default:
		return EXIT_STATUS_FAILED;
	}
}
