// SPDX-License-Identifier: Apache-2.0
// Index tuples of GatherND and ScatterND: the last axis of `indices` addresses the leading axes of
// the data.
#pragma once

#include "ops/shared/shape_util.h"

namespace rk::ops {

// Row-major number of the slice addressed by the tuple starting at element `first` of indices, over
// data's axes [axis, axis + length). Negative entries count from the end.
inline Result<int64_t> slice_number(const Tensor& indices, int64_t first, const Shape& data,
                                    int axis, int length) {
  int64_t number = 0;
  for (int i = 0; i < length; ++i) {
    const int64_t extent = data[axis + i];
    const int64_t index = indices.at_i64(first + i);
    if (index < -extent || index >= extent) {
      return invalid_argument(str("input 1 ('indices') holds ", index, " for axis ", axis + i,
                                  ", expected ", -extent, " to ", extent - 1));
    }
    number = number * extent + (index < 0 ? index + extent : index);
  }
  return number;
}

}  // namespace rk::ops
