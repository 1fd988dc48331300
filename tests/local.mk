# SPDX-License-Identifier: BSD-3-Clause
include %D%/unit/core.mk
include %D%/fuzz/local.mk
