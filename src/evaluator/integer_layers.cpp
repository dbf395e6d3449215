// SPDX-License-Identifier: Apache-2.0
#include "evaluator/integer_layers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "evaluator/select.h"
#include "ir/graph.h"

namespace rk::evaluator {
namespace {

constexpr double kLargestExact = 1 << 24;  // every whole number up to it is a float
constexpr int kAddShift = 20;              // bits that an Add works with beyond a step

// The constant of an input; null when it is computed.
const Tensor* constant_input(const Node& node, size_t i) {
  return node.has_input(i) && node.input(i).is_constant() ? &node.input(i).constant() : nullptr;
}

// Operators whose results are elements of input 0, or 0.
bool only_moves(std::string_view op) {
  return op == "Pad" || op == "Reshape" || op == "Transpose" || op == "MaxPool" || op == "Slice" ||
         op == "Squeeze" || op == "Unsqueeze" || op == "Flatten";
}

// The DequantizeLinear that gave a value its steps; null: none, or several scales.
const Node* steps_of(const Value& value) {
  const Node* node = value.producer();
  while (node != nullptr && only_moves(node->op())) {
    if (node->op() == "Pad" && node->has_input(2)) return nullptr;
    node = node->input(0).producer();
  }
  return node != nullptr && node->op() == "DequantizeLinear" ? node : nullptr;
}

std::optional<float> single_scale(const Node* dequantize) {
  const Tensor* const scale = dequantize == nullptr ? nullptr : constant_input(*dequantize, 1);
  if (scale == nullptr || scale->elements() != 1) return std::nullopt;
  return scale->data<float>()[0];
}

// The QuantizeLinear that rounds the node's result, after a clamp at most.
const Node* rounding_of(const Node& node) {
  const Value* value = &node.output();
  for (int steps = 0; steps < 3; ++steps) {
    if (value->uses().size() != 1) return nullptr;
    const Node& user = *value->uses()[0].node;
    if (value->uses()[0].index != 0) return nullptr;
    if (user.op() == "QuantizeLinear") {
      return user.i64("rounding") == 1 && constant_input(user, 1) != nullptr &&
                     constant_input(user, 1)->elements() == 1
                 ? &user
                 : nullptr;
    }
    if (user.op() != "Relu" && user.op() != "Clip") return nullptr;
    value = &user.output();
  }
  return nullptr;
}

float output_scale(const Node& node) {
  return constant_input(*rounding_of(node), 1)->data<float>()[0];
}

// Weights: constant integers behind a DequantizeLinear.
const Node* integer_weights(const Node& node, size_t i) {
  if (!node.has_input(i)) return nullptr;
  const Node* const real = node.input(i).producer();
  const bool fits = real != nullptr && real->op() == "DequantizeLinear" &&
                    constant_input(*real, 0) != nullptr && constant_input(*real, 1) != nullptr;
  return fits ? real : nullptr;
}

// Integers as floats, less their zero points.
Tensor steps_of_constant(const Node& dequantize) {
  const Tensor& integers = *constant_input(dequantize, 0);
  const Tensor* const zeros = constant_input(dequantize, 2);
  Tensor out = Tensor::make({DType::kF32, integers.shape()});
  // Note: zero points per channel are 0 in every model there is; a scalar serves all.
  const double zero = zeros != nullptr && zeros->elements() > 0 ? zeros->at_f64(0) : 0;
  for (int64_t i = 0; i < integers.elements(); ++i) {
    out.mutable_data<float>()[i] = static_cast<float>(integers.at_f64(i) - zero);
  }
  return out;
}

bool one_zero_point(const Node& dequantize) {
  const Tensor* const zeros = constant_input(dequantize, 2);
  if (zeros == nullptr) return !dequantize.has_input(2);
  for (int64_t i = 1; i < zeros->elements(); ++i) {
    if (zeros->at_f64(i) != zeros->at_f64(0)) return false;
  }
  return true;
}

Tensor in_steps(const Tensor& real, float scale) {
  Tensor out = Tensor::make(real.type());
  for (int64_t i = 0; i < real.elements(); ++i) {
    out.mutable_data<float>()[i] = std::nearbyint(real.data<float>()[i] / scale);
  }
  return out;
}

Status run_plain(const EvalCall& call) {
  if (const FastKernel kernel = find_fast_kernel(call)) return kernel(call);
  return call.node.def().reference(call);
}

// The largest sum of products that any output channel can have.
double largest_sum(const Tensor& weights, const Tensor* bias, int64_t channels) {
  const int64_t each = channels == 0 ? 0 : weights.elements() / channels;
  double most = 0;
  for (int64_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (int64_t i = 0; i < each; ++i) sum += std::abs(weights.data<float>()[c * each + i]) * 255.0;
    if (bias != nullptr) sum += std::abs(bias->data<float>()[c]);
    most = std::max(most, sum);
  }
  return most;
}

bool is_product(const Node& node) {
  if (node.op() == "Gemm" && (node.i64("transB") != 1 || node.i64("transA") != 0 ||
                              node.f32("alpha") != 1 || node.f32("beta") != 1)) {
    return false;
  }
  const Node* const weights = integer_weights(node, 1);
  const Node* const bias = integer_weights(node, 2);
  return single_scale(steps_of(node.input(0))) && weights != nullptr && one_zero_point(*weights) &&
         (bias != nullptr || !node.has_input(2));
}

// Weights lie with the output channels first (Gemm's are transposed); so do their scales.
Status run_product(const EvalCall& call) {
  const Node& node = call.node;
  const float in = *single_scale(steps_of(node.input(0)));
  const Node& real_weights = *integer_weights(node, 1);
  const Node* const real_bias = integer_weights(node, 2);
  const Tensor weights = steps_of_constant(real_weights);
  const Tensor bias = real_bias == nullptr ? Tensor() : steps_of_constant(*real_bias);
  const int64_t channels = weights.shape()[0];
  if (largest_sum(weights, real_bias == nullptr ? nullptr : &bias, channels) > kLargestExact) {
    return run_plain(call);
  }
  const Tensor input = in_steps(call.input(0), in);
  std::vector<const Tensor*> arguments = {&input, &weights};
  if (real_bias != nullptr) arguments.push_back(&bias);
  RK_TRY(run_plain({node, arguments, call.outputs, call.pool, nullptr}));

  const std::vector<float> scales = constant_input(real_weights, 1)->to_f32();
  const float out = output_scale(node);
  std::vector<FixedFactor> factors;
  for (int64_t c = 0; c < channels; ++c) {
    const float scale = scales[scales.size() == 1 ? 0 : static_cast<size_t>(c)];
    // TFLite multiplies the two scales in double for convolutions, in float for matrices.
    const double product = node.op() == "Gemm" ? double{in * scale} : double{in} * double{scale};
    factors.push_back(fixed_factor(product / double{out}));
  }
  Tensor& result = call.output(0);
  const Shape& shape = result.shape();
  const int64_t inner = node.op() == "Gemm" ? 1 : shape.elements() / (shape[0] * shape[1]);
  float* const data = result.mutable_data<float>();
  for (int64_t i = 0; i < result.elements(); ++i) {
    const auto c = static_cast<size_t>(i / inner % channels);
    data[i] = static_cast<float>(scaled_twice(static_cast<int64_t>(data[i]), factors[c])) * out;
  }
  return ok_status();
}

bool is_sum(const Node& node) {
  return single_scale(steps_of(node.input(0))) && single_scale(steps_of(node.input(1))) &&
         node.input(0).shape() == node.input(1).shape();
}

// Both inputs in 2^-20 of twice the larger step, added, then in steps of the result.
Status run_sum(const EvalCall& call) {
  const Node& node = call.node;
  const float a = *single_scale(steps_of(node.input(0)));
  const float b = *single_scale(steps_of(node.input(1)));
  const float out = output_scale(node);
  const double twice = 2 * double{std::max(a, b)};
  const FixedFactor factor_a = fixed_factor(double{a} / twice);
  const FixedFactor factor_b = fixed_factor(double{b} / twice);
  const FixedFactor factor = fixed_factor(twice / ((1 << kAddShift) * double{out}));
  const Tensor steps_a = in_steps(call.input(0), a), steps_b = in_steps(call.input(1), b);
  Tensor& result = call.output(0);
  for (int64_t i = 0; i < result.elements(); ++i) {
    const auto left = static_cast<int64_t>(steps_a.data<float>()[i]) * (1 << kAddShift);
    const auto right = static_cast<int64_t>(steps_b.data<float>()[i]) * (1 << kAddShift);
    const int64_t sum = int64_t{scaled_twice(left, factor_a)} + scaled_twice(right, factor_b);
    result.mutable_data<float>()[i] = static_cast<float>(scaled_twice(sum, factor)) * out;
  }
  return ok_status();
}

}  // namespace

FixedFactor fixed_factor(double real) {
  FixedFactor out;
  if (!(real > 0)) return out;
  const double fraction = std::frexp(real, &out.shift);
  auto value = static_cast<int64_t>(std::round(fraction * 2147483648.0));
  if (value == int64_t{1} << 31) {
    value /= 2;
    ++out.shift;
  }
  if (out.shift < -31) return {};
  out.value = static_cast<int32_t>(value);
  return out;
}

int32_t scaled_twice(int64_t x, const FixedFactor& factor) {
  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const int64_t shifted =
      std::clamp(x * (int64_t{1} << std::clamp(factor.shift, 0, 30)), kLeast, kMost);
  const int64_t product = shifted * factor.value;
  const int64_t high = (product + (int64_t{1} << 30)) >> 31;
  const int right = std::max(-factor.shift, 0);
  const int64_t half = right == 0 ? 0 : int64_t{1} << (right - 1);
  return static_cast<int32_t>((high + half) >> right);
}

bool is_integer_layer(const Node& node) {
  const bool product = node.op() == "Conv" || node.op() == "Gemm";
  if (!product && node.op() != "Add") return false;
  if (rounding_of(node) == nullptr) return false;
  return product ? is_product(node) : is_sum(node);
}

Status run_integer_layer(const EvalCall& call) {
  return call.node.op() == "Add" ? run_sum(call) : run_product(call);
}

}  // namespace rk::evaluator
