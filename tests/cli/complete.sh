#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Completion in each shell that is here: what the shell offers is what the tables have.
# shellcheck source=tests/cli/lib.sh
. "${top_srcdir:-.}/tests/cli/lib.sh"

mkdir "$dir/bin" "$dir/here"
ln -s "$(cd "$top_builddir" && pwd)/rpmactl" "$dir/bin/rpmactl"
scripts=$(cd "$top_srcdir/ctl" && pwd)
PATH=$dir/bin:$PATH
HOME=$dir
export PATH HOME scripts
cd "$dir/here" || exit 1
: >a-file

rpmactl completion bash | cmp -s - "$scripts/rpmactl.bash"
result 'the script of bash is the installed one'
rpmactl completion zsh | cmp -s - "$scripts/_rpmactl"
result 'the script of zsh is the installed one'
rpmactl completion fish | cmp -s - "$scripts/rpmactl.fish"
result 'the script of fish is the installed one'
rpmactl completion >"$dir/out" 2>"$dir/err"
is 'no shell' $? 2
one_error 'no shell' 'rpmactl: completion: the shell is one of: bash zsh fish*'

# offer_SHELL WORD...: what is offered for the last word of "rpmactl WORD...", sorted.
cat >"$dir/bash" <<'END'
. "$scripts/rpmactl.bash"
COMP_WORDS=(rpmactl "$@")
COMP_CWORD=$#
_rpmactl
printf '%s\n' "${COMPREPLY[@]}"
END
offer_bash() { bash --norc "$dir/bash" "$@"; }
# What the completion system of zsh would do, as functions.
cat >"$dir/zsh" <<'END'
compadd() {
  local -a all=("${(@P)2}")
  all=(${(M)all:#$words[CURRENT]*})
  (( $#all )) && print -l -- $all
}
_files() { print -l -- $words[CURRENT]*(N) }
words=(rpmactl "$@")
CURRENT=$#words
complete_it() { source "$scripts/_rpmactl" }
complete_it
END
offer_zsh() { zsh -f "$dir/zsh" "$@"; }
offer_fish() {
  fish --no-config -c 'source $scripts/rpmactl.fish; complete -C "$argv"' -- "rpmactl $*"
}

rpmactl help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | sort >"$dir/commands"
for shell in bash zsh fish; do
  if ! command -v $shell >/dev/null; then
    skip "completion in $shell" "no $shell here"
    continue
  fi
  offer_$shell '' | grep '^[a-z]' | sort >"$dir/out"
  cmp -s "$dir/out" "$dir/commands"
  result "$shell offers every command"
  is "$shell completes a command" "$(offer_$shell dev)" devices
  is "$shell completes an option" "$(offer_$shell poll --enc)" --encoding
  is "$shell knows the words of an option" "$(offer_$shell poll --encoding '' | sort | tr '\n' ' ')" \
    'base64 none text '
  is "$shell passes over options before the command" "$(offer_$shell --json -t 3 unlis)" unlisten
  is "$shell knows the methods" "$(offer_$shell call recv.p | sort | tr '\n' ' ')" 'recv.poll recv.post '
  is "$shell knows the shells" "$(offer_$shell completion '' | grep -v '^-' | sort | tr '\n' ' ')" 'bash fish zsh '
  is "$shell knows the levels of the log" "$(offer_$shell log '' | grep -v '^-' | sort | tr '\n' ' ')" 'debug error info notice warning '
  is "$shell offers one of them" "$(offer_$shell log info '' | grep -x error)" ''
  is "$shell knows the types of events" "$(offer_$shell events srq.low srq.e)" srq.empty
done
# Where a file may come, the shells that are asked for files themselves offer it.
for shell in zsh fish; do
  if command -v $shell >/dev/null; then
    is "$shell offers files" "$(offer_$shell send 3 a-)" a-file
  fi
done
finish
