// SPDX-License-Identifier: Apache-2.0
// The scale layout that QuantizeLinear and DequantizeLinear share: one scale, one per index of an
// axis, or one per block of indices of an axis.
#pragma once

#include "ops/shared/elementwise.h"

namespace rk::ops {

// Checks scale (input 1) and zero point (input 2) against x; `quantized` is the integer dtype.
Status check_scales(const InferCall& call, DType quantized);

// Finds the scale's index for an element of x.
class ScaleIndex {
 public:
  explicit ScaleIndex(const EvalCall& call);
  int64_t operator()(int64_t element) const {
    const int64_t at = element / inner_ % extent_;
    return (element / (inner_ * extent_) * scale_extent_ + at / block_) * scale_inner_ +
           element % inner_ * scale_step_;
  }

 private:
  int64_t inner_ = 1;         // elements per index of the axis
  int64_t extent_ = 1;        // of the axis
  int64_t block_ = 1;         // indices of the axis per scale
  int64_t scale_extent_ = 0;  // scales per outer index; 0 when outer indices share them
  int64_t scale_inner_ = 1;
  int64_t scale_step_ = 0;  // 1 when inner indices have their own scales
};

}  // namespace rk::ops
