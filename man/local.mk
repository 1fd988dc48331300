# SPDX-License-Identifier: BSD-3-Clause
dist_man_MANS += %D%/librpma.7
if BUILD_DAEMON
dist_man_MANS += %D%/librpmac.3 %D%/rpmactl.1 %D%/rpmad.json.5 %D%/rpmad-rpc.7 %D%/rpmad.8
endif

# One page for each function of librpma.
dist_man_MANS += \
  %D%/rpma_atomic_write.3 %D%/rpma_cm_accept.3 %D%/rpma_cm_delete.3 %D%/rpma_cm_dial.3 \
  %D%/rpma_cm_get_fd.3 %D%/rpma_cm_listen.3 %D%/rpma_cm_new.3 %D%/rpma_cm_next_event.3 \
  %D%/rpma_cm_reject.3 %D%/rpma_conn_apply_remote_peer_cfg.3 \
  %D%/rpma_conn_cfg_delete.3 %D%/rpma_conn_cfg_get_compl_channel.3 \
  %D%/rpma_conn_cfg_get_cq.3 %D%/rpma_conn_cfg_get_cq_size.3 \
  %D%/rpma_conn_cfg_get_native_ops.3 %D%/rpma_conn_cfg_get_rcq_size.3 \
  %D%/rpma_conn_cfg_get_rnr_retry.3 %D%/rpma_conn_cfg_get_rq_size.3 \
  %D%/rpma_conn_cfg_get_sq_size.3 %D%/rpma_conn_cfg_get_srq.3 \
  %D%/rpma_conn_cfg_get_timeout.3 %D%/rpma_conn_cfg_new.3 \
  %D%/rpma_conn_cfg_set_compl_channel.3 %D%/rpma_conn_cfg_set_cq.3 \
  %D%/rpma_conn_cfg_set_cq_size.3 %D%/rpma_conn_cfg_set_native_ops.3 \
  %D%/rpma_conn_cfg_set_rcq_size.3 %D%/rpma_conn_cfg_set_rnr_retry.3 \
  %D%/rpma_conn_cfg_set_rq_size.3 %D%/rpma_conn_cfg_set_sq_size.3 \
  %D%/rpma_conn_cfg_set_srq.3 %D%/rpma_conn_cfg_set_timeout.3 %D%/rpma_conn_delete.3 \
  %D%/rpma_conn_disconnect.3 %D%/rpma_conn_drain.3 %D%/rpma_conn_get_compl_fd.3 \
  %D%/rpma_conn_get_context.3 %D%/rpma_conn_get_cq.3 %D%/rpma_conn_get_event_fd.3 \
  %D%/rpma_conn_get_event_status.3 %D%/rpma_conn_get_local_addr.3 \
  %D%/rpma_conn_get_native_ops.3 %D%/rpma_conn_get_peer_addr.3 \
  %D%/rpma_conn_get_private_data.3 %D%/rpma_conn_get_qp_num.3 %D%/rpma_conn_get_rcq.3 \
  %D%/rpma_conn_get_reject_data.3 %D%/rpma_conn_next_event.3 \
  %D%/rpma_conn_req_connect.3 %D%/rpma_conn_req_delete.3 \
  %D%/rpma_conn_req_get_peer_addr.3 %D%/rpma_conn_req_get_private_data.3 \
  %D%/rpma_conn_req_new.3 %D%/rpma_conn_req_recv.3 %D%/rpma_conn_set_context.3 \
  %D%/rpma_conn_set_min_rnr_timer.3 %D%/rpma_conn_wait.3 %D%/rpma_cq_arm.3 \
  %D%/rpma_cq_delete.3 %D%/rpma_cq_get_fd.3 %D%/rpma_cq_get_wc.3 %D%/rpma_cq_new.3 \
  %D%/rpma_cq_set_ack_batch.3 %D%/rpma_cq_wait.3 %D%/rpma_cq_wait_flags.3 \
  %D%/rpma_ep_get_addr.3 %D%/rpma_ep_get_fd.3 %D%/rpma_ep_listen.3 \
  %D%/rpma_ep_next_conn_req.3 %D%/rpma_ep_shutdown.3 %D%/rpma_err_2str.3 \
  %D%/rpma_err_last_errno.3 %D%/rpma_flush.3 %D%/rpma_log_get_threshold.3 \
  %D%/rpma_log_set_function.3 %D%/rpma_log_set_threshold.3 %D%/rpma_mr_advise.3 \
  %D%/rpma_mr_dereg.3 %D%/rpma_mr_get_descriptor.3 %D%/rpma_mr_get_descriptor_size.3 \
  %D%/rpma_mr_get_ptr.3 %D%/rpma_mr_get_size.3 %D%/rpma_mr_reg.3 \
  %D%/rpma_mr_remote_delete.3 %D%/rpma_mr_remote_from_descriptor.3 \
  %D%/rpma_mr_remote_get_addr.3 %D%/rpma_mr_remote_get_flush_type.3 \
  %D%/rpma_mr_remote_get_rkey.3 %D%/rpma_mr_remote_get_size.3 \
  %D%/rpma_mr_remote_get_usage.3 %D%/rpma_peer_cfg_delete.3 \
  %D%/rpma_peer_cfg_from_descriptor.3 %D%/rpma_peer_cfg_get_descriptor.3 \
  %D%/rpma_peer_cfg_get_descriptor_size.3 %D%/rpma_peer_cfg_get_direct_write_to_pmem.3 \
  %D%/rpma_peer_cfg_new.3 %D%/rpma_peer_cfg_set_direct_write_to_pmem.3 \
  %D%/rpma_peer_delete.3 %D%/rpma_peer_get_async_fd.3 %D%/rpma_peer_get_limits.3 \
  %D%/rpma_peer_get_port.3 %D%/rpma_peer_new.3 %D%/rpma_peer_next_async_event.3 \
  %D%/rpma_read.3 %D%/rpma_recv.3 %D%/rpma_send.3 %D%/rpma_send_with_imm.3 \
  %D%/rpma_srq_cfg_delete.3 %D%/rpma_srq_cfg_get_rcq_size.3 \
  %D%/rpma_srq_cfg_get_rq_size.3 %D%/rpma_srq_cfg_new.3 \
  %D%/rpma_srq_cfg_set_rcq_size.3 %D%/rpma_srq_cfg_set_rq_size.3 %D%/rpma_srq_delete.3 \
  %D%/rpma_srq_get_rcq.3 %D%/rpma_srq_get_size.3 %D%/rpma_srq_new.3 \
  %D%/rpma_srq_recv.3 %D%/rpma_srq_recv_batch.3 %D%/rpma_srq_set_limit.3 \
  %D%/rpma_utils_conn_event_2str.3 %D%/rpma_utils_get_ibv_context.3 \
  %D%/rpma_utils_ibv_context_2name.3 %D%/rpma_utils_ibv_context_by_name.3 \
  %D%/rpma_utils_ibv_context_is_odp_capable.3 %D%/rpma_utils_ibv_context_release.3 \
  %D%/rpma_version.3 %D%/rpma_write.3 %D%/rpma_write_with_imm.3
