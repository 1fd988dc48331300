/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_loop.c: connections between two ids of this process. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_impl.h"

/*
 * One end as the other sees it: near(end) is the id that has it as its far end, and
 * what that id does is done to the id of end->other.
 */
struct end {
	struct fake_far far;
	struct end *other;
	struct end *pair; /* what was allocated: two of these */
};

static struct fake_id *
other_id(const struct fake_far *far)
{
	return ((const struct end *)far)->other->far.id;
}

static struct fake_qp *
other_qp(const struct fake_far *far)
{
	struct fake_id *id = other_id(far);

	return id ? (struct fake_qp *)id->pub.qp : NULL;
}

static void
on_connect(struct fake_far *far, const struct rdma_conn_param *param)
{
	const struct rdma_addr *addr = &far->id->pub.route.addr;
	struct fake_id *listener = fake_listener_find(&addr->dst_addr);
	struct end *other = ((struct end *)far)->other;

	if (!listener ||
	    !fake_request(listener, &other->far, &addr->src_addr, &addr->dst_addr,
		param->private_data, param->private_data ? param->private_data_len : 0))
		fake_refuse(far->id, RDMA_CM_EVENT_REJECTED, FAKE_REJ_NO_LISTENER, NULL,
		    0);
}

static void
on_accepted(struct fake_far *far, const struct rdma_conn_param *param)
{
	if (other_id(far))
		fake_answer(other_id(far), param->private_data,
		    param->private_data ? param->private_data_len : 0);
}

static void
on_rejected(struct fake_far *far, int reason, const void *pdata, size_t len)
{
	if (other_id(far))
		fake_refuse(other_id(far), RDMA_CM_EVENT_REJECTED, reason, pdata, len);
}

static void
on_confirmed(struct fake_far *far)
{
	if (other_id(far))
		fake_confirm(other_id(far));
}

/* Also the answer to a disconnect. An end whose id is gone answers by itself. */
static void
on_hangup(struct fake_far *far)
{
	struct fake_id *id = other_id(far);

	if (id && (id->state == ID_REQUEST || id->state == ID_ACCEPTED))
		fake_refuse(id, RDMA_CM_EVENT_REJECTED, FAKE_REJ_CONSUMER, NULL, 0);
	else if (id)
		fake_hangup(id);
	else if (far->id)
		fake_hangup(far->id);
}

static void
on_gone(struct fake_far *far)
{
	struct fake_id *id = other_id(far);

	if (id && id->state == ID_CLOSING)
		fake_hangup(id);
	if (!id)
		free(((struct end *)far)->pair);
}

static void
on_aborted(struct fake_far *far)
{
	if (other_qp(far))
		fake_qp_drop_in(other_qp(far));
}

static enum fake_take
on_take(struct fake_far *far, struct fake_send *send)
{
	struct fake_qp *qp = other_qp(far);
	struct fake_msg *msg;

	if (!qp)
		return FAKE_TAKE_DEAD;
	if (fake_rma_is_one_sided(send->opcode))
		return FAKE_TAKE_OK;
	msg = fake_alloc(sizeof(*msg) + send->len);
	msg->with_imm = send->with_imm;
	msg->imm = send->imm;
	msg->written = send->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	msg->len = fake_send_gather(send, msg->data);
	fake_qp_receive(qp, msg);
	return FAKE_TAKE_LATER;
}

static void
on_done(struct fake_far *far, struct fake_msg *msg, int status, bool lost)
{
	(void)msg;
	(void)lost;
	if (status != FAKE_MSG_DROPPED && other_qp(far))
		fake_qp_sent(other_qp(far), status);
}

static const struct fake_far_ops loop_ops = {
	.connect = on_connect,
	.accepted = on_accepted,
	.rejected = on_rejected,
	.confirmed = on_confirmed,
	.hangup = on_hangup,
	.gone = on_gone,
	.aborted = on_aborted,
	.take = on_take,
	.done = on_done,
};

bool
fake_loop_dial(struct fake_id *id)
{
	struct end *pair;

	if (!fake_listener_find(&id->pub.route.addr.dst_addr))
		return false;
	pair = fake_alloc(2 * sizeof(pair[0]));
	pair[0] = (struct end){ { &loop_ops, id }, &pair[1], pair };
	pair[1] = (struct end){ { &loop_ops, NULL }, &pair[0], pair };
	id->far = &pair[0].far;
	return true;
}
