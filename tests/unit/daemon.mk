# SPDX-License-Identifier: BSD-3-Clause
# Tests of the daemon's control plane. Where it needs an engine, a stub in memory takes the
# place of the one in libdaemon.a.
if HAVE_CHECK
daemon_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
daemon_ldadd = daemon/libdaemon.a lib/core/libcore.a $(EVENT_LIBS) $(JANSSON_LIBS) \
	$(SYSTEMD_LIBS) $(CHECK_LIBS)
daemon_stub = %D%/stub_engine.c %D%/stub_engine.h %D%/stub_engine_ring.c %D%/stub_engine_show.c %D%/harness.h
daemon_rig = %D%/crig.c %D%/crig.h %D%/crig_build.c %D%/crig_build.h %D%/json_alloc.c %D%/json_alloc.h $(daemon_stub)
daemon_socket = %D%/socket_rig.c %D%/socket_rig.h %D%/harness.h

check_PROGRAMS += %D%/check_access
%C%_check_access_SOURCES = %D%/check_access.c %D%/harness.h
%C%_check_access_CFLAGS = $(daemon_cflags)
%C%_check_access_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=getpwnam,--wrap=getgrnam
%C%_check_access_LDADD = $(daemon_ldadd)

check_PROGRAMS += %D%/check_control
%C%_check_control_SOURCES = %D%/check_control.c $(daemon_socket)
%C%_check_control_CFLAGS = $(daemon_cflags)
%C%_check_control_LDADD = $(daemon_ldadd)

check_PROGRAMS += %D%/check_control_client
%C%_check_control_client_SOURCES = %D%/check_control_client.c $(daemon_socket)
%C%_check_control_client_CFLAGS = $(daemon_cflags)
%C%_check_control_client_LDADD = $(daemon_ldadd)

check_PROGRAMS += %D%/check_daemon
%C%_check_daemon_SOURCES = %D%/check_daemon.c %D%/program_rig.c %D%/program_rig.h $(daemon_stub)
%C%_check_daemon_CFLAGS = $(daemon_cflags)
%C%_check_daemon_LDADD = $(daemon_ldadd)

check_PROGRAMS += %D%/check_daemon_config
%C%_check_daemon_config_SOURCES = %D%/check_daemon_config.c %D%/program_rig.c %D%/program_rig.h $(daemon_stub)
%C%_check_daemon_config_CFLAGS = $(daemon_cflags)
%C%_check_daemon_config_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=access,--wrap=fopen
%C%_check_daemon_config_LDADD = $(daemon_ldadd)

check_PROGRAMS += %D%/check_devices
%C%_check_devices_SOURCES = %D%/check_devices.c %D%/harness.h
%C%_check_devices_CFLAGS = $(daemon_cflags)
%C%_check_devices_LDADD = $(daemon_ldadd)

check_PROGRAMS += %D%/check_events
%C%_check_events_SOURCES = %D%/check_events.c $(daemon_rig)
%C%_check_events_CFLAGS = $(daemon_cflags)
%C%_check_events_LDADD = $(daemon_ldadd)

check_PROGRAMS += %D%/check_loop
%C%_check_loop_SOURCES = %D%/check_loop.c %D%/harness.h
%C%_check_loop_CFLAGS = $(daemon_cflags)
%C%_check_loop_LDADD = $(daemon_ldadd)

# These talk to tests/fake/rpmad-fake, which is built with the rest.
process_rig = %D%/daemon_rig.c %D%/daemon_rig.h %D%/harness.h
process_ldadd = $(JANSSON_LIBS) $(CHECK_LIBS)

check_PROGRAMS += %D%/check_protocol
%C%_check_protocol_SOURCES = %D%/check_protocol.c $(process_rig)
%C%_check_protocol_CFLAGS = $(daemon_cflags)
%C%_check_protocol_LDADD = $(process_ldadd)

check_PROGRAMS += %D%/check_pressure
%C%_check_pressure_SOURCES = %D%/check_pressure.c $(process_rig)
%C%_check_pressure_CFLAGS = $(daemon_cflags)
%C%_check_pressure_LDADD = $(process_ldadd)

check_PROGRAMS += %D%/check_ledger_fault
%C%_check_ledger_fault_SOURCES = %D%/check_ledger_fault.c $(process_rig)
%C%_check_ledger_fault_CFLAGS = $(daemon_cflags)
%C%_check_ledger_fault_LDADD = $(process_ldadd)

check_PROGRAMS += %D%/check_reload
%C%_check_reload_SOURCES = %D%/check_reload.c $(daemon_rig)
%C%_check_reload_CFLAGS = $(daemon_cflags)
%C%_check_reload_LDADD = $(daemon_ldadd)

check_PROGRAMS += %D%/check_rpc
%C%_check_rpc_SOURCES = %D%/check_rpc.c $(daemon_rig)
%C%_check_rpc_CFLAGS = $(daemon_cflags)
%C%_check_rpc_LDADD = $(daemon_ldadd)

check_PROGRAMS += %D%/check_rpc_batch
%C%_check_rpc_batch_SOURCES = %D%/check_rpc_batch.c $(daemon_rig)
%C%_check_rpc_batch_CFLAGS = $(daemon_cflags)
%C%_check_rpc_batch_LDADD = $(daemon_ldadd)

check_PROGRAMS += %D%/check_rpc_memory
%C%_check_rpc_memory_SOURCES = %D%/check_rpc_memory.c %D%/crig.c %D%/crig.h %D%/crig_build.c %D%/crig_build.h \
  $(daemon_stub)
%C%_check_rpc_memory_CFLAGS = $(daemon_cflags)
%C%_check_rpc_memory_LDFLAGS = $(AM_LDFLAGS) $(fake_alloc_ldflags)
%C%_check_rpc_memory_LDADD = $(daemon_ldadd) $(fake_libs)

check_PROGRAMS += %D%/check_metrics
%C%_check_metrics_SOURCES = %D%/check_metrics.c $(daemon_rig)
%C%_check_metrics_CFLAGS = $(daemon_cflags)
%C%_check_metrics_LDADD = $(daemon_ldadd)

check_PROGRAMS += %D%/check_rpc_methods
%C%_check_rpc_methods_SOURCES = %D%/check_rpc_methods.c $(daemon_rig)
%C%_check_rpc_methods_CFLAGS = $(daemon_cflags)
%C%_check_rpc_methods_LDADD = $(daemon_ldadd)

check_PROGRAMS += %D%/check_rpc_message
%C%_check_rpc_message_SOURCES = %D%/check_rpc_message.c %D%/harness.h
%C%_check_rpc_message_CFLAGS = $(daemon_cflags)
%C%_check_rpc_message_LDADD = $(daemon_ldadd)
check_PROGRAMS += %D%/check_rpc_ring %D%/check_rpc_ring_wrong
ring_rig = %D%/ring_rig.c %D%/ring_rig.h $(daemon_rig)
%C%_check_rpc_ring_SOURCES = %D%/check_rpc_ring.c $(ring_rig)
%C%_check_rpc_ring_CFLAGS = $(daemon_cflags)
%C%_check_rpc_ring_LDADD = $(daemon_ldadd)
%C%_check_rpc_ring_wrong_SOURCES = %D%/check_rpc_ring_wrong.c $(ring_rig)
%C%_check_rpc_ring_wrong_CFLAGS = $(daemon_cflags)
%C%_check_rpc_ring_wrong_LDADD = $(daemon_ldadd)

check_PROGRAMS += %D%/check_rpc_pool
%C%_check_rpc_pool_SOURCES = %D%/check_rpc_pool.c $(daemon_rig)
%C%_check_rpc_pool_CFLAGS = $(daemon_cflags)
%C%_check_rpc_pool_LDADD = $(daemon_ldadd)

check_PROGRAMS += %D%/check_rpc_recv
%C%_check_rpc_recv_SOURCES = %D%/check_rpc_recv.c $(daemon_rig)
%C%_check_rpc_recv_CFLAGS = $(daemon_cflags)
%C%_check_rpc_recv_LDADD = $(daemon_ldadd)

check_PROGRAMS += %D%/check_rpc_wait
%C%_check_rpc_wait_SOURCES = %D%/check_rpc_wait.c $(daemon_rig)
%C%_check_rpc_wait_CFLAGS = $(daemon_cflags)
%C%_check_rpc_wait_LDADD = $(daemon_ldadd)

check_PROGRAMS += %D%/check_subscribe
%C%_check_subscribe_SOURCES = %D%/check_subscribe.c $(daemon_rig)
%C%_check_subscribe_CFLAGS = $(daemon_cflags)
%C%_check_subscribe_LDADD = $(daemon_ldadd)

check_PROGRAMS += %D%/check_settings
%C%_check_settings_SOURCES = %D%/check_settings.c %D%/json_alloc.c %D%/json_alloc.h %D%/harness.h
%C%_check_settings_CFLAGS = $(daemon_cflags)
%C%_check_settings_LDADD = $(daemon_ldadd)
endif

EXTRA_DIST += %D%/settings_invalid
