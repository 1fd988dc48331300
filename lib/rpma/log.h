/* SPDX-License-Identifier: BSD-3-Clause */
/* log.h: the way from the library's code to the log function of the program. */
#ifndef RPMAD_LIB_RPMA_LOG_H
#define RPMAD_LIB_RPMA_LOG_H

#include "lib/rpma/librpma.h"

/* The log function if messages of this level are wanted, else NULL. */
rpma_log_function *rpmai_log_wanted(enum rpma_log_level level);

/*
 * Log one message; format is a literal without the final newline. Arguments are
 * evaluated only when the message is wanted.
 */
#define RPMAI_LOG(level, format_, ...) \
	RPMAI_LOG_AT(level, __FILE__, __LINE__, __func__, format_, ##__VA_ARGS__)

/* The same on behalf of another place in the code. */
#define RPMAI_LOG_AT(level, file, line, func, format_, ...)                          \
	do {                                                                         \
		rpma_log_function *log_function_                                     \
		    __attribute__((format(printf, 5, 6))) = rpmai_log_wanted(level); \
                                                                                     \
		if (log_function_)                                                   \
			log_function_((level), (file), (line), (func), format_ "\n", \
			    ##__VA_ARGS__);                                          \
	} while (0)

#define RPMAI_ERROR(...)   RPMAI_LOG(RPMA_LOG_LEVEL_ERROR, __VA_ARGS__)
#define RPMAI_WARNING(...) RPMAI_LOG(RPMA_LOG_LEVEL_WARNING, __VA_ARGS__)
#define RPMAI_NOTICE(...)  RPMAI_LOG(RPMA_LOG_LEVEL_NOTICE, __VA_ARGS__)
#define RPMAI_INFO(...)    RPMAI_LOG(RPMA_LOG_LEVEL_INFO, __VA_ARGS__)
#define RPMAI_DEBUG(...)   RPMAI_LOG(RPMA_LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
