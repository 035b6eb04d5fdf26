"""Operators that torch's compiled module names and that are not computed here.

They are for other devices, for numbers of few bits, for libraries that are not linked, or steps inside of
torch's own functions. Their names are known, as they are in torch on a machine without those, so that tables
of functions can be made; a call of any is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._calls.showing import shown_as_given
from .._ops import ops

_NAMES = (
    "_autocast_to_full_precision _autocast_to_reduced_precision _batch_norm_impl_index "
    "_choose_qparams_per_tensor _coalesce _conv_depthwise2d _convert_weight_to_int4pack "
    "_convert_weight_to_int4pack_for_cpu _copy_from _copy_from_and_resize _cslt_compress _cslt_sparse_mm "
    "_cslt_sparse_mm_search _cudnn_ctc_loss _cudnn_init_dropout_state _cudnn_rnn "
    "_cudnn_rnn_flatten_weight _cufft_clear_plan_cache _cufft_get_plan_cache_max_size "
    "_cufft_get_plan_cache_size _cufft_set_plan_cache_max_size _cummax_helper _cummin_helper _dimI _dimV "
    "_dyn_quant_matmul_4bit _dyn_quant_pack_4bit_weight _efficientzerotensor _empty_affine_quantized "
    "_empty_per_channel_affine_quantized _fake_quantize_learnable_per_channel_affine "
    "_fake_quantize_learnable_per_tensor_affine _fake_quantize_per_tensor_affine_cachemask_tensor_qparams "
    "_fill_mem_eff_dropout_mask_ _flash_attention_forward_no_dropout_inplace _foobar "
    "_functional_assert_async _functional_assert_scalar _functional_sym_constrain_range "
    "_functional_sym_constrain_range_for_size _fused_adagrad_ _fused_adam_ _fused_adamw_ _fused_dropout "
    "_fused_moving_avg_obs_fq_helper _fused_sdp_choice _fused_sgd_ _fw_primal_copy "
    "_has_compatible_shallow_copy_type _histogramdd_bin_edges _histogramdd_from_bin_cts "
    "_histogramdd_from_bin_tensors _index_put_impl_ _linalg_check_errors _linalg_eigvals _lstm_mps "
    "_lu_with_info _make_dep_token _make_per_channel_quantized_tensor _make_per_tensor_quantized_tensor "
    "_masked_scale _mixed_dtypes_linear _mkldnn_reshape _mkldnn_transpose _mkldnn_transpose_ "
    "_mps_convolution _mps_convolution_transpose _native_batch_norm_legit_no_training "
    "_nested_compute_contiguous_strides_offsets _nested_from_padded "
    "_nested_from_padded_and_nested_example _nested_from_padded_tensor _nested_get_jagged_dummy "
    "_nested_get_lengths _nested_get_max_seqlen _nested_get_min_seqlen _nested_get_offsets "
    "_nested_get_ragged_idx _nested_get_values _nested_get_values_copy "
    "_nested_tensor_from_mask_left_aligned _nested_tensor_from_tensor_list _nested_tensor_size "
    "_nested_tensor_softmax_with_shape _nested_tensor_storage_offsets _nested_tensor_strides "
    "_nested_view_from_buffer _nested_view_from_buffer_copy _nested_view_from_jagged "
    "_nested_view_from_jagged_copy _nnpack_spatial_convolution _pad_circular _pad_enum "
    "_philox_key_fold_in _philox_key_split _philox_normal_ _philox_uniform_ _print _propagate_xla_data "
    "_reshape_alias_copy _reshape_from_tensor _resize_output_ _rowwise_prune _saturate_weight_to_fp16 "
    "_scaled_dot_product_attention_math _scaled_dot_product_attention_math_for_mps _scaled_grouped_mm "
    "_scaled_grouped_mm_v2 _sobol_engine_draw _sobol_engine_ff_ _sobol_engine_initialize_state_ "
    "_sobol_engine_scramble_ _sparse_broadcast_to _sparse_broadcast_to_copy _sparse_csr_prod "
    "_sparse_csr_sum _sparse_log_softmax_backward_data _sparse_mask_projection "
    "_sparse_semi_structured_addmm _sparse_semi_structured_apply _sparse_semi_structured_apply_dense "
    "_sparse_semi_structured_linear _sparse_semi_structured_mm _sparse_semi_structured_tile "
    "_sparse_softmax_backward_data _sparse_sparse_matmul _sparse_sum _standard_gamma_grad "
    "_test_ambiguous_defaults _test_autograd_multiple_dispatch _test_autograd_multiple_dispatch_view "
    "_test_autograd_multiple_dispatch_view_copy _test_check_tensor _test_functorch_fallback "
    "_test_optional_filled_intlist _test_optional_floatlist _test_optional_intlist "
    "_test_parallel_materialize _test_serialization_subcmul _test_string_default _test_warn_in_autograd "
    "_to_dense _to_sparse_semi_structured _transformer_encoder_layer_fwd _triton_multi_head_attention "
    "_triton_scaled_dot_attention _upsample_lanczos2d_aa _use_cudnn_ctc_loss "
    "_use_cudnn_rnn_flatten_weight _use_miopen_ctc_loss _weight_int4pack_mm _weight_int4pack_mm_for_cpu "
    "_weight_int4pack_mm_with_scales_and_zeros _weight_int8pack_mm _weight_norm_interface "
    "_wrapped_linear_prepack _wrapped_quantized_linear_prepacked batch_norm_backward_elemt "
    "batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats "
    "batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats "
    "choose_qparams_optimized conv_depthwise3d cudnn_affine_grid_generator cudnn_batch_norm "
    "cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler "
    "cudnn_is_acceptable empty_quantized fbgemm_linear_fp16_weight "
    "fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight "
    "fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight fbgemm_pack_gemm_matrix_fp16 "
    "fbgemm_pack_quantized_matrix flatten_dense_tensors fractional_max_pool2d fractional_max_pool3d "
    "fused_moving_avg_obs_fake_quant int_repr is_vulkan_available linalg__powsum max_unpool2d "
    "max_unpool3d miopen_batch_norm miopen_convolution miopen_convolution_add_relu "
    "miopen_convolution_relu miopen_convolution_transpose miopen_ctc_loss miopen_depthwise_convolution "
    "miopen_rnn mkldnn_adaptive_avg_pool2d mkldnn_convolution mkldnn_linear_backward_weights "
    "mkldnn_max_pool2d mkldnn_max_pool3d mkldnn_reorder_conv2d_weight mkldnn_reorder_conv3d_weight "
    "mkldnn_rnn_layer nll_loss2d pad_sequence q_per_channel_axis q_per_channel_scales "
    "q_per_channel_zero_points q_scale q_zero_point qscheme quantize_per_channel quantize_per_tensor "
    "quantize_per_tensor_dynamic quantized_batch_norm quantized_gru_cell quantized_lstm_cell "
    "quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell "
    "quantized_rnn_tanh_cell relu6_ slice_inverse slow_conv_transpose2d slow_conv_transpose3d "
    "sym_constrain_range sym_constrain_range_for_size to_mkldnn to_padded_tensor unflatten_dense_tensors"
)


def operator(name: str) -> Any:
    """Return the operator of a name by its handle, or if it has none what refuses to be called."""
    found = getattr(ops.aten, name, None)
    return __getattr__(name) if found is None else found


def __getattr__(name: str) -> Any:
    if name not in _NAMES.split():
        raise AttributeError(f"there is no operator {name!r}", name=name)
    made = globals()[name] = shown_as_given(_refusal(name))
    return made


def _refusal(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"Could not run 'aten::{name}' with arguments from the 'CPU' backend. This could be because the "
            "operator doesn't exist for this backend."
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "An error: it is not computed here."
    return refuse
