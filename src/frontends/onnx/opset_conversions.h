// SPDX-License-Identifier: Apache-2.0
// Older forms of operators -> the newest form, which is the only one the graph knows. The table in
// opset_conversions.cpp has one row per operator and change; the functions lie in convert_*.cpp by kind of change.
#pragma once

#include <string>

#include "frontends/graph_builder.h"

namespace rk::frontends {

// "ai.onnx" and "" are the same domain.
std::string normalized_domain(const std::string& domain);

// Whether a row of the table exists for the operator, at any opset.
bool converts_operator(const std::string& domain, const std::string& op);

// Applies the rows for draft.op below which draft.opset lies, in the table's order, and drops attributes that say
// what is the case anyway. Further nodes are emitted in front; the draft becomes the node that gives the results.
Status convert_to_newest(const std::string& domain, NodeDraft& draft, GraphBuilder& builder);

using Convert = Status (*)(NodeDraft& draft, GraphBuilder& builder);

// convert_moved.cpp: attributes that became inputs.
Status move_clip_bounds(NodeDraft& draft, GraphBuilder& builder);
Status move_axes(NodeDraft& draft, GraphBuilder& builder);
Status move_slice_ranges(NodeDraft& draft, GraphBuilder& builder);
Status move_split_sizes(NodeDraft& draft, GraphBuilder& builder);
Status move_pads(NodeDraft& draft, GraphBuilder& builder);
Status move_reshape_shape(NodeDraft& draft, GraphBuilder& builder);
Status move_topk_k(NodeDraft& draft, GraphBuilder& builder);
Status move_dft_axis(NodeDraft& draft, GraphBuilder& builder);
Status join_tile_repeats(NodeDraft& draft, GraphBuilder& builder);

// convert_meaning.cpp: operators that meant something else, or were called otherwise.
Status align_old_broadcast(NodeDraft& draft, GraphBuilder& builder);
Status align_old_slope(NodeDraft& draft, GraphBuilder& builder);
Status flatten_old_softmax(NodeDraft& draft, GraphBuilder& builder);
Status say_concat_axis(NodeDraft& draft, GraphBuilder& builder);
Status number_cast_type(NodeDraft& draft, GraphBuilder& builder);
Status cast_like_to_cast(NodeDraft& draft, GraphBuilder& builder);
Status swish_to_ex_swish(NodeDraft& draft, GraphBuilder& builder);
Status refuse_chance(NodeDraft& draft, GraphBuilder& builder);
Status rename_scatter(NodeDraft& draft, GraphBuilder& builder);
Status spread_group_norm_scale(NodeDraft& draft, GraphBuilder& builder);
Status drop_dropout(NodeDraft& draft, GraphBuilder& builder);
Status settle_batch_norm(NodeDraft& draft, GraphBuilder& builder);

// convert_resize.cpp
Status upsample_to_resize(NodeDraft& draft, GraphBuilder& builder);
Status say_resize_coordinates(NodeDraft& draft, GraphBuilder& builder);
Status drop_empty_resize_inputs(NodeDraft& draft, GraphBuilder& builder);

// convert_quantized.cpp: integer operators become DequantizeLinear, the float operator, QuantizeLinear.
Status split_qlinear_conv(NodeDraft& draft, GraphBuilder& builder);
Status split_qlinear_matmul(NodeDraft& draft, GraphBuilder& builder);
Status split_qlinear_binary(NodeDraft& draft, GraphBuilder& builder);
Status split_qlinear_unary(NodeDraft& draft, GraphBuilder& builder);
Status split_qlinear_concat(NodeDraft& draft, GraphBuilder& builder);
Status split_qgemm(NodeDraft& draft, GraphBuilder& builder);
Status split_matmul_integer(NodeDraft& draft, GraphBuilder& builder);

// convert_microsoft.cpp: fused operators of com.microsoft.
Status keep_standard_form(NodeDraft& draft, GraphBuilder& builder);
Status split_bias_gelu(NodeDraft& draft, GraphBuilder& builder);
Status rename_quick_gelu(NodeDraft& draft, GraphBuilder& builder);
Status split_fused_conv(NodeDraft& draft, GraphBuilder& builder);
Status split_fused_gemm(NodeDraft& draft, GraphBuilder& builder);
Status split_fused_matmul(NodeDraft& draft, GraphBuilder& builder);
Status split_skip_layer_norm(NodeDraft& draft, GraphBuilder& builder);
Status rename_simplified_layer_norm(NodeDraft& draft, GraphBuilder& builder);

// attention_parts.cpp: attention without mask, cache and the like becomes MatMul and Softmax, which the chips have.
Status split_plain_attention(NodeDraft& draft, GraphBuilder& builder);

// convert_ml.cpp: ordinary operators under the names of ai.onnx.ml.
Status binarizer_to_greater(NodeDraft& draft, GraphBuilder& builder);
Status feature_extractor_to_gather(NodeDraft& draft, GraphBuilder& builder);

}  // namespace rk::frontends
