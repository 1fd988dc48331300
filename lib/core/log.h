/* SPDX-License-Identifier: BSD-3-Clause */
/* The log: levels, tags, and one replaceable sink; with the level its only state. */
#ifndef RPMAD_LIB_CORE_LOG_H
#define RPMAD_LIB_CORE_LOG_H

#include <stdbool.h>

#include "lib/core/compiler.h"

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARNING,
	LOG_LEVEL_NOTICE,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG,
};

/* Their names, by number, and NULL: the words of a parameter or a key. */
extern const char *const log_level_words[];
/* "error" .. "debug". */
const char *log_level_name(enum log_level level);
/* Whether name is a level; *level is written then. */
bool log_level_parse(const char *name, enum log_level *level);

/* A sink gets complete lines without a newline. */
typedef void (*log_sink_fn)(void *arg, enum log_level level, const char *tag,
    const char *text);

void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/*
 * Where lines go; NULL: stderr, each line with sd-daemon(3)'s "<N>" prefix when stderr
 * is the journal (JOURNAL_STREAM names it), else "level tag: text".
 */
void log_set_sink(log_sink_fn sink, void *arg);

/*
 * tag: the module's name. Text: lower case, ids and key=value, no full stop, no
 * newline: control characters and what is no UTF-8 become '?'. errno is kept.
 */
void log_error(const char *tag, const char *fmt, ...) RPMAD_PRINTF(2, 3);
void log_warning(const char *tag, const char *fmt, ...) RPMAD_PRINTF(2, 3);
void log_notice(const char *tag, const char *fmt, ...) RPMAD_PRINTF(2, 3);
void log_info(const char *tag, const char *fmt, ...) RPMAD_PRINTF(2, 3);
void log_debug(const char *tag, const char *fmt, ...) RPMAD_PRINTF(2, 3);

/*
 * A limiter for lines that a peer can cause: log_limit_pass() is true at most burst
 * times in each interval_ms; what was held back is counted and returned through
 * *suppressed by the first call that passes again. Zero-initialise apart from the two
 * settings.
 */
struct log_limit {
	unsigned int burst;
	unsigned int interval_ms;
	unsigned int used;
	unsigned int suppressed;
	unsigned long long window_start_ms;
};
bool log_limit_pass(struct log_limit *limit, unsigned long long now_ms,
    unsigned int *suppressed);

#endif
