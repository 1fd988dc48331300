/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections by id and by queue pair, in constant time, and the ring of the closed. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/conn.h"

int
conn_table_init(struct conn_table *table, uint32_t max, uint64_t last_id)
{
	uint32_t buckets = 16;

	while (buckets < max)
		buckets *= 2;
	TAILQ_INIT(&table->list);
	table->mask = buckets - 1;
	table->count = 0;
	table->next_id = last_id + 1;
	table->closed_total = 0;
	table->by_id = calloc(buckets, sizeof(struct conn *));
	table->by_qp = calloc(buckets, sizeof(struct conn *));
	if (table->by_id && table->by_qp)
		return 0;
	conn_table_fini(table);
	return -ENOMEM;
}

void
conn_table_fini(struct conn_table *table)
{
	free(table->by_id);
	free(table->by_qp);
	table->by_id = NULL;
	table->by_qp = NULL;
}

void
conn_table_add(struct conn_table *table, struct conn *conn)
{
	struct conn **bucket;

	conn->info.id = table->next_id++;
	bucket = &table->by_id[conn->info.id & table->mask];
	conn->next_by_id = *bucket;
	*bucket = conn;
	TAILQ_INSERT_TAIL(&table->list, conn, entry);
	table->count++;
}

void
conn_table_add_qp(struct conn_table *table, struct conn *conn, uint32_t qp_num)
{
	struct conn **bucket = &table->by_qp[qp_num & table->mask];

	if (conn->is_qp_known)
		return;
	conn->info.qp_num = qp_num;
	conn->is_qp_known = true;
	conn->next_by_qp = *bucket;
	*bucket = conn;
}

void
conn_table_forget(struct conn_table *table, struct conn *conn)
{
	struct conn **at = &table->by_id[conn->info.id & table->mask];

	while (*at != conn)
		at = &(*at)->next_by_id;
	*at = conn->next_by_id;
	if (conn->is_qp_known) {
		at = &table->by_qp[conn->info.qp_num & table->mask];
		while (*at != conn)
			at = &(*at)->next_by_qp;
		*at = conn->next_by_qp;
		conn->is_qp_known = false;
	}
	TAILQ_REMOVE(&table->list, conn, entry);
	table->count--;
}

void
conn_table_remove(struct conn_table *table, struct conn *conn)
{
	conn_table_forget(table, conn);
	table->closed[table->closed_total++ % CONN_CLOSED_MAX] = conn->info;
}

/* From the latest to the oldest: numbers of queue pairs are used again. */
static uint64_t
closed_find(const struct conn_table *table, uint64_t id, uint32_t qp_num)
{
	uint64_t i;

	for (i = 0; i < CONN_CLOSED_MAX && i < table->closed_total; i++) {
		uint64_t at = (table->closed_total - 1 - i) % CONN_CLOSED_MAX;
		const struct conn_info *info = &table->closed[at];

		if (id ? info->id == id : qp_num != 0 && info->qp_num == qp_num)
			return at;
	}
	return CONN_CLOSED_MAX;
}

const struct conn_info *
conn_closed_by_id(const struct conn_table *table, uint64_t id)
{
	uint64_t at = closed_find(table, id, 0);

	return at < CONN_CLOSED_MAX ? &table->closed[at] : NULL;
}

struct conn_info *
conn_closed_entry(struct conn_table *table, uint64_t id, uint32_t qp_num)
{
	uint64_t at = closed_find(table, id, qp_num);

	return at < CONN_CLOSED_MAX ? &table->closed[at] : NULL;
}

enum err_code
conn_lost_code(const char *reason)
{
	if (strcmp(reason, "device_gone") == 0)
		return ERR_DEVICE_GONE;
	if (strcmp(reason, "shutdown") == 0)
		return ERR_SHUTTING_DOWN;
	return ERR_CONN_LOST;
}
