# SPDX-License-Identifier: BSD-3-Clause
# All but main.c, so that tests and a build with doubles of the device link the same code.
noinst_LIBRARIES += %D%/libdaemon.a
%C%_libdaemon_a_SOURCES = \
	%D%/access.c %D%/access.h \
	%D%/announce.c %D%/announce.h \
	%D%/conn.h \
	%D%/conn_table.c \
	%D%/conns.c %D%/conns.h \
	%D%/conns_dial.c \
	%D%/conns_message.c \
	%D%/control.c %D%/control.h \
	%D%/control_client.c %D%/control_client.h \
	%D%/control_client_impl.h %D%/control_client_out.c \
	%D%/control_peer.c %D%/control_peer.h \
	%D%/cq.c %D%/cq.h \
	%D%/daemon.c %D%/daemon.h \
	%D%/device.c %D%/device.h \
	%D%/device_addrs.c %D%/device_addrs.h \
	%D%/devices.c %D%/devices.h \
	%D%/devnode.c %D%/devnode.h \
	%D%/engine.c %D%/engine.h \
	%D%/engine_conn.c \
	%D%/engine_device.c \
	%D%/engine_impl.h \
	%D%/engine_recv.c \
	%D%/engine_ring.c \
	%D%/engine_show.c \
	%D%/events.c %D%/events.h \
	%D%/fault.c %D%/fault.h \
	%D%/ledger.c %D%/ledger.h \
	%D%/ledger_impl.h \
	%D%/ledger_message.c \
	%D%/ledger_move.c \
	%D%/ledger_path.h \
	%D%/ledger_restore.c \
	%D%/listeners.c %D%/listeners.h \
	%D%/loop.c %D%/loop.h \
	%D%/metrics.c %D%/metrics.h %D%/metrics_table.c \
	%D%/named_count.c %D%/named_count.h \
	%D%/notify.c %D%/notify.h \
	%D%/pool.c %D%/pool.h \
	%D%/ports.c %D%/ports.h \
	%D%/region.c %D%/region.h \
	%D%/reload.c %D%/reload.h \
	%D%/rpc.c %D%/rpc.h \
	%D%/rpc_batch.c \
	%D%/rpc_call.c %D%/rpc_call.h \
	%D%/rpc_conn.c \
	%D%/rpc_daemon.c \
	%D%/rpc_device.c \
	%D%/rpc_dispatch.c \
	%D%/rpc_event.c \
	%D%/rpc_handlers.h \
	%D%/rpc_impl.h \
	%D%/rpc_json.c %D%/rpc_json.h \
	%D%/rpc_listener.c \
	%D%/rpc_message.c %D%/rpc_message.h \
	%D%/rpc_poll.c \
	%D%/ring.c %D%/ring.h \
	%D%/rpc_pool.c \
	%D%/rpc_ring.c \
	%D%/rpc_ports.c \
	%D%/rpc_recv.c \
	%D%/rpc_stats.c \
	%D%/rpc_subscribe.c \
	%D%/rpc_text.c %D%/rpc_text.h \
	%D%/rpma_err.c %D%/rpma_err.h \
	%D%/rpmad.c %D%/rpmad.h \
	%D%/sender.c %D%/sender.h \
	%D%/settings.c %D%/settings.h \
	%D%/settings_print.c %D%/settings_print.h \
	%D%/settings_reload.c %D%/settings_reload.h \
	%D%/settings_roles.c %D%/settings_roles.h \
	%D%/slot_heap.c %D%/slot_heap.h \
	%D%/srq.c %D%/srq.h \
	%D%/store.c %D%/store.h \
	%D%/sysfs.c %D%/sysfs.h
%C%_libdaemon_a_CFLAGS = $(AM_CFLAGS) $(VERBS_CFLAGS) $(RDMACM_CFLAGS) $(EVENT_CFLAGS) \
	$(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS)

# librpma is linked statically: installing rpmad never replaces a distribution's library.
sbin_PROGRAMS += rpmad
rpmad_SOURCES = %D%/main.c
rpmad_LDADD = %D%/libdaemon.a lib/rpma/librpma-core.la lib/core/libcore.a $(RDMACM_LIBS) \
	$(VERBS_LIBS) $(EVENT_LIBS) $(JANSSON_LIBS) $(SYSTEMD_LIBS)
