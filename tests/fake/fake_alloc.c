/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_alloc.c: see fake_alloc.h. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_alloc.h"
#include "tests/fake/fake_impl.h"

/* Names that the linker gives to both sides of --wrap. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *ptr, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *ptr, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static _Thread_local struct {
	unsigned n;
	unsigned count;
	bool fired;
} alloc;

void
fake_alloc_fail_nth(unsigned n)
{
	alloc.n = n;
	alloc.count = 0;
	alloc.fired = false;
}

unsigned
fake_alloc_count(void)
{
	return alloc.count;
}

bool
fake_alloc_fired(void)
{
	return alloc.fired;
}

static bool
fails(void)
{
	if (fake_inside())
		return false;
	alloc.count++;
	if (alloc.n == 0 || --alloc.n != 0)
		return false;
	alloc.fired = true;
	errno = ENOMEM;
	return true;
}

void *
__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *
__wrap_realloc(void *ptr, size_t size)
{
	return fails() ? NULL : __real_realloc(ptr, size);
}

char *
__wrap_strdup(const char *s)
{
	return fails() ? NULL : __real_strdup(s);
}

char *
__wrap_strndup(const char *s, size_t n)
{
	return fails() ? NULL : __real_strndup(s, n);
}

void *
__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __real_aligned_alloc(alignment, size);
}
