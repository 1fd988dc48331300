# SPDX-License-Identifier: BSD-3-Clause
dist_check_SCRIPTS += %D%/check_examples.sh %D%/check_man3.sh
include %D%/fake/local.mk
include %D%/unit/rpma.mk
include %D%/verbs45/local.mk
include %D%/bench/local.mk
if BUILD_DAEMON
dist_check_SCRIPTS += %D%/check_dashboard.sh %D%/check_docs.sh %D%/check_files.sh %D%/check_layers.sh \
  %D%/check_rpmac.sh %D%/check_units.sh %D%/check_verify.sh
include %D%/fake/daemon.mk
include %D%/unit/core.mk
include %D%/unit/daemon.mk
include %D%/unit/engine.mk
include %D%/unit/rpmac.mk
include %D%/unit/ctl.mk
include %D%/cli/local.mk
include %D%/fuzz/local.mk
include %D%/peers/local.mk
endif

EXTRA_DIST += %D%/check_dashboard.jq %D%/tap.sh \
  %D%/vm/accel %D%/vm/guest-setup %D%/vm/image %D%/vm/init %D%/vm/packages %D%/vm/packages-siw \
  %D%/vm/rpmad-guest.service %D%/vm/run \
  %D%/guest/bad-input.sh %D%/guest/bad-link.sh %D%/guest/before-boot.sh %D%/guest/churn.sh %D%/guest/compat.sh \
  %D%/guest/consumers.sh %D%/guest/device.sh %D%/guest/device-events.sh %D%/guest/disconnect-at-once.sh \
  %D%/guest/examples.sh %D%/guest/fairness.sh %D%/guest/huge-pages.sh %D%/guest/in-place.sh %D%/guest/ipv6.sh %D%/guest/labels.sh \
  %D%/guest/lib.sh %D%/guest/lifecycle.sh %D%/guest/limits.sh \
  %D%/guest/main-flow.sh %D%/guest/many-conns.sh %D%/guest/metrics.sh %D%/guest/rkey.sh %D%/guest/readme.sh %D%/guest/rnr.sh \
  %D%/guest/roles.sh %D%/guest/run %D%/guest/service-device.sh %D%/guest/service-modules.sh %D%/guest/service.sh \
  %D%/guest/shell-consumers.sh %D%/guest/stage.sh %D%/guest/stop.sh %D%/guest/two-node.sh
