// SPDX-License-Identifier: Apache-2.0
// Units and dispatch of broadcasts and per-channel scales.
#include "kernels/eltwise/broadcast.h"

#include <cmath>

#include "base/fixed_point.h"
#include "kernels/dispatch.h"
#include "kernels/eltwise/runs.h"

namespace rk::kernels {

int64_t broadcast_units(const BroadcastShape& shape) {
  int64_t units = pieces_of_run(shape);
  for (int axis = 0; axis < shape.axes; ++axis) units *= shape.extent[axis];
  return units;
}

void binary_f16(const BinaryArgs<uint16_t>& args, IndexRange units) {
  RK_DISPATCH(binary_f16, args, units);
}

void binary_i8(const BinaryI8Args& args, IndexRange units) { RK_DISPATCH(binary_i8, args, units); }

void affine_f16(const AffineArgs<uint16_t>& args, IndexRange planes) {
  RK_DISPATCH(affine_f16, args, planes);
}

void affine_i8(const AffineArgs<int8_t>& args, IndexRange planes) {
  RK_DISPATCH(affine_i8, args, planes);
}

int8_t affine_byte(int8_t x, float scale, float shift) {
  return saturate_i8(
      static_cast<int64_t>(round_even(std::fma(static_cast<float>(x), scale, shift))));
}

}  // namespace rk::kernels
