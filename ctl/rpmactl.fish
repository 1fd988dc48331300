# SPDX-License-Identifier: BSD-3-Clause
# Completion of rpmactl in fish; the words come from rpmactl itself.
function __rpmactl_words
    set -l words (commandline -opc)
    $words[1] completion --words -- $words[2..-1] 2>/dev/null
end
# Where nothing but options may follow, it may be a file as well.
function __rpmactl_no_file
    __rpmactl_words | string match -qv -- '-*'
end
complete -c rpmactl -f -n __rpmactl_no_file -a '(__rpmactl_words)'
complete -c rpmactl -F -n 'not __rpmactl_no_file' -a '(__rpmactl_words)'
