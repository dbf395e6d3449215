// SPDX-License-Identifier: Apache-2.0
// Layers of a quantized model whose framework computes them in integers and rounds the product twice: to a 32-bit
// fixed-point number, then to a step (TFLite). Where a QuantizeLinear says so (`rounding` 1), the layer before it is
// computed that way: the float kernels round once, which differs in one element of some thousand, and a deep network
// multiplies that.
#pragma once

#include <cstdint>

#include "ir/op_def.h"

namespace rk::evaluator {

// real = value * 2^(shift - 31), value in [2^30, 2^31), or 0.
struct FixedFactor {
  int32_t value = 0;
  int shift = 0;
};

// For 0 <= real; what is too small to matter becomes 0.
FixedFactor fixed_factor(double real);
// x * factor: rounded to 2^-n of a whole number (n: bits that factor.shift takes away), then to a whole number, both
// times halves up.
int32_t scaled_twice(int64_t x, const FixedFactor& factor);

// Whether the node is such a layer: Conv, Gemm or Add of dequantized values, whose result (clamped or not) is quantized
// with `rounding` 1.
bool is_integer_layer(const Node& node);
// Its result in real numbers that lie on the steps of that QuantizeLinear. Falls back to the float kernels where sums
// could leave what a float holds exactly.
Status run_integer_layer(const EvalCall& call);

}  // namespace rk::evaluator
