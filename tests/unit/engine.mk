# SPDX-License-Identifier: BSD-3-Clause
# Tests of the receive engine, over the doubles.
if HAVE_CHECK
check_PROGRAMS += %D%/check_ledger %D%/check_engine_parts %D%/check_engine \
  %D%/check_engine_conn %D%/check_engine_dial %D%/check_engine_start \
  %D%/check_ledger_restore %D%/check_ledger_kill %D%/check_ledger_model %D%/check_engine_events \
  %D%/check_engine_restore %D%/check_engine_resize %D%/check_engine_aside %D%/check_store \
  %D%/check_region %D%/check_engine_stop %D%/check_engine_faults %D%/check_engine_path \
  %D%/check_engine_late %D%/check_engine_ring %D%/check_engine_queue
engine_rig = %D%/engine_rig.c %D%/engine_rig.h %D%/harness.h
engine_test_libs = daemon/libdaemon.a lib/rpma/librpma-core.la lib/core/libcore.a \
  tests/fake/libfake.a $(EVENT_LIBS) $(JANSSON_LIBS) $(SYSTEMD_LIBS) $(CHECK_LIBS)
%C%_check_ledger_SOURCES = %D%/check_ledger.c %D%/harness.h
%C%_check_ledger_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_check_ledger_LDADD = daemon/libdaemon.a lib/core/libcore.a $(CHECK_LIBS)
%C%_check_ledger_restore_SOURCES = %D%/check_ledger_restore.c %D%/harness.h
%C%_check_ledger_restore_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_check_ledger_restore_LDADD = daemon/libdaemon.a lib/core/libcore.a $(CHECK_LIBS)
%C%_check_ledger_model_SOURCES = %D%/check_ledger_model.c %D%/harness.h
%C%_check_ledger_model_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_check_ledger_model_LDADD = daemon/libdaemon.a lib/core/libcore.a $(CHECK_LIBS)
%C%_check_ledger_kill_SOURCES = %D%/check_ledger_kill.c %D%/harness.h
%C%_check_ledger_kill_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_check_ledger_kill_LDADD = daemon/libdaemon.a lib/core/libcore.a $(CHECK_LIBS)
%C%_check_engine_SOURCES = %D%/check_engine.c $(engine_rig)
%C%_check_engine_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(VERBS_CFLAGS)
%C%_check_engine_LDADD = $(engine_test_libs)
%C%_check_engine_conn_SOURCES = %D%/check_engine_conn.c $(engine_rig)
%C%_check_engine_conn_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(VERBS_CFLAGS)
%C%_check_engine_conn_LDADD = $(engine_test_libs)
%C%_check_engine_parts_SOURCES = %D%/check_engine_parts.c %D%/harness.h
%C%_check_engine_parts_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(VERBS_CFLAGS)
%C%_check_engine_parts_LDADD = $(engine_test_libs)
%C%_check_engine_dial_SOURCES = %D%/check_engine_dial.c $(engine_rig)
%C%_check_engine_dial_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(VERBS_CFLAGS)
%C%_check_engine_dial_LDADD = $(engine_test_libs)
%C%_check_engine_events_SOURCES = %D%/check_engine_events.c $(engine_rig)
%C%_check_engine_events_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(VERBS_CFLAGS)
%C%_check_engine_events_LDADD = $(engine_test_libs)
%C%_check_engine_start_SOURCES = %D%/check_engine_start.c $(engine_rig)
%C%_check_engine_start_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(VERBS_CFLAGS)
%C%_check_engine_start_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=devnode_forbidden \
	-Wl,--wrap=devnode_find -Wl,--wrap=devnode_is_gone
%C%_check_engine_start_LDADD = $(engine_test_libs)
restore_rig = %D%/restore_rig.c %D%/restore_rig.h %D%/manager_rig.c %D%/manager_rig.h $(engine_rig)
%C%_check_engine_restore_SOURCES = %D%/check_engine_restore.c $(restore_rig)
%C%_check_engine_restore_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(VERBS_CFLAGS)
%C%_check_engine_restore_LDADD = $(engine_test_libs)
%C%_check_engine_resize_SOURCES = %D%/check_engine_resize.c $(restore_rig)
%C%_check_engine_resize_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(VERBS_CFLAGS)
%C%_check_engine_resize_LDADD = $(engine_test_libs)
%C%_check_engine_aside_SOURCES = %D%/check_engine_aside.c $(restore_rig)
%C%_check_engine_aside_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(VERBS_CFLAGS)
%C%_check_engine_aside_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=notify_keep
%C%_check_engine_aside_LDADD = $(engine_test_libs)
%C%_check_store_SOURCES = %D%/check_store.c %D%/manager_rig.c %D%/manager_rig.h %D%/harness.h
%C%_check_store_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_check_store_LDADD = daemon/libdaemon.a lib/core/libcore.a $(EVENT_LIBS) $(SYSTEMD_LIBS) $(CHECK_LIBS)
%C%_check_engine_stop_SOURCES = %D%/check_engine_stop.c $(engine_rig)
%C%_check_engine_stop_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(VERBS_CFLAGS)
%C%_check_engine_stop_LDADD = $(engine_test_libs)
%C%_check_engine_path_SOURCES = %D%/check_engine_path.c $(engine_rig)
%C%_check_engine_path_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(VERBS_CFLAGS)
%C%_check_engine_path_LDFLAGS = $(AM_LDFLAGS) $(fake_alloc_ldflags) -Wl,--wrap=memcpy,--wrap=memmove,--wrap=__memcpy_chk
%C%_check_engine_path_LDADD = $(engine_test_libs)
%C%_check_engine_faults_SOURCES = %D%/check_engine_faults.c $(engine_rig)
%C%_check_engine_faults_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(VERBS_CFLAGS) $(RDMACM_CFLAGS)
%C%_check_engine_faults_LDADD = $(engine_test_libs)
%C%_check_engine_ring_SOURCES = %D%/check_engine_ring.c $(engine_rig)
%C%_check_engine_ring_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_check_engine_ring_LDADD = $(engine_test_libs)
%C%_check_engine_queue_SOURCES = %D%/check_engine_queue.c $(engine_rig)
%C%_check_engine_queue_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_check_engine_queue_LDADD = $(engine_test_libs)
%C%_check_engine_late_SOURCES = %D%/check_engine_late.c $(engine_rig)
%C%_check_engine_late_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(VERBS_CFLAGS)
%C%_check_engine_late_LDADD = $(engine_test_libs)
%C%_check_region_SOURCES = %D%/check_region.c %D%/harness.h
%C%_check_region_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_check_region_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=memfd_create,--wrap=fstat,--wrap=fstatfs,--wrap=mmap,--wrap=madvise,--wrap=sysconf
%C%_check_region_LDADD = daemon/libdaemon.a lib/core/libcore.a $(CHECK_LIBS)
endif
