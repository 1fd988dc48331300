/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at a daemon as the tests of top make them. */
#ifndef RPMAD_TESTS_UNIT_TOP_RIG_H
#define RPMAD_TESTS_UNIT_TOP_RIG_H

#include <stdint.h>

#include "ctl/top.h"

/* Results with ' for "; numbers are texts. */
/* clang-format off */
#define STATUS(pid, uptime, more) "{'state':'running','reason':null,'version':'1.4.0','pid':" pid ",'uptime_ms':" uptime "," \
	"'device':'rxe0','refill':'auto','warnings':[" more "]}"
#define QUEUE(a, b, c, all) "{'count':" all ",'sum':1,'buckets':[{'le':1024,'count':" a "},{'le':4096,'count':" b "},{'le':16384,'count':" c "}]}"
#define STATS(messages, bytes, empty_ns, queue, hold) "{'slots':{'free':12,'posted':500,'ready':3,'leased':1,'total':516}," \
	"'srq':{'times_low_total':7,'times_empty_total':2,'empty_ns_total':" empty_ns "}," \
	"'recv':{'messages_total':" messages ",'bytes_total':" bytes ",'queue_ns':" queue ",'hold_ns':" hold "}}"
#define CONN(id, messages, bytes, held, second) "{'conn':" id ",'state':'established','peer':'192.0.2.9:4000" id "'," \
	"'since':'2026-01-02T03:04:" second ".500000Z','messages':" messages ",'bytes':" bytes ",'held':" held "}"
#define NONE QUEUE("0", "0", "0", "0")
/* clang-format on */

/* Look, with conns the members of a list. */
void top_rig_look(struct top *top, uint64_t at_ms, const char *status,
    const char *stats, const char *conns);

/* Two looks, 2 s from each other. */
void top_rig_two_looks(struct top *top);

#endif
