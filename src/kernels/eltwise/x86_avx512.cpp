// SPDX-License-Identifier: Apache-2.0
// Element-wise kernels with AVX-512. sum_i8 rounds to nearest even by a fused multiply-add onto 1.5 * 2^23, as conv_i8
// does: exact while every value stays below 2^22, which is checked from the constants on each call; else the generic
// kernel runs. table_i8 looks up 64 bytes with two permutations of 128 entries each.
//
// Note: adding two rounded terms that each carry +1.5 * 2^23 leaves the range of exact integers. The second
// term of a pair is rounded onto -1.5 * 2^23, so that the constants cancel.
#if defined(__x86_64__)

#include <cstdint>

#include "kernels/eltwise/float_sum.h"
#include "kernels/x86_avx512.h"

namespace rk::kernels {

decltype(sum_i8) sum_i8__generic;
decltype(sum_i8) sum_i8__avx512;
decltype(table_i8) table_i8__avx512;
decltype(sum_f16) sum_f16__avx512;

}  // namespace rk::kernels

RK_AVX512VBMI_BEGIN

namespace rk::kernels {
namespace {

constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
constexpr float kMagic = kFloatMagic;
constexpr int32_t kByteMagic = 0x4b000000;  // 2^23: with a byte as its lowest, 2^23 + byte
constexpr float kByteBase = 8388608.0f + 128.0f;
constexpr __mmask64 kLowBytes = 0x1111111111111111;

struct Input {
  const int8_t* data;
  __m512 base;  // what a byte as a float has too much: kByteBase + zero point
  __m512 scale;

  explicit Input(const SumI8Input& input)
      : data(input.data),
        base(_mm512_set1_ps(kByteBase + static_cast<float>(input.stage.zero_point))),
        scale(_mm512_set1_ps(float_scale(input.stage.scale))) {}

  // Lanes `lanes` of 64 bytes, rounded onto `magic`.
  __m512 rounded(__m512i bytes, __m512i lanes, __m512 magic) const {
    const __m512i bits =
        _mm512_mask_permutexvar_epi8(_mm512_set1_epi32(kByteMagic), kLowBytes, lanes, bytes);
    return _mm512_fmadd_round_ps(_mm512_sub_ps(_mm512_castsi512_ps(bits), base), scale, magic,
                                 kNearest);
  }
  __m512i load(int64_t at, __mmask64 mask) const {
    return _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, data + at), _mm512_set1_epi8(-128));
  }
};

// Elements 16 * (i / 4) + 4 * part + i % 4 of 64: then narrowing four vectors to bytes leaves them in order.
__m512i lanes_of(int part) {
  const __m512i first =
      _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 32, 33, 34, 35, 48, 49, 50, 51);
  return _mm512_add_epi32(first, _mm512_set1_epi32(4 * part));
}

struct Output {
  __m512 scale;
  __m512i unmagic;
  __m512i low;

  explicit Output(const SumI8Args& args)
      : scale(_mm512_set1_ps(float_scale(args.output_stage.scale))),
        unmagic(_mm512_sub_epi32(_mm512_castps_si512(_mm512_set1_ps(kMagic)),
                                 _mm512_set1_epi32(args.output_stage.zero_point))),
        low(_mm512_set1_epi8(lower_bound(args))) {}

  __m512i to_int(__m512 sum) const {
    const __m512 v = _mm512_fmadd_round_ps(sum, scale, _mm512_set1_ps(kMagic), kNearest);
    return _mm512_sub_epi32(_mm512_castps_si512(v), unmagic);
  }
  __m512i narrow(__m512 a, __m512 b, __m512 c, __m512 d) const {
    const __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(to_int(a), to_int(b)),
                                             _mm512_packs_epi32(to_int(c), to_int(d)));
    return _mm512_max_epi8(bytes, low);
  }
};

struct SumOfTwo {
  Input a, b;
  Output output;
  __m512i lanes[4] = {lanes_of(0), lanes_of(1), lanes_of(2), lanes_of(3)};

  explicit SumOfTwo(const SumI8Args& args) : a(args.inputs[0]), b(args.inputs[1]), output(args) {}

  __m512i operator()(int64_t at, __mmask64 mask) const {
    const __m512i x = a.load(at, mask), y = b.load(at, mask);
    const __m512 plus = _mm512_set1_ps(kMagic), minus = _mm512_set1_ps(-kMagic);
    const auto sum = [&](int part) {
      return _mm512_add_ps(a.rounded(x, lanes[part], plus), b.rounded(y, lanes[part], minus));
    };
    return output.narrow(sum(0), sum(1), sum(2), sum(3));
  }
};

struct SumOfAny {
  const SumI8Args& args;
  Output output;

  explicit SumOfAny(const SumI8Args& a) : args(a), output(a) {}

  __m512i operator()(int64_t at, __mmask64 mask) const {
    const __m512 magic = _mm512_set1_ps(kMagic);
    __m512 sums[4] = {};
    for (int32_t i = 0; i < args.input_count; ++i) {
      const Input input(args.inputs[i]);
      const __m512i x = input.load(at, mask);
      for (int part = 0; part < 4; ++part) {
        const __m512 term = input.rounded(x, lanes_of(part), magic);
        sums[part] = _mm512_add_ps(sums[part], _mm512_sub_ps(term, magic));
      }
    }
    return output.narrow(sums[0], sums[1], sums[2], sums[3]);
  }
};

template <typename Sum>
void sum_run(const SumI8Args& args, IndexRange units) {
  const Sum sum(args);
  const int64_t limit = units.end * kEltwiseRun;
  const int64_t end = limit < args.elements ? limit : args.elements;
  int8_t* const output = args.output;
  int64_t at = units.begin * kEltwiseRun;
  for (; at + 64 <= end; at += 64) _mm512_storeu_si512(output + at, sum(at, ~__mmask64{0}));
  if (at >= end) return;
  const __mmask64 mask = (__mmask64{1} << (end - at)) - 1;
  _mm512_mask_storeu_epi8(output + at, mask, sum(at, mask));
}

}  // namespace

void sum_i8__avx512(const SumI8Args& args, IndexRange units) {
  if (!sum_fits_float(args)) return sum_i8__generic(args, units);
  if (args.input_count == 2) return sum_run<SumOfTwo>(args, units);
  sum_run<SumOfAny>(args, units);
}

void table_i8__avx512(const TableI8Args& args, IndexRange units) {
  // Entry i belongs to x = i - 128, so x's own bits select from the halves in the other order.
  const __m512i positive0 = _mm512_loadu_si512(args.table + 128);
  const __m512i positive1 = _mm512_loadu_si512(args.table + 192);
  const __m512i negative0 = _mm512_loadu_si512(args.table);
  const __m512i negative1 = _mm512_loadu_si512(args.table + 64);
  const int64_t limit = units.end * kEltwiseRun;
  const int64_t end = limit < args.elements ? limit : args.elements;
  for (int64_t at = units.begin * kEltwiseRun; at < end; at += 64) {
    const __mmask64 mask = end - at >= 64 ? ~__mmask64{0} : (__mmask64{1} << (end - at)) - 1;
    const __m512i x = _mm512_maskz_loadu_epi8(mask, args.input + at);
    const __m512i positive = _mm512_permutex2var_epi8(positive0, x, positive1);
    const __m512i negative = _mm512_permutex2var_epi8(negative0, x, negative1);
    const __m512i y = _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), positive, negative);
    _mm512_mask_storeu_epi8(args.output + at, mask, y);
  }
}

void sum_f16__avx512(const SumF16Args& args, IndexRange units) {
  const int64_t limit = units.end * kEltwiseRun;
  const int64_t end = limit < args.elements ? limit : args.elements;
  for (int64_t at = units.begin * kEltwiseRun; at < end; at += 16) {
    const auto mask = static_cast<__mmask16>(end - at >= 16 ? 0xffff : (1 << (end - at)) - 1);
    __m512 v = _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, args.a + at));
    if (args.b != nullptr)
      v = _mm512_add_ps(v, _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, args.b + at)));
    // Of two operands this keeps the second where they are unordered: NaN stays.
    if (args.relu) v = _mm512_max_ps(_mm512_setzero_ps(), v);
    _mm256_mask_storeu_epi16(args.output + at, mask,
                             _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
}

}  // namespace rk::kernels

RK_AVX512VBMI_END

#endif  // x86-64
