/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of the daemon as text, one function for each kind; see command_view_fn. */
#ifndef RPMAD_CTL_VIEW_H
#define RPMAD_CTL_VIEW_H

#include <stdbool.h>

struct columns;
struct json_t;
struct out;

/* view_daemon.c */
void view_status(struct out *out, const struct json_t *result);
void view_stopping(struct out *out, const struct json_t *result);
void view_reloaded(struct out *out, const struct json_t *result);
void view_log_level(struct out *out, const struct json_t *result);
void view_methods(struct out *out, const struct json_t *result);
/* Numbers by their dotted names; also of any other object. */
void view_numbers(struct out *out, const struct json_t *result);
/* The text of stats.metrics as it is. */
void view_metrics(struct out *out, const struct json_t *result);
/* Any value: as JSON, indented on a terminal. */
void view_any(struct out *out, const struct json_t *result);

/* view_recv.c */
void view_srq(struct out *out, const struct json_t *result);
void view_posted(struct out *out, const struct json_t *result);
void view_acked(struct out *out, const struct json_t *result);
void view_nacked(struct out *out, const struct json_t *result);
/* The table of messages: new, with a column of tokens or not; columns_free() it. */
struct columns *view_messages_new(bool with_tokens);
/* Add a line for a completion of recv.poll. */
void view_message(struct columns *columns, bool with_tokens,
    const struct json_t *completion);

/* view_conn.c */
void view_conns(struct out *out, const struct json_t *result);
void view_conn(struct out *out, const struct json_t *result);
void view_opened(struct out *out, const struct json_t *result);
void view_closed(struct out *out, const struct json_t *result);
void view_sent(struct out *out, const struct json_t *result);
void view_listening(struct out *out, const struct json_t *result);
void view_unlistened(struct out *out, const struct json_t *result);
void view_listeners(struct out *out, const struct json_t *result);

/* view_event.c */
void view_events(struct out *out, const struct json_t *result);
struct columns *view_events_new(void);
void view_event(struct columns *columns, const struct json_t *event);

/* view_device.c */
void view_devices(struct out *out, const struct json_t *result);

#endif
