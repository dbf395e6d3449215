// SPDX-License-Identifier: Apache-2.0
#include "quant/qdq.h"

#include <algorithm>
#include <cmath>

namespace rk::quant {
namespace {

std::optional<QuantParams> params_of(const Node& node, DType stored, const Shape& shape) {
  if (!is_byte(stored) || node.i64("block_size") != 0) return std::nullopt;
  if (!node.input(1).is_constant() || (node.has_input(2) && !node.input(2).is_constant()))
    return std::nullopt;
  QuantParams out;
  out.dtype = stored;
  out.scale = node.input(1).constant().to_f32();
  for (const float scale : out.scale) {
    if (!(scale > 0) || !std::isfinite(scale)) return std::nullopt;
  }
  out.zero_point.assign(out.scale.size(), 0);
  if (node.has_input(2)) {
    const std::vector<int64_t> given = node.input(2).constant().to_i64();
    std::ranges::transform(given, out.zero_point.begin(),
                           [](int64_t zero) { return static_cast<int32_t>(zero); });
  }
  if (out.scale.size() > 1) {
    const int64_t axis = node.i64("axis");
    out.axis = static_cast<int>(axis < 0 ? axis + shape.rank() : axis);
  }
  return out;
}

}  // namespace

std::optional<QuantParams> quantize_params(const Node& node) {
  if (node.op() != "QuantizeLinear") return std::nullopt;
  return params_of(node, node.output().dtype(), node.output().shape());
}

std::optional<QuantParams> dequantize_params(const Node& node) {
  if (node.op() != "DequantizeLinear") return std::nullopt;
  return params_of(node, node.input(0).dtype(), node.input(0).shape());
}

std::pair<int32_t, int32_t> limits(DType dtype) {
  return dtype == DType::kU8 ? std::pair(0, 255) : std::pair(-128, 127);
}

int32_t quantize_value(const QuantParams& params, float value) {
  const auto [least, most] = limits(params.dtype);
  const double stored = std::nearbyint(value / params.scale[0]) + params.zero_point[0];
  return static_cast<int32_t>(std::clamp<double>(stored, least, most));
}

}  // namespace rk::quant
