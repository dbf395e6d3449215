// SPDX-License-Identifier: Apache-2.0
// Broadcasts and per-channel scales one element at a time.
#include <cmath>

#include "base/fixed_point.h"
#include "base/half.h"
#include "kernels/eltwise/runs.h"

namespace rk::kernels {
namespace {

float apply(BinaryOp op, float a, float b) {
  switch (op) {
    case BinaryOp::kAdd:
      return a + b;
    case BinaryOp::kSub:
      return a - b;
    case BinaryOp::kMul:
      return a * b;
    case BinaryOp::kDiv:
      return a / b;
  }
  return 0;
}

template <typename T, typename Load, typename Store>
void for_each_element(const BinaryArgs<T>& args, IndexRange units, const Load& load,
                      const Store& store) {
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const BroadcastPiece piece = broadcast_piece(args.shape, unit);
    for (int64_t i = 0; i < piece.count; ++i) {
      const int64_t a = piece.a + operand_at(args.shape.a, i);
      const int64_t b = piece.b + operand_at(args.shape.b, i);
      const float x = args.a_values != nullptr ? args.a_values[a] : load(args.a[a], true);
      const float y = args.b_values != nullptr ? args.b_values[b] : load(args.b[b], false);
      args.output[piece.output + i] = store(apply(args.op, x, y));
    }
  }
}

float dequantize(int8_t x, QuantScale by) {
  return (static_cast<float>(x) - static_cast<float>(by.zero_point)) * by.scale;
}

// Calls work(element, channel) for the elements of planes.
template <typename Work>
void for_each_lane(const AffineShape& shape, IndexRange planes, const Work& work) {
  const int64_t elements = shape.pixels * kHostBlock;
  for (int64_t plane = planes.begin; plane < planes.end; ++plane) {
    const int64_t channel = plane % shape.blocks * kHostBlock;
    for (int64_t i = 0; i < elements; ++i) work(plane * elements + i, channel + i % kHostBlock);
  }
}

}  // namespace

void binary_f16__generic(const BinaryArgs<uint16_t>& args, IndexRange units) {
  for_each_element(
      args, units, [](uint16_t x, bool) { return half_to_float(x); }, float_to_half);
}

void binary_i8__generic(const BinaryI8Args& args, IndexRange units) {
  for_each_element(
      args, units,
      [&](int8_t x, bool first) { return dequantize(x, first ? args.a_scale : args.b_scale); },
      [&](float y) {
        return quantize_f32(y, args.output_scale.scale, args.output_scale.zero_point);
      });
}

void affine_f16__generic(const AffineArgs<uint16_t>& args, IndexRange planes) {
  for_each_lane(args.shape, planes, [&](int64_t e, int64_t channel) {
    args.output[e] = float_to_half(
        std::fma(half_to_float(args.input[e]), args.scale[channel], args.shift[channel]));
  });
}

void affine_i8__generic(const AffineArgs<int8_t>& args, IndexRange planes) {
  for_each_lane(args.shape, planes, [&](int64_t e, int64_t channel) {
    args.output[e] = affine_byte(args.input[e], args.scale[channel], args.shift[channel]);
  });
}

}  // namespace rk::kernels
