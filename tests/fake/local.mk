# SPDX-License-Identifier: BSD-3-Clause
# Doubles of libibverbs and librdmacm. Programs link $(fake_libs) instead of $(RDMACM_LIBS)
# $(VERBS_LIBS), behind lib/rpma/librpma-core.la. Those that let allocations fail add
# $(fake_alloc_ldflags) to their LDFLAGS.
fake_libs = tests/fake/libfake.a -lpthread
fake_alloc_ldflags = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=strndup,--wrap=aligned_alloc

check_LIBRARIES += %D%/libfake.a
%C%_libfake_a_SOURCES = \
  %D%/fake.c %D%/fake.h \
  %D%/fake_addr.c \
  %D%/fake_addrinfo.c \
  %D%/fake_alloc.c %D%/fake_alloc.h \
  %D%/fake_conn.c \
  %D%/fake_cq.c \
  %D%/fake_device.c \
  %D%/fake_event.c \
  %D%/fake_id.c \
  %D%/fake_impl.h \
  %D%/fake_loop.c \
  %D%/fake_mem.c \
  %D%/fake_options.c \
  %D%/fake_peer.c %D%/fake_peer.h \
  %D%/fake_peer_msg.c \
  %D%/fake_qp.c \
  %D%/fake_query.c \
  %D%/fake_recv.c \
  %D%/fake_resolve.c \
  %D%/fake_rma.c \
  %D%/fake_send.c \
  %D%/fake_signal.c \
  %D%/fake_srq.c \
  %D%/fake_types.h \
  %D%/fake_wire.c %D%/fake_wire.h \
  %D%/fake_wire_conn.c \
  %D%/fake_wire_control.c \
  %D%/fake_wire_frame.c \
  %D%/fake_wire_impl.h
%C%_libfake_a_CFLAGS = $(AM_CFLAGS) $(VERBS_CFLAGS) $(RDMACM_CFLAGS) -pthread

# Who sends to programs over the doubles, which are reachable at real TCP ports.
noinst_PROGRAMS += %D%/fake-send
%C%_fake_send_SOURCES = %D%/fake-send.c %D%/fake-send.h %D%/fake-send-options.c \
  %D%/fake_wire.h
%C%_fake_send_LDADD =

# A double that lies makes every test over it lie.
if HAVE_CHECK
fake_rig = tests/unit/fake_rig.c tests/unit/fake_rig.h tests/unit/harness.h
fake_check_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(VERBS_CFLAGS) $(RDMACM_CFLAGS)
check_PROGRAMS += tests/unit/check_fake tests/unit/check_fake_cm tests/unit/check_fake_dial \
  tests/unit/check_fake_wire
tests_unit_check_fake_SOURCES = tests/unit/check_fake.c $(fake_rig)
tests_unit_check_fake_CFLAGS = $(fake_check_cflags)
tests_unit_check_fake_LDFLAGS = $(AM_LDFLAGS) $(fake_alloc_ldflags)
tests_unit_check_fake_LDADD = $(fake_libs) $(CHECK_LIBS)
tests_unit_check_fake_cm_SOURCES = tests/unit/check_fake_cm.c $(fake_rig)
tests_unit_check_fake_cm_CFLAGS = $(fake_check_cflags)
tests_unit_check_fake_cm_LDADD = $(fake_libs) $(CHECK_LIBS)
tests_unit_check_fake_dial_SOURCES = tests/unit/check_fake_dial.c $(fake_rig)
tests_unit_check_fake_dial_CFLAGS = $(fake_check_cflags)
tests_unit_check_fake_dial_LDADD = $(fake_libs) $(CHECK_LIBS)
tests_unit_check_fake_wire_SOURCES = tests/unit/check_fake_wire.c $(fake_rig)
tests_unit_check_fake_wire_CFLAGS = $(fake_check_cflags)
tests_unit_check_fake_wire_LDADD = $(fake_libs) $(CHECK_LIBS)
endif
