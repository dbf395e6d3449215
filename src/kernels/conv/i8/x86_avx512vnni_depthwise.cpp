// SPDX-License-Identifier: Apache-2.0
// The depthwise half of conv_i8__avx512vnni_6x64. One permutation turns four neighboring pixels into [16 channels][4
// taps], one dot product then does a row of the kernel. Output goes in tiles of four columns by up to four rows: an input
// row is permuted once for all of them, and a row of the tile is 64 bytes of the output. Common kernels read their input
// where it lies, others a copy with its border.
#if defined(__x86_64__)

#include "kernels/conv/i8/x86_avx512vnni_band.h"

RK_AVX512VBMI_BEGIN

namespace rk::kernels::vnni {
namespace {

constexpr int kColumns = 4;    // of a tile
constexpr int64_t kRun = 512;  // columns of a row whose sums go through memory
static_assert(kRun * kVector <= kBandPixels * kTile);

__m512i transpose() {
  alignas(64) static constexpr uint8_t kTranspose[64] = {
      0,  16, 32, 48, 1,  17, 33, 49, 2,  18, 34, 50, 3,  19, 35, 51, 4,  20, 36, 52, 5,  21,
      37, 53, 6,  22, 38, 54, 7,  23, 39, 55, 8,  24, 40, 56, 9,  25, 41, 57, 10, 26, 42, 58,
      11, 27, 43, 59, 12, 28, 44, 60, 13, 29, 45, 61, 14, 30, 46, 62, 15, 31, 47, 63};
  return _mm512_load_si512(kTranspose);
}

// A few output rows of one block.
struct Strip {
  const int8_t*
      rows[(4 - 1) * 2 + 5];  // of the input; where there is none, one full of its zero point
  int64_t width;              // of the input
  int64_t columns;            // of the output
  int64_t pad;                // border columns before the input
  int64_t output_row;         // elements
  const int8_t* weights;      // of the block
  __m512i start;
  int8_t zero_point;  // of the input
};

// Which halves of the four pixels from column `first` on exist.
inline __mmask8 live_halves(int64_t first, int64_t width) {
  const int64_t before = first < 0 ? smaller(-first, 4) : 0;
  const int64_t end = first + 4 <= width ? 4 : first < width ? width - first : 0;
  return static_cast<__mmask8>(((1u << end * 2) - 1) & ~((1u << before * 2) - 1));
}

// kRows rows of a kernel of kKernel rows and up to 4 * kGroups columns, without dilation. The last tile of a row overlaps
// the one before.
template <Stages kStages, int kRows, int kKernel, int kGroups, int kStep, int kPlanes>
void tile_rows(const Strip& rows, const Ending& at, const FloatConstants& stages) {
  constexpr int kInRows = (kRows - 1) * kStep + kKernel;
  constexpr int kReach = (kColumns - 1) * kStep + 4 * kGroups;
  const Strip strip = rows;
  const Ending k = at;
  const FloatRoute<kStages> route(stages);
  const __m512i order = transpose(), border = _mm512_set1_epi8(strip.zero_point);
  const auto lanes = route.lanes(k.channel);
  __m512i w[kKernel * kGroups * kPlanes];
  unroll<kKernel * kGroups * kPlanes>(
      [&](auto i) RK_UNROLLED { w[i] = _mm512_load_si512(strip.weights + i * 64); });
  const auto tile = [&](int64_t column, auto at_edge) RK_UNROLLED {
    int64_t left = column * kStep - strip.pad;
    __mmask8 live[kColumns * kGroups];
    if constexpr (at_edge != 0) {
      unroll<kColumns * kGroups>([&](auto i) RK_UNROLLED {
        live[i] = live_halves(left + i / kGroups * kStep + i % kGroups * 4, strip.width);
      });
    }
    __m512i acc[kRows][kColumns];
    unroll<kRows * kColumns>([&](auto i)
                                 RK_UNROLLED { acc[i / kColumns][i % kColumns] = strip.start; });
    unroll<kInRows * kColumns * kGroups>([&](auto j) RK_UNROLLED {
      constexpr int i = j / kGroups / kColumns, x = j / kGroups % kColumns, group = j % kGroups;
      // Opaque, or the compiler would compute all addresses first, for both kinds of tiles.
      asm volatile("" : "+r"(left));
      const int8_t* const from = strip.rows[i] + (left + x * kStep + group * 4) * kHostBlock;
      __m512i v;
      if constexpr (at_edge != 0) {
        v = _mm512_mask_loadu_epi64(border, live[x * kGroups + group], from);
      } else {
        v = _mm512_loadu_si512(from);
      }
      const __m512i four =
          _mm512_xor_si512(_mm512_permutexvar_epi8(order, v), _mm512_set1_epi8(-128));
      unroll<kRows * kPlanes>([&](auto p) RK_UNROLLED {
        constexpr int r = p / kPlanes, plane = p % kPlanes, ky = i - r * kStep;
        if constexpr (ky >= 0 && ky < kKernel) {
          acc[r][x] =
              _mm512_dpbusd_epi32(acc[r][x], four, w[(ky * kGroups + group) * kPlanes + plane]);
        }
      });
    });
    unroll<kRows>([&](auto r) RK_UNROLLED {
      const __m512i bytes = route.bytes(
          k, route.apply(acc[r][0], lanes, nullptr), route.apply(acc[r][1], lanes, nullptr),
          route.apply(acc[r][2], lanes, nullptr), route.apply(acc[r][3], lanes, nullptr));
      _mm512_storeu_si512(k.output + r * strip.output_row + column * kHostBlock, bytes);
    });
  };
  for (int64_t next = 0; next < strip.columns; next += kColumns) {
    const int64_t column = smaller(next, strip.columns - kColumns);
    const int64_t left = column * kStep - strip.pad;
    if (left < 0 || left + kReach > strip.width) {
      tile(column, Index<1>{});
    } else {
      tile(column, Index<0>{});
    }
  }
}

using StripFunction = void (*)(const Strip&, const Ending&, const FloatConstants&);

// For 1 to `most` rows at once; none where only a copy of the input serves.
struct StripFunctions {
  StripFunction of_rows[4] = {};
  int64_t most = 0;

  explicit StripFunctions(const Context& c) {
    // Tiles overlap; where the output is the residual too that would add it twice.
    const Ends ends = c.constants.ends;
    if (c.params.has_residual || (ends != Ends::kFloat && ends != Ends::kLookup)) return;
    if (c.extents.out.w < kColumns) return;
    if (c.filter.transposed || c.y.dilation != 1 || c.y.step != c.x.step) return;
    if (c.extents.in.w > kScratchPixels) return;
    const int64_t groups = tap_groups(c.filter);
    if (ends == Ends::kLookup) {
      set_stages<Stages::kLookup>(c, groups);
    } else {
      c.constants.direct ? set_stages<Stages::kDirect>(c, groups)
                         : set_stages<Stages::kApart>(c, groups);
    }
  }

  template <Stages kStages>
  void set_stages(const Context& c, int64_t groups) {
    if (c.y.kernel == 3 && groups == 1) set_kernel<kStages, 4, 3, 1>(c);
    if (c.y.kernel == 5 && groups == 2) set_kernel<kStages, 2, 5, 2>(c);
  }

  // Offsets of 8-bit weights need two planes.
  template <Stages kStages, int kMost, int kKernel, int kGroups>
  void set_kernel(const Context& c) {
    if (c.y.step == 1 && c.constants.planes == 1) set<kStages, kMost, kKernel, kGroups, 1, 1>();
    if (c.y.step == 1 && c.constants.planes == 2) set<kStages, kMost, kKernel, kGroups, 1, 2>();
    if (c.y.step == 2 && c.constants.planes == 1) set<kStages, kMost, kKernel, kGroups, 2, 1>();
    if (c.y.step == 2 && c.constants.planes == 2) set<kStages, kMost, kKernel, kGroups, 2, 2>();
  }
  template <Stages kStages, int kMost, int kKernel, int kGroups, int kStep, int kPlanes>
  void set() {
    most = kMost;
    unroll<kMost>(
        [&](auto i) { of_rows[i] = tile_rows<kStages, i + 1, kKernel, kGroups, kStep, kPlanes>; });
  }
};

const int8_t* weights_of_block(const Context& c, int64_t block) {
  return c.weights() + block * c.y.kernel * tap_groups(c.filter) * c.constants.planes * 64;
}

// Rows oy.. of some blocks, without a copy.
void strips(const Context& c, const StripFunctions& functions, BlockRange blocks, int64_t oy,
            int64_t rows, int64_t n, const int8_t* border_row) {
  const FloatConstants route(c.params, c.constants);
  Strip strip = {};
  strip.width = c.extents.in.w;
  strip.columns = c.extents.out.w;
  strip.pad = c.extents.pad_before.w;
  strip.output_row = int64_t{c.extents.out.w} * kHostBlock;
  strip.zero_point = static_cast<int8_t>(c.params.input_zero_point);
  for (int32_t block = blocks.begin; block < blocks.end; ++block) {
    const int8_t* const plane = c.image(n) + block * c.in_plane;
    const int64_t channel = int64_t{block} * kHostBlock;
    const Target target(c, {oy, 0, rows, strip.columns, 0, 0}, n, block, 1);
    Ending at = ending(c, target, channel, nullptr, nullptr);
    strip.weights = weights_of_block(c, block);
    strip.start = _mm512_load_si512(c.constants.start + channel);
    for (int64_t row = 0, height = 0; row < rows; row += height) {
      height = smaller(functions.most, rows - row);
      const int64_t top = c.y.lead(oy + row, c.extents.pad_before.h);
      for (int64_t i = 0; i < (height - 1) * c.y.step + c.y.kernel; ++i) {
        const bool exists = top + i >= 0 && top + i < c.extents.in.h;
        strip.rows[i] = exists ? plane + (top + i) * c.in_row : border_row;
      }
      at.output = target.output + row * strip.output_row;
      functions.of_rows[height - 1](strip, at, route);
    }
  }
}

// Output columns of one row over scratch.
struct Rows {
  const uint8_t* from;    // scratch of the row
  int64_t row_bytes;      // of the scratch
  int64_t columns;        // outputs
  const int8_t* weights;  // of the block
  __m512i start;
};

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
  const Target target(c, band, n, block, 1);
  const int64_t channel = block * kHostBlock;
  Rows rows = {scratch.pixels, band.scratch_columns * kHostBlock, band.columns,
               weights_of_block(c, block), _mm512_load_si512(c.constants.start + channel)};
  for (int64_t row = 0; row < band.rows; ++row) {
    rows.from = scratch.pixels + row * c.y.step * rows.row_bytes;
    finish_row(c, target, channel, rows, row * c.extents.out.w, scratch);
  }
}

BlockRange blocks_of_tiles(const Context& c, TileRange tiles) {
  const int32_t blocks = channel_blocks(c.filter.out_channels);
  return {tiles.begin * 4, tiles.end * 4 < blocks ? tiles.end * 4 : blocks};
}

}  // namespace

void run_depthwise(const ConvI8Args& args, IndexRange units, Scratch& scratch) {
  const Context c(args);
  const ConvUnits counted(c.params.filter, args.extents, kTile);
  const StripFunctions functions(c);
  if (functions.most > 0) {
    std::memset(scratch.pixels, c.params.input_zero_point,
                static_cast<size_t>(c.extents.in.w) * kHostBlock);
    const auto* const border_row = reinterpret_cast<const int8_t*>(scratch.pixels);
    for_each_region(counted, c.extents.out.h, units,
                    [&](int64_t n, TileRange tiles, int64_t oy, int64_t rows) {
                      strips(c, functions, blocks_of_tiles(c, tiles), oy, rows, n, border_row);
                    });
    return;
  }
  for_each_band(c.filter, c.extents, counted, {kScratchPixels, kScratchPixels}, units,
                [&](const Band& band, TileRange tiles, int64_t n) {
                  const BlockRange blocks = blocks_of_tiles(c, tiles);
                  for (int32_t block = blocks.begin; block < blocks.end; ++block)
                    block_of_band(c, band, n, block, scratch);
                });
}

}  // namespace rk::kernels::vnni

RK_AVX512VBMI_END

#endif  // x86-64
