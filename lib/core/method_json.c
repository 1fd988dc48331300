/* SPDX-License-Identifier: BSD-3-Clause */
/* The catalogue of methods as rpc.list returns it. */
#include <config.h>

#include "lib/core/method.h"

#include <stddef.h>

#include <jansson.h>

static json_t *
params_list(const struct param_table *table)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < table->count; i++) {
		if (json_array_append_new(list, param_spec_to_json(&table->specs[i])) !=
		    0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *
errors_list(const struct method_spec *method)
{
	json_t *list = json_array();
	const char *name;
	unsigned int i;

	for (i = 0; i < method->error_count; i++) {
		name = err_info(method->errors[i])->name;
		if (json_array_append_new(list, json_string(name)) != 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *
method_object(const struct method_spec *method)
{
	json_t *row = json_object();
	const char *role = role_name(method->role);

	/* Each call takes its value, and fails when that or the row is NULL. */
	if (json_object_set_new(row, "name", json_string(method->name)) == 0 &&
	    json_object_set_new(row, "role", json_string(role)) == 0 &&
	    json_object_set_new(row, "changes", json_boolean(method->changes)) == 0 &&
	    json_object_set_new(row, "waits", json_boolean(method->waits)) == 0 &&
	    json_object_set_new(row, "passes_fd", json_boolean(method->passes_fd)) ==
		0 &&
	    json_object_set_new(row, "params", params_list(&method->params)) == 0 &&
	    json_object_set_new(row, "errors", errors_list(method)) == 0 &&
	    json_object_set_new(row, "help", json_string(method->help)) == 0)
		return row;
	json_decref(row);
	return NULL;
}

json_t *
method_catalogue_to_json(void)
{
	json_t *list = json_array(), *catalogue = json_object();
	unsigned int id;

	for (id = 0; id < METHOD_COUNT; id++)
		if (json_array_append_new(list, method_object(&methods[id])) != 0)
			goto fail;
	if (json_object_set(catalogue, "methods", list) != 0)
		goto fail;
	json_decref(list);
	return catalogue;

fail:
	json_decref(list);
	json_decref(catalogue);
	return NULL;
}
