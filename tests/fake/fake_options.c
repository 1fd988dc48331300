/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_options.c: personalities, options as text, and the report of what lives. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_impl.h"

struct fake_options *
fake_options(void)
{
	return &fake_get()->options;
}

void
fake_options_default(struct fake_options *options)
{
	*options = (struct fake_options){
		.kind = FAKE_IB,
		.seed = 2463534242u,
		.srq_full = ENOMEM,
		.too_long_status = IBV_WC_LOC_LEN_ERR,
		.last_wqe = false,
		.drop_unread = true,
		.auto_rtu = true,
		.auto_drep = true,
		.max_srq_wr = 32767,
		.max_cqe = 4194303,
		.max_qp_wr = 32768,
		.max_qp = 65536,
		.devices = 1,
		.port_state = IBV_PORT_ACTIVE,
		.block_limit_ms = 5000,
	};
}

void
fake_set_kind(enum fake_kind kind)
{
	struct fake_options *options = fake_options();

	options->kind = kind;
	options->srq_full = kind == FAKE_IWARP ? -ENOMEM : ENOMEM;
	options->srq_query_nonsense = kind == FAKE_IWARP;
	options->too_long_status =
	    kind == FAKE_RXE ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_LOC_LEN_ERR;
	options->drop_unread = kind == FAKE_IB;
}

enum option_type {
	OPTION_INT,
	OPTION_U64,
	OPTION_BOOL,
};

struct option_row {
	const char *name;
	enum option_type type;
	size_t offset;
};

#define ROW(member, type)                                            \
	{                                                            \
#member, type, offsetof(struct fake_options, member) \
	}

/* clang-format off */
static const struct option_row option_rows[] = {
	ROW(seed, OPTION_INT),
	ROW(srq_full, OPTION_INT),
	ROW(srq_pow2, OPTION_BOOL),
	ROW(srq_extra, OPTION_INT),
	ROW(srq_missing, OPTION_INT),
	ROW(srq_query_nonsense, OPTION_BOOL),
	ROW(too_long_status, OPTION_INT),
	ROW(last_wqe, OPTION_BOOL),
	ROW(drop_unread, OPTION_BOOL),
	ROW(reuse_qp_num, OPTION_BOOL),
	ROW(cm_event_first, OPTION_BOOL),
	ROW(late_at_destroy, OPTION_BOOL),
	ROW(auto_rtu, OPTION_BOOL),
	ROW(all_addrs, OPTION_BOOL),
	ROW(auto_drep, OPTION_BOOL),
	ROW(timewait_exit, OPTION_BOOL),
	ROW(fail_keeps, OPTION_BOOL),
	ROW(max_srq_wr, OPTION_INT),
	ROW(max_cqe, OPTION_INT),
	ROW(max_qp_wr, OPTION_INT),
	ROW(max_qp, OPTION_INT),
	ROW(memlock_bytes, OPTION_U64),
	ROW(max_mr_bytes, OPTION_U64),
	ROW(devices, OPTION_INT),
	ROW(port_state, OPTION_INT),
	ROW(odp, OPTION_BOOL),
	ROW(native_flush, OPTION_INT),
	ROW(native_atomic_write, OPTION_BOOL),
	ROW(no_send_ops, OPTION_INT),
	ROW(no_builders, OPTION_BOOL),
	ROW(block_limit_ms, OPTION_INT),
};
/* clang-format on */

static int
set_kind(const char *value)
{
	static const char *const names[] = { "ib", "rxe", "iwarp" };
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], value) == 0) {
			fake_set_kind((enum fake_kind)i);
			return 0;
		}
	}
	return -1;
}

static int
set_option(const char *name, const char *value)
{
	char *base = (char *)fake_options();
	const struct option_row *row;
	long long number;
	char *end;
	size_t i;

	if (strcmp(name, "kind") == 0)
		return set_kind(value);
	errno = 0;
	number = strtoll(value, &end, 0);
	if (*value == '\0' || *end != '\0' || errno)
		return -1;
	for (i = 0; i < sizeof(option_rows) / sizeof(option_rows[0]); i++) {
		row = &option_rows[i];
		if (strcmp(row->name, name) != 0)
			continue;
		if (row->type == OPTION_INT)
			memcpy(base + row->offset, &(int){ (int)number }, sizeof(int));
		else if (row->type == OPTION_U64)
			memcpy(base + row->offset, &(uint64_t){ (uint64_t)number },
			    sizeof(uint64_t));
		else
			memcpy(base + row->offset, &(bool){ number != 0 },
			    sizeof(bool));
		return 0;
	}
	return -1;
}

int
fake_options_parse(const char *text)
{
	char item[128];
	char *value;
	size_t len;
	int rc = 0;

	fake_lock();
	while (rc == 0 && *text) {
		len = strcspn(text, ",");
		if (len >= sizeof(item)) {
			rc = -1;
			break;
		}
		memcpy(item, text, len);
		item[len] = '\0';
		text += len + (text[len] == ',');
		value = strchr(item, '=');
		if (!value) {
			rc = -1;
			break;
		}
		*value++ = '\0';
		rc = set_option(item, value);
	}
	fake_unlock();
	return rc;
}

/* ---- what lives --------------------------------------------------------------- */

static const char *
object_name(enum fake_object kind)
{
	switch (kind) {
	case FAKE_PD:
		return "pd";
	case FAKE_MR:
		return "mr";
	case FAKE_COMP_CHANNEL:
		return "comp_channel";
	case FAKE_CQ:
		return "cq";
	case FAKE_SRQ:
		return "srq";
	case FAKE_QP:
		return "qp";
	case FAKE_EVENT_CHANNEL:
		return "event_channel";
	case FAKE_ID:
		return "id";
	case FAKE_CM_EVENT:
		return "cm_event";
	case FAKE_COMP_EVENT:
		return "comp_event";
	case FAKE_ASYNC_EVENT:
		return "async_event";
	case FAKE_ADDRINFO:
		return "addrinfo";
	case FAKE_DEVICE_LIST:
		return "device_list";
	case FAKE_OBJECT_COUNT:
		break;
	}
	return "?";
}

unsigned
fake_live(enum fake_object kind)
{
	unsigned n;

	fake_lock();
	n = fake_get()->live[kind];
	fake_unlock();
	return n;
}

unsigned
fake_made(enum fake_object kind)
{
	unsigned n;

	fake_lock();
	n = fake_get()->made[kind];
	fake_unlock();
	return n;
}

const char *
fake_leaks(void)
{
	struct fake *fake = fake_get();
	struct fake_text *text = &fake->leaks;
	int kind;

	fake_lock();
	text->len = 0;
	for (kind = 0; kind < FAKE_OBJECT_COUNT; kind++) {
		if (fake->live[kind])
			fake_text_add(text, "%s%s %u", text->len ? ", " : "",
			    object_name((enum fake_object)kind), fake->live[kind]);
	}
	fake_unlock();
	return text->len ? text->s : "";
}
