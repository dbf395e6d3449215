// SPDX-License-Identifier: Apache-2.0
// Pooling with AVX-512. A maximum goes down the columns first, into a row with its border written out, then along that
// row: 64 bytes of neighboring pixels at a time. Averages take the generic walk with a window's 16 lanes in one register.
//
// Note: fp16 values are compared as integers that order alike (Keys), where -0 is below +0. Of zeros of
// both signs the generic kernel keeps the first, this one the positive: equal as numbers.
#if defined(__x86_64__)

#include "kernels/x86_avx512.h"
#include "kernels/float_stages.h"
#include "kernels/pool/pool.h"

namespace rk::kernels {

decltype(max_pool_i8) max_pool_i8__generic, max_pool_i8__avx512;
decltype(average_pool_i8) average_pool_i8__generic, average_pool_i8__avx512;
decltype(max_pool_f16) max_pool_f16__generic, max_pool_f16__avx512;
decltype(average_pool_f16) average_pool_f16__avx512;

namespace {

// Baseline code: every stage is exact in float32.
bool average_fits_float(const AveragePoolI8Args& args) {
  const int64_t taps = int64_t{args.shape.kernel.h} * args.shape.kernel.w;
  int64_t largest = 0;
  for (int64_t count = 1; count <= taps; ++count) {
    // A window that counts so many taps has no more of them inside.
    const int64_t v =
        float_bound(count * input_bound(args.input_zero_point), args.scale_by_count[count]);
    if (v < 0) return false;
    largest = largest < v ? v : largest;
  }
  return output_fits_float(largest, args.output_stage);
}

}  // namespace
}  // namespace rk::kernels

RK_AVX512_BEGIN

#include "kernels/pool/walk.h"

namespace rk::kernels {
namespace {

constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
constexpr float kMagic = kFloatMagic;

__m512 widen(const uint16_t* x) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)));
}

void narrow(__m512 v, uint16_t* y) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), _mm512_cvtps_ph(v, kNearest));
}

struct AverageF16 {
  __m512 sum;
  void start() { sum = _mm512_setzero_ps(); }
  void take(const uint16_t* x) { sum = _mm512_add_ps(sum, widen(x)); }
  void finish(int64_t, int64_t count, uint16_t* y) const {
    narrow(_mm512_div_ps(sum, _mm512_set1_ps(static_cast<float>(count))), y);
  }
};

struct AverageI8 {
  const AveragePoolI8Args& args;
  __m512i sum;
  void start() { sum = _mm512_setzero_si512(); }
  void take(const int8_t* x) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x));
    sum = _mm512_add_epi32(sum, _mm512_cvtepi8_epi32(bytes));
  }
  void finish(int64_t inside, int64_t count, int8_t* y) const {
    const __m512 magic = _mm512_set1_ps(kMagic);
    const auto zero = static_cast<int32_t>(inside * args.input_zero_point);
    const __m512 x = _mm512_cvtepi32_ps(_mm512_sub_epi32(sum, _mm512_set1_epi32(zero)));
    const __m512 scale = _mm512_set1_ps(float_scale(args.scale_by_count[count]));
    const __m512 v = _mm512_sub_ps(_mm512_fmadd_round_ps(x, scale, magic, kNearest), magic);
    const __m512 out_scale = _mm512_set1_ps(float_scale(args.output_stage.scale));
    const __m512 last = _mm512_fmadd_round_ps(v, out_scale, magic, kNearest);
    const __m512i unmagic = _mm512_sub_epi32(_mm512_castps_si512(magic),
                                             _mm512_set1_epi32(args.output_stage.zero_point));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y),
                     _mm512_cvtsepi32_epi8(_mm512_sub_epi32(_mm512_castps_si512(last), unmagic)));
  }
};

// What a maximum is made of: elements as something that compares as integers do.
struct Bytes {
  using T = int8_t;
  static constexpr int64_t kPixelBytes = kHostBlock;
  static __m512i lowest() { return _mm512_set1_epi8(-128); }
  static __m512i key(__m512i x) { return x; }
  static __m512i value(__m512i key) { return key; }
  static __m512i larger(__m512i a, __m512i b) { return _mm512_max_epi8(a, b); }
  // The first of every two pixels of a and b.
  static __m512i every_other(__m512i a, __m512i b) { return _mm512_shuffle_i64x2(a, b, 0x88); }
};

struct Keys {
  using T = uint16_t;
  static constexpr int64_t kPixelBytes = kHostBlock * 2;
  static __m512i lowest() { return _mm512_set1_epi16(-32768); }
  // Of negative numbers all bits but the sign turn; a NaN loses its sign, so that it is above everything.
  static __m512i key(__m512i x) {
    const __m512i magnitude = _mm512_and_si512(x, _mm512_set1_epi16(0x7fff));
    const __mmask32 nan = _mm512_cmpgt_epi16_mask(magnitude, _mm512_set1_epi16(0x7c00));
    return _mm512_mask_mov_epi16(value(x), nan, magnitude);
  }
  static __m512i value(__m512i key) {
    return _mm512_xor_si512(
        key, _mm512_and_si512(_mm512_srai_epi16(key, 15), _mm512_set1_epi16(0x7fff)));
  }
  static __m512i larger(__m512i a, __m512i b) { return _mm512_max_epi16(a, b); }
  static __m512i every_other(__m512i a, __m512i b) { return _mm512_shuffle_i64x2(a, b, 0x44); }
};

constexpr int64_t kRowBytes =
    16384;  // of the row between the two passes: half of the first-level cache

__mmask64 first_bytes(int64_t count) {
  return count >= 64 ? ~__mmask64{0} : (__mmask64{1} << count) - 1;
}

// Pixels of the row between the passes: the border before, the input or what the windows reach, and whole vectors.
int64_t row_pixels(const PoolShape& s) {
  const int64_t reach = int64_t{s.out.w - 1} * s.stride.w + s.kernel.w;
  const int64_t input = int64_t{s.pad_before.w} + s.in.w;
  return (reach > input ? reach : input) + 16;
}

template <typename E>
bool fits_rows(const PoolShape& s) {
  return s.stride.w <= 2 && s.dilation.h == 1 && s.dilation.w == 1 &&
         row_pixels(s) * E::kPixelBytes <= kRowBytes;
}

template <typename E>
class MaxRows {
 public:
  using T = typename E::T;

  explicit MaxRows(const PoolShape& s) : s_(s) {
    for (int64_t i = 0; i < kRowBytes; i += 64) _mm512_store_si512(row_ + i, E::lowest());
  }

  void down(const T* input, const Span& y) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(input);
    const int64_t pitch = s_.in.w * E::kPixelBytes;
    const uint8_t* const first = bytes + (y.start + y.begin) * pitch;
    uint8_t* const to = row_ + s_.pad_before.w * E::kPixelBytes;
    const int64_t rows = y.end - y.begin;
    for (int64_t at = 0; at < pitch; at += 64) {
      // The row after this one may not exist; what is not there is border.
      const __mmask64 there = first_bytes(pitch - at);
      const auto load = [&](int64_t row) {
        const uint8_t* const from = first + row * pitch + at;
        return _mm512_mask_mov_epi8(E::lowest(), there,
                                    E::key(_mm512_maskz_loadu_epi8(there, from)));
      };
      __m512i best = load(0);
      for (int64_t row = 1; row < rows; ++row) best = E::larger(best, load(row));
      _mm512_storeu_si512(to + at, best);
    }
  }

  template <int kStride>
  void along(T* output) const {
    auto* const to = reinterpret_cast<uint8_t*>(output);
    const int64_t bytes = s_.out.w * E::kPixelBytes;
    for (int64_t at = 0; at < bytes; at += 64) {
      const uint8_t* const from = row_ + at * kStride;
      __m512i best = E::lowest();
      for (int64_t kx = 0; kx < s_.kernel.w; ++kx) {
        const uint8_t* const tap = from + kx * E::kPixelBytes;
        const __m512i x = _mm512_loadu_si512(tap);
        best = E::larger(best, kStride == 1 ? x : E::every_other(x, _mm512_loadu_si512(tap + 64)));
      }
      _mm512_mask_storeu_epi8(to + at, first_bytes(bytes - at), E::value(best));
    }
  }

 private:
  const PoolShape& s_;
  alignas(64) uint8_t row_[kRowBytes + 256];  // vectors may reach past the last pixel
};

template <typename E>
void max_rows(const PoolArgs<typename E::T>& args, IndexRange units) {
  const PoolShape& s = args.shape;
  const int64_t planes = channel_blocks(s.channels);
  MaxRows<E> rows(s);
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const auto [oy, input, output] = place_of<kHostBlock>(args, planes, unit);
    rows.down(input, span_of(oy, s.in.h, s.kernel.h, s.stride.h, 1, s.pad_before.h, s.pad_after.h));
    s.stride.w == 1 ? rows.template along<1>(output) : rows.template along<2>(output);
  }
}

}  // namespace

void max_pool_i8__avx512(const PoolArgs<int8_t>& args, IndexRange units) {
  fits_rows<Bytes>(args.shape) ? max_rows<Bytes>(args, units) : max_pool_i8__generic(args, units);
}

void max_pool_f16__avx512(const PoolArgs<uint16_t>& args, IndexRange units) {
  fits_rows<Keys>(args.shape) ? max_rows<Keys>(args, units) : max_pool_f16__generic(args, units);
}

void average_pool_i8__avx512(const AveragePoolI8Args& args, IndexRange units) {
  if (!average_fits_float(args)) return average_pool_i8__generic(args, units);
  walk<kHostBlock, int8_t>(args, channel_blocks(args.shape.channels), units, AverageI8{args, {}});
}

void average_pool_f16__avx512(const PoolArgs<uint16_t>& args, IndexRange units) {
  walk<kHostBlock>(args, channel_blocks(args.shape.channels), units, AverageF16{});
}

}  // namespace rk::kernels

RK_AVX512_END

#endif  // x86-64
