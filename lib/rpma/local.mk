# SPDX-License-Identifier: BSD-3-Clause
# librpma, shared and static. Its objects are also a convenience library for programs of this
# tree: librpma-core.la brings no libibverbs and librdmacm along, so that tests can link
# doubles of them; other programs add $(RDMACM_LIBS) $(VERBS_LIBS) behind it.
noinst_LTLIBRARIES += %D%/librpma-core.la
%C%_librpma_core_la_SOURCES = \
  %D%/addr.c %D%/addr.h %D%/batch.c %D%/batch.h %D%/cm.c %D%/cm.h %D%/cm_event.c %D%/conn.c %D%/conn.h \
  %D%/conn_cfg.c %D%/conn_cfg.h %D%/conn_req.c %D%/conn_req.h %D%/cq.c %D%/cq.h \
  %D%/dial.c %D%/dial.h %D%/ep.c %D%/ep.h %D%/err.c %D%/err.h %D%/event.c %D%/event.h \
  %D%/flush.c %D%/flush.h %D%/log.c %D%/log.h %D%/mr.c %D%/mr.h %D%/mr_desc.c %D%/msg.c \
  %D%/native.c %D%/native.h %D%/node.h %D%/peer.c %D%/peer.h %D%/peer_async.c \
  %D%/peer_cfg.c %D%/peer_cfg.h %D%/post.h %D%/queues.c %D%/queues.h %D%/ref.h %D%/rma.c \
  %D%/srq.c %D%/srq.h %D%/srq_cfg.c %D%/srq_cfg.h %D%/utils.c %D%/utils.h
%C%_librpma_core_la_CFLAGS = $(AM_CFLAGS) $(RPMA_CFLAGS) $(VERBS_CFLAGS) $(RDMACM_CFLAGS)

# 4:0:4 is soname librpma.so.0: the interface number 4 still serves users of 0.
lib_LTLIBRARIES += %D%/librpma.la
%C%_librpma_la_SOURCES =
%C%_librpma_la_LIBADD = %D%/librpma-core.la $(RDMACM_LIBS) $(VERBS_LIBS)
%C%_librpma_la_LDFLAGS = $(AM_LDFLAGS) -version-info 4:0:4 \
  -Wl,--version-script=$(top_srcdir)/%D%/librpma.map
EXTRA_%C%_librpma_la_DEPENDENCIES = %D%/librpma.map

include_HEADERS += %D%/librpma.h

pkgconfig_DATA += %D%/librpma.pc
EXTRA_DIST += %D%/librpma.map %D%/librpma.pc.in
CLEANFILES += %D%/librpma.pc
%D%/librpma.pc: %D%/librpma.pc.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(subst) $(srcdir)/%D%/librpma.pc.in >$@.tmp && mv $@.tmp $@
