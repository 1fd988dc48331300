/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node.h: what the context of a CM id points to, so that an event of a channel that
 * many ids share finds its object.
 */
#ifndef RPMAD_LIB_RPMA_NODE_H
#define RPMAD_LIB_RPMA_NODE_H

#include <stddef.h>

enum rpmai_node_kind {
	NODE_EP,   /* within struct rpma_ep */
	NODE_CONN, /* within struct rpma_conn */
};

struct rpmai_node {
	enum rpmai_node_kind kind;
};

/* The object of a type that a node is the member "node" of. */
#define rpmai_node_owner(node_, type) \
	((type *)(void *)&((char *)(node_))[-(ptrdiff_t)offsetof(type, node)])

#endif
