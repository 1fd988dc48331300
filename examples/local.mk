# SPDX-License-Identifier: BSD-3-Clause
# Programs for those who learn the library. They are not built here but installed as they are, with a Makefile of their own.
examplesdir = $(docdir)/examples
dist_examples_DATA = %D%/Makefile %D%/README.md %D%/common.c %D%/common.h %D%/ping_pong.c \
  %D%/srq_server.c %D%/write_flush.c %D%/write_imm.c
