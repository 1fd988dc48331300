/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the small files and folders of sysfs. */
#ifndef RPMAD_DAEMON_SYSFS_H
#define RPMAD_DAEMON_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/core/compiler.h"

#define SYSFS_TEXT_MAX 64u /* characters of a short text with its NUL */

/* The first line of a file in a folder, cut to fit; "" when it cannot be read. */
void sysfs_text(int dir, const char *name, char out[SYSFS_TEXT_MAX]);
/* The word after the number of "4: ACTIVE". */
void sysfs_word(int dir, const char *name, char out[SYSFS_TEXT_MAX]);
/* The name of a file or folder that is a number. false: it is none. */
bool sysfs_index(const char *name, uint32_t *out);

/* What is done with each entry of a folder; a negative errno ends the walk. */
typedef int (*sysfs_entry_fn)(int dir, const char *name, void *arg);
/*
 * Walk a folder by name, numbers in their order; that there is none is no error.
 * return   0; -ENOMEM; what fn returned
 */
RPMAD_MUST_USE int sysfs_each(int dir, const char *path, sysfs_entry_fn fn, void *arg);
/* The same for the folders in it alone: fn is given each of them open, as dir. */
RPMAD_MUST_USE int sysfs_each_folder(int dir, const char *path, sysfs_entry_fn fn,
    void *arg);

/* Make room for one more element, zeroed. NULL: no memory, the list is as it was. */
void *sysfs_grow(void *list, size_t count, size_t size);

#endif
