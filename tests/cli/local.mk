# SPDX-License-Identifier: BSD-3-Clause
# rpmactl against the daemon over doubles of the device.
dist_check_SCRIPTS += %D%/batch.sh %D%/codes.sh %D%/complete.sh %D%/events.sh %D%/exec.sh %D%/exits.sh \
  %D%/follow.sh %D%/help-examples.sh %D%/in-place.sh %D%/large.sh %D%/lease.sh %D%/listen.sh %D%/manual.sh %D%/metrics.sh \
  %D%/receive.sh %D%/reload.sh %D%/send.sh %D%/shapes.sh %D%/terminal.sh %D%/top.sh %D%/wait.sh \
  %D%/watch.sh
EXTRA_DIST += %D%/lib.sh %D%/golden
