// SPDX-License-Identifier: Apache-2.0
// From a range to scale and zero point.
#include <algorithm>
#include <cmath>

#include "base/fixed_point.h"
#include "quant/quantize.h"

namespace rk::quant {
namespace {

double steps_of(DType dtype) { return dtype == DType::kI16 ? 65535 : 255; }
double least_of(DType dtype) { return dtype == DType::kI16 ? -32768 : -128; }
// The widest channel's scale may be this many times a channel's own.
constexpr double kMaxScaleRatio = 512;

int32_t zero_point_for(double min, double scale, DType dtype) {
  const double least = least_of(dtype);
  return static_cast<int32_t>(
      std::clamp(round_even(least - min / scale), least, least + steps_of(dtype)));
}

}  // namespace

QuantParams activation_params(Range range, DType dtype) {
  const double min = std::min(range.min, 0.0f);
  double max = std::max(range.max, 0.0f);
  if (max - min < 1e-30) max = min + 1;
  const double scale = (max - min) / steps_of(dtype);
  QuantParams out;
  out.dtype = dtype;
  out.scale = {static_cast<float>(scale)};
  out.zero_point = {zero_point_for(min, scale, dtype)};
  out.min = {static_cast<float>(min)};
  out.max = {static_cast<float>(max)};
  return out;
}

QuantParams weight_params(const Tensor& weights, int axis, std::vector<int64_t>* floored,
                          DType dtype) {
  const Shape& shape = weights.shape();
  const int64_t channels = axis < 0 ? 1 : shape[axis];
  int64_t inner = 1;
  for (int i = axis < 0 ? shape.rank() : axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  if (axis < 0) inner = std::max<int64_t>(weights.elements(), 1);
  const double steps = steps_of(dtype);
  QuantParams out;
  out.dtype = dtype;
  out.axis = axis < 0 ? -1 : axis;
  out.min.assign(static_cast<size_t>(channels), 0.0f);
  out.max.assign(static_cast<size_t>(channels), 0.0f);
  const auto values = weights.span<float>();
  // Runs of one channel, one after the other.
  const auto run = static_cast<size_t>(inner);
  for (size_t begin = 0, c = 0; begin < values.size(); begin += run) {
    float low = out.min[c], high = out.max[c];
    for (size_t i = begin; i < begin + run; ++i) {
      if (!std::isfinite(values[i])) continue;
      low = std::min(low, values[i]);
      high = std::max(high, values[i]);
    }
    out.min[c] = low;
    out.max[c] = high;
    if (++c == out.min.size()) c = 0;
  }
  double widest = 0;
  for (size_t c = 0; c < out.min.size(); ++c)
    widest = std::max(widest, double{out.max[c]} - out.min[c]);
  if (widest == 0) widest = 1;
  for (size_t c = 0; c < out.min.size(); ++c) {
    const double own = (double{out.max[c]} - out.min[c]) / steps;
    const double floor = widest / steps / kMaxScaleRatio;
    const double scale = std::max(own, floor);
    if (own < floor && floored != nullptr) floored->push_back(static_cast<int64_t>(c));
    out.scale.push_back(static_cast<float>(scale));
    out.zero_point.push_back(zero_point_for(out.min[c], scale, dtype));
  }
  return out;
}

std::vector<int64_t> floored_channels(const QuantParams& weights) {
  std::vector<int64_t> out;
  for (size_t c = 0; c < std::min(weights.min.size(), weights.scale.size()); ++c) {
    const double own = (double{weights.max[c]} - weights.min[c]) / steps_of(weights.dtype);
    if (own > 0 && own < weights.scale[c] * 0.999) out.push_back(static_cast<int64_t>(c));
  }
  return out;
}

}  // namespace rk::quant
