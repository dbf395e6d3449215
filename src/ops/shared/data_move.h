// SPDX-License-Identifier: Apache-2.0
// Moving elements by size, whatever their dtype: quantized tensors take the same paths as float
// ones.
#pragma once

#include <functional>

#include "ops/shared/shape_util.h"

namespace rk::ops {

// out[i0, i1, ...] = in[offset + i0 * strides[0] + i1 * strides[1] + ...], offsets and strides in
// elements.
void move_view(const Tensor& in, int64_t offset, const Strides& strides, Tensor& out);

// Where an element along an axis comes from; -1: nowhere. A function and not a list: eight bytes for each index would be more
// than a long tensor itself.
using AxisSource = std::function<int64_t(int64_t)>;
AxisSource listed_source(
    const std::vector<int64_t>& list);  // -1 after its end; the list must outlive it

// out[i0, i1, ...] = in[sources[0](i0), sources[1](i1), ...]; where a source is -1, `fill` (one element) is stored.
void move_indexed(const Tensor& in, std::span<const AxisSource> sources, const uint8_t* fill,
                  Tensor& out);

// Copies all bytes; the element counts and sizes must agree.
void copy_bytes(const Tensor& in, Tensor& out);

// A tensor around one axis: `outer` blocks of `extent` rows of `inner` elements.
struct AxisSplit {
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner = 1;
};
AxisSplit split_at(const Shape& shape, int axis);

}  // namespace rk::ops
