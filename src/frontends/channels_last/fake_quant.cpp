// SPDX-License-Identifier: Apache-2.0
// FakeQuant: the parameters of quantization-aware training.
#include <algorithm>
#include <cmath>

#include "frontends/channels_last/layers.h"

namespace rk::frontends::layers {
namespace {

struct Steps {
  std::vector<float> scale, least, most;  // per channel: the step, the ends of the range
  std::vector<int64_t> zero_point;        // of the signed integers
  int64_t lowest = 0, highest = 0;        // signed integers in use
  DType dtype = DType::kI8;
};

// The frameworks' rule: zero moves to the nearest step, or to the end of the range where it lies
// outside.
Result<Steps> nudged(const FakeQuant& from) {
  if (from.bits < 2 || from.bits > 16) {
    return unsupported(str("with ", from.bits, " bits is not taken; 2 to 16 are"));
  }
  Steps out;
  out.dtype = from.bits > 8 ? DType::kI16 : DType::kI8;
  const int64_t shift = from.bits > 8 ? 32768 : 128;
  const int64_t first = from.narrow ? 1 : 0, last = (int64_t{1} << from.bits) - 1;
  out.lowest = first - shift;
  out.highest = last - shift;
  for (size_t i = 0; i < from.low.size(); ++i) {
    const float low = from.low[i], high = from.high[i];
    const float scale = (high - low) / static_cast<float>(last - first);
    if (!std::isfinite(low) || !std::isfinite(high) || !(scale > 0)) {
      return invalid_model(str("from ", low, " to ", high, " is not a range"));
    }
    const float point = static_cast<float>(first) - low / scale;
    const auto zero = static_cast<int64_t>(
        std::round(std::clamp(point, static_cast<float>(first), static_cast<float>(last))));
    out.scale.push_back(scale);
    out.zero_point.push_back(zero - shift);
    out.least.push_back(static_cast<float>(first - zero) * scale);
    out.most.push_back(static_cast<float>(last - zero) * scale);
  }
  return out;
}

// The integers of a constant whose last axis has one step per index.
Tensor rounded(const Tensor& data, const Steps& steps) {
  std::vector<int64_t> values(static_cast<size_t>(data.elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t channel = i % steps.scale.size();
    const double real = data.at_f64(static_cast<int64_t>(i));
    // What is not a number becomes the lowest step.
    const double value = std::isnan(real) ? double{steps.least[channel]}
                                          : std::clamp(real, double{steps.least[channel]},
                                                       double{steps.most[channel]});
    const auto rank = static_cast<int64_t>(
        std::floor((value - double{steps.least[channel]}) / double{steps.scale[channel]} + 0.5));
    values[i] = std::min(steps.lowest + rank, steps.highest);
  }
  return Tensor::i64(data.shape(), values).cast(steps.dtype);
}

}  // namespace

Status fake_quant(LayerImport& op, const FakeQuant& from) {
  RK_TRY(op.need_inputs(1));
  if (from.low.empty() || from.low.size() != from.high.size()) {
    return invalid_model(str("has ", from.low.size(), " minima and ", from.high.size(), " maxima"));
  }
  RK_ASSIGN(const Steps steps, nudged(from));
  std::vector<Value*> values;
  RK_ASSIGN(const Order order, op.together({0}, values));
  Value* value = values[0];
  const int rank = value->shape().rank();
  const int64_t axis = order == Order::kFirst ? 1 : rank - 1;
  const auto count = static_cast<int64_t>(steps.scale.size());
  if (count > 1 && (rank == 0 || value->shape()[static_cast<int>(axis)] != count)) {
    return invalid_model(str("has ", count, " ranges for ", to_string(value->shape())));
  }
  const Shape shape = count > 1 ? Shape{count} : Shape{};
  Value* const step = op.constant("/scale", Tensor::f32(shape, steps.scale));
  Value* const zero =
      op.constant("/zero_point", Tensor::i64(shape, steps.zero_point).cast(steps.dtype));
  AttrMap attrs;
  if (count > 1) attrs["axis"] = axis;
  if (value->is_constant() && order == Order::kFile) {
    Value* const integers = op.constant("/quantized", rounded(value->constant(), steps));
    RK_ASSIGN(value, op.emit("DequantizeLinear", "/result", {integers, step, zero}, attrs));
    return op.bind(0, value, order);
  }
  if (from.bits != 8 && from.bits != 16) {
    if (count > 1) return unsupported("one range per channel with other than 8 or 16 bits");
  }
  // The integer type holds more steps than are in use.
  if (count == 1 && (from.narrow || (from.bits != 8 && from.bits != 16))) {
    RK_ASSIGN(value, op.emit("Clip", "/clip",
                             {value, op.scalar("/min", steps.least[0]),
                              op.scalar("/max", steps.most[0])}));
  }
  RK_ASSIGN(value, op.emit("QuantizeLinear", "/quantized", {value, step, zero}, attrs));
  RK_ASSIGN(value, op.emit("DequantizeLinear", "/result", {value, step, zero}, attrs));
  return op.bind(0, value, order);
}

}  // namespace rk::frontends::layers
