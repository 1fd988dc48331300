dnl SPDX-License-Identifier: BSD-3-Clause
dnl Compiler and linker flags of the project; the user's CFLAGS are never touched.

AC_DEFUN([RPMAD_WARNINGS], [
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [fail on compiler warnings])], [], [enable_werror=no])
AX_APPEND_COMPILE_FLAGS([ dnl
  -Wall -Wextra -Wshadow -Wundef -Wvla -Walloca -Wformat=2 -Wformat-signedness dnl
  -Wstrict-prototypes -Wmissing-prototypes -Wmissing-declarations -Wold-style-definition dnl
  -Wredundant-decls -Wnested-externs -Wwrite-strings -Wpointer-arith -Wcast-qual -Wcast-align=strict dnl
  -Wconversion -Wno-sign-conversion -Wdouble-promotion -Wimplicit-fallthrough -Wnull-dereference dnl
  -Wdate-time -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wjump-misses-init dnl
  -Wcomma -Wunreachable-code-break -Wassign-enum -Wmissing-variable-declarations dnl
  ], [WARN_CFLAGS], [-Werror])
AS_IF([test "x$enable_werror" = xyes], [AX_APPEND_FLAG([-Werror], [WARN_CFLAGS])])
AX_APPEND_COMPILE_FLAGS([-fstack-protector-strong -fstack-clash-protection -fno-common], [HARDEN_CFLAGS], [-Werror])
AX_APPEND_LINK_FLAGS([-Wl,-z,relro -Wl,-z,now -Wl,--as-needed], [HARDEN_LDFLAGS])
dnl Two stores of 4 bytes are cheaper than putting them together in a vector first.
AX_APPEND_COMPILE_FLAGS([-fno-tree-slp-vectorize], [RPMA_CFLAGS], [-Werror])
AC_SUBST([RPMA_CFLAGS])
AC_SUBST([WARN_CFLAGS]) AC_SUBST([HARDEN_CFLAGS]) AC_SUBST([HARDEN_LDFLAGS])
])

AC_DEFUN([RPMAD_SANITIZERS], [
AC_ARG_ENABLE([sanitizers],
  [AS_HELP_STRING([--enable-sanitizers@<:@=LIST@:>@], [build with sanitizers (yes: address,undefined)])],
  [], [enable_sanitizers=no])
AS_CASE([$enable_sanitizers], [no], [], [yes], [enable_sanitizers=address,undefined])
AS_IF([test "x$enable_sanitizers" != xno], [
  SAN_FLAGS="-fsanitize=$enable_sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer"
  AX_CHECK_LINK_FLAG([$SAN_FLAGS], [], [AC_MSG_ERROR([the compiler cannot link $SAN_FLAGS])])])
AM_CONDITIONAL([ENABLE_SANITIZERS], [test "x$enable_sanitizers" != xno])
AC_SUBST([SAN_FLAGS])
])

AC_DEFUN([RPMAD_FUZZ], [
AC_ARG_ENABLE([fuzz], [AS_HELP_STRING([--enable-fuzz], [build libFuzzer targets (needs clang)])], [], [enable_fuzz=no])
AS_IF([test "x$enable_fuzz" = xyes], [
  AX_CHECK_COMPILE_FLAG([-fsanitize=fuzzer-no-link],
    [FUZZ_CFLAGS=-fsanitize=fuzzer-no-link FUZZ_LDFLAGS=-fsanitize=fuzzer],
    [AC_MSG_ERROR([--enable-fuzz needs clang])])])
AM_CONDITIONAL([ENABLE_FUZZ], [test "x$enable_fuzz" = xyes])
AC_SUBST([FUZZ_CFLAGS]) AC_SUBST([FUZZ_LDFLAGS])
])

AC_DEFUN([RPMAD_COVERAGE], [
AC_ARG_ENABLE([coverage], [AS_HELP_STRING([--enable-coverage], [instrument for gcov])], [], [enable_coverage=no])
AS_IF([test "x$enable_coverage" = xyes], [COV_FLAGS="--coverage -O0"])
AC_ARG_VAR([GCOV], [gcov of the compiler])
AS_IF([test -z "$GCOV"], [GCOV=gcov])
AC_SUBST([COV_FLAGS])
])
