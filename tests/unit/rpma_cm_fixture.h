/* SPDX-License-Identifier: BSD-3-Clause */
/* rpma_cm_fixture.h: a shared channel and a listener on it, for the tests of struct
 * rpma_cm. */
#ifndef RPMAD_TESTS_UNIT_RPMA_CM_FIXTURE_H
#define RPMAD_TESTS_UNIT_RPMA_CM_FIXTURE_H

#include "tests/unit/rpma_fixture.h"

/* Checked fixtures, to be added behind those of fixture_case(). */
void cm_fixture_set_up(void);
void cm_fixture_tear_down(void);

/* The channel, and the endpoint that listens at FIXTURE_ADDR and FIXTURE_PORT. */
struct rpma_cm *cm_fixture_cm(void);
struct rpma_ep *cm_fixture_ep(void);

/* Take one event, which must be of a kind. */
struct rpma_cm_event cm_fixture_expect(enum rpma_cm_event_kind kind);

/* No event waits. */
void cm_fixture_expect_none(void);

/* A client comes; the request that it makes. */
struct rpma_conn_req *cm_fixture_request(struct fake_peer **client);

/* A connection that a client asked for: accepted, and established if auto_rtu is on. */
struct rpma_conn *cm_fixture_accept(struct fake_peer **client);

/* Start a connection to FIXTURE_ADDR, FIXTURE_PORT, which will meet an outcome. */
struct rpma_conn *cm_fixture_dial(enum fake_dial outcome, int status);

#endif
