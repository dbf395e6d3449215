// SPDX-License-Identifier: Apache-2.0
// CausalConvWithState: a depthwise 1-D convolution that sees only the past, [N,C,L] with weights
// [C,1,K]. The K - 1 elements in front come from the last call's state (zeros without one), and the
// last K - 1 elements are the next call's.
#include <algorithm>

#include "ops/shared/activation.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

enum Input : size_t { kX, kWeight, kBias, kPastState };

Status causal_conv_with_state_infer(InferCall& call) {
  RK_TRY(require_one_of(call.node, "activation", {"none", "silu", "swish"}));
  const Shape& in = call.input(kX).shape;
  const int64_t kernel = call.input(kWeight).shape[2];
  RK_TRY(require_shape(call, kWeight, Shape{in[1], 1, kernel}));
  if (kernel < 1) return refuse("input 1 ('w') has no taps");
  const Shape state{in[0], in[1], kernel - 1};
  if (call.has_input(kBias)) {
    RK_TRY(require_same_dtype(call, kX, kBias));
    RK_TRY(require_shape(call, kBias, Shape{in[1]}));
  }
  if (call.has_input(kPastState)) {
    RK_TRY(require_same_dtype(call, kX, kPastState));
    RK_TRY(require_shape(call, kPastState, state));
  }
  RK_TRY(set_output(call, 0, call.input(kX).dtype, in));
  return set_output(call, 1, call.input(kX).dtype, state);
}

Status causal_conv_with_state_compute(const EvalCall& call) {
  const Shape& in = call.input(kX).shape();
  const int64_t length = in[2];
  const int64_t kernel = call.input(kWeight).shape()[2];
  if (length == 0 && kernel == 1) return ok_status();
  const bool swish = call.node.text("activation") != "none";
  std::vector<float> row(static_cast<size_t>(kernel - 1 + length));
  for (int64_t plane = 0; plane < in[0] * in[1]; ++plane) {
    const int64_t channel = plane % in[1];
    if (call.has_input(kPastState)) {
      std::copy_n(call.input(kPastState).data<float>() + plane * (kernel - 1), kernel - 1,
                  row.begin());
    }
    std::copy_n(call.input(kX).data<float>() + plane * length, length, row.begin() + kernel - 1);
    const float* weight = call.input(kWeight).data<float>() + channel * kernel;
    float* y = call.output(0).mutable_data<float>() + plane * length;
    for (int64_t i = 0; i < length; ++i) {
      double sum = call.has_input(kBias) ? call.input(kBias).data<float>()[channel] : 0.0;
      for (int64_t k = 0; k < kernel; ++k) {
        sum += static_cast<double>(row[static_cast<size_t>(i + k)]) * weight[k];
      }
      y[i] = swish ? swish_of(static_cast<float>(sum), 1.0f) : static_cast<float>(sum);
    }
    if (call.outputs.size() > 1) {
      std::copy_n(row.end() - (kernel - 1), kernel - 1,
                  call.output(1).mutable_data<float>() + plane * (kernel - 1));
    }
  }
  return ok_status();
}

Status causal_conv_with_state_reference(const EvalCall& call) {
  return in_f32(call, causal_conv_with_state_compute);
}

Cost causal_conv_with_state_cost(const Node& node) {
  return {.macs = static_cast<uint64_t>(node.output().shape().elements()) *
                  static_cast<uint64_t>(node.input(kWeight).shape()[2])};
}

}  // namespace

OpDef causal_conv_with_state() {
  return {
      .name = "CausalConvWithState",
      .doc = "y = depthwise convolution over the past of each channel, whose end is carried over",
      .inputs = {{"x", floats().rank(3)},
                 {"w", floats().like(0).rank(3)},
                 {"b", floats().like(0), ArgDef::kOptional},
                 {"past_state", floats().like(0), ArgDef::kOptional}},
      .outputs = {{"y"}, {"present_state", ArgDef::kOptional}},
      .attrs = {{"activation", "none", "applied to y: none, or silu, which is also called swish"}},
      .infer = causal_conv_with_state_infer,
      .reference = causal_conv_with_state_reference,
      .cost = causal_conv_with_state_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
