# SPDX-License-Identifier: BSD-3-Clause
dist_check_SCRIPTS += %D%/check_layers.sh
include %D%/fake/local.mk
include %D%/unit/core.mk
include %D%/unit/rpma.mk
include %D%/unit/daemon.mk
include %D%/unit/engine.mk
include %D%/unit/ctl.mk
include %D%/cli/local.mk
include %D%/fuzz/local.mk
include %D%/peers/local.mk
