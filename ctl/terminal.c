/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole terminal, by control sequences that all of them of today know. */
#include <config.h>

#include "ctl/terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ctl/interrupt.h"

/* The second screen, no cursor, no further line behind the edge. */
#define TAKE      "\033[?1049h\033[?25l\033[?7l"
#define GIVE_BACK "\033[0m\033[?7h\033[?25h\033[?1049l"

/* A terminal that is gone takes nothing; there is nobody to tell. */
static void
write_all(int fd, const char *text)
{
	size_t len = strlen(text);
	ssize_t n;

	while (len > 0) {
		n = write(fd, text, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		text += n;
		len -= (size_t)n;
	}
}

static void
take(struct terminal *terminal)
{
	struct termios modes;

	if (terminal->in_fd >= 0) {
		modes = terminal->modes;
		modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		modes.c_cc[VMIN] = 1;
		modes.c_cc[VTIME] = 0;
		(void)tcsetattr(terminal->in_fd, TCSANOW, &modes);
	}
	write_all(terminal->out_fd, TAKE);
	terminal->is_taken = true;
}

static void
give_back(struct terminal *terminal)
{
	if (!terminal->is_taken)
		return;
	/* Output that was stopped with Ctrl-S would not let us end. */
	(void)tcflow(terminal->out_fd, TCOON);
	write_all(terminal->out_fd, GIVE_BACK);
	if (terminal->in_fd >= 0)
		(void)tcsetattr(terminal->in_fd, TCSAFLUSH, &terminal->modes);
	terminal->is_taken = false;
}

int
terminal_open(struct terminal *out, struct err *err)
{
	*out = (struct terminal){
		.in_fd = STDIN_FILENO,
		.out_fd = STDOUT_FILENO,
		.signal_fd = -1,
	};
	/* From the background that would stop us: only a read of keys may. */
	if (tcgetattr(out->in_fd, &out->modes) != 0)
		out->in_fd = -1;
	out->signal_fd = interrupt_open_terminal(err);
	if (out->signal_fd < 0)
		return out->signal_fd;
	take(out);
	return 0;
}

void
terminal_close(struct terminal *terminal)
{
	give_back(terminal);
	if (terminal->signal_fd >= 0)
		(void)close(terminal->signal_fd);
	terminal->signal_fd = -1;
}

enum terminal_signal
terminal_signal(const struct terminal *terminal)
{
	switch (interrupt_take_signal(terminal->signal_fd)) {
	case 0:
		return TERMINAL_NOTHING;
	case SIGWINCH:
	case SIGCONT:
		return TERMINAL_CHANGED;
	case SIGTSTP:
		return TERMINAL_STOP;
	default:
		return TERMINAL_END;
	}
}

void
terminal_stop(struct terminal *terminal)
{
	sigset_t set;

	give_back(terminal);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTSTP);
	(void)raise(SIGTSTP);
	/* Here it takes effect, and here we go on. */
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	take(terminal);
}

void
terminal_renew(struct terminal *terminal)
{
	take(terminal);
}

void
terminal_size(const struct terminal *terminal, unsigned int *width,
    unsigned int *height)
{
	struct winsize size = { 0 };

	(void)ioctl(terminal->out_fd, TIOCGWINSZ, &size);
	*width = size.ws_col > 0 ? size.ws_col : 80;
	*height = size.ws_row > 0 ? size.ws_row : 24;
}

bool
terminal_is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool is_utf8;

	if (locale == (locale_t)0)
		return false;
	is_utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
	freelocale(locale);
	return is_utf8;
}
