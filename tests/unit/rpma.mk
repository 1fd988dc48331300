# SPDX-License-Identifier: BSD-3-Clause
# Tests of librpma: over the doubles of tests/fake, and of the names that it exports.
dist_check_SCRIPTS += tests/check_abi.sh
EXTRA_DIST += tests/librpma-1.0.prototypes tests/librpma-1.0.symbols
if HAVE_CHECK
rpma_check_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(VERBS_CFLAGS) $(RDMACM_CFLAGS)
rpma_check_ldflags = $(AM_LDFLAGS) $(fake_alloc_ldflags)
rpma_check_ldadd = tests/unit/librpma-fixture.a lib/rpma/librpma-core.la $(fake_libs) $(CHECK_LIBS)

check_LIBRARIES += tests/unit/librpma-fixture.a
tests_unit_librpma_fixture_a_SOURCES = tests/unit/rpma_fixture.c tests/unit/rpma_fixture.h \
  tests/unit/rpma_cm_fixture.c tests/unit/rpma_cm_fixture.h \
  tests/unit/rpma_rma_fixture.c tests/unit/rpma_rma_fixture.h
tests_unit_librpma_fixture_a_CFLAGS = $(rpma_check_cflags)

check_PROGRAMS += tests/unit/check_rpma_atomic
tests_unit_check_rpma_atomic_SOURCES = tests/unit/check_rpma_atomic.c
tests_unit_check_rpma_atomic_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_atomic_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_atomic_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_base
tests_unit_check_rpma_base_SOURCES = tests/unit/check_rpma_base.c
tests_unit_check_rpma_base_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_base_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_base_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_cfg
tests_unit_check_rpma_cfg_SOURCES = tests/unit/check_rpma_cfg.c
tests_unit_check_rpma_cfg_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_cfg_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_cfg_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_cm
tests_unit_check_rpma_cm_SOURCES = tests/unit/check_rpma_cm.c
tests_unit_check_rpma_cm_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_cm_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_cm_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_cm_event
tests_unit_check_rpma_cm_event_SOURCES = tests/unit/check_rpma_cm_event.c
tests_unit_check_rpma_cm_event_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_cm_event_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_cm_event_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_conn
tests_unit_check_rpma_conn_SOURCES = tests/unit/check_rpma_conn.c
tests_unit_check_rpma_conn_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_conn_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_conn_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_conn_req
tests_unit_check_rpma_conn_req_SOURCES = tests/unit/check_rpma_conn_req.c
tests_unit_check_rpma_conn_req_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_conn_req_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_conn_req_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_cq
tests_unit_check_rpma_cq_SOURCES = tests/unit/check_rpma_cq.c
tests_unit_check_rpma_cq_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_cq_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_cq_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_desc
tests_unit_check_rpma_desc_SOURCES = tests/unit/check_rpma_desc.c
tests_unit_check_rpma_desc_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_desc_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_desc_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_dial
tests_unit_check_rpma_dial_SOURCES = tests/unit/check_rpma_dial.c
tests_unit_check_rpma_dial_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_dial_LDFLAGS = $(rpma_check_ldflags) -Wl,--wrap=rdma_get_cm_event
tests_unit_check_rpma_dial_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_ep
tests_unit_check_rpma_ep_SOURCES = tests/unit/check_rpma_ep.c
tests_unit_check_rpma_ep_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_ep_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_ep_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_faults
tests_unit_check_rpma_faults_SOURCES = tests/unit/check_rpma_faults.c
tests_unit_check_rpma_faults_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_faults_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_faults_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_flush
tests_unit_check_rpma_flush_SOURCES = tests/unit/check_rpma_flush.c
tests_unit_check_rpma_flush_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_flush_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_flush_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_mr
tests_unit_check_rpma_mr_SOURCES = tests/unit/check_rpma_mr.c
tests_unit_check_rpma_mr_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_mr_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_mr_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_msg
tests_unit_check_rpma_msg_SOURCES = tests/unit/check_rpma_msg.c
tests_unit_check_rpma_msg_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_msg_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_msg_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_names
tests_unit_check_rpma_names_SOURCES = tests/unit/check_rpma_names.c
tests_unit_check_rpma_names_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_names_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_names_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_native
tests_unit_check_rpma_native_SOURCES = tests/unit/check_rpma_native.c
tests_unit_check_rpma_native_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_native_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_native_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_order
tests_unit_check_rpma_order_SOURCES = tests/unit/check_rpma_order.c
tests_unit_check_rpma_order_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_order_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_order_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_peer
tests_unit_check_rpma_peer_SOURCES = tests/unit/check_rpma_peer.c
tests_unit_check_rpma_peer_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_peer_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_peer_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_peer_cfg
tests_unit_check_rpma_peer_cfg_SOURCES = tests/unit/check_rpma_peer_cfg.c
tests_unit_check_rpma_peer_cfg_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_peer_cfg_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_peer_cfg_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_queues
tests_unit_check_rpma_queues_SOURCES = tests/unit/check_rpma_queues.c
tests_unit_check_rpma_queues_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_queues_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_queues_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_rma
tests_unit_check_rpma_rma_SOURCES = tests/unit/check_rpma_rma.c
tests_unit_check_rpma_rma_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_rma_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_rma_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_srq
tests_unit_check_rpma_srq_SOURCES = tests/unit/check_rpma_srq.c
tests_unit_check_rpma_srq_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_srq_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_srq_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_threads
tests_unit_check_rpma_threads_SOURCES = tests/unit/check_rpma_threads.c
tests_unit_check_rpma_threads_CFLAGS = $(rpma_check_cflags) -pthread
tests_unit_check_rpma_threads_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_threads_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_utils
tests_unit_check_rpma_utils_SOURCES = tests/unit/check_rpma_utils.c
tests_unit_check_rpma_utils_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_utils_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_utils_LDADD = $(rpma_check_ldadd)

check_PROGRAMS += tests/unit/check_rpma_wait
tests_unit_check_rpma_wait_SOURCES = tests/unit/check_rpma_wait.c
tests_unit_check_rpma_wait_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_wait_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_wait_LDADD = $(rpma_check_ldadd)
endif
