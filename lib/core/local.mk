# SPDX-License-Identifier: BSD-3-Clause
noinst_LIBRARIES += %D%/libcore.a
%C%_libcore_a_SOURCES = \
	%D%/addr.c %D%/addr.h \
	%D%/base64.c %D%/base64.h \
	%D%/compiler.h \
	%D%/err.c %D%/err.h \
	%D%/event_type.c %D%/event_type.h \
	%D%/frame.c %D%/frame.h \
	%D%/histogram.c %D%/histogram.h \
	%D%/jsonrpc.c %D%/jsonrpc.h \
	%D%/log.c %D%/log.h \
	%D%/method.c %D%/method.h %D%/method_json.c \
	%D%/num.c %D%/num.h \
	%D%/param.c %D%/param.h %D%/param_text.c \
	%D%/ring.h \
	%D%/text.c %D%/text.h \
	%D%/usock.c %D%/usock.h
%C%_libcore_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
