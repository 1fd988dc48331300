# SPDX-License-Identifier: BSD-3-Clause
# Senders and consumers that share no code with what they test, and the comparison of what was sent with what arrived. The third one,
# on Debian's librpma, is built by build.sh where the tests need it.
noinst_PROGRAMS += %D%/cm_send %D%/consume %D%/consume_in_place %D%/crowd %D%/echo %D%/knock %D%/leave %D%/ping \
  %D%/rkey_owner %D%/rkey_probe %D%/rpmad_watched %D%/unframe %D%/verify

must = %D%/must.c %D%/must.h

%C%_cm_send_SOURCES = %D%/cm_send.c \
  %D%/message.c %D%/message.h \
  %D%/options.c %D%/options.h \
  %D%/sha256.c %D%/sha256.h
%C%_cm_send_CFLAGS = $(AM_CFLAGS) $(VERBS_CFLAGS) $(RDMACM_CFLAGS)
%C%_cm_send_LDADD = $(RDMACM_LIBS) $(VERBS_LIBS)

%C%_consume_SOURCES = %D%/consume.c
%C%_consume_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_consume_LDADD = $(JANSSON_LIBS)

%C%_echo_SOURCES = %D%/echo.c
%C%_echo_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_echo_LDADD = $(JANSSON_LIBS)

%C%_ping_SOURCES = %D%/ping.c
%C%_ping_CFLAGS = $(AM_CFLAGS) $(VERBS_CFLAGS) $(RDMACM_CFLAGS)
%C%_ping_LDADD = $(RDMACM_LIBS) $(VERBS_LIBS)

%C%_verify_SOURCES = %D%/verify.c %D%/message.h %D%/options.h %D%/sha256.c %D%/sha256.h
%C%_verify_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_verify_LDADD = $(JANSSON_LIBS)

%C%_unframe_SOURCES = %D%/unframe.c %D%/sha256.c %D%/sha256.h

# This one is on our librpmac, whose users it stands for.
%C%_consume_in_place_SOURCES = %D%/consume_in_place.c %D%/sha256.c %D%/sha256.h
%C%_consume_in_place_LDADD = lib/rpmac/librpmac-core.la

# These are on our librpma, and measure it.
%C%_crowd_SOURCES = %D%/crowd.c $(must)
%C%_crowd_CFLAGS = $(AM_CFLAGS) $(VERBS_CFLAGS)
%C%_crowd_LDADD = lib/rpma/librpma-core.la $(RDMACM_LIBS) $(VERBS_LIBS)
%C%_knock_SOURCES = %D%/knock.c $(must)
%C%_knock_CFLAGS = $(AM_CFLAGS) $(VERBS_CFLAGS)
%C%_knock_LDADD = lib/rpma/librpma-core.la $(RDMACM_LIBS) $(VERBS_LIBS)

%C%_leave_SOURCES = %D%/leave.c $(must)
%C%_leave_CFLAGS = $(AM_CFLAGS) $(VERBS_CFLAGS)
%C%_leave_LDADD = lib/rpma/librpma-core.la $(RDMACM_LIBS) $(VERBS_LIBS)

# The daemon, with somebody between it and the libraries.
%C%_rpmad_watched_SOURCES = daemon/main.c %D%/watch.c
%C%_rpmad_watched_CFLAGS = $(AM_CFLAGS) $(VERBS_CFLAGS) $(RDMACM_CFLAGS)
%C%_rpmad_watched_LDADD = $(rpmad_LDADD)

# The owner of memory is on our librpma, who tries to get at it is not.
%C%_rkey_owner_SOURCES = %D%/rkey_owner.c $(must)
%C%_rkey_owner_CFLAGS = $(AM_CFLAGS) $(VERBS_CFLAGS)
%C%_rkey_owner_LDADD = lib/rpma/librpma-core.la $(RDMACM_LIBS) $(VERBS_LIBS)
%C%_rkey_probe_SOURCES = %D%/rkey_probe.c
%C%_rkey_probe_CFLAGS = $(AM_CFLAGS) $(VERBS_CFLAGS) $(RDMACM_CFLAGS)
%C%_rkey_probe_LDADD = $(RDMACM_LIBS) $(VERBS_LIBS)

EXTRA_DIST += %D%/build.sh %D%/librpma_1_0.c %D%/rpma12_send.c \
  %D%/rpma_peer.c %D%/rpma_peer.h %D%/rpma_peer_end.c %D%/rpma_peer_link.c \
  %D%/rpma_peer_mem.c %D%/rpma_peer_msg.c %D%/rpma_peer_remedy.c
