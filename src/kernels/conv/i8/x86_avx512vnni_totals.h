// SPDX-License-Identifier: Apache-2.0
// Sums of inputs for conv_i8__avx512vnni_6x64: what weight offsets are multiplied with, once per output pixel. Includes
// intrinsics: only for files that RK_AVX512VBMI_BEGIN frames.
#pragma once

#include "kernels/conv/i8/x86_avx512vnni_band.h"

RK_AVX512VBMI_BEGIN

namespace rk::kernels::vnni {
namespace {

// Sums of the bytes of each half of four pixels.
RK_INLINE __m512i half_sums(__m512i pixels) {
  return _mm512_sad_epu8(_mm512_xor_si512(pixels, _mm512_set1_epi8(-128)), _mm512_setzero_si512());
}

// Those of eight pixels to one sum for each.
RK_INLINE __m256i join_halves(__m512i a, __m512i b) {
  const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
  return _mm512_cvtepi64_epi32(_mm512_add_epi64(_mm512_permutex2var_epi64(a, even, b),
                                                _mm512_permutex2var_epi64(a, odd, b)));
}

// The pair (sum mod 128, sum / 128) that meets (o, 128 * o).
RK_INLINE __m512i as_pair(__m512i sum) {
  return _mm512_or_si512(_mm512_and_si512(sum, _mm512_set1_epi32(127)),
                         _mm512_slli_epi32(_mm512_srli_epi32(sum, 7), 16));
}

// Adds one block's channels to the sums of inputs of the scratch pixels.
inline void add_parts(const uint8_t* pixels, int64_t count, uint64_t (*parts)[2]) {
  for (int64_t i = 0; i < count; i += 4) {
    const __m512i part = half_sums(_mm512_loadu_si512(pixels + i * kHostBlock));
    _mm512_storeu_si512(parts + i, _mm512_add_epi64(_mm512_loadu_si512(parts + i), part));
  }
}

inline constexpr int64_t kRowSlack = 64;  // what add_rows may read beyond the scratch pixels

// to[i] = the sum of from[k * step + i] over k below `terms`; may write and read up to 15 more.
inline void add_rows(const int32_t* from, int64_t step, int64_t terms, int64_t count, int32_t* to) {
  for (int64_t i = 0; i < count; i += 16) {
    __m512i v = _mm512_loadu_si512(from + i);
    for (int64_t k = 1; k < terms; ++k)
      v = _mm512_add_epi32(v, _mm512_loadu_si512(from + k * step + i));
    _mm512_storeu_si512(to + i, v);
  }
}

// The numbers at even places of 2 * count, and those at odd ones; may write 15 more of each and read 30 more.
inline void part_places(const int32_t* from, int64_t count, int32_t* even, int32_t* odd) {
  const __m512i evens =
      _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odds = _mm512_add_epi32(evens, _mm512_set1_epi32(1));
  for (int64_t i = 0; i < count; i += 16) {
    const __m512i a = _mm512_loadu_si512(from + 2 * i), b = _mm512_loadu_si512(from + 2 * i + 16);
    _mm512_storeu_si512(even + i, _mm512_permutex2var_epi32(a, evens, b));
    _mm512_storeu_si512(odd + i, _mm512_permutex2var_epi32(a, odds, b));
  }
}

// to[i] = the sum of place 2 * i + k over k below `terms`; may write and read up to 15 more.
inline void add_parted(const int32_t* even, const int32_t* odd, int64_t terms, int64_t count,
                       int32_t* to) {
  for (int64_t i = 0; i < count; i += 16) {
    __m512i v = _mm512_loadu_si512(even + i);
    for (int64_t k = 1; k < terms; ++k)
      v = _mm512_add_epi32(v, _mm512_loadu_si512((k % 2 == 0 ? even : odd) + i + k / 2));
    _mm512_storeu_si512(to + i, v);
  }
}

// totals[pixel] = sum of the inputs that an output pixel reads, from the sums of scratch pixels: first down the kernel's
// rows, then along them. All rows pass one stage before the next begins: what was stored a moment ago cannot be loaded
// from another place in it before it has reached the cache.
inline void sum_taps(const Context& c, const Band& band, const int32_t* sums, int32_t* totals) {
  alignas(64) int32_t down[kScratchPixels + kRowSlack], even[kScratchPixels], odd[kScratchPixels];
  const int64_t width = band.scratch_columns;
  const auto each_row = [&](const auto& work) RK_UNROLLED {
    for (int64_t row = 0; row < band.rows; ++row)
      work(row, down + row * width, totals + row * band.columns);
  };
  each_row([&](int64_t row, int32_t* to, int32_t*) {
    add_rows(sums + row * c.y.step * width, c.y.dilation * width, c.y.kernel, width, to);
  });
  if (c.x.step == 1) {
    each_row([&](int64_t, const int32_t* from, int32_t* to) {
      add_rows(from, c.x.dilation, c.x.kernel, band.columns, to);
    });
  } else if (c.x.step == 2 && c.x.dilation == 1) {
    const int64_t half = band.columns + c.x.kernel / 2;
    each_row([&](int64_t row, const int32_t* from, int32_t*) {
      part_places(from, half, even + row * half, odd + row * half);
    });
    each_row([&](int64_t row, const int32_t*, int32_t* to) {
      add_parted(even + row * half, odd + row * half, c.x.kernel, band.columns, to);
    });
  } else {
    each_row([&](int64_t, const int32_t* from, int32_t* to) {
      for (int64_t i = 0; i < band.columns; ++i) {
        to[i] = 0;
        for (int64_t kx = 0; kx < c.x.kernel; ++kx) to[i] += from[i * c.x.step + kx * c.x.dilation];
      }
    });
  }
  for (int64_t i = 0; i < band.pixels(); i += 16)
    _mm512_store_si512(totals + i, as_pair(_mm512_load_si512(totals + i)));
}

// The same from the parts of all blocks.
inline void sum_parts(const Context& c, const Band& band, Scratch& scratch) {
  alignas(64) int32_t sums[kScratchPixels + kRowSlack];
  for (int64_t i = 0; i < band.scratch_pixels(); i += 8) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(sums + i),
                       join_halves(_mm512_loadu_si512(scratch.parts + i),
                                   _mm512_loadu_si512(scratch.parts + i + 4)));
  }
  sum_taps(c, band, sums, scratch.totals);
}

// The sums of the four lanes of each quarter: of a, b, c and d side by side.
RK_INLINE __m512i join_fours(__m512i a, __m512i b, __m512i c, __m512i d) {
  const __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
  const __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
  return _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
}

// Sums of four pixels in four parts each, of 16 pixels, to one sum for each.
RK_INLINE __m512i join_quarters(__m512i a, __m512i b, __m512i c, __m512i d) {
  return _mm512_permutexvar_epi32(
      _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
      join_fours(a, b, c, d));
}

// The same from all blocks in scratch at once.
inline void sum_blocks(const Context& c, const Band& band, int64_t blocks, Scratch& scratch) {
  alignas(64) int32_t sums[kScratchPixels + kRowSlack];
  const int64_t pixels = band.scratch_pixels(), plane = pixels * kHostBlock;
  const __m512i one = _mm512_set1_epi8(1);
  const __m512i bias = _mm512_set1_epi32(static_cast<int32_t>(128 * kHostBlock * blocks));
  for (int64_t i = 0; i < pixels; i += 16) {
    __m512i part[4] = {};
    const uint8_t* from = scratch.pixels + i * kHostBlock;
    for (int64_t block = 0; block < blocks; ++block, from += plane) {
      unroll<4>([&](auto q) RK_UNROLLED {
        part[q] = _mm512_dpbusd_epi32(part[q], one, _mm512_loadu_si512(from + q * 64));
      });
    }
    const __m512i sum = join_quarters(part[0], part[1], part[2], part[3]);
    _mm512_store_si512(sums + i, _mm512_add_epi32(sum, bias));
  }
  sum_taps(c, band, sums, scratch.totals);
}

// Bytes of sixteen pixels, in fours, of which those up to `count` exist.
struct SixteenPixels {
  __mmask64 exist[4];
  explicit SixteenPixels(int64_t count) {
    for (int64_t q = 0; q < 4; ++q) {
      const int64_t bytes = (count - q * 4) * kHostBlock;
      exist[q] = bytes >= 64 ? ~uint64_t{0} : bytes <= 0 ? 0 : (uint64_t{1} << bytes) - 1;
    }
  }
};

// The lanes of four pixels that are channels of the last input block.
inline __mmask64 last_lanes(const Context& c) {
  const int32_t channels = c.filter.in_channels;
  const int32_t lanes = lanes_of_block(channels, channel_blocks(channels) - 1);
  return ((uint64_t{1} << (lanes - 1)) * 2 - 1) * 0x0001000100010001u;
}

// Sixteen totals of pixels that lie where the input has them. kWhole: all of them exist.
template <bool kWhole>
RK_INLINE __m512i sum_sixteen(const Context& c, const int8_t* from, __mmask64 last,
                              const SixteenPixels& pixels) {
  const __m512i one = _mm512_set1_epi8(1);
  __m512i part[4] = {};
  const auto add = [&](__mmask64 lanes) RK_UNROLLED {
    unroll<4>([&](auto q) RK_UNROLLED {
      const __mmask64 mask = kWhole ? lanes : lanes & pixels.exist[q];
      part[q] = _mm512_dpbusd_epi32(part[q], one, _mm512_maskz_loadu_epi8(mask, from + q * 64));
    });
  };
  for (int32_t block = channel_blocks(c.filter.in_channels); block > 1; --block) {
    add(~__mmask64{0});
    from += c.in_plane;
  }
  add(last);
  const __m512i bias = _mm512_set1_epi32(c.filter.in_channels * 128);
  return as_pair(_mm512_add_epi32(join_quarters(part[0], part[1], part[2], part[3]), bias));
}

// totals of neighboring pixels under a kernel of one tap, read where they lie; writes up to 15 more.
inline void sum_pixels(const Context& c, const int8_t* pixels, int64_t count, int32_t* totals) {
  const __mmask64 last = last_lanes(c);
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    _mm512_store_si512(totals + i,
                       sum_sixteen<true>(c, pixels + i * kHostBlock, last, SixteenPixels(16)));
  }
  if (i < count) {
    _mm512_store_si512(
        totals + i, sum_sixteen<false>(c, pixels + i * kHostBlock, last, SixteenPixels(count - i)));
  }
}

// Copies sixteen pixels, x + 128, to blocks that are `plane` bytes apart and returns their totals.
template <bool kWhole>
RK_INLINE __m512i bias_sixteen(const Context& c, const int8_t* from, __m512i last,
                               const SixteenPixels& pixels, uint8_t* to, int64_t plane) {
  const __m512i one = _mm512_set1_epi8(1), flip = _mm512_set1_epi8(-128);
  __m512i part[4] = {};
  for (int32_t block = channel_blocks(c.filter.in_channels); block > 0; --block) {
    const __m512i keep = block == 1 ? last : _mm512_set1_epi8(-1);
    unroll<4>([&](auto q) RK_UNROLLED {
      const __mmask64 exist = kWhole ? ~__mmask64{0} : pixels.exist[q];
      const __m512i v = _mm512_maskz_loadu_epi8(exist, from + q * 64);
      const __m512i biased = _mm512_ternarylogic_epi32(keep, v, flip, 0x60);  // (v ^ flip) & keep
      _mm512_mask_storeu_epi8(to + q * 64, exist, biased);
      part[q] = _mm512_dpbusd_epi32(part[q], biased, one);
    });
    from += c.in_plane;
    to += plane;
  }
  return as_pair(join_quarters(part[0], part[1], part[2], part[3]));
}

// A biased copy of neighboring pixels, block after block, and their totals; writes up to 15 more.
inline void bias_and_sum(const Context& c, const int8_t* pixels, int64_t count, uint8_t* to,
                         int32_t* totals) {
  const __m512i last = _mm512_movm_epi8(last_lanes(c));
  const int64_t plane = count * kHostBlock;
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    _mm512_store_si512(totals + i,
                       bias_sixteen<true>(c, pixels + i * kHostBlock, last, SixteenPixels(16),
                                          to + i * kHostBlock, plane));
  }
  if (i < count) {
    _mm512_store_si512(
        totals + i, bias_sixteen<false>(c, pixels + i * kHostBlock, last, SixteenPixels(count - i),
                                        to + i * kHostBlock, plane));
  }
}

// The same of rows of a matrix, `step` elements apart, each of which is a pixel.
inline void sum_matrix_rows(const Context& c, const int8_t* rows, int64_t step, int64_t count,
                            int32_t* totals) {
  const int64_t channels = c.filter.in_channels;
  const __m512i one = _mm512_set1_epi8(1);
  for (int64_t i = 0; i < count; ++i) {
    __m512i sum = _mm512_setzero_si512();
    for (int64_t k = 0; k < channels; k += 64) {
      const __mmask64 exist =
          channels - k >= 64 ? ~uint64_t{0} : (uint64_t{1} << (channels - k)) - 1;
      sum = _mm512_dpbusd_epi32(sum, one, _mm512_maskz_loadu_epi8(exist, rows + i * step + k));
    }
    totals[i] = static_cast<int32_t>(channels * 128) + _mm512_reduce_add_epi32(sum);
  }
  for (int64_t i = 0; i < count; i += 16)
    _mm512_store_si512(totals + i, as_pair(_mm512_load_si512(totals + i)));
}

}  // namespace
}  // namespace rk::kernels::vnni

RK_AVX512VBMI_END
