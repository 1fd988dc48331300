/* SPDX-License-Identifier: BSD-3-Clause */
/* log.c: the log hook of the process, its thresholds, and the default log function. */
#include <config.h>

#include "lib/rpma/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

/* What one message and its place in the code may take; longer ones are cut. */
#define MESSAGE_SIZE  1024
#define POSITION_SIZE 256
#define TIME_SIZE     64

static void log_default(enum rpma_log_level level, const char *file_name,
    const int line_no, const char *function_name, const char *message_format, ...)
    __attribute__((format(printf, 5, 6)));

static _Atomic(rpma_log_function *) log_function = log_default;
static atomic_int thresholds[RPMA_LOG_THRESHOLD_MAX] = {
	[RPMA_LOG_THRESHOLD] = RPMA_LOG_LEVEL_WARNING,
	[RPMA_LOG_THRESHOLD_AUX] = RPMA_LOG_DISABLED,
};

/* clang-format off */
static const struct {
	char tag[9];
	int priority;
} levels[] = {
	[RPMA_LOG_LEVEL_FATAL]   = { "*FATAL* ", LOG_CRIT },
	[RPMA_LOG_LEVEL_ERROR]   = { "*ERROR* ", LOG_ERR },
	[RPMA_LOG_LEVEL_WARNING] = { "*WARN*  ", LOG_WARNING },
	[RPMA_LOG_LEVEL_NOTICE]  = { "*NOTE*  ", LOG_NOTICE },
	[RPMA_LOG_LEVEL_INFO]    = { "*INFO*  ", LOG_INFO },
	[RPMA_LOG_LEVEL_DEBUG]   = { "*DEBUG* ", LOG_DEBUG },
};
/* clang-format on */

/* "Jan 02 15:04:05.000001 " of now, for people who read stderr. */
static void
time_text(char text[TIME_SIZE])
{
	struct timespec now;
	struct tm parts;
	size_t used;

	if (clock_gettime(CLOCK_REALTIME, &now) || !localtime_r(&now.tv_sec, &parts)) {
		(void)snprintf(text, TIME_SIZE, "[time error] ");
		return;
	}
	used = strftime(text, TIME_SIZE, "%b %d %H:%M:%S", &parts);
	(void)snprintf(text + used, TIME_SIZE - used, ".%06ld ", now.tv_nsec / 1000);
}

/* "file.c:  12: function: ", empty without a file name. */
static void
position_text(char text[POSITION_SIZE], const char *file_name, int line_no,
    const char *function_name)
{
	const char *slash;

	text[0] = '\0';
	if (!file_name)
		return;
	slash = strrchr(file_name, '/');
	if (snprintf(text, POSITION_SIZE, "%s: %3d: %s: ",
		slash ? slash + 1 : file_name, line_no, function_name) < 0)
		(void)snprintf(text, POSITION_SIZE, "[file info error]: ");
}

static void
log_default(enum rpma_log_level level, const char *file_name, const int line_no,
    const char *function_name, const char *message_format, ...)
{
	char message[MESSAGE_SIZE];
	char position[POSITION_SIZE];
	char when[TIME_SIZE];
	va_list args;
	int rc;

	if (level < RPMA_LOG_LEVEL_FATAL || level > RPMA_LOG_LEVEL_DEBUG)
		return;
	va_start(args, message_format);
	rc = vsnprintf(message, sizeof(message), message_format, args);
	va_end(args);
	if (rc < 0)
		return;
	position_text(position, file_name, line_no, function_name);
	if ((int)level <= atomic_load(&thresholds[RPMA_LOG_THRESHOLD_AUX])) {
		time_text(when);
		(void)fprintf(stderr, "%s[%d] %s%s%s", when, (int)gettid(),
		    levels[level].tag, position, message);
	}
	syslog(levels[level].priority, "rpma: %s%s%s", levels[level].tag, position,
	    message);
}

rpma_log_function *
rpmai_log_wanted(enum rpma_log_level level)
{
	if ((int)level >
	    atomic_load_explicit(&thresholds[RPMA_LOG_THRESHOLD], memory_order_relaxed))
		return NULL;
	return atomic_load_explicit(&log_function, memory_order_acquire);
}

int
rpma_log_set_function(rpma_log_function *new_function)
{
	atomic_store(&log_function,
	    new_function == RPMA_LOG_USE_DEFAULT_FUNCTION ? log_default : new_function);
	return 0;
}

/* Enums of a C caller may hold any number. */
static bool
is_threshold(enum rpma_log_threshold threshold)
{
	return threshold == RPMA_LOG_THRESHOLD || threshold == RPMA_LOG_THRESHOLD_AUX;
}

int
rpma_log_set_threshold(enum rpma_log_threshold threshold, enum rpma_log_level level)
{
	if (!is_threshold(threshold) || level < RPMA_LOG_DISABLED ||
	    level > RPMA_LOG_LEVEL_DEBUG)
		return RPMA_E_INVAL;
	atomic_store(&thresholds[threshold], (int)level);
	return 0;
}

int
rpma_log_get_threshold(enum rpma_log_threshold threshold, enum rpma_log_level *level)
{
	if (!is_threshold(threshold) || !level)
		return RPMA_E_INVAL;
	*level = (enum rpma_log_level)atomic_load(&thresholds[threshold]);
	return 0;
}
