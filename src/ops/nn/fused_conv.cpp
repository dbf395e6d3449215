// SPDX-License-Identifier: Apache-2.0
// FusedConv (ours, not ONNX): y = post_activation(activation(conv(x, w) + b) + addend). Made by
// fusion passes from Conv, an activation, Add and a second activation; the addend joins after the
// first activation, never before it.
#include <algorithm>

#include "ops/nn/conv.h"
#include "ops/shared/activation.h"
#include "ops/shared/precision.h"

namespace rk::ops {
namespace {

Status fused_conv_infer(InferCall& call) {
  RK_ASSIGN(const TensorType type, infer_conv_type(call));
  RK_TRY(Activation::from_node(call.node, "activation").status());
  RK_TRY(Activation::from_node(call.node, "post_activation").status());
  if (call.has_input(3)) {
    RK_TRY(require_same_dtype(call, 0, 3));
    RK_TRY(require_shape(call, 3, type.shape));
  }
  call.set_output(0, type);
  return ok_status();
}

Status fused_conv_compute(const EvalCall& call) {
  conv_f32(call, conv_attrs(call.node));
  RK_ASSIGN(const Activation activation, Activation::from_node(call.node, "activation"));
  RK_ASSIGN(const Activation post, Activation::from_node(call.node, "post_activation"));
  const float* addend = call.has_input(3) ? call.input(3).data<float>() : nullptr;
  float* y = call.output(0).mutable_data<float>();
  call.parallel_for(call.output(0).elements(), 4096, [&](IndexRange range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      y[i] = post(activation(y[i]) + (addend != nullptr ? addend[i] : 0.0f));
    }
  });
  return ok_status();
}

Status fused_conv_reference(const EvalCall& call) { return in_f32(call, fused_conv_compute); }

}  // namespace

OpDef fused_conv() {
  std::vector<AttrDef> attrs = window_attrs();
  attrs.push_back({"group", int64_t{1}, "channels are split into this many independent groups"});
  attrs.push_back({"activation", "", "operator applied to the sums, '' for none"});
  attrs.push_back({"post_activation", "", "operator applied after the addend, '' for none"});
  attrs.push_back({"alpha", 0.0f, "alpha of the activations; their own default where not given",
                   AttrDef::kOptional});
  attrs.push_back({"beta", 0.0f, "beta of the activations; their own default where not given",
                   AttrDef::kOptional});
  attrs.push_back({"clip_min", 0.0f, "lower bound of Clip", AttrDef::kOptional});
  attrs.push_back({"clip_max", 0.0f, "upper bound of Clip", AttrDef::kOptional});
  return {
      .name = "FusedConv",
      .doc = "y = post_activation(activation(conv(x, w) + b) + addend)",
      .inputs = {{"x", floats()},
                 {"w", floats().like(0)},
                 {"b", floats().like(0), ArgDef::kOptional},
                 {"addend", floats().like(0), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = std::move(attrs),
      .infer = fused_conv_infer,
      .reference = fused_conv_reference,
      .cost = conv_cost,
      .quant = QuantRule::kAccumulate,
      .weight_axis = [](const Node&) { return 0; },
  };
}

}  // namespace rk::ops
