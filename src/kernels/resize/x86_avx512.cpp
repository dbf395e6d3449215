// SPDX-License-Identifier: Apache-2.0
// Nearest resizing to twice the width, as detectors upsample, with AVX-512: each loaded vector becomes two, after a
// change of scale if there is one. Everything else goes to the generic kernels.
#if defined(__x86_64__)

#include <cstring>

#include "kernels/resize/resize.h"
#include "kernels/resize/rows.h"
#include "kernels/x86_avx512.h"

namespace rk::kernels {

decltype(resize_nearest_i8) resize_nearest_i8__generic, resize_nearest_i8__avx512;
decltype(resize_nearest_f16) resize_nearest_f16__generic, resize_nearest_f16__avx512;

}  // namespace rk::kernels

RK_AVX512VBMI_BEGIN

namespace rk::kernels {
namespace {

template <typename T>
bool doubles_columns(const NearestArgs<T>& args) {
  if (args.shape.out.w != 2 * int64_t{args.shape.in.w}) return false;
  for (int32_t x = 0; x < args.shape.out.w; ++x) {
    if (args.x_index[x] != x / 2) return false;
  }
  return true;
}

__mmask64 first_bytes(int64_t count) {
  return count >= 64 ? ~__mmask64{0} : count <= 0 ? 0 : (__mmask64{1} << count) - 1;
}

// A change of scale: the entries x + 128 of a table of bytes.
struct Lookup {
  __m512i part[4];
  explicit Lookup(const int8_t* table) {
    for (int i = 0; i < 4; ++i) part[i] = _mm512_loadu_si512(table + i * 64);
  }
  __m512i operator()(__m512i x) const {
    // Seven bits choose within a half of the table, the sign is the half.
    const __m512i high = _mm512_permutex2var_epi8(part[2], x, part[3]);
    return _mm512_mask_mov_epi8(high, _mm512_movepi8_mask(x),
                                _mm512_permutex2var_epi8(part[0], x, part[1]));
  }
};
struct Same {
  __m512i operator()(__m512i x) const { return x; }
};

// Every pixel of kPixelBytes twice.
template <int kPixelBytes, typename Change>
void double_row(const uint8_t* from, uint8_t* to, int64_t bytes, const Change& change) {
  constexpr int kFirst = kPixelBytes == 16 ? 0x50 : 0x44, kSecond = kPixelBytes == 16 ? 0xfa : 0xee;
  for (int64_t at = 0; at < bytes; at += 64) {
    const int64_t left = bytes - at;
    const __m512i x = change(_mm512_maskz_loadu_epi8(first_bytes(left), from + at));
    _mm512_mask_storeu_epi8(to + 2 * at, first_bytes(2 * left), _mm512_shuffle_i64x2(x, x, kFirst));
    _mm512_mask_storeu_epi8(to + 2 * at + 64, first_bytes(2 * left - 64),
                            _mm512_shuffle_i64x2(x, x, kSecond));
  }
}

template <typename T, typename Change>
void double_columns(const NearestArgs<T>& args, IndexRange units, const Change& change) {
  const ResizeShape& s = args.shape;
  constexpr int kPixelBytes = kHostBlock * sizeof(T);
  const int64_t bytes = int64_t{s.in.w} * kPixelBytes;
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const ResizeRow<T> row = resize_row(args, unit);
    auto* const to = reinterpret_cast<uint8_t*>(row.output);
    const bool again =
        unit > units.begin && row.oy > 0 && args.y_index[row.oy] == args.y_index[row.oy - 1];
    if (again) {
      std::memcpy(to, to - 2 * bytes, static_cast<size_t>(2 * bytes));
    } else {
      const T* const from = row.input_row(s, args.y_index[row.oy]);
      double_row<kPixelBytes>(reinterpret_cast<const uint8_t*>(from), to, bytes, change);
    }
  }
}

}  // namespace

void resize_nearest_i8__avx512(const NearestArgs<int8_t>& args, IndexRange units) {
  if (!doubles_columns(args)) return resize_nearest_i8__generic(args, units);
  args.table != nullptr ? double_columns(args, units, Lookup(args.table))
                        : double_columns(args, units, Same{});
}

void resize_nearest_f16__avx512(const NearestArgs<uint16_t>& args, IndexRange units) {
  doubles_columns(args) ? double_columns(args, units, Same{})
                        : resize_nearest_f16__generic(args, units);
}

}  // namespace rk::kernels

RK_AVX512VBMI_END

#endif  // x86-64
