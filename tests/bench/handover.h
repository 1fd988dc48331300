/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a server in C to a consumer process: memory for the messages that both have, a ring
 * with what has arrived and one with what is free again, and an eventfd for each way. It is
 * about the least that anybody would write who wants another process to have the messages.
 */
#ifndef RPMAD_TESTS_BENCH_HANDOVER_H
#define RPMAD_TESTS_BENCH_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HANDOVER_SLOTS_MAX 4096u /* a power of two */

/* A message, or what is done with it. */
struct handover_msg {
	uint32_t slot;
	uint32_t len;
	uint32_t qp_num;
	bool wants_answer;
};

struct handover {
	char *memory; /* of the slots, one behind the other */
	uint32_t slots;
	uint32_t slot_size;
	int back_fd; /* readable: there is something to be pulled */
	pid_t consumer;
	struct rings *rings;
	int event_fd;
};

/*
 * Make all, and the consumer, which counts what it takes in that file. NULL: no consumer.
 * Ends the process on errors.
 */
void handover_start(struct handover *handover, uint32_t slots, uint32_t slot_size,
    const char *meter);
/* A message for the consumer, who sees it when the batch is told. */
void handover_push(struct handover *handover, const struct handover_msg *msg);
/* The end of a batch. */
void handover_tell(struct handover *handover);
/* What the consumer is through with, or what it wants to be answered. false: nothing. */
bool handover_pull(struct handover *handover, struct handover_msg *msg);
/* The same; and where there is nothing, back_fd becomes readable when there is. */
bool handover_pull_or_sleep(struct handover *handover, struct handover_msg *msg);
/* back_fd is readable: make it not so. */
void handover_woken(const struct handover *handover);

/* What a consumer does with each message: look at its ends. Whether it asks for an answer. */
bool handover_look(const char *data, uint32_t len);

#endif
