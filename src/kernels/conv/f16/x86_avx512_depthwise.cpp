// SPDX-License-Identifier: Apache-2.0
// The depthwise half of conv_f16__avx512_6x64. 3x3 kernels read the input where it lies: a tile of two rows of seven
// outputs loads and widens each of its inputs once, the nine weights stay in registers. Other kernels go through scratch
// rows and load each tap. All sum a pixel's taps in the order of the kernel.
//
// Note: taps outside the picture are left out here, never read as what lies beside the row.
#if defined(__x86_64__)

#include "kernels/conv/f16/x86_avx512.h"

RK_AVX512_BEGIN

namespace rk::kernels::avx512_f16 {
namespace {

constexpr int kKernel = 3;
constexpr int kRows = 2;  // of outputs in a tile; 14 sums, 9 weights
constexpr int kColumns = 7;

// One block of a picture under a 3x3 kernel.
struct Plane {
  const Context& c;
  const uint16_t* input;
  Target target;  // at the picture's first pixel
  __m512 weights[kKernel][kKernel];
  __m512 bias;

  Plane(const Context& context, int64_t n, int64_t block)
      : c(context),
        input(c.image(n) + block * c.in_plane),
        target(c, Band{}, n, block),
        bias(_mm512_load_ps(c.bias + block * kLanes)) {
    const float* const from = c.weights<float>() + block * c.block_weights;
    for (int i = 0; i < kKernel * kKernel; ++i)
      weights[i / kKernel][i % kKernel] = _mm512_load_ps(from + i * kLanes);
  }
};

// kTall rows from `oy` on by kWide columns from `ox` on.
template <int kStep, int kTall, int kWide>
void tile_3x3(const Plane& plane, int64_t oy, int64_t ox) {
  constexpr int kInRows = (kTall - 1) * kStep + kKernel, kInColumns = (kWide - 1) * kStep + kKernel;
  const Context& c = plane.c;
  const Extent2 in = c.extents.in;
  const int64_t top = oy * kStep - c.extents.pad_before.h;
  const int64_t left = ox * kStep - c.extents.pad_before.w;
  // Only the first and the last column of a tile can lie outside: they are read from the nearest pixel and masked.
  const int64_t right = left + kInColumns - 1;
  const __mmask16 first_mask = left < 0 ? 0 : 0xffff, last_mask = right >= in.w ? 0 : 0xffff;
  const int64_t first = left < 0 ? 0 : left, last = right >= in.w ? in.w - 1 : right;
  __m512 sum[kTall][kWide];
#pragma GCC unroll 2
  for (int r = 0; r < kTall; ++r) {
#pragma GCC unroll 7
    for (int x = 0; x < kWide; ++x) sum[r][x] = plane.bias;
  }
#pragma GCC unroll 5
  for (int i = 0; i < kInRows; ++i) {
    if (top + i < 0 || top + i >= in.h) continue;
    const uint16_t* const row = plane.input + (top + i) * in.w * kLanes;
#pragma GCC unroll 15
    for (int j = 0; j < kInColumns; ++j) {
      const int64_t at = j == 0 ? first : j == kInColumns - 1 ? last : left + j;
      const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + at * kLanes));
      const __m512 wide = j == 0                ? _mm512_maskz_cvtph_ps(first_mask, half)
                          : j == kInColumns - 1 ? _mm512_maskz_cvtph_ps(last_mask, half)
                                                : _mm512_cvtph_ps(half);
#pragma GCC unroll 2
      for (int r = 0; r < kTall; ++r) {
        const int ky = i - r * kStep;
        if (ky < 0 || ky >= kKernel) continue;
#pragma GCC unroll 7
        for (int x = 0; x < kWide; ++x) {
          const int kx = j - x * kStep;
          if (kx >= 0 && kx < kKernel)
            sum[r][x] = _mm512_fmadd_ps(wide, plane.weights[ky][kx], sum[r][x]);
        }
      }
    }
  }
  const Target& target = plane.target;
  const int64_t place = oy * c.extents.out.w + ox, next_row = c.extents.out.w;
#pragma GCC unroll 2
  for (int r = 0; r < kTall; ++r) target.finish(sum[r], 0, place + r * next_row, kLanes);
}

template <int kStep, int kTall, int kWide = kColumns>
void rows_3x3(const Plane& plane, int64_t oy, int64_t ox) {
  const int64_t width = plane.c.extents.out.w;
  for (; ox + kWide <= width; ox += kWide) tile_3x3<kStep, kTall, kWide>(plane, oy, ox);
  if constexpr (kWide > 1) {
    if (ox < width) rows_3x3<kStep, kTall, kWide == kColumns ? 4 : kWide / 2>(plane, oy, ox);
  }
}

template <int kStep>
void region_3x3(const Context& c, TileRange tiles, int64_t n, int64_t oy, int64_t rows) {
  const int64_t end = smaller(int64_t{tiles.end} * kVectors, channel_blocks(c.filter.out_channels));
  for (int64_t block = int64_t{tiles.begin} * kVectors; block < end; ++block) {
    const Plane plane(c, n, block);
    int64_t y = oy;
    for (; y + kRows <= oy + rows; y += kRows) rows_3x3<kStep, kRows>(plane, y, 0);
    for (; y < oy + rows; ++y) rows_3x3<kStep, 1>(plane, y, 0);
  }
}

// A plain 3x3 kernel with at most one column of border on each side.
bool is_3x3(const Context& c) {
  const ConvFilter& f = c.filter;
  const Extent2 pad = c.extents.pad_before;
  const int64_t right = (c.extents.out.w - 1) * c.x.step - pad.w + kKernel - 1;
  return f.kernel == Extent2{kKernel, kKernel} && f.dilation == Extent2{} && !f.transposed &&
         f.stride.h == f.stride.w && f.stride.h <= 2 && pad.w >= 0 && pad.w <= 1 &&
         right <= c.extents.in.w;
}

// A transposed convolution whose taps never meet, two columns wide: what a resize to twice the width becomes.
bool is_doubling(const Context& c) {
  const ConvFilter& f = c.filter;
  const ConvExtents& e = c.extents;
  return f.transposed && f.kernel == f.stride && f.kernel.w == 2 && f.dilation == Extent2{} &&
         e.pad_before == Extent2{0, 0} && e.out.w == e.in.w * f.stride.w &&
         e.out.h == e.in.h * f.stride.h;
}

void region_doubling(const Context& c, TileRange tiles, int64_t n, int64_t oy, int64_t rows) {
  const int64_t end = smaller(int64_t{tiles.end} * kVectors, channel_blocks(c.filter.out_channels));
  for (int64_t block = int64_t{tiles.begin} * kVectors; block < end; ++block) {
    const Target target(c, Band{}, n, block);
    const __m512 bias = _mm512_load_ps(c.bias + block * kLanes);
    for (int64_t y = oy; y < oy + rows; ++y) {
      const float* const taps =
          c.weights<float>() + block * c.block_weights + y % c.y.kernel * 2 * kLanes;
      const __m512 even = _mm512_load_ps(taps), odd = _mm512_load_ps(taps + kLanes);
      const uint16_t* from =
          c.image(n) + block * c.in_plane + y / c.y.kernel * c.extents.in.w * kLanes;
      for (int64_t x = 0; x < c.extents.in.w; ++x, from += kLanes) {
        const __m512 wide = load_wide(from);
        __m512 sum[2] = {_mm512_fmadd_ps(wide, even, bias), _mm512_fmadd_ps(wide, odd, bias)};
        target.finish(sum, 0, y * c.extents.out.w + 2 * x, kLanes);
      }
    }
  }
}

struct Scratch {
  alignas(64) float pixels[kScratchPixels][kLanes];
};

template <int kPixels>
inline void depthwise_pixels(const Context& c, const Band& band, const float* weights,
                             const float* from, __m512 bias, const Target& target, int64_t place) {
  __m512 sum[kPixels][1];
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) sum[p][0] = bias;
  for (int64_t ky = 0; ky < c.y.kernel; ++ky) {
    const float* const row = from + c.y.tap(ky) * band.scratch_columns * kLanes;
    for (int64_t kx = 0; kx < c.x.kernel; ++kx, weights += kLanes) {
      const float* const x = row + c.x.tap(kx) * kLanes;
      const __m512 w = _mm512_load_ps(weights);
#pragma GCC unroll 8
      for (int p = 0; p < kPixels; ++p) {
        sum[p][0] = _mm512_fmadd_ps(_mm512_load_ps(x + p * c.x.step * kLanes), w, sum[p][0]);
      }
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) target.finish(sum[p], 0, place + p, 0);
}

void depthwise_band(const Context& c, const Band& band, TileRange tiles, int64_t n,
                    Scratch& scratch) {
  const int64_t first = int64_t{tiles.begin} * kVectors;
  const int64_t end = smaller(int64_t{tiles.end} * kVectors, channel_blocks(c.filter.out_channels));
  for (int64_t block = first; block < end; ++block) {
    load_block(c, band, c.image(n) + block * c.in_plane, scratch.pixels);
    const Target target(c, band, n, block);
    const float* const weights = c.weights<float>() + block * c.block_weights;
    const __m512 bias = _mm512_load_ps(c.bias + block * kLanes);
    for (int64_t row = 0; row < band.rows; ++row) {
      const float* const from = scratch.pixels[row * c.y.step * band.scratch_columns];
      const auto go = [&]<int kPixels>(int64_t column) {
        for (; column + kPixels <= band.columns; column += kPixels) {
          depthwise_pixels<kPixels>(c, band, weights, from + column * c.x.step * kLanes, bias,
                                    target, row * c.extents.out.w + column);
        }
        return column;
      };
      go.template operator()<1>(go.template operator()<8>(0));
    }
  }
}

}  // namespace

void depthwise(const ConvF16Args& args, IndexRange units) {
  const ConvFilter& filter = args.packed->params.filter;
  const Context c(args);
  const ConvUnits counted(filter, args.extents, kConvF16Tile);
  const auto region = is_doubling(c)         ? region_doubling
                      : !is_3x3(c)           ? nullptr
                      : filter.stride.h == 1 ? region_3x3<1>
                                             : region_3x3<2>;
  if (region != nullptr) {
    for_each_region(counted, c.extents.out.h, units,
                    [&](int64_t n, TileRange tiles, int64_t oy, int64_t rows) {
                      region(c, tiles, n, oy, rows);
                    });
    return;
  }
  Scratch scratch;
  for_each_band(filter, c.extents, counted, {kScratchPixels, kScratchPixels}, units,
                [&](const Band& band, TileRange tiles, int64_t n) {
                  depthwise_band(c, band, tiles, n, scratch);
                });
}

}  // namespace rk::kernels::avx512_f16

RK_AVX512_END

#endif  // x86-64
