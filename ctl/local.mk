# SPDX-License-Identifier: BSD-3-Clause
noinst_LIBRARIES += %D%/libctl.a
%C%_libctl_a_SOURCES = \
	%D%/args.c %D%/args.h \
	%D%/buf.c %D%/buf.h \
	%D%/canvas.c %D%/canvas.h \
	%D%/client.c %D%/client.h \
	%D%/columns.c %D%/columns.h \
	%D%/command.c %D%/command.h \
	%D%/complete.c %D%/complete.h \
	%D%/completion.c %D%/completion.h \
	%D%/ctl.c %D%/ctl.h \
	%D%/dead_letter.c %D%/dead_letter.h \
	%D%/dial.c %D%/dial.h \
	%D%/doctor.c %D%/doctor.h %D%/doctor_daemon.c %D%/doctor_system.c \
	%D%/exit.c %D%/exit.h \
	%D%/field.c %D%/field.h \
	%D%/format.c %D%/format.h \
	%D%/help.c %D%/help.h \
	%D%/interrupt.c %D%/interrupt.h \
	%D%/job.c %D%/job.h \
	%D%/keys.c %D%/keys.h \
	%D%/must.c %D%/must.h \
	%D%/numbers.c %D%/numbers.h \
	%D%/option.c %D%/option.h \
	%D%/out.c %D%/out.h \
	%D%/progress.c %D%/progress.h \
	%D%/resolve.c %D%/resolve.h \
	%D%/run.h %D%/run_addr.c %D%/run_batch.c %D%/run_doctor.c %D%/run_events.c %D%/run_exec.c \
	%D%/run_exec.h %D%/run_in_place.c %D%/run_in_place.h %D%/run_metrics.c %D%/run_other.c %D%/run_poll.c %D%/run_send.c \
	%D%/run_stats.c %D%/run_top.c %D%/run_wait.c \
	%D%/settings.c %D%/settings.h \
	%D%/source.c %D%/source.h \
	%D%/split.c %D%/split.h \
	%D%/suggest.c %D%/suggest.h \
	%D%/terminal.c %D%/terminal.h \
	%D%/tokens.c %D%/tokens.h \
	%D%/top.c %D%/top.h %D%/top_draw.c %D%/top_sample.c \
	%D%/view.h %D%/view_conn.c %D%/view_daemon.c %D%/view_device.c %D%/view_event.c \
	%D%/view_recv.c
%C%_libctl_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)

bin_PROGRAMS += rpmactl
rpmactl_SOURCES = %D%/main.c
rpmactl_LDADD = %D%/libctl.a lib/core/libcore.a lib/rpmac/librpmac-core.la $(JANSSON_LIBS)

# bash-completion(7) loads it under this name too.
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = %D%/rpmactl.bash
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = %D%/_rpmactl
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_fishcompletion_DATA = %D%/rpmactl.fish
