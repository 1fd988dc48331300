/* SPDX-License-Identifier: BSD-3-Clause */
/* Control sequences of keys: ESC [ or ESC O, parameters, a final character. */
#include <config.h>

#include "ctl/keys.h"

#define ESCAPE 0x1b

/* source   ECMA-48, section 5.4: 0x40 to 0x7e end a sequence */
static int
take_sequence(struct keys *keys, unsigned char byte)
{
	if (byte == ESCAPE) {
		keys->state = KEYS_ESCAPE;
		return KEY_NONE;
	}
	if (byte < 0x40 || byte > 0x7e)
		return KEY_NONE;
	keys->state = KEYS_PLAIN;
	switch (byte) {
	case 'A':
		return KEY_UP;
	case 'B':
		return KEY_DOWN;
	case 'C':
		return KEY_RIGHT;
	case 'D':
		return KEY_LEFT;
	default:
		return KEY_NONE;
	}
}

int
keys_take(struct keys *keys, unsigned char byte)
{
	switch (keys->state) {
	case KEYS_SEQUENCE:
		return take_sequence(keys, byte);
	case KEYS_ESCAPE:
		if (byte == '[' || byte == 'O')
			keys->state = KEYS_SEQUENCE;
		else if (byte != ESCAPE)
			keys->state = KEYS_PLAIN;
		return KEY_NONE;
	case KEYS_PLAIN:
		break;
	}
	if (byte == ESCAPE)
		keys->state = KEYS_ESCAPE;
	return byte > ' ' && byte < 0x7f ? byte : KEY_NONE;
}
