// SPDX-License-Identifier: Apache-2.0
// Linear resizing with AVX-512: fp16 through lane_linear.h, int8 the same way in integers. The sum of an int8 pixel is
// that of the generic kernel whichever axis comes first, and both of its roundings are exact in double: a fused
// multiply-add onto 1.5 * 2^52 rounds the exact product to nearest, ties to even.
#if defined(__x86_64__)

#include "kernels/resize/rows.h"
#include "kernels/x86_avx512_lanes.h"

namespace rk::kernels {

decltype(resize_linear_i8) resize_linear_i8__generic, resize_linear_i8__avx512;
decltype(resize_linear_f16) resize_linear_f16__generic, resize_linear_f16__avx512;

namespace {

constexpr double kDoubleMagic = 6755399441055744.0;  // 1.5 * 2^52

// Every stage stays where the magic number holds an integer in its low bits.
bool linear_fits_double(const LinearI8Args& args) {
  constexpr int64_t kLimit = int64_t{1} << 50;
  const ScaleShift in = args.input_stage.scale;
  const int64_t sum = int64_t{kLinearOne} * kLinearOne * input_bound(args.input_stage.zero_point);
  const int64_t v = scaled_bound(sum, {in.scale, in.shift + kLinearShift});
  const int64_t y = scaled_bound(v, args.output_stage.scale);
  return v >= 0 && v < kLimit && y >= 0 && y < kLimit;
}

double double_scale(ScaleShift s, int32_t more_shift) {
  return static_cast<double>(s.scale) / static_cast<double>(uint64_t{1} << s.shift) /
         static_cast<double>(uint64_t{1} << more_shift);
}

}  // namespace

}  // namespace rk::kernels

#include "kernels/resize/lane_linear.h"

RK_AVX512_BEGIN

namespace rk::kernels {
namespace {

__m512i widen_pixel(const int8_t* from) {
  return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

void blend_bytes(const int8_t* low, const int8_t* high, int32_t weight, int64_t elements,
                 int32_t* row) {
  const __m512i of_low = _mm512_set1_epi32(kLinearOne - weight),
                of_high = _mm512_set1_epi32(weight);
  for (int64_t e = 0; e < elements; e += kHostBlock) {
    _mm512_storeu_si512(row + e,
                        _mm512_add_epi32(_mm512_mullo_epi32(widen_pixel(low + e), of_low),
                                         _mm512_mullo_epi32(widen_pixel(high + e), of_high)));
  }
}

// Sums of 8 lanes to bytes.
struct LinearStages {
  __m512d first, second, magic = _mm512_set1_pd(kDoubleMagic);
  __m512i base;

  explicit LinearStages(const LinearI8Args& args)
      : first(_mm512_set1_pd(double_scale(args.input_stage.scale, kLinearShift))),
        second(_mm512_set1_pd(double_scale(args.output_stage.scale, 0))),
        base(_mm512_sub_epi64(_mm512_castpd_si512(_mm512_set1_pd(kDoubleMagic)),
                              _mm512_set1_epi64(args.output_stage.zero_point))) {}

  __m128i operator()(__m256i sums) const {
    const __m512d v = _mm512_sub_pd(_mm512_fmadd_pd(_mm512_cvtepi32_pd(sums), first, magic), magic);
    const __m512d y = _mm512_fmadd_pd(v, second, magic);
    return _mm512_cvtsepi64_epi8(_mm512_sub_epi64(_mm512_castpd_si512(y), base));
  }
};

void linear_i8(const LinearI8Args& args, IndexRange units) {
  const ThreadScratch scratch;
  auto* const blended = static_cast<int32_t*>(scratch.data());
  const LinearStages stages(args);
  const __m512i zero = _mm512_set1_epi32(args.input_stage.zero_point * (1 << kLinearShift));
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const ResizeRow<int8_t> row = resize_row(args, unit);
    const LinearTap& y = args.y_taps[row.oy];
    blend_bytes(row.input_row(args.shape, y.low), row.input_row(args.shape, y.high), y.high_weight,
                args.shape.in.w * int64_t{kHostBlock}, blended);
    for (int64_t ox = 0; ox < args.shape.out.w; ++ox) {
      const LinearTap& x = args.x_taps[ox];
      const __m512i low = _mm512_loadu_si512(blended + int64_t{x.low} * kHostBlock);
      const __m512i high = _mm512_loadu_si512(blended + int64_t{x.high} * kHostBlock);
      const __m512i sum = _mm512_sub_epi32(
          _mm512_add_epi32(_mm512_mullo_epi32(low, _mm512_set1_epi32(kLinearOne - x.high_weight)),
                           _mm512_mullo_epi32(high, _mm512_set1_epi32(x.high_weight))),
          zero);
      const __m128i bytes = _mm_unpacklo_epi64(stages(_mm512_castsi512_si256(sum)),
                                               stages(_mm512_extracti64x4_epi64(sum, 1)));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(row.output + ox * kHostBlock), bytes);
    }
  }
}

}  // namespace

void resize_linear_i8__avx512(const LinearI8Args& args, IndexRange units) {
  row_fits_scratch(args.shape) && linear_fits_double(args) ? linear_i8(args, units)
                                                           : resize_linear_i8__generic(args, units);
}

void resize_linear_f16__avx512(const LinearArgs<uint16_t>& args, IndexRange units) {
  row_fits_scratch(args.shape) ? resize_linear_f16_lanes<Avx512F32, Avx512Half>(args, units)
                               : resize_linear_f16__generic(args, units);
}

}  // namespace rk::kernels

RK_AVX512_END

#endif  // x86-64
