# SPDX-License-Identifier: BSD-3-Clause
dist_man_MANS += %D%/rpmactl.1 %D%/rpmad.json.5 %D%/librpma.7 %D%/rpmad-rpc.7 %D%/rpmad.8
