// SPDX-License-Identifier: Apache-2.0
// Linear resizing of fp16 over any float vector with fused multiply-add (x86_avx512_lanes.h, x86_avx2.h, arm64_neon.h):
// two input rows become one row of float32 at the output's height, from which the output's pixels are read. Included in
// the frame of an instruction set, after everything else. Private to kernels/resize.
#pragma once

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

constexpr int64_t kPixelLanes = kHostBlock;

// a + (b - a) * weight would round a difference: the two terms are exact weights of what they came from.
template <typename Float>
inline typename Float::Vector blend(typename Float::Vector a, typename Float::Vector b,
                                    float weight) {
  return Float::fused(b, Float::all(weight), Float::mul(a, Float::all(1.0f - weight)));
}

template <typename Float, typename Half>
inline void blend_rows(const uint16_t* low, const uint16_t* high, float weight, int64_t elements,
                       float* row) {
  for (int64_t e = 0; e < elements; e += kPixelLanes) {
    float a[kPixelLanes], b[kPixelLanes];
    Half::widen(low + e, a);
    Half::widen(high + e, b);
    for (int64_t i = 0; i < kPixelLanes; i += Float::kLanes)
      Float::store(row + e + i, blend<Float>(Float::load(a + i), Float::load(b + i), weight));
  }
}

template <typename Float, typename Half>
void resize_linear_f16_lanes(const LinearArgs<uint16_t>& args, IndexRange units) {
  const ThreadScratch scratch;
  auto* const blended = static_cast<float*>(scratch.data());
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const ResizeRow<uint16_t> row = resize_row(args, unit);
    const LinearTap& y = args.y_taps[row.oy];
    blend_rows<Float, Half>(row.input_row(args.shape, y.low), row.input_row(args.shape, y.high),
                            y.high_weight_f, args.shape.in.w * kPixelLanes, blended);
    for (int64_t ox = 0; ox < args.shape.out.w; ++ox) {
      const LinearTap& x = args.x_taps[ox];
      const float* const low = blended + x.low * kPixelLanes;
      const float* const high = blended + x.high * kPixelLanes;
      float pixel[kPixelLanes];
      for (int64_t i = 0; i < kPixelLanes; i += Float::kLanes) {
        Float::store(pixel + i,
                     blend<Float>(Float::load(low + i), Float::load(high + i), x.high_weight_f));
      }
      Half::narrow(pixel, row.output + ox * kPixelLanes);
    }
  }
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END
