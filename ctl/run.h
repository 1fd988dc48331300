/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands that are more than parameters, call and view; see command_run_fn. */
#ifndef RPMAD_CTL_RUN_H
#define RPMAD_CTL_RUN_H

#include "lib/core/param.h"

struct args;
struct ctl;

/* run_poll.c */
extern const struct param_table run_poll_options;
int run_poll(struct ctl *ctl, const struct args *args);

/* run_send.c */
extern const struct param_table run_send_options;
int run_send(struct ctl *ctl, const struct args *args);

/* run_events.c */
extern const struct param_table run_events_options;
int run_events(struct ctl *ctl, const struct args *args);

/* run_stats.c */
extern const struct param_table run_stats_options;
int run_stats(struct ctl *ctl, const struct args *args);

/* run_metrics.c */
extern const struct param_table run_metrics_options;
int run_metrics(struct ctl *ctl, const struct args *args);

/* run_top.c */
extern const struct param_table run_top_options;
int run_top(struct ctl *ctl, const struct args *args);

/* run_batch.c */
int run_batch(struct ctl *ctl, const struct args *args);

/* run_wait.c */
int run_wait(struct ctl *ctl, const struct args *args);

/* run_addr.c: ADDR:PORT with names */
int run_listen(struct ctl *ctl, const struct args *args);
int run_connect(struct ctl *ctl, const struct args *args);

/* run_doctor.c */
int run_doctor(struct ctl *ctl, const struct args *args);

/* run_other.c */
extern const struct param_table run_completion_options;
int run_call(struct ctl *ctl, const struct args *args);
int run_completion(struct ctl *ctl, const struct args *args);
int run_help(struct ctl *ctl, const struct args *args);

#endif
