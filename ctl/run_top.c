/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * top: look at the daemon again and again, and draw what was seen. Requests are sent
 * ahead and their replies taken when they come, so that keys work however slow it is.
 */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "ctl/args.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/interrupt.h"
#include "ctl/keys.h"
#include "ctl/run.h"
#include "ctl/terminal.h"
#include "ctl/top.h"
#include "lib/core/num.h"
#include "lib/core/usock.h"

#define INTERVAL_MIN_MS 100u
#define INTERVAL_MAX_MS 60000u
#define ONCE_WIDTH      80u
#define ONCE_WIDTH_MIN  20u
#define ONCE_WIDTH_MAX  1000u

struct top_options {
	uint64_t interval_ms;
	unsigned int sort; /* enum top_sort */
	bool is_once;
};

/* clang-format off */
#define AT(field) offsetof(struct top_options, field)
static const struct param_spec specs[] = {
	{ .name = "interval_ms", .type = PARAM_UINT, .min = INTERVAL_MIN_MS, .max = INTERVAL_MAX_MS, .unit = "ms", .def = "1000", .option = "d",
	  .doc = "time from one look to the next", .offset = AT(interval_ms) },
	{ .name = "sort", .type = PARAM_ENUM, .words = top_sort_names, .def = "rate",
	  .doc = "order of the connections at first", .offset = AT(sort) },
	{ .name = "once", .type = PARAM_BOOL, .def = "false",
	  .doc = "print one picture as plain text, of two looks, and exit", .offset = AT(is_once) },
};
/* clang-format on */
const struct param_table run_top_options = { specs, ARRAY_LEN(specs) };

/* What a look consists of, in the order in which it is asked for. */
enum {
	LOOK_STATUS,
	LOOK_STATS,
	LOOK_CONNS,
	LOOK_COUNT
};
static const enum method_id look_methods[LOOK_COUNT] = {
	[LOOK_STATUS] = METHOD_DAEMON_STATUS,
	[LOOK_STATS] = METHOD_STATS_GET,
	[LOOK_CONNS] = METHOD_CONN_LIST,
};

struct screen {
	struct ctl *ctl;
	struct terminal terminal;
	struct keys keys;
	struct top top;
	struct top_look look;
	size_t asked; /* of the results; LOOK_COUNT: none is waited for */
	json_t *results[LOOK_COUNT]; /* those that are there; owned */
	uint64_t next_ms;            /* when the next look is due, CLOCK_MONOTONIC */
	bool is_old;                 /* what is on the screen */
	struct err away;             /* text "": the daemon answers */
};

/* ---- looks ---- */

static void
drop_results(struct screen *screen)
{
	size_t i;

	for (i = 0; i < LOOK_COUNT; i++) {
		json_decref(screen->results[i]);
		screen->results[i] = NULL;
	}
	screen->asked = LOOK_COUNT;
}

/* All results are there: make them part of the picture. */
static void
take_look(struct screen *screen)
{
	struct top_sample sample;
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	top_sample_read(&sample, screen->results[LOOK_STATUS],
	    screen->results[LOOK_STATS], screen->results[LOOK_CONNS], usock_now_ms(),
	    (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
	top_add(&screen->top, &sample);
	top_sort(&screen->top.now, screen->look.sort);
	drop_results(screen);
	screen->is_old = true;
}

/*
 * The daemon did not answer. Once it has been seen it is waited for: it may have been
 * restarted. return   0, or rc for the end
 */
static int
lose(struct screen *screen, int rc)
{
	struct ctl *ctl = screen->ctl;

	if (rc == -EINTR || rc == -EPROTO || !screen->top.has_look)
		return rc;
	drop_results(screen);
	client_close(ctl->client);
	ctl->client = NULL;
	screen->away = ctl->err;
	ctl->err = (struct err){ 0 };
	screen->next_ms = usock_now_ms() + screen->look.interval_ms;
	screen->is_old = true;
	return 0;
}

/* Send the request whose turn it is. */
static int
ask(struct screen *screen)
{
	struct ctl *ctl = screen->ctl;
	int rc = ctl_connect(ctl);

	if (rc == 0)
		rc = client_begin(ctl->client,
		    methods[look_methods[screen->asked]].name, NULL, 0, &ctl->err);
	return rc == 0 ? 0 : lose(screen, rc);
}

/* Begin a look when it is due. */
static int
begin_look(struct screen *screen)
{
	const uint64_t now = usock_now_ms();

	if (screen->asked < LOOK_COUNT || now < screen->next_ms)
		return 0;
	screen->next_ms = now + screen->look.interval_ms;
	screen->asked = 0;
	return ask(screen);
}

/* Take the reply, if it is there, and ask for the next. */
static int
go_on(struct screen *screen)
{
	struct ctl *ctl = screen->ctl;
	int rc;

	if (screen->asked == LOOK_COUNT)
		return 0;
	rc = ctl_take(ctl, look_methods[screen->asked], &screen->results[screen->asked],
	    &ctl->err);
	if (rc == -EAGAIN)
		return 0;
	if (rc != 0)
		return lose(screen, rc);
	if (++screen->asked < LOOK_COUNT)
		return ask(screen);
	screen->away = (struct err){ 0 };
	take_look(screen);
	return 0;
}

/* ---- what is seen ---- */

/*
 * Lines from the upper left corner, each on an empty one: to empty what is behind the
 * text would take its last character at the edge with it.
 */
static void
put_lines(struct buf *out, const char *lines)
{
	const char *end;

	buf_puts(out, "\033[H");
	while ((end = strchr(lines, '\n')) != NULL) {
		buf_puts(out, end[1] == '\0' ? "\033[J" : "\033[K");
		buf_add(out, lines, (size_t)(end - lines));
		if (end[1] != '\0')
			buf_puts(out, "\r\n");
		lines = end + 1;
	}
}

static int
draw(struct screen *screen)
{
	struct ctl *ctl = screen->ctl;
	struct top_look *look = &screen->look;
	struct buf lines = { 0 };

	if (!screen->is_old || !screen->top.has_look)
		return 0;
	screen->is_old = false;
	terminal_size(&screen->terminal, &look->width, &look->height);
	look->away = screen->away.text[0] != '\0' ? screen->away.text : NULL;
	look->first = top_draw(&screen->top, look, &lines);
	put_lines(&ctl->out.buf, buf_text(&lines));
	buf_free(&lines);
	return out_flush(&ctl->out, &ctl->err);
}

/* ---- keys and signals ---- */

/* The next longer or shorter of the usual times. */
static uint64_t
other_interval(uint64_t ms, bool is_longer)
{
	static const uint64_t usual[] = { INTERVAL_MIN_MS, 200, 500, 1000, 2000, 5000,
		10000, 30000, INTERVAL_MAX_MS };
	size_t i;

	if (is_longer) {
		for (i = 0; i < ARRAY_LEN(usual); i++)
			if (usual[i] > ms)
				return usual[i];
	} else {
		for (i = ARRAY_LEN(usual); i > 0; i--)
			if (usual[i - 1] < ms)
				return usual[i - 1];
	}
	return ms;
}

static void
set_interval(struct screen *screen, bool is_longer)
{
	const uint64_t was_ms = screen->look.interval_ms;

	screen->look.interval_ms = other_interval(was_ms, is_longer);
	screen->next_ms += screen->look.interval_ms - was_ms;
}

static void
set_sort(struct screen *screen, unsigned int sort)
{
	screen->look.sort = sort % TOP_SORT_COUNT;
	screen->look.first = 0;
	top_sort(&screen->top.now, screen->look.sort);
}

/* return   0; -EINTR: the end */
static int
do_key(struct screen *screen, int key)
{
	static const char sort_keys[] = "rmhai"; /* in the order of enum top_sort */
	const char *sort_key;

	screen->is_old = true;
	switch (key) {
	case KEY_NONE:
		return 0;
	case 'q':
	case 'Q':
		return -EINTR;
	case 's':
	case KEY_RIGHT:
		set_sort(screen, screen->look.sort + 1);
		return 0;
	case KEY_LEFT:
		set_sort(screen, screen->look.sort + TOP_SORT_COUNT - 1);
		return 0;
	case '+':
	case '-':
		set_interval(screen, key == '+');
		return 0;
	case KEY_DOWN:
		screen->look.first++;
		return 0;
	case KEY_UP:
		screen->look.first -= screen->look.first > 0;
		return 0;
	default:
		sort_key = key < KEY_UP ? strchr(sort_keys, key) : NULL;
		if (sort_key)
			set_sort(screen, (unsigned int)(sort_key - sort_keys));
		return 0;
	}
}

static int
read_keys(struct screen *screen)
{
	unsigned char bytes[64];
	ssize_t i, n = read(screen->terminal.in_fd, bytes, sizeof(bytes));
	int rc = 0;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n <= 0)
		return -EINTR; /* nobody is there any more */
	for (i = 0; i < n && rc == 0; i++)
		rc = do_key(screen, keys_take(&screen->keys, bytes[i]));
	return rc;
}

static int
read_signals(struct screen *screen)
{
	for (;;) {
		switch (terminal_signal(&screen->terminal)) {
		case TERMINAL_NOTHING:
			return 0;
		case TERMINAL_END:
			return -EINTR;
		case TERMINAL_STOP:
			terminal_stop(&screen->terminal);
			break;
		case TERMINAL_CHANGED:
			terminal_renew(&screen->terminal);
			break;
		}
		screen->is_old = true;
	}
}

/* Until when there is nothing to do, unless something happens. */
static int
wait_ms(const struct screen *screen)
{
	const uint64_t now = usock_now_ms();
	const uint64_t until = screen->asked < LOOK_COUNT
	    ? client_take_deadline_ms(screen->ctl->client)
	    : screen->next_ms;

	return until <= now ? 0 : until - now > INT_MAX ? INT_MAX : (int)(until - now);
}

/* Wait for what comes first, and deal with it. return   0; -EINTR: the end; others */
static int
step(struct screen *screen)
{
	struct pollfd fds[] = {
		{ .fd = screen->terminal.in_fd, .events = POLLIN },
		{ .fd = screen->terminal.signal_fd, .events = POLLIN },
		{ .fd = screen->ctl->interrupt_fd, .events = POLLIN },
		{ .fd = -1, .events = POLLIN },
	};
	int rc = begin_look(screen);

	if (rc == 0)
		rc = draw(screen);
	if (rc != 0)
		return rc;
	if (screen->asked < LOOK_COUNT)
		fds[3].fd = client_fd(screen->ctl->client);
	if (poll(fds, ARRAY_LEN(fds), wait_ms(screen)) < 0)
		return 0; /* EINTR */
	if (fds[2].revents)
		return -EINTR;
	if (fds[1].revents)
		rc = read_signals(screen);
	if (rc == 0 && fds[0].revents)
		rc = read_keys(screen);
	return rc == 0 ? go_on(screen) : rc;
}

/* ---- the command ---- */

static int
run_live(struct screen *screen)
{
	struct ctl *ctl = screen->ctl;
	int rc = ctl_watch(ctl);

	if (rc == 0)
		rc = ctl_connect(ctl);
	if (rc != 0)
		return rc == -EINTR ? 0 : rc;
	/* Who waits now for the daemon looks at the screen meanwhile. */
	ctl->settings.wait_daemon_ms = 0;
	screen->look.has_keys = isatty(STDIN_FILENO) == 1;
	rc = terminal_open(&screen->terminal, &ctl->err);
	while (rc == 0)
		rc = step(screen);
	terminal_close(&screen->terminal);
	return rc == -EINTR ? 0 : rc;
}

static unsigned int
once_width(void)
{
	const char *columns = getenv("COLUMNS");
	uint64_t width;

	if (!columns || num_parse_u64(columns, &width) != 0 || width < ONCE_WIDTH_MIN ||
	    width > ONCE_WIDTH_MAX)
		return ONCE_WIDTH;
	return (unsigned int)width;
}

static int
look_once(struct screen *screen)
{
	struct ctl *ctl = screen->ctl;
	int rc = 0;

	if (ctl->client)
		client_renew(ctl->client);
	for (screen->asked = 0; screen->asked < LOOK_COUNT; screen->asked++) {
		rc = ctl_call(ctl, look_methods[screen->asked], NULL,
		    &screen->results[screen->asked]);
		if (rc != 0)
			return rc;
	}
	take_look(screen);
	return 0;
}

static int
run_once(struct screen *screen)
{
	struct ctl *ctl = screen->ctl;
	int rc = look_once(screen);

	if (rc != 0)
		return rc;
	(void)interrupt_pause(-1, -1, (int)screen->look.interval_ms);
	rc = look_once(screen);
	if (rc != 0)
		return rc;
	screen->look.width = once_width();
	(void)top_draw(&screen->top, &screen->look, &ctl->out.buf);
	return out_flush(&ctl->out, &ctl->err);
}

/* Whether there is something to draw on. */
static int
check_output(struct ctl *ctl)
{
	const char *term = getenv("TERM");

	if (!ctl->out.is_terminal)
		(void)ctl_usage(ctl, "standard output is no terminal");
	else if (!term || term[0] == '\0' || strcmp(term, "dumb") == 0)
		(void)ctl_usage(ctl,
		    "this terminal cannot move its cursor (TERM is %s)",
		    term && term[0] != '\0' ? term : "not set");
	else
		return 0;
	err_hint(&ctl->err, "--once prints one picture");
	return -EINVAL;
}

int
run_top(struct ctl *ctl, const struct args *args)
{
	struct top_options options;
	struct screen screen = { .ctl = ctl, .asked = LOOK_COUNT };
	int rc =
	    param_decode(&run_top_options, args->own, "", false, &options, &ctl->err);

	if (rc != 0)
		return ctl_status(ctl, rc);
	if (ctl->out.is_json) {
		(void)ctl_usage(ctl, "a picture is no JSON");
		err_hint(&ctl->err, "rpmactl stats --json has the numbers");
		return EXIT_STATUS_USAGE;
	}
	options.is_once |= ctl->settings.is_dry_run;
	rc = options.is_once ? 0 : check_output(ctl);
	if (rc != 0)
		return ctl_status(ctl, rc);
	screen.look = (struct top_look){
		.is_utf8 = terminal_is_utf8(),
		.is_coloured = ctl->out.is_coloured && !options.is_once,
		.sort = options.sort,
		.interval_ms = options.interval_ms,
	};
	rc = options.is_once ? run_once(&screen) : run_live(&screen);
	drop_results(&screen);
	top_clear(&screen.top);
	return ctl_status(ctl, rc);
}
