/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Feed every seed of a fuzz target through it and report in TAP, so that the seeds run
 * in each `make check`. Without libFuzzer this is the target's main(), and arguments
 * are files to feed instead. With it (REPLAY_BESIDE_LIBFUZZER) seeds run when there are
 * no arguments, where libFuzzer would run without end.
 */
#include <config.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define PATH_BYTES 4096u

/* The whole file in memory of exactly its size, so that sanitizers see its end. */
static uint8_t *
read_file(const char *path, size_t *out_size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long size;

	if (!file)
		return NULL;
	if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0)
		goto done;
	rewind(file);
	data = malloc(size > 0 ? (size_t)size : 1);
	if (data && fread(data, 1, (size_t)size, file) != (size_t)size) {
		free(data);
		data = NULL;
	}
	*out_size = (size_t)size;

done:
	(void)fclose(file);
	return data;
}

/* A target that finds a fault ends the program: the name is written before. */
static bool
feed(const char *path, unsigned int number, const char *name)
{
	size_t size = 0;
	uint8_t *data = read_file(path, &size);

	printf("# %s\n", name);
	(void)fflush(stdout);
	if (data)
		(void)LLVMFuzzerTestOneInput(data, size);
	printf("%s %u - %s\n", data ? "ok" : "not ok", number, name);
	free(data);
	return data != NULL;
}

static int
is_seed(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Feed tests/fuzz/<program>.in/, in the order of the names. return   exit status */
static int
feed_seeds(const char *program)
{
	const char *top = getenv("top_srcdir"), *name = strrchr(program, '/');
	char folder[PATH_BYTES], path[PATH_BYTES + 256];
	struct dirent **entries;
	bool good = true;
	int count, i;

	name = name ? name + 1 : program;
	if (strncmp(name, "lt-", 3) == 0)
		name += 3;
	(void)snprintf(folder, sizeof(folder), "%s/tests/fuzz/%s.in", top ? top : ".",
	    name);
	count = scandir(folder, &entries, is_seed, alphasort);
	if (count <= 0) {
		printf("Bail out! no seeds in %s\n", folder);
		return EXIT_FAILURE;
	}
	printf("1..%d\n", count);
	for (i = 0; i < count; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		good = feed(path, (unsigned int)i + 1, entries[i]->d_name) && good;
		free(entries[i]);
	}
	free(entries);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

#ifdef REPLAY_BESIDE_LIBFUZZER

int LLVMFuzzerInitialize(int *argc, char ***argv);

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	if (*argc == 1)
		exit(feed_seeds((*argv)[0]));
	return 0;
}

#else

int
main(int argc, char **argv)
{
	bool good = true;
	int i;

	if (argc <= 1)
		return feed_seeds(argv[0]);
	printf("1..%d\n", argc - 1);
	for (i = 1; i < argc; i++)
		good = feed(argv[i], (unsigned int)i, argv[i]) && good;
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
