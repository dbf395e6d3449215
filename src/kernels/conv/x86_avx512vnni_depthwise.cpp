// SPDX-License-Identifier: Apache-2.0
// The depthwise half of conv_i8__avx512vnni_6x64. One permutation turns four neighbouring pixels into [16 channels][4
// taps], one dot product then does a row of the kernel. Output goes in tiles of four columns by up to four rows: an input
// row is permuted once for all of them, and a row of the tile is 64 bytes of the output.
#if defined(__x86_64__)

#include "kernels/conv/x86_avx512vnni_band.h"

RK_AVX512_BEGIN

namespace rk::kernels::vnni {
namespace {

constexpr int kColumns = 4;    // of a tile
constexpr int64_t kRun = 512;  // columns of a row whose sums go through memory
static_assert(kRun * kVector <= kBandPixels * kTile);

struct Rows {
  const uint8_t* from;    // scratch of the first output row
  int64_t row_bytes;      // of the scratch
  int64_t columns;        // outputs
  const int8_t* weights;  // of the block
  __m512i start;
};

__m512i transpose() {
  alignas(64) static constexpr uint8_t kTranspose[64] = {
      0,  16, 32, 48, 1,  17, 33, 49, 2,  18, 34, 50, 3,  19, 35, 51, 4,  20, 36, 52, 5,  21,
      37, 53, 6,  22, 38, 54, 7,  23, 39, 55, 8,  24, 40, 56, 9,  25, 41, 57, 10, 26, 42, 58,
      11, 27, 43, 59, 12, 28, 44, 60, 13, 29, 45, 61, 14, 30, 46, 62, 15, 31, 47, 63};
  return _mm512_load_si512(kTranspose);
}

// kRows rows of a kernel of kKernel rows and up to 4 * kGroups columns, without dilation. The last tile of a row overlaps
// the one before.
template <int kRows, int kKernel, int kGroups, int kStep, int kPlanes>
void tile_rows(const Rows& rows, const Ending& at, const FloatRoute<false>& stages,
               int64_t output_row) {
  const __m512i order = transpose();
  const Rows in = rows;
  const Ending k = at;
  const FloatRoute<false> route = stages;
  const auto lanes = route.lanes(k.channel);
  for (int64_t next = 0; next < in.columns; next += kColumns) {
    const int64_t column = smaller(next, in.columns - kColumns);
    const uint8_t* const from = in.from + column * kStep * kHostBlock;
    int8_t* const to = k.output + column * kHostBlock;
    __m512i acc[kRows][kColumns];
    unroll<kRows * kColumns>([&](auto i)
                                 RK_UNROLLED { acc[i / kColumns][i % kColumns] = in.start; });
    unroll<(kRows - 1) * kStep + kKernel>([&](auto i) RK_UNROLLED {
      unroll<kColumns * kGroups>([&](auto j) RK_UNROLLED {
        constexpr int x = j / kGroups, group = j % kGroups;
        const __m512i four = _mm512_permutexvar_epi8(
            order,
            _mm512_loadu_si512(from + i * in.row_bytes + (x * kStep + group * 4) * kHostBlock));
        unroll<kRows>([&](auto r) RK_UNROLLED {
          constexpr int ky = i - r * kStep;
          if constexpr (ky >= 0 && ky < kKernel) {
            unroll<kPlanes>([&](auto plane) RK_UNROLLED {
              const int8_t* const w = in.weights + ((ky * kGroups + group) * kPlanes + plane) * 64;
              acc[r][x] = _mm512_dpbusd_epi32(acc[r][x], four, _mm512_load_si512(w));
            });
          }
        });
      });
    });
    unroll<kRows>([&](auto r) RK_UNROLLED {
      const __m512i bytes = to_bytes(
          k, route.apply(acc[r][0], lanes, nullptr), route.apply(acc[r][1], lanes, nullptr),
          route.apply(acc[r][2], lanes, nullptr), route.apply(acc[r][3], lanes, nullptr));
      _mm512_storeu_si512(to + r * output_row, bytes);
    });
  }
}

// Sums of one row of any kernel.
void any_row(const Context& c, const Rows& rows, int32_t* sums) {
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
    _mm512_store_si512(sums + column * kVector, acc);
  }
}

using RowsFunction = void (*)(const Rows&, const Ending&, const FloatRoute<false>&, int64_t);

// For 4, 2 and 1 rows at once; null where only any_row serves.
struct RowsFunctions {
  RowsFunction four = nullptr, two = nullptr, one = nullptr;

  explicit RowsFunctions(const Context& c, const Band& band) {
    // Tiles overlap; where the output is the residual too that would add it twice.
    if (c.params.has_residual || !c.constants.float_route || band.columns < kColumns) return;
    if (c.y.dilation != 1 || c.y.step != c.x.step) return;
    const int64_t groups = tap_groups(c.filter);
    if (c.y.kernel == 3 && groups == 1) set_kernel<3, 1>(c);
    if (c.y.kernel == 5 && groups == 2) set_kernel<5, 2>(c);
  }

  // Offsets of 8-bit weights need two planes, seldom three.
  template <int kKernel, int kGroups>
  void set_kernel(const Context& c) {
    if (c.y.step == 1 && c.constants.planes == 1) set<kKernel, kGroups, 1, 1>();
    if (c.y.step == 1 && c.constants.planes == 2) set<kKernel, kGroups, 1, 2>();
    if (c.y.step == 2 && c.constants.planes == 1) set<kKernel, kGroups, 2, 1>();
    if (c.y.step == 2 && c.constants.planes == 2) set<kKernel, kGroups, 2, 2>();
  }
  template <int kKernel, int kGroups, int kStep, int kPlanes>
  void set() {
    four = tile_rows<4, kKernel, kGroups, kStep, kPlanes>;
    two = tile_rows<2, kKernel, kGroups, kStep, kPlanes>;
    one = tile_rows<1, kKernel, kGroups, kStep, kPlanes>;
  }
};

// Sums of one row through memory.
void finish_row(const Context& c, const Target& target, int64_t channel, Rows rows, int64_t place,
                Scratch& scratch) {
  int32_t places[kRun];
  const FinishFunction finish = finish_function<1>(c);
  for (int64_t left = rows.columns; left > 0; left -= rows.columns) {
    rows.columns = smaller(left, kRun);
    for (int64_t i = 0; i < rows.columns; ++i) places[i] = static_cast<int32_t>(place + i);
    any_row(c, rows, scratch.acc);
    finish({c, target, channel, scratch.acc, nullptr, places, rows.columns});
    rows.from += rows.columns * c.x.step * kHostBlock;
    place += rows.columns;
  }
}

void block_of_band(const Context& c, const Band& band, int64_t n, int64_t block, Scratch& scratch) {
  load_block(c, band, c.image(n) + block * c.in_plane,
             lanes_of_block(c.filter.in_channels, static_cast<int32_t>(block)), scratch.pixels);
  const RowsFunctions functions(c, band);
  const Target target(c, band, n, block, 1);
  const int64_t channel = block * kHostBlock;
  const FloatRoute<false> route(c.params, c.constants);
  Ending at = ending(c, target, channel, nullptr, nullptr);
  Rows rows = {scratch.pixels, band.scratch_columns * kHostBlock, band.columns,
               c.weights() + block * c.y.kernel * tap_groups(c.filter) * c.constants.planes * 64,
               _mm512_load_si512(c.constants.start + channel)};
  const int64_t output_row = int64_t{c.extents.out.w} * kHostBlock;
  for (int64_t row = 0, height = 1; row < band.rows; row += height) {
    rows.from = scratch.pixels + row * c.y.step * rows.row_bytes;
    at.output = target.output + row * output_row;
    if (functions.one == nullptr) {
      finish_row(c, target, channel, rows, row * c.extents.out.w, scratch);
      continue;
    }
    height = band.rows - row >= 4 ? 4 : band.rows - row >= 2 ? 2 : 1;
    const RowsFunction run = height == 4   ? functions.four
                             : height == 2 ? functions.two
                                           : functions.one;
    run(rows, at, route, output_row);
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
