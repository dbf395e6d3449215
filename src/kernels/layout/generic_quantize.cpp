// SPDX-License-Identifier: Apache-2.0
// Border conversions in portable loops.
#include "base/half.h"
#include "kernels/half_lanes.h"
#include "kernels/layout/quantize.h"
#include "kernels/layout/quantize_lane.h"
#include "kernels/layout/rows.h"

namespace rk::kernels {
namespace {

int8_t zero_point_byte(int32_t zero_point) {
  return static_cast<int8_t>(zero_point < -128 ? -128 : zero_point > 127 ? 127 : zero_point);
}

template <typename In, typename Args, typename Widen>
void quantize_rows(const Args& args, IndexRange units, const Widen& widen) {
  const QuantizeParams& params = args.params;
  const int8_t fill = zero_point_byte(params.zero_point);
  if (params.affine == nullptr) {
    rows_to_blocked(
        args.shape, args.layout, args.w_stride, args.input, args.output, fill, units,
        [&](int32_t, In x) { return quantize_lane(widen(x), params.scale, params.zero_point); });
    return;
  }
  rows_to_blocked(args.shape, args.layout, args.w_stride, args.input, args.output, fill, units,
                  [&](int32_t c, In x) {
                    const BorderAffine affine = params.affine[c];
                    return quantize_lane((widen(x) - affine.mean) / affine.stddev, params.scale,
                                         params.zero_point);
                  });
}

}  // namespace

void quantize_by_table__generic(const TableQuantizeArgs& args, IndexRange units) {
  rows_to_blocked(args.shape, args.layout, args.w_stride, args.input, args.output, args.fill, units,
                  [&](int32_t c, uint8_t x) { return args.tables[int64_t{c} * 256 + x]; });
}

void quantize_f32_to_i8__generic(const QuantizeF32Args& args, IndexRange units) {
  quantize_rows<float>(args, units, [](float x) { return x; });
}

void quantize_f16_to_i8__generic(const QuantizeF16Args& args, IndexRange units) {
  quantize_rows<uint16_t>(args, units, half_to_float);
}

void half_by_table__generic(const TableHalfArgs& args, IndexRange units) {
  rows_to_blocked(args.shape, args.layout, args.w_stride, args.input, args.output, uint16_t{0},
                  units, [&](int32_t c, uint8_t x) { return args.tables[int64_t{c} * 256 + x]; });
}

void f32_to_blocked_f16__generic(const HalfF32Args& args, IndexRange units) {
  rows_to_blocked(args.shape, args.layout, args.w_stride, args.input, args.output, uint16_t{0},
                  units, [&](int32_t c, float x) {
                    if (args.affine == nullptr) return float_to_half(x);
                    return float_to_half((x - args.affine[c].mean) / args.affine[c].stddev);
                  });
}

void dequantize_i8_to_f32__generic(const DequantizeArgs& args, IndexRange units) {
  const float scale = args.scale;
  const int32_t zero_point = args.zero_point;
  rows_from_blocked(args.shape, args.layout, args.w_stride, args.input, args.output, units,
                    [=](int8_t x) { return static_cast<float>(x - zero_point) * scale; });
}

void blocked_f16_to_f32__generic(const BorderArgs<uint16_t, float>& args, IndexRange units) {
  rows_from_blocked(args.shape, args.layout, args.w_stride, args.input, args.output, units,
                    half_to_float);
}

void f32_to_f16__generic(const float* input, uint16_t* output, IndexRange elements) {
  for (int64_t e = elements.begin; e < elements.end; ++e) output[e] = float_to_half(input[e]);
}

void f16_to_f32__generic(const uint16_t* input, float* output, IndexRange elements) {
  int64_t e = elements.begin;
  for (; e + 16 <= elements.end; e += 16) widen_lanes<16>(input + e, output + e);
  for (; e < elements.end; ++e) output[e] = half_to_float(input[e]);
}

}  // namespace rk::kernels
