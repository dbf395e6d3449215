// SPDX-License-Identifier: Apache-2.0
// The depthwise half of conv_i8__avx512vnni_6x64. One permutation turns four neighbouring pixels into [16 channels][4
// taps], one dot product then does a row of the kernel. Four output rows go together, so that an input row is permuted
// once for all of them.
#if defined(__x86_64__)

#include "kernels/conv/x86_avx512vnni_band.h"

RK_AVX512_BEGIN

namespace rk::kernels::vnni {
namespace {

constexpr int kRows = 4;
constexpr int64_t kColumns = 32;  // of one run: its sums stay in the first-level cache
static_assert(kRows * kColumns * kVector <= kBandPixels * kTile);

struct Rows {
  const uint8_t* from;    // scratch of the first output row
  int64_t row_bytes;      // of the scratch
  int64_t columns;        // outputs
  const int8_t* weights;  // of the block
  __m512i start;
  int32_t* acc;
};

__m512i transpose() {
  alignas(64) static constexpr uint8_t kTranspose[64] = {
      0,  16, 32, 48, 1,  17, 33, 49, 2,  18, 34, 50, 3,  19, 35, 51, 4,  20, 36, 52, 5,  21,
      37, 53, 6,  22, 38, 54, 7,  23, 39, 55, 8,  24, 40, 56, 9,  25, 41, 57, 10, 26, 42, 58,
      11, 27, 43, 59, 12, 28, 44, 60, 13, 29, 45, 61, 14, 30, 46, 62, 15, 31, 47, 63};
  return _mm512_load_si512(kTranspose);
}

// Four rows of a kernel of kKernel rows and up to 4 * kGroups columns, without dilation.
template <int kKernel, int kGroups, int kStep, int kPlanes>
void four_rows(const Rows& rows) {
  const __m512i order = transpose();
  __m512i w[kKernel][kGroups][kPlanes];
#pragma GCC unroll 32
  for (int i = 0; i < kKernel * kGroups * kPlanes; ++i)
    (&w[0][0][0])[i] = _mm512_load_si512(rows.weights + i * 64);
  for (int64_t column = 0; column < rows.columns; ++column) {
    __m512i acc[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) acc[r] = rows.start;
    const uint8_t* const from = rows.from + column * kStep * kHostBlock;
#pragma GCC unroll 16
    for (int i = 0; i < (kRows - 1) * kStep + kKernel; ++i) {
#pragma GCC unroll 2
      for (int g = 0; g < kGroups; ++g) {
        const __m512i x =
            _mm512_permutexvar_epi8(order, _mm512_loadu_si512(from + i * rows.row_bytes + g * 64));
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
          const int ky = i - r * kStep;
          if (ky < 0 || ky >= kKernel) continue;
#pragma GCC unroll 3
          for (int plane = 0; plane < kPlanes; ++plane)
            acc[r] = _mm512_dpbusd_epi32(acc[r], x, w[ky][g][plane]);
        }
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r)
      _mm512_store_si512(rows.acc + (column * kRows + r) * kVector, acc[r]);
  }
}

// One row of any kernel.
void any_row(const Context& c, const Rows& rows) {
  const __m512i order = transpose();
  const int64_t groups = tap_groups(c.filter);
  for (int64_t column = 0; column < rows.columns; ++column) {
    __m512i acc = rows.start;
    const int8_t* weights = rows.weights;
    const uint8_t* const from = rows.from + column * c.x.step * kHostBlock;
    for (int64_t ky = 0; ky < c.y.kernel; ++ky) {
      for (int64_t g = 0; g < groups; ++g) {
        const __m512i x = _mm512_permutexvar_epi8(
            order, _mm512_loadu_si512(from + ky * c.y.dilation * rows.row_bytes + g * 64));
        for (int32_t plane = 0; plane < c.constants.planes; ++plane, weights += 64)
          acc = _mm512_dpbusd_epi32(acc, x, _mm512_load_si512(weights));
      }
    }
    _mm512_store_si512(rows.acc + column * kVector, acc);
  }
}

using RowsFunction = void (*)(const Rows&);

// Null where only any_row serves.
RowsFunction rows_function(const Context& c) {
  // Four rows at the end overlap those before; where the output is the residual too that would add it twice.
  if (c.params.has_residual || c.y.dilation != 1 || c.y.step != c.x.step) return nullptr;
  const int64_t groups = tap_groups(c.filter);
  const bool strided = c.y.step == 2;
  if (c.y.step > 2) return nullptr;
  // Offsets of 8-bit weights need two planes, three where w + o is 255.
  const auto of_planes = [&]<int kKernel, int kGroups>() -> RowsFunction {
    switch (c.constants.planes) {
      case 1:
        return strided ? four_rows<kKernel, kGroups, 2, 1> : four_rows<kKernel, kGroups, 1, 1>;
      case 2:
        return strided ? four_rows<kKernel, kGroups, 2, 2> : four_rows<kKernel, kGroups, 1, 2>;
      case 3:
        return strided ? four_rows<kKernel, kGroups, 2, 3> : four_rows<kKernel, kGroups, 1, 3>;
      default:
        return nullptr;
    }
  };
  if (c.y.kernel == 3 && groups == 1) return of_planes.template operator()<3, 1>();
  if (c.y.kernel == 5 && groups == 2) return of_planes.template operator()<5, 2>();
  return nullptr;
}

void block_of_band(const Context& c, const Band& band, int64_t n, int64_t block, Scratch& scratch) {
  load_block(c, band, c.image(n) + block * c.in_plane,
             lanes_of_block(c.filter.in_channels, static_cast<int32_t>(block)), scratch.pixels);
  const RowsFunction by_four = band.rows >= kRows ? rows_function(c) : nullptr;
  const int64_t height = by_four != nullptr ? kRows : 1;
  const FinishFunction finish = finish_function<1>(c);
  const Target target(c, band, n, block, 1);
  const int64_t lane = block * kHostBlock;
  const int64_t row_bytes = band.scratch_columns * kHostBlock;
  int32_t places[kRows * kColumns];
  for (int64_t row = 0; row < band.rows; row += height) {
    const int64_t at = smaller(row, band.rows - height);
    for (int64_t first = 0; first < band.columns; first += kColumns) {
      const Rows rows = {
          scratch.pixels + at * c.y.step * row_bytes + first * c.x.step * kHostBlock,
          row_bytes,
          smaller(kColumns, band.columns - first),
          c.weights() + block * c.y.kernel * tap_groups(c.filter) * c.constants.planes * 64,
          _mm512_load_si512(c.constants.start + lane),
          scratch.acc};
      if (by_four != nullptr) {
        by_four(rows);
      } else {
        any_row(c, rows);
      }
      int32_t* place = places;
      for (int64_t column = 0; column < rows.columns; ++column) {
        for (int64_t r = 0; r < height; ++r)
          *place++ = static_cast<int32_t>((at + r) * c.extents.out.w + first + column);
      }
      finish({c, target, lane, scratch.acc, nullptr, places, rows.columns * height});
    }
  }
}

}  // namespace

void depthwise_band(const ConvI8Args& args, const Band& band, TileRange tiles, int64_t n,
                    Scratch& scratch) {
  const Context c(args);
  const int64_t end = smaller(tiles.end * 4, channel_blocks(c.filter.out_channels));
  for (int64_t block = tiles.begin * 4; block < end; ++block) {
    block_of_band(c, band, n, block, scratch);
  }
}

}  // namespace rk::kernels::vnni

RK_AVX512_END

#endif  // x86-64
