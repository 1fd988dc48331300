# SPDX-License-Identifier: BSD-3-Clause
# Tests of lib/core, one program a module.
if HAVE_CHECK
core_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
core_ldadd = lib/core/libcore.a $(JANSSON_LIBS) $(CHECK_LIBS)

check_PROGRAMS += %D%/check_addr
%C%_check_addr_SOURCES = %D%/check_addr.c %D%/harness.h
%C%_check_addr_CFLAGS = $(core_cflags)
%C%_check_addr_LDADD = $(core_ldadd)

check_PROGRAMS += %D%/check_base64
%C%_check_base64_SOURCES = %D%/check_base64.c %D%/harness.h
%C%_check_base64_CFLAGS = $(core_cflags)
%C%_check_base64_LDADD = $(core_ldadd)

check_PROGRAMS += %D%/check_err
%C%_check_err_SOURCES = %D%/check_err.c %D%/harness.h
%C%_check_err_CFLAGS = $(core_cflags)
%C%_check_err_LDADD = $(core_ldadd)

check_PROGRAMS += %D%/check_frame
%C%_check_frame_SOURCES = %D%/check_frame.c %D%/harness.h
%C%_check_frame_CFLAGS = $(core_cflags)
%C%_check_frame_LDADD = $(core_ldadd)

check_PROGRAMS += %D%/check_histogram
%C%_check_histogram_SOURCES = %D%/check_histogram.c %D%/harness.h
%C%_check_histogram_CFLAGS = $(core_cflags)
%C%_check_histogram_LDADD = $(core_ldadd)

check_PROGRAMS += %D%/check_jsonrpc
%C%_check_jsonrpc_SOURCES = %D%/check_jsonrpc.c %D%/harness.h
%C%_check_jsonrpc_CFLAGS = $(core_cflags)
%C%_check_jsonrpc_LDADD = $(core_ldadd)

check_PROGRAMS += %D%/check_jsonrpc_reply
%C%_check_jsonrpc_reply_SOURCES = %D%/check_jsonrpc_reply.c %D%/harness.h \
	%D%/json_alloc.c %D%/json_alloc.h
%C%_check_jsonrpc_reply_CFLAGS = $(core_cflags)
%C%_check_jsonrpc_reply_LDADD = $(core_ldadd)

check_PROGRAMS += %D%/check_log
%C%_check_log_SOURCES = %D%/check_log.c %D%/harness.h
%C%_check_log_CFLAGS = $(core_cflags)
%C%_check_log_LDADD = $(core_ldadd)

check_PROGRAMS += %D%/check_method
%C%_check_method_SOURCES = %D%/check_method.c %D%/harness.h \
	%D%/json_alloc.c %D%/json_alloc.h
%C%_check_method_CFLAGS = $(core_cflags)
%C%_check_method_LDADD = $(core_ldadd)

check_PROGRAMS += %D%/check_num
%C%_check_num_SOURCES = %D%/check_num.c %D%/harness.h
%C%_check_num_CFLAGS = $(core_cflags)
%C%_check_num_LDADD = $(core_ldadd)

check_PROGRAMS += %D%/check_param
%C%_check_param_SOURCES = %D%/check_param.c %D%/harness.h
%C%_check_param_CFLAGS = $(core_cflags)
%C%_check_param_LDADD = $(core_ldadd)

check_PROGRAMS += %D%/check_param_text
%C%_check_param_text_SOURCES = %D%/check_param_text.c %D%/harness.h \
	%D%/json_alloc.c %D%/json_alloc.h
%C%_check_param_text_CFLAGS = $(core_cflags)
%C%_check_param_text_LDADD = $(core_ldadd)

check_PROGRAMS += %D%/check_text
%C%_check_text_SOURCES = %D%/check_text.c %D%/harness.h
%C%_check_text_CFLAGS = $(core_cflags)
%C%_check_text_LDADD = $(core_ldadd)

check_PROGRAMS += %D%/check_usock
%C%_check_usock_SOURCES = %D%/check_usock.c %D%/harness.h \
	%D%/usock_fixture.c %D%/usock_fixture.h
%C%_check_usock_CFLAGS = $(core_cflags)
%C%_check_usock_LDADD = $(core_ldadd)

check_PROGRAMS += %D%/check_usock_connect
%C%_check_usock_connect_SOURCES = %D%/check_usock_connect.c %D%/harness.h \
	%D%/usock_fixture.c %D%/usock_fixture.h
%C%_check_usock_connect_CFLAGS = $(core_cflags)
%C%_check_usock_connect_LDADD = $(core_ldadd)

endif
