/* SPDX-License-Identifier: BSD-3-Clause */
/* Attribute shorthands. */
#ifndef RPMAD_LIB_CORE_COMPILER_H
#define RPMAD_LIB_CORE_COMPILER_H

#define RPMAD_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define RPMAD_MUST_USE          __attribute__((warn_unused_result))
#define RPMAD_UNUSED            __attribute__((unused))
#define RPMAD_UNLIKELY(cond)    __builtin_expect(!!(cond), 0)

/* The number of elements of an array (not of a pointer). */
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
