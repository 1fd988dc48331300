/* SPDX-License-Identifier: BSD-3-Clause */
/* AF_UNIX stream sockets: a lock file decides who owns a path, see unix(7), flock(2).
 */
#include <config.h>

#include "lib/core/usock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "lib/core/num.h"

#define BACKLOG     128
#define RETRY_MS    10 /* between attempts while the backlog is full */
#define LOCK_SUFFIX ".lock"
#define LOCK_PATH_MAX \
	(sizeof(((struct sockaddr_un *)0)->sun_path) + sizeof(LOCK_SUFFIX))
#define PID_TEXT_MAX   32
#define ERRNO_TEXT_MAX 128

uint64_t
usock_now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* A call of the system failed on path. */
static int
system_failed(const char *what, const char *path, int errnum, struct err *err)
{
	bool denied = errnum == EACCES || errnum == EPERM;
	char text[ERRNO_TEXT_MAX];

	(void)err_set(err, denied ? ERR_DENIED : ERR_INTERNAL_ERROR, errnum,
	    "cannot %s %s: %s", what, path, err_errno_text(errnum, text, sizeof(text)));
	if (denied)
		err_hint(err, "the folder and the file must be writable for user %u",
		    (unsigned int)geteuid());
	else if (errnum == ENOENT)
		err_hint(err, "its folder must exist; it is not made here");
	return -errnum;
}

static int
fill_address(const char *path, struct sockaddr_un *out, struct err *err)
{
	size_t len = strlen(path);

	memset(out, 0, sizeof(*out));
	out->sun_family = AF_UNIX;
	if (len == 0)
		return err_set(err, ERR_INVALID_PARAMS, 0,
		    "the path of the socket is empty");
	if (len >= sizeof(out->sun_path))
		return err_set(err, ERR_INVALID_PARAMS, ENAMETOOLONG,
		    "the socket's path \"%s\" has %zu bytes, over the system's limit of "
		    "%zu",
		    path, len, sizeof(out->sun_path) - 1);
	memcpy(out->sun_path, path, len + 1);
	return 0;
}

static int
in_use(const char *path, pid_t pid, pid_t *owner, struct err *err)
{
	if (owner)
		*owner = pid;
	if (pid > 0)
		return err_set(err, ERR_ALREADY_EXISTS, 0,
		    "another process, pid %ld, listens at %s", (long)pid, path);
	return err_set(err, ERR_ALREADY_EXISTS, 0, "another process listens at %s",
	    path);
}

/* The pid that the owner wrote into its lock file; 0: none there (yet). */
static pid_t
read_pid(int fd)
{
	char text[PID_TEXT_MAX];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	uint64_t pid;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (num_parse_u64(text, &pid) != 0 || pid > INT_MAX)
		return 0;
	return (pid_t)pid;
}

static int
write_pid(int fd)
{
	char text[PID_TEXT_MAX];
	int len = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

	if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)len, 0) != len)
		return -1;
	return 0;
}

/* Hold path's lock file. return   its descriptor, or a negative errno with err */
static int
take_lock(const char *path, pid_t *owner, struct err *err)
{
	char lock_path[LOCK_PATH_MAX];
	struct stat st;
	int fd, rc;

	(void)snprintf(lock_path, sizeof(lock_path), "%s" LOCK_SUFFIX, path);
	fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
	    0600);
	if (fd < 0)
		return system_failed("open", lock_path, errno, err);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		rc = err_set(err, ERR_INVALID_PARAMS, 0, "%s is no regular file",
		    lock_path);
		goto fail;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno == EWOULDBLOCK)
			rc = in_use(path, read_pid(fd), owner, err);
		else
			rc = system_failed("lock", lock_path, errno, err);
		goto fail;
	}
	if (write_pid(fd) != 0) {
		rc = system_failed("write", lock_path, errno, err);
		goto fail;
	}
	return fd;

fail:
	(void)close(fd);
	return rc;
}

static int
stream_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Who listens at the other end of a connected socket. */
static pid_t
peer_pid(int fd)
{
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) != 0)
		return 0;
	return cred.pid;
}

/*
 * Remove the socket file that an owner left behind. Though the lock is ours, somebody
 * who knows nothing of locks may listen: only a refused connection proves it stale.
 */
static int
remove_stale(const char *path, const struct sockaddr_un *address, pid_t *owner,
    struct err *err)
{
	struct stat st;
	int fd, rc = 0;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : system_failed("examine", path, errno, err);
	if (!S_ISSOCK(st.st_mode)) {
		rc = err_set(err, ERR_INVALID_PARAMS, ENOTSOCK,
		    "%s is there and is no socket", path);
		err_hint(err, "move it away, or choose another path for the socket");
		return rc;
	}
	fd = stream_socket();
	if (fd < 0)
		return system_failed("make a socket for", path, errno, err);
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
		rc = in_use(path, peer_pid(fd), owner, err);
	else if (errno == EAGAIN || errno == EPROTOTYPE)
		rc = in_use(path, 0, owner, err);
	else if (errno != ECONNREFUSED && errno != ENOENT)
		rc = system_failed("probe the socket", path, errno, err);
	else if (unlink(path) != 0 && errno != ENOENT)
		rc = system_failed("remove the stale socket", path, errno, err);
	(void)close(fd);
	return rc;
}

/* A listening socket at path, of that mode. return   descriptor or negative errno */
static int
make_listener(const char *path, const struct sockaddr_un *address, mode_t mode,
    struct err *err)
{
	mode_t old_mask;
	int fd, rc, bound;

	fd = stream_socket();
	if (fd < 0)
		return system_failed("make a socket for", path, errno, err);
	old_mask = umask(0777);
	bound = bind(fd, (const struct sockaddr *)address, sizeof(*address));
	rc = errno;
	(void)umask(old_mask);
	if (bound != 0) {
		rc = system_failed("bind to", path, rc, err);
		(void)close(fd);
		return rc;
	}
	/* Listen before anybody may connect, so that nobody is refused. */
	if (listen(fd, BACKLOG) == 0 && chmod(path, mode) == 0)
		return fd;
	rc = system_failed("listen at", path, errno, err);
	(void)unlink(path);
	(void)close(fd);
	return rc;
}

int
usock_listen(const char *path, mode_t mode, struct usock_listener *out, pid_t *owner,
    struct err *err)
{
	struct sockaddr_un address;
	int lock_fd, fd, rc;

	rc = fill_address(path, &address, err);
	if (rc != 0)
		return rc;
	lock_fd = take_lock(path, owner, err);
	if (lock_fd < 0)
		return lock_fd;
	rc = remove_stale(path, &address, owner, err);
	if (rc != 0)
		goto fail;
	fd = make_listener(path, &address, mode & 0777, err);
	if (fd < 0) {
		rc = fd;
		goto fail;
	}
	out->fd = fd;
	out->lock_fd = lock_fd;
	(void)snprintf(out->path, sizeof(out->path), "%s", path);
	return 0;

fail:
	(void)close(lock_fd);
	return rc;
}

void
usock_listener_close(struct usock_listener *listener)
{
	if (!listener)
		return;
	/* The lock file stays: to remove it would let two others lock two files. */
	if (listener->path[0] != '\0' && listener->lock_fd >= 0) {
		(void)unlink(listener->path);
		if (ftruncate(listener->lock_fd, 0) != 0)
			/* An old pid then stays in it, which the next owner replaces.
			 */
			errno = 0;
	}
	if (listener->fd >= 0)
		(void)close(listener->fd);
	if (listener->lock_fd >= 0)
		(void)close(listener->lock_fd);
	listener->fd = -1;
	listener->lock_fd = -1;
	listener->path[0] = '\0';
}

/* Why connect(2) failed for good, in words that say what to do. */
static int
connect_failed(const char *path, int errnum, struct err *err)
{
	struct stat st;

	switch (errnum) {
	case ENOENT:
		(void)err_set(err, ERR_NOT_READY, errnum,
		    "there is no socket %s: rpmad does not run", path);
		err_hint(err, "start it with: systemctl start rpmad, or rpmad -c FILE");
		return -errnum;
	case ECONNREFUSED:
		if (stat(path, &st) == 0 && !S_ISSOCK(st.st_mode))
			return err_set(err, ERR_INVALID_PARAMS, ENOTSOCK,
			    "%s is no socket", path);
		(void)err_set(err, ERR_NOT_READY, errnum,
		    "nobody listens at %s: the rpmad that made it has died", path);
		err_hint(err,
		    "start it again with: systemctl restart rpmad, or rpmad "
		    "-c FILE");
		return -errnum;
	case EACCES:
	case EPERM:
		(void)err_set(err, ERR_DENIED, errnum, "no permission to connect to %s",
		    path);
		err_hint(err, "join the group rpmad, or ask the administrator");
		return -EACCES;
	default:
		return system_failed("connect to", path, errnum, err);
	}
}

/* connect(2) until it is done or the time is over: a full backlog is EAGAIN here. */
static int
connect_until(int fd, const struct sockaddr_un *address, uint64_t deadline_ms)
{
	uint64_t now;

	for (;;) {
		if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) ==
		    0)
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		now = usock_now_ms();
		if (now >= deadline_ms)
			return -ETIMEDOUT;
		(void)poll(NULL, 0,
		    deadline_ms - now < RETRY_MS ? (int)(deadline_ms - now) : RETRY_MS);
	}
}

int
usock_connect(const char *path, uint64_t deadline_ms, struct err *err)
{
	struct sockaddr_un address;
	int fd, rc, flags;

	rc = fill_address(path, &address, err);
	if (rc != 0)
		return rc;
	fd = stream_socket();
	if (fd < 0)
		return system_failed("make a socket for", path, errno, err);
	rc = connect_until(fd, &address, deadline_ms);
	if (rc == -ETIMEDOUT) {
		(void)err_set(err, ERR_TIMEOUT, ETIMEDOUT,
		    "rpmad did not take the connection at %s in time", path);
		err_hint(err,
		    "it is stopped or overloaded; `systemctl status rpmad` "
		    "tells");
	} else if (rc != 0) {
		rc = connect_failed(path, -rc, err);
	}
	flags = rc == 0 ? fcntl(fd, F_GETFL) : -1;
	if (rc == 0 && (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0))
		rc = system_failed("set up the connection to", path, errno, err);
	if (rc == 0)
		return fd;
	(void)close(fd);
	return rc;
}
