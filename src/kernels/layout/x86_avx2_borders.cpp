// SPDX-License-Identifier: Apache-2.0
// Results to float32 with AVX2: eight pixels of eight channels at a time, turned around where planes are wanted.
#if defined(__x86_64__)

#include "kernels/x86_avx2.h"

#include "kernels/layout/quantize.h"
#include "kernels/layout/rows.h"

namespace rk::kernels {

decltype(dequantize_i8_to_f32) dequantize_i8_to_f32__avx2;
decltype(blocked_f16_to_f32) blocked_f16_to_f32__avx2;

}  // namespace rk::kernels

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

constexpr int64_t kEight = 8;

// Rows become columns.
inline void turn(__m256 (&v)[8]) {
  __m256 pairs[8], fours[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_ps(v[i], v[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_ps(v[i], v[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    fours[i] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0x44);
    fours[i + 1] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0xee);
    fours[i + 2] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0x44);
    fours[i + 3] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0xee);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    v[i] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x20);
    v[i + 4] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x31);
  }
}

// `load` makes eight floats of eight lanes.
template <typename In, typename Load>
inline void blocks_to_floats(const BorderArgs<In, float>& args, IndexRange units,
                             const Load& load) {
  const ActivationShape& shape = args.shape;
  const int64_t width = shape.extent.w;
  const bool planes = args.layout == PlainLayout::kNchw;
  const auto smaller = [](int64_t a, int64_t b) { return a < b ? a : b; };
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const int64_t n = unit / shape.extent.h, h = unit % shape.extent.h;
    const PlainRow<float> target = plain_row(args.output, shape, args.layout, args.w_stride, n, h);
    for (int64_t first = 0; first < shape.channels; first += kEight) {
      const In* const from =
          blocked_row(args.input, shape, n, first / kHostBlock, h) + first % kHostBlock;
      float* const to = target.data + first * target.channel_step;
      const int64_t lanes = smaller(shape.channels - first, kEight);
      for (int64_t w = 0; w < width; w += kEight) {
        const int64_t pixels = smaller(width - w, kEight);
        __m256 v[8] = {};
        if (pixels == kEight) {
#pragma GCC unroll 8
          for (int64_t i = 0; i < kEight; ++i) v[i] = load(from + (w + i) * kHostBlock);
        } else {
          for (int64_t i = 0; i < pixels; ++i) v[i] = load(from + (w + i) * kHostBlock);
        }
        if (planes) turn(v);
        // Of planes a vector is a channel, else a pixel.
        float* const at = to + w * target.pixel_step;
        const int64_t step = planes ? target.channel_step : target.pixel_step;
        const int64_t vectors = planes ? lanes : pixels, each = planes ? pixels : lanes;
        if (vectors == kEight && each == kEight) {
#pragma GCC unroll 8
          for (int64_t i = 0; i < kEight; ++i) IsaF32::store(at + i * step, v[i]);
        } else {
          for (int64_t i = 0; i < vectors; ++i) IsaF32::store_part(at + i * step, v[i], each);
        }
      }
    }
  }
}

// Not lambdas: their conversion to a plain function would be compiled for the older CPU.
struct LoadBytes {
  __m256i zero_point;
  __m256 scale;
  __m256 operator()(const int8_t* from) const {
    const __m256i x = _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
    return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_sub_epi32(x, zero_point)), scale);
  }
};
struct LoadHalves {
  __m256 operator()(const uint16_t* from) const {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
};

}  // namespace

void dequantize_i8_to_f32__avx2(const DequantizeArgs& args, IndexRange units) {
  blocks_to_floats(args, units,
                   LoadBytes{_mm256_set1_epi32(args.zero_point), _mm256_set1_ps(args.scale)});
}

void blocked_f16_to_f32__avx2(const BorderArgs<uint16_t, float>& args, IndexRange units) {
  blocks_to_floats(args, units, LoadHalves{});
}

}  // namespace rk::kernels

RK_ISA_END

#endif  // x86-64
