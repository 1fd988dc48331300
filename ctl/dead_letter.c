/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are there as a whole or not at all. */
#include <config.h>

#include "ctl/dead_letter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "ctl/buf.h"
#include "ctl/field.h"
#include "ctl/must.h"

#define NAME_SIZE 96u

int
dead_letter_open(const char *dir, struct err *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char why[128];

	if (fd >= 0 && faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) == 0)
		return fd;
	(void)err_set(err, ERR_INVALID_PARAMS, errno,
	    "cannot write into the folder %s: %s", dir,
	    err_errno_text(errno, why, sizeof(why)));
	if (errno == ENOENT)
		err_hint(err, "mkdir %s", dir);
	if (fd >= 0)
		(void)close(fd);
	return -EINVAL;
}

/* Add the message as it was delivered, and what became of it, as a line. */
static void
add_line(struct buf *buf, json_t *completion, const char *why)
{
	json_t *letter = must(json_object());
	char *text;

	must_0(json_object_update(letter, completion));
	must_0(json_object_set_new(letter, "failure", json_string(why)));
	text = must(json_dumps(letter, JSON_COMPACT | JSON_ENSURE_ASCII));
	buf_puts(buf, text);
	buf_puts(buf, "\n");
	free(text);
	json_decref(letter);
}

/* Write and close. return   0; a positive errno */
static int
write_file(int fd, const char *text, size_t len)
{
	ssize_t n;
	int rc = 0;

	while (len > 0 && rc == 0) {
		n = write(fd, text, len);
		if (n >= 0) {
			text += n;
			len -= (size_t)n;
		} else if (errno != EINTR) {
			rc = errno;
		}
	}
	if (rc == 0 && fsync(fd) != 0)
		rc = errno;
	if (close(fd) != 0 && rc == 0)
		rc = errno;
	return rc;
}

/* Put text into a file of that name. return   0; a positive errno */
static int
store(int dir_fd, const char *name, const char *text, size_t len)
{
	char temporary[NAME_SIZE + 8];
	int fd, rc;

	(void)snprintf(temporary, sizeof(temporary), ".%s.tmp", name);
	fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	rc = write_file(fd, text, len);
	if (rc == 0 && renameat(dir_fd, temporary, dir_fd, name) != 0)
		rc = errno;
	if (rc != 0)
		(void)unlinkat(dir_fd, temporary, 0);
	else if (fsync(dir_fd) != 0)
		rc = errno;
	return rc;
}

int
dead_letter_write(int dir_fd, const char *dir, struct json_t *completion,
    const char *why, struct err *err)
{
	const char *token = field_text(completion, "token");
	char name[NAME_SIZE], reason[128];
	struct buf buf = { 0 };
	int rc = EPROTO;

	/* A name that leads elsewhere is no token. */
	if (token[0] != '\0' && strchr(token, '/') == NULL &&
	    strlen(token) + sizeof(".json") <= sizeof(name)) {
		(void)snprintf(name, sizeof(name), "%s.json", token);
		add_line(&buf, completion, why);
		rc = store(dir_fd, name, buf.data, buf.len);
		buf_free(&buf);
	}
	if (rc == 0)
		return 0;
	(void)err_set(err, ERR_INTERNAL_ERROR, rc,
	    "cannot write message %lld into %s: %s", field_number(completion, "seq"),
	    dir, err_errno_text(rc, reason, sizeof(reason)));
	return -EIO;
}
