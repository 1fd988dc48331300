/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of findings, and how it looks. */
#include <config.h>

#include "ctl/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "ctl/buf.h"
#include "ctl/field.h"
#include "ctl/must.h"
#include "ctl/out.h"
#include "lib/core/text.h"

#define TEXT_MAX 640

static const char *
state_name(enum doctor_state state)
{
	switch (state) {
	case DOCTOR_OK:
		return "ok";
	case DOCTOR_WARNING:
		return "warning";
	case DOCTOR_PROBLEM:
		return "problem";
	}
	return "";
}

void
doctor_add(const struct doctor *doctor, const char *check, enum doctor_state state,
    const char *remedy, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	text_clean(text);
	must_0(json_array_append_new(doctor->findings,
	    json_pack("{s:s, s:s, s:s, s:s?}", "check", check, "state",
		state_name(state), "text", text, "remedy", remedy)));
}

const char *
doctor_remedy(char buf[DOCTOR_REMEDY_MAX], const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(buf, DOCTOR_REMEDY_MAX, fmt, args);
	va_end(args);
	text_clean(buf);
	return buf;
}

bool
doctor_is_well(const struct json_t *findings)
{
	const json_t *finding;
	size_t i;

	json_array_foreach(findings, i, finding)
		if (strcmp(field_text(finding, "state"), "ok") != 0)
			return false;
	return true;
}

void
doctor_view(struct out *out, const struct json_t *result)
{
	const json_t *findings = json_object_get(result, "findings"), *finding;
	size_t i;

	json_array_foreach(findings, i, finding) {
		const char *text = field_text(finding, "text");
		const char *remedy = field_text(finding, "remedy");

		buf_printf(&out->buf, "%-8s %-8s ", field_text(finding, "state"),
		    field_text(finding, "check"));
		buf_add_escaped(&out->buf, text, strlen(text));
		buf_puts(&out->buf, "\n");
		if (remedy[0] == '\0')
			continue;
		buf_printf(&out->buf, "%-18s-> ", "");
		buf_add_escaped(&out->buf, remedy, strlen(remedy));
		buf_puts(&out->buf, "\n");
	}
}
