# SPDX-License-Identifier: BSD-3-Clause
# A target X has fuzz_X.c and seeds in fuzz_X.in/; see the three blocks below. Without
# --enable-fuzz replay.c is its main() and runs the seeds. With it the program belongs to
# libFuzzer, and replay.c runs the seeds when there are no arguments, as in `make check`.
if ENABLE_FUZZ
fuzz_cppflags = $(AM_CPPFLAGS) -DREPLAY_BESIDE_LIBFUZZER
fuzz_ldflags = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
else
fuzz_cppflags = $(AM_CPPFLAGS)
fuzz_ldflags = $(AM_LDFLAGS)
endif
fuzz_common = %D%/replay.c %D%/fuzz.h

fuzz_programs = %D%/fuzz_frame %D%/fuzz_jsonrpc %D%/fuzz_param %D%/fuzz_settings \
  %D%/fuzz_daemon %D%/fuzz_rpmac
check_PROGRAMS += $(fuzz_programs)

EXTRA_DIST += %D%/fuzz_frame.in
%C%_fuzz_frame_SOURCES = %D%/fuzz_frame.c $(fuzz_common)
%C%_fuzz_frame_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_frame_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_frame_LDADD = lib/core/libcore.a

EXTRA_DIST += %D%/fuzz_jsonrpc.in
%C%_fuzz_jsonrpc_SOURCES = %D%/fuzz_jsonrpc.c $(fuzz_common)
%C%_fuzz_jsonrpc_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_jsonrpc_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_fuzz_jsonrpc_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_jsonrpc_LDADD = lib/core/libcore.a $(JANSSON_LIBS)

EXTRA_DIST += %D%/fuzz_param.in
%C%_fuzz_param_SOURCES = %D%/fuzz_param.c $(fuzz_common)
%C%_fuzz_param_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_param_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_fuzz_param_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_param_LDADD = lib/core/libcore.a $(JANSSON_LIBS)

EXTRA_DIST += %D%/fuzz_settings.in
%C%_fuzz_settings_SOURCES = %D%/fuzz_settings.c $(fuzz_common)
%C%_fuzz_settings_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_settings_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_fuzz_settings_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_settings_LDADD = daemon/libdaemon.a lib/core/libcore.a $(JANSSON_LIBS)

EXTRA_DIST += %D%/fuzz_rpmac.in
%C%_fuzz_rpmac_SOURCES = %D%/fuzz_rpmac.c $(fuzz_common)
%C%_fuzz_rpmac_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_rpmac_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_rpmac_LDADD = lib/rpmac/librpmac-core.la

EXTRA_DIST += %D%/fuzz_daemon.in
%C%_fuzz_daemon_SOURCES = %D%/fuzz_daemon.c tests/unit/crig_build.c \
  tests/unit/crig_build.h $(fuzz_common)
%C%_fuzz_daemon_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_daemon_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_fuzz_daemon_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_daemon_LDADD = daemon/libdaemon.a lib/rpma/librpma-core.la lib/core/libcore.a \
  $(fake_libs) $(EVENT_LIBS) $(JANSSON_LIBS) $(SYSTEMD_LIBS)
