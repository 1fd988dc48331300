# SPDX-License-Identifier: BSD-3-Clause
# Completion of rpmactl in bash; the words come from rpmactl itself.
_rpmactl() {
  local IFS=$'\n'
  # shellcheck disable=SC2207
  COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" completion --words -- \
    "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _rpmactl rpmactl
