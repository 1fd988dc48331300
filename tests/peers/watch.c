/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linked into a daemon of its own, rpmad_watched: says on stderr what the daemon asks the libraries
 * for and what the device tells it, and brings about what seldom comes by itself:
 *
 *   RPMAD_WATCH_LIMIT=N   the device says when fewer than N receives are posted, over and over
 *   RPMAD_WATCH_FORK=1    with each queue pair comes a child that has all that the daemon has
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The library's function, which ours is in the way of. */
static void
find(const char *name, void *function)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found) {
		(void)fprintf(stderr, "watch: no %s\n", name);
		abort();
	}
	memcpy(function, &found, sizeof(found));
}

static unsigned int
wanted(const char *name)
{
	const char *text = getenv(name);

	return text ? (unsigned int)strtoul(text, NULL, 10) : 0;
}

static void
arm(struct ibv_srq *srq)
{
	struct ibv_srq_attr attr = { .srq_limit = wanted("RPMAD_WATCH_LIMIT") };

	if (attr.srq_limit != 0 && ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT) != 0)
		(void)fprintf(stderr, "watch: the limit cannot be set\n");
}

struct ibv_srq *
ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct ibv_srq *(*real)(struct ibv_pd *, struct ibv_srq_init_attr *);
	uint32_t asked = attr->attr.max_wr;
	struct ibv_srq *srq;

	find("ibv_create_srq", &real);
	srq = real(pd, attr);
	(void)fprintf(stderr, "watch: srq asked=%u effective=%u\n", asked,
	    attr->attr.max_wr);
	if (srq)
		arm(srq);
	return srq;
}

int
ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	int (*real)(struct ibv_context *, struct ibv_async_event *);
	int rc;

	find("ibv_get_async_event", &real);
	rc = real(context, event);
	if (rc != 0)
		return rc;
	(void)fprintf(stderr, "watch: event %s\n",
	    ibv_event_type_str(event->event_type));
	if (event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED)
		arm(event->element.srq);
	return 0;
}

/* It lives as long as the daemon, and does nothing. */
static void
spawn(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0) {
		(void)fprintf(stderr, "watch: child %d\n", (int)pid);
		return;
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		(void)pause();
	_exit(0);
}

int
rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	int (*real)(struct rdma_cm_id *, struct ibv_qp_init_attr_ex *);
	uint32_t asked = attr->cap.max_recv_wr;
	int rc;

	find("rdma_create_qp_ex", &real);
	rc = real(id, attr);
	(void)fprintf(stderr, "watch: qp srq=%d receives=%u\n", attr->srq != NULL,
	    asked);
	if (rc == 0 && wanted("RPMAD_WATCH_FORK") != 0)
		spawn();
	return rc;
}
