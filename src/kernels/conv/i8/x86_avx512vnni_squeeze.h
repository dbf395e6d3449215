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

// Offsets of four bytes each of the kernel's rows; returns their number.
inline int64_t squeezed_offsets(const Context& c, const Band& band, int32_t* offsets) {
  int64_t count = 0;
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
