# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the check_*.sh of this folder: a scratch folder $tmp, gone at the end, and lines of TAP. A fault is what was
# written to $tmp/found.
# shellcheck shell=sh

set -u
LC_ALL=C
export LC_ALL

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
number=0
failed=0

# result TEXT: one line; what was found, if anything, is in $tmp/found.
result()
{
	number=$((number + 1))
	if test -s "$tmp/found"; then
		sed 's/^/# /' "$tmp/found"
		echo "not ok $number - $1"
		failed=1
	else
		echo "ok $number - $1"
	fi
}

# skip TEXT REASON
skip()
{
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

# At the end of every script.
finish()
{
	echo "1..$number"
	exit $failed
}
