// SPDX-License-Identifier: Apache-2.0
// Input of filters with one to three channels (a network's first layer) for conv_i8__avx512vnni_6x64: pixels lie side by
// side in scratch, so that four bytes of a dot product are not one pixel and a gap: a row of a 7x7x3 kernel takes 6 of
// them instead of 7. Includes intrinsics: only for files that RK_AVX512VBMI_BEGIN frames.
#pragma once

#include "kernels/conv/i8/x86_avx512vnni_band.h"
#include "kernels/conv/i8/x86_avx512vnni_totals.h"

RK_AVX512VBMI_BEGIN

namespace rk::kernels::vnni {
namespace {

// Orders of bytes for pixels of one, two or three channels.
struct SqueezeOrder {
  alignas(64) uint8_t side_by_side[3][64] = {};  // of four pixels of 16 lanes
  alignas(64) uint8_t apart[3][64] = {};         // of 16 pixels side by side: each in four bytes
  constexpr SqueezeOrder() {
    for (int channels = 1; channels <= 3; ++channels) {
      for (int i = 0; i < 16 * channels; ++i) {
        const int pixel = i / channels, channel = i % channels;
        if (pixel < 4) {
          side_by_side[channels - 1][i] = static_cast<uint8_t>(pixel * kHostBlock + channel);
        }
        apart[channels - 1][pixel * 4 + channel] = static_cast<uint8_t>(i);
      }
    }
  }
};
constexpr SqueezeOrder kSqueezeOrder;

// Pixels of 16 lanes to their first `channels` bytes xor `flip`, side by side; writes up to 15 bytes more. With kSums the
// sums of each pixel's biased bytes too; writes up to 3 more.
template <bool kSums>
void squeeze_pixels(const int8_t* from, int64_t pixels, int32_t channels, uint8_t flip, uint8_t* to,
                    int32_t* sums) {
  const __m512i order = _mm512_load_si512(kSqueezeOrder.side_by_side[channels - 1]);
  const __mmask64 lanes = ((uint64_t{1} << channels) - 1) * 0x0001000100010001u;
  const __m512i zero = _mm512_set1_epi8(-128);
  const __m128i flips = _mm_set1_epi8(static_cast<char>(flip));
  const auto four = [&](__m512i v, int64_t i) RK_UNROLLED {
    const __m128i squeezed = _mm512_castsi512_si128(_mm512_permutexvar_epi8(order, v));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * channels), _mm_xor_si128(squeezed, flips));
    if constexpr (kSums) {
      const __m512i low = _mm512_setr_epi64(0, 2, 4, 6, 0, 0, 0, 0);
      const __m512i halves = half_sums(_mm512_mask_mov_epi8(zero, lanes, v));
      const __m256i sum = _mm512_cvtepi64_epi32(_mm512_permutexvar_epi64(low, halves));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(sums + i), _mm256_castsi256_si128(sum));
    }
  };
  int64_t i = 0;
  for (; i + 4 <= pixels; i += 4) four(_mm512_loadu_si512(from + i * kHostBlock), i);
  if (i == pixels) return;
  const __mmask64 live = (uint64_t{1} << (pixels - i) * kHostBlock) - 1;
  four(_mm512_maskz_loadu_epi8(live, from + i * kHostBlock), i);
}

// The sums of the biased bytes of each of `pixels` interleaved pixels of one to three channels; writes up to 15 more.
inline void sum_interleaved(const int8_t* from, int64_t pixels, int32_t channels, int32_t* sums) {
  const __m512i order = _mm512_load_si512(kSqueezeOrder.apart[channels - 1]);
  const __mmask64 lanes = ((uint64_t{1} << channels) - 1) * 0x1111111111111111u;
  for (int64_t i = 0; i < pixels; i += 16) {
    const int64_t bytes = smaller(16, pixels - i) * channels;
    const __mmask64 there = (uint64_t{1} << bytes) - 1;  // at most 48
    const __m512i biased = _mm512_xor_si512(_mm512_maskz_loadu_epi8(there, from + i * channels),
                                            _mm512_set1_epi8(-128));
    const __m512i spread = _mm512_maskz_permutexvar_epi8(lanes, order, biased);
    _mm512_storeu_si512(sums + i,
                        _mm512_dpbusd_epi32(_mm512_setzero_si512(), spread, _mm512_set1_epi8(1)));
  }
}

// Bytes xor `flip`.
inline void copy_bytes(const int8_t* from, int64_t count, uint8_t flip, uint8_t* to) {
  const __m512i flips = _mm512_set1_epi8(static_cast<char>(flip));
  for (int64_t i = 0; i < count; i += 64) {
    const __mmask64 there = ~__mmask64{0} >> (64 - smaller(64, count - i));
    const __m512i v = _mm512_maskz_loadu_epi8(there, from + i);
    _mm512_mask_storeu_epi8(to + i, there, _mm512_xor_si512(v, flips));
  }
}

// The input rows of a band with their border, bytes xor `flip`. What is written too much is overwritten by the next row.
inline void squeeze_rows(const Context& c, const Band& band, int64_t n, uint8_t flip, uint8_t* rows,
                         int32_t* sums) {
  const int32_t channels = c.filter.in_channels;
  const int64_t row_bytes = band.scratch_columns * channels;
  const auto border = [&](int64_t row, int64_t column, int64_t count) {
    std::memset(rows + row * row_bytes + column * channels, c.params.input_zero_point ^ flip,
                static_cast<size_t>(count * channels));
    if (sums == nullptr) return;
    for (int64_t i = column; i < column + count; ++i)
      sums[row * band.scratch_columns + i] = channels * (c.params.input_zero_point + 128);
  };
  const int64_t top = c.y.lead(band.oy, c.extents.pad_before.h);
  const int64_t left = c.x.lead(band.ox, c.extents.pad_before.w);
  const int64_t columns = band.scratch_columns;
  const RowPart part = row_part(left, columns, c.extents.in.w);
  for (int64_t r = 0; r < band.scratch_rows; ++r) {
    const int64_t iy = c.y.source(top + r, c.extents.in.h);
    if (iy < 0) {
      border(r, 0, columns);
      continue;
    }
    border(r, 0, part.before);
    const int8_t* const from = c.image(n) + iy * c.in_row + (left + part.before) * c.in_pixel;
    uint8_t* const to = rows + r * row_bytes + part.before * channels;
    if (c.args.interleaved_input) {
      copy_bytes(from, part.body * channels, flip, to);
      if (sums != nullptr)
        sum_interleaved(from, part.body, channels, sums + r * columns + part.before);
    } else if (sums != nullptr) {
      squeeze_pixels<true>(from, part.body, channels, flip, to, sums + r * columns + part.before);
    } else {
      squeeze_pixels<false>(from, part.body, channels, flip, to, nullptr);
    }
    border(r, part.before + part.body, columns - part.before - part.body);
  }
}

// The input of a band to scratch, and the sums of inputs if they are wanted.
inline void load_squeezed(const Context& c, const Band& band, int64_t n, uint8_t flip,
                          Scratch& scratch) {
  if (!c.constants.sums) return squeeze_rows(c, band, n, flip, scratch.pixels, nullptr);
  alignas(64) int32_t sums[kScratchPixels + kRowSlack];
  squeeze_rows(c, band, n, flip, scratch.pixels, sums);
  sum_taps(c, band, sums, scratch.totals);
}

// Orders of bytes from three rows of squeezed pixels, 32 bytes of each, to four patches.
struct PatchOrder {
  alignas(64) uint8_t bytes[2][64];
  __mmask64 live = 0;

  explicit PatchOrder(const Context& c) {
    if (!c.constants.patches) return;
    const int64_t row = c.x.kernel * c.filter.in_channels;
    for (int64_t pixel = 0; pixel < 4; ++pixel) {
      uint8_t* to = bytes[pixel / 2] + pixel % 2 * kPatchBytes;
      for (int64_t ky = 0; ky < 3; ++ky) {
        const int64_t from = ky * kPatchBytes + pixel * c.x.step * c.filter.in_channels;
        for (int64_t i = 0; i < row; ++i) *to++ = static_cast<uint8_t>(from + i);
      }
    }
    live = ((uint64_t{1} << 3 * row) - 1) * 0x0000000100000001u;
  }
};

inline int64_t patch_row(const Band& band) { return (band.columns + 3) / 4 * 4 * kPatchBytes; }

// Squeezed rows of a band to patches; writes up to three pixels more.
inline void make_patches(const Context& c, const Band& band, const PatchOrder& order,
                         const uint8_t* rows, uint8_t* patches) {
  const int64_t row_bytes = band.scratch_columns * c.filter.in_channels;
  const int64_t next = c.y.dilation * row_bytes, step = 4 * c.x.step * c.filter.in_channels;
  const __m512i first = _mm512_load_si512(order.bytes[0]);
  const __m512i second = _mm512_load_si512(order.bytes[1]);
  const __mmask64 live = order.live;
  for (int64_t row = 0; row < band.rows; ++row) {
    const uint8_t* from = rows + row * c.y.step * row_bytes;
    uint8_t* to = patches + row * patch_row(band);
    for (int64_t i = 0; i < band.columns; i += 4, from += step, to += 4 * kPatchBytes) {
      const auto part = [&](int64_t at) RK_UNROLLED {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at));
      };
      const __m512i a = _mm512_inserti64x4(_mm512_castsi256_si512(part(0)), part(next), 1);
      const __m512i b = _mm512_castsi256_si512(part(2 * next));
      _mm512_store_si512(to, _mm512_maskz_permutex2var_epi8(live, a, first, b));
      _mm512_store_si512(to + 64, _mm512_maskz_permutex2var_epi8(live, a, second, b));
    }
  }
}

// totals of patches; reads and writes up to 15 pixels more.
inline void sum_patches(const Band& band, const uint8_t* patches, int32_t* totals) {
  const __m512i order = _mm512_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15);
  for (int64_t row = 0; row < band.rows; ++row, totals += band.columns) {
    const uint8_t* from = patches + row * patch_row(band);
    for (int64_t i = 0; i < band.columns; i += 16, from += 16 * kPatchBytes) {
      const auto pair = [&](int at) RK_UNROLLED {
        return _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_load_si512(from + at * 64),
                                   _mm512_set1_epi8(1));
      };
      // Halves of pixels 0 2 4 6 in one quarter each, those of 1 3 5 7 in the next two.
      const __m512i a = join_fours(pair(0), pair(1), pair(2), pair(3));
      const __m512i b = join_fours(pair(4), pair(5), pair(6), pair(7));
      const __m512i sum =
          _mm512_add_epi32(_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xdd));
      _mm512_storeu_si512(totals + i, as_pair(_mm512_permutexvar_epi32(order, sum)));
    }
  }
}

// Offsets of four bytes each of the kernel's rows; returns their number.
inline int64_t squeezed_offsets(const Context& c, const Band& band, int32_t* offsets) {
  int64_t count = 0;
  if (c.constants.patches) {
    for (; count * 4 < 3 * c.x.kernel * c.filter.in_channels; ++count)
      offsets[count] = static_cast<int32_t>(count * 4);
    return count;
  }
  for (int64_t ky = 0; ky < c.y.kernel; ++ky) {
    const int64_t row = c.y.tap(ky) * band.scratch_columns * c.filter.in_channels;
    for (int64_t quad = 0; quad < squeezed_quads(c.filter); ++quad)
      offsets[count++] = static_cast<int32_t>(row + quad * 4);
  }
  return count;
}

}  // namespace
}  // namespace rk::kernels::vnni

RK_AVX512VBMI_END
