/* SPDX-License-Identifier: BSD-3-Clause */
/* The log: the level, the sink, and the sink that writes to stderr. */
#include <config.h>

#include "lib/core/log.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/core/text.h"

#define TEXT_MAX       1536 /* bytes of a line's text; what is over is cut */
#define LINE_MAX_BYTES (TEXT_MAX + 128)

/* The only mutable state of file scope in the tree: a log that must be handed through
 * every call is a log that is not written to. */
static enum log_level max_level = LOG_LEVEL_NOTICE;
static log_sink_fn sink_fn;
static void *sink_arg;

const char *const log_level_words[] = {
	[LOG_LEVEL_ERROR] = "error",
	[LOG_LEVEL_WARNING] = "warning",
	[LOG_LEVEL_NOTICE] = "notice",
	[LOG_LEVEL_INFO] = "info",
	[LOG_LEVEL_DEBUG] = "debug",
	NULL,
};
#define LEVELS (ARRAY_LEN(log_level_words) - 1)

const char *
log_level_name(enum log_level level)
{
	if ((size_t)level >= LEVELS)
		return "?";
	return log_level_words[level];
}

bool
log_level_parse(const char *name, enum log_level *level)
{
	unsigned int i;

	for (i = 0; i < LEVELS; i++) {
		if (strcmp(log_level_words[i], name) == 0) {
			*level = (enum log_level)i;
			return true;
		}
	}
	return false;
}

void
log_set_level(enum log_level level)
{
	max_level = level;
}

enum log_level
log_get_level(void)
{
	return max_level;
}

void
log_set_sink(log_sink_fn sink, void *arg)
{
	sink_fn = sink;
	sink_arg = arg;
}

/* JOURNAL_STREAM is "device:inode" of the journal's stream, see systemd.exec(5). */
static bool
stderr_is_journal(void)
{
	const char *want = getenv("JOURNAL_STREAM");
	struct stat st;
	char have[64];

	if (!want || fstat(STDERR_FILENO, &st) != 0)
		return false;
	(void)snprintf(have, sizeof(have), "%ju:%ju", (uintmax_t)st.st_dev,
	    (uintmax_t)st.st_ino);
	return strcmp(have, want) == 0;
}

/* Write and lose what cannot be written; a reader that has gone raises no SIGPIPE. */
static void
write_quietly(const char *line, size_t len)
{
	const struct timespec now = { 0, 0 };
	bool was_pending;
	sigset_t pipe_set, old_set, pending;
	ssize_t n;

	(void)sigemptyset(&pipe_set);
	(void)sigaddset(&pipe_set, SIGPIPE);
	(void)sigemptyset(&pending);
	(void)sigpending(&pending);
	was_pending = sigismember(&pending, SIGPIPE) == 1;
	if (sigprocmask(SIG_BLOCK, &pipe_set, &old_set) != 0)
		return;
	while (len > 0) {
		n = write(STDERR_FILENO, line, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		line += n;
		len -= (size_t)n;
	}
	if (!was_pending)
		(void)sigtimedwait(&pipe_set, NULL, &now);
	(void)sigprocmask(SIG_SETMASK, &old_set, NULL);
}

static void
write_stderr(enum log_level level, const char *tag, const char *text)
{
	char line[LINE_MAX_BYTES];
	int saved_errno = errno;
	int len;

	/* syslog's number of an error is 3; those after it follow in order. */
	if (stderr_is_journal())
		len = snprintf(line, sizeof(line), "<%u>%s: %s\n",
		    3u + (unsigned int)level, tag, text);
	else
		len = snprintf(line, sizeof(line), "%s %s: %s\n", log_level_name(level),
		    tag, text);
	if (len > 0 && (size_t)len >= sizeof(line)) {
		len = (int)sizeof(line) - 1;
		line[len - 1] = '\n';
	}
	if (len > 0)
		write_quietly(line, (size_t)len);
	errno = saved_errno;
}

static void emit(enum log_level level, const char *tag, const char *fmt, va_list args)
    RPMAD_PRINTF(3, 0);

static void
emit(enum log_level level, const char *tag, const char *fmt, va_list args)
{
	char text[TEXT_MAX];

	if (level > max_level)
		return;
	if (vsnprintf(text, sizeof(text), fmt, args) < 0)
		return;
	/* A peer's name or a client's text must not forge another line. */
	text_clean(text);
	if (sink_fn)
		sink_fn(sink_arg, level, tag, text);
	else
		write_stderr(level, tag, text);
}

void
log_error(const char *tag, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	emit(LOG_LEVEL_ERROR, tag, fmt, args);
	va_end(args);
}

void
log_warning(const char *tag, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	emit(LOG_LEVEL_WARNING, tag, fmt, args);
	va_end(args);
}

void
log_notice(const char *tag, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	emit(LOG_LEVEL_NOTICE, tag, fmt, args);
	va_end(args);
}

void
log_info(const char *tag, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	emit(LOG_LEVEL_INFO, tag, fmt, args);
	va_end(args);
}

void
log_debug(const char *tag, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	emit(LOG_LEVEL_DEBUG, tag, fmt, args);
	va_end(args);
}

bool
log_limit_pass(struct log_limit *limit, unsigned long long now_ms,
    unsigned int *suppressed)
{
	if (now_ms - limit->window_start_ms >= limit->interval_ms) {
		limit->window_start_ms = now_ms;
		limit->used = 0;
	}
	if (limit->used >= limit->burst) {
		limit->suppressed++;
		return false;
	}
	limit->used++;
	*suppressed = limit->suppressed;
	limit->suppressed = 0;
	return true;
}
