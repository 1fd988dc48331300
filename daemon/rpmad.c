/* SPDX-License-Identifier: BSD-3-Clause */
/* The program as a function: options, configuration, exit status. */
#include <config.h>

#include "daemon/rpmad.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/notify.h"
#include "daemon/settings.h"
#include "daemon/settings_print.h"
#include "lib/core/log.h"

enum {
	STATUS_OK = 0,
	STATUS_FAILURE = 1,
	STATUS_USAGE = 2, /* or the configuration */
	STATUS_RUNNING = 3
};

enum action {
	ACTION_RUN,
	ACTION_CHECK,
	ACTION_PRINT_CONFIG,
	ACTION_SCHEMA,
	ACTION_VERSION,
	ACTION_HELP,
	ACTION_USAGE, /* the options are wrong */
};

struct options {
	enum action action;
	const char *file; /* NULL: none was named */
};

static const struct option long_options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "check", required_argument, NULL, 'k' },
	{ "print-config", no_argument, NULL, 'p' },
	{ "schema", no_argument, NULL, 's' },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
    "Usage: rpmad [OPTION]...\n"
    "Receive RDMA messages and hand them to local programs, in the foreground.\n"
    "\n"
    "  -c, --config FILE   configuration (default: " SETTINGS_DEFAULT_FILE
    ", if it exists)\n"
    "      --check FILE    check a configuration and exit\n"
    "      --print-config  print the configuration as it takes effect and exit\n"
    "      --schema        print the keys of the configuration, and methods and events\n"
    "                      of the control socket, as JSON and exit\n"
    "      --version       print the version and exit\n"
    "      --help          print this and exit\n"
    "\n"
    "Exit status: 0 stopped in good order, 1 failure, 2 usage or configuration,\n"
    "3 already running. See rpmad(8), rpmad.json(5), rpmactl(1).\n";

static struct options
parse_options(int argc, char **argv)
{
	struct options options = { .action = ACTION_RUN };
	int option;

	optind = 1;
	while ((option = getopt_long(argc, argv, "c:", long_options, NULL)) != -1) {
		switch (option) {
		case 'c':
			options.file = optarg;
			break;
		case 'k':
			options.action = ACTION_CHECK;
			options.file = optarg;
			break;
		case 'p':
			options.action = ACTION_PRINT_CONFIG;
			break;
		case 's':
			options.action = ACTION_SCHEMA;
			break;
		case 'V':
			options.action = ACTION_VERSION;
			return options;
		case 'h':
			options.action = ACTION_HELP;
			return options;
		default:
			options.action = ACTION_USAGE;
			return options;
		}
	}
	if (optind < argc) {
		(void)fprintf(stderr, "rpmad: unexpected argument \"%s\"\n",
		    argv[optind]);
		options.action = ACTION_USAGE;
	}
	return options;
}

/* The version, and a line about what the build lacks, where it lacks something. */
static int
print_version(void)
{
	const char *lack = notify_lack();

	return printf("rpmad %s\n%s%s", PACKAGE_VERSION, lack ? lack : "",
	    lack ? "\n" : "");
}

static void
complain(const struct err *err)
{
	(void)fprintf(stderr, "rpmad: %s%s%s%s\n", err->text,
	    err->hint[0] != '\0' ? " (" : "", err->hint,
	    err->hint[0] != '\0' ? ")" : "");
}

/* What kept the daemon from starting, as an exit status. */
static int
status_of(enum err_code code)
{
	if (code == ERR_ALREADY_EXISTS)
		return STATUS_RUNNING;
	if (code == ERR_INVALID_PARAMS || code == ERR_ADDR_NOT_RDMA ||
	    code == ERR_WRONG_DEVICE)
		return STATUS_USAGE;
	return STATUS_FAILURE;
}

/* So that no socket of ours becomes stdin, stdout or stderr. */
static int
open_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		return -errno;
	(void)close(fd);
	return 0;
}

/* The end has begun: another wish to end must not make it look like a crash. */
static void
hold_signals(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &set, NULL); /* fails for a wrong "how" alone */
}

static int
serve(struct settings *settings, const char *file)
{
	struct daemon *daemon = NULL;
	struct err err;
	int rc;

	log_set_level(settings->log_level);
	rc = daemon_new(settings, file, &daemon, &err);
	if (rc < 0) {
		complain(&err);
		return status_of(err.code);
	}
	rc = daemon_run(daemon);
	hold_signals();
	daemon_free(daemon);
	if (rc < 0)
		log_error("rpmad", "the event loop failed");
	else
		log_notice("rpmad", "stopped");
	return rc < 0 ? STATUS_FAILURE : STATUS_OK;
}

/* What stdout is for: nothing counts as printed that did not get out. */
static int
printed(int rc)
{
	if (rc < 0 || fflush(stdout) != 0 || ferror(stdout)) {
		(void)fprintf(stderr, "rpmad: cannot write to standard output\n");
		return STATUS_FAILURE;
	}
	return STATUS_OK;
}

/* The actions that need a configuration. */
static int
act(const struct options *options)
{
	const char *file = settings_file(options->file);
	struct settings *settings;
	struct err err;
	int status = STATUS_OK;

	if (settings_load(file, &settings, &err) < 0) {
		complain(&err);
		if (options->action == ACTION_RUN)
			daemon_not_started();
		return settings_is_fault(&err) ? STATUS_FAILURE : STATUS_USAGE;
	}
	if (options->action == ACTION_CHECK)
		status = printed(printf("%s: ok\n", file));
	else if (options->action == ACTION_PRINT_CONFIG)
		status = printed(settings_print(settings, stdout));
	else
		status = serve(settings, file);
	settings_free(settings);
	return status;
}

int
rpmad_main(int argc, char **argv)
{
	const struct options options = parse_options(argc, argv);

	/* A peer that is gone shows as an error of the write, in every library. */
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || signal(SIGHUP, SIG_IGN) == SIG_ERR ||
	    open_standard_fds() < 0)
		return STATUS_FAILURE;
	switch (options.action) {
	case ACTION_RUN:
	case ACTION_CHECK:
	case ACTION_PRINT_CONFIG:
		return act(&options);
	case ACTION_SCHEMA:
		return printed(settings_print_schema(stdout));
	case ACTION_VERSION:
		return printed(print_version());
	case ACTION_HELP:
		return printed(printf("%s", help));
	case ACTION_USAGE:
		break;
	}
	(void)fprintf(stderr, "rpmad: \"rpmad --help\" lists the options\n");
	return STATUS_USAGE;
}
