/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameter tables: one row a parameter, from which requests and the configuration are
 * decoded into plain structs, options and help are made, and the manual is checked.
 */
#ifndef RPMAD_LIB_CORE_PARAM_H
#define RPMAD_LIB_CORE_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/core/err.h"

struct json_t;

enum param_type {
	PARAM_BOOL,    /* bool */
	PARAM_UINT,    /* uint64_t, min .. max */
	PARAM_STRING,  /* struct param_string, min .. max bytes of UTF-8 */
	PARAM_ENUM,    /* unsigned int: index into words */
	PARAM_STRINGS, /* struct param_list: min .. max strings, each up to
			  PARAM_ITEM_MAX bytes */
	PARAM_OBJECT,  /* struct param_object: left to the reader of the value */
};

/* Bytes of one string of a PARAM_STRINGS. */
#define PARAM_ITEM_MAX 256u

/* What an optional PARAM_UINT without default holds when it is not given. */
#define PARAM_UNSET UINT64_MAX

/* Borrowed from the JSON it was decoded from; ptr is NULL when not given. */
struct param_string {
	const char *ptr; /* NUL-terminated; NUL bytes inside were refused */
	size_t len;
};

/* Borrowed likewise. */
struct param_list {
	const struct json_t *array; /* NULL: not given, count 0 */
	size_t count;
};

/* Borrowed likewise; json is NULL when not given. */
struct param_object {
	const struct json_t *json;
};

/* The i-th string of a list, i < count. */
const char *param_list_at(const struct param_list *list, size_t i);

struct param_spec {
	const char *name; /* "count", "pool.slots": dots lead into nested objects */
	enum param_type type;
	bool required;
	uint64_t min; /* values, bytes or members, see the types */
	uint64_t max;
	const char *unit; /* "ms", "bytes"; NULL: a plain number or word */
	const char *def;  /* default as text ("1024", "true", a word); NULL: none */
	const char *doc;  /* one line of help, lower case, no full stop */
	const char *const *words; /* PARAM_ENUM: NULL-terminated */
	size_t offset;            /* of the field in the struct */
	const char *
	    option; /* rpmactl's option without dashes ("n"), NULL: the name with '-' */
	const char *bare; /* what the option says without a value, which can then only
			     stand behind "=": --watch, --watch=2; NULL: it needs one */
};

/* A table: rows and their number. */
struct param_table {
	const struct param_spec *specs;
	size_t count;
};

/*
 * Decode an object by a table: every field of out is written. What was not given is the
 * default; without one PARAM_UNSET, false, the first word, or a NULL pointer.
 *
 * json     NULL: no object was given, as if it were empty; otherwise an object
 * root     what paths begin with: "params", or "" for the configuration
 * comments keys that begin with '#' are passed over
 * return   0; -EINVAL (ERR_INVALID_PARAMS) with the path: unknown key, wrong type, out
 * of range, missing, a real number for an integer. out is then unspecified. The text
 * does not repeat the path: both are to be shown, "params.count: 0 is below 1 slots".
 */
int param_decode(const struct param_table *table, const struct json_t *json,
    const char *root, bool comments, void *out, struct err *err);

/*
 * The JSON value of a text, as an option of the command line gives it, checked against
 * the row by param_decode() itself. A size ("4KiB") serves where the unit is "bytes", a
 * duration ("2s", "500ms") where it is "ms"; there a bare number is in seconds, unless
 * the row has no option of its own: then the option's name ends in the unit. A list
 * takes one member a call: *value is NULL or a list, to which it is appended.
 * return   0 and *value, a new reference; -EINVAL with err, whose path is the row's
 * name; -ENOMEM with err. A list that was given stays the caller's.
 */
int param_from_text(const struct param_spec *spec, const char *text,
    struct json_t **value, struct err *err);

/*
 * An object describing the row: {name, type, required, min, max, unit, default, words,
 * help}, with null for what it has not, and words a list. NULL: no memory.
 */
struct json_t *param_spec_to_json(const struct param_spec *spec);

#endif
