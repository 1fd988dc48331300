/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys out of the bytes that a terminal sends for them. */
#ifndef RPMAD_CTL_KEYS_H
#define RPMAD_CTL_KEYS_H

/* Beyond the characters. */
enum key {
	KEY_NONE = 0, /* nothing yet, or one that has no name here */
	KEY_UP = 256,
	KEY_DOWN,
	KEY_RIGHT,
	KEY_LEFT
};

/* What was read of a sequence. Zero-initialise. */
struct keys {
	enum {
		KEYS_PLAIN,
		KEYS_ESCAPE,
		KEYS_SEQUENCE
	} state;
};

/* Take the next byte. return   an enum key, or a character of ASCII */
int keys_take(struct keys *keys, unsigned char byte);

#endif
