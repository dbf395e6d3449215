// SPDX-License-Identifier: Apache-2.0
// conv_i8__avx512vnni_winograd: bands of patches of 4x4 results. The input of a band is transformed once; then, for each
// tile of 64 output channels, pieces of its weights are transformed and multiplied, a matrix product per point, and the
// products are transformed back.
//
// Note: all four buffers together must stay in a second-level cache of 1 MiB.
#if defined(__x86_64__)

#include "kernels/conv/i8/x86_avx512vnni_winograd.h"
#include "kernels/conv/i8/x86_avx512vnni_band.h"
#include "kernels/thread_scratch.h"

#define RK_ISA_BEGIN RK_AVX512VBMI_BEGIN
#define RK_ISA_END RK_AVX512VBMI_END
#include "kernels/conv/i8/winograd_transforms.h"

RK_AVX512VBMI_BEGIN

namespace rk::kernels::vnni::winograd {

void run(const ConvI8Args& args, IndexRange units);

namespace {

constexpr int64_t kMaxColumns = kMaxPatches * kSide + kPatch - kSide;
constexpr int64_t kPiece = 32;  // pairs of input channels whose weights are transformed together
constexpr int kMaxRows = 6;     // patches of a matrix product's tile
constexpr int64_t kTwoBlocks = 2 * kHostBlock;
// Points lie a cache line off a power of two, else all of them would meet in few places of the first-level cache.
constexpr int64_t kWeightPoint = kPiece * 4 * kPair + 32;
constexpr int64_t kProductPoint = kMaxPatches * kTile + 16;

struct Work {
  alignas(64) uint8_t pixels[2][kPatch * kMaxColumns * kHostBlock + 64];  // a band of two blocks
  alignas(64) int16_t columns[kPatch][kMaxColumns * kTwoBlocks];          // one axis done
  alignas(64) int16_t inputs[kInputs];                                    // [point][patch][channel]
  alignas(64) int16_t weights[kPoints * kWeightPoint];    // [point][pair][vector][16][2]
  alignas(64) int32_t products[kPoints * kProductPoint];  // [point][patch][vector][16]
  const int8_t* transformed;                              // what `weights` were made of
};
static_assert(sizeof(Work) <= ThreadScratch::kBytes);

// A rectangle of patches. Those of a point that halves do not have lie closer together.
struct Patches {
  int64_t row, column;  // of the first, in patches
  int64_t rows, columns;
  bool half_row, half_column;  // the last ones
  int64_t count() const { return rows * columns; }
  int64_t rows_at(int i) const { return rows - (half_row && !in_half(i)); }
  int64_t columns_at(int j) const { return columns - (half_column && !in_half(j)); }
};

int64_t input_point(const Patches& patches, int64_t step) { return patches.count() * step + 32; }

using Words = uint16_t __attribute__((vector_size(64)));
using Sums = uint32_t __attribute__((vector_size(64)));
inline __m512i raw(const Words& v) { return (__m512i)v; }
inline __m512i raw(const Sums& v) { return (__m512i)v; }

template <bool kHalf>
constexpr int kInputsOf = kHalf ? kPatch - 2 : kPatch;

// Down the columns of a row of patches: one block's pixels, biased and with their border, to its half of `columns`.
template <bool kHalf>
void transform_columns(const uint8_t* from, int64_t row_pixels, int64_t block, Work& work) {
  for (int64_t x = 0; x < row_pixels; x += 2) {
    Words d[kPatch];
#pragma GCC unroll 6
    for (int i = 0; i < kInputsOf<kHalf>; ++i) {
      d[i] = (Words)_mm512_cvtepu8_epi16(_mm256_loadu_si256(
          reinterpret_cast<const __m256i*>(from + (i * row_pixels + x) * kHostBlock)));
    }
    transform_input<kHalf>(d);
#pragma GCC unroll 6
    for (int i = 0; i < kPatch; ++i) {
      if (kHalf && !in_half(i)) continue;
      auto* const to = reinterpret_cast<__m256i*>(&work.columns[i][x * kTwoBlocks]) + block;
      _mm256_store_si256(to, _mm512_castsi512_si256(raw(d[i])));
      _mm256_store_si256(to + 2, _mm512_extracti64x4_epi64(raw(d[i]), 1));
    }
  }
}

// Along one row of `columns`: a patch's points (i, 0..5), 32 channels each.
template <bool kHalf>
inline __attribute__((always_inline)) void transform_patch(const int16_t* from, int16_t* to,
                                                           int64_t point,
                                                           const int64_t (&at)[kPatch]) {
  Words d[kPatch];
#pragma GCC unroll 6
  for (int j = 0; j < kInputsOf<kHalf>; ++j) d[j] = (Words)_mm512_load_si512(from + j * kTwoBlocks);
  transform_input<kHalf>(d);
#pragma GCC unroll 6
  for (int j = 0; j < kPatch; ++j) {
    if (kHalf && !in_half(j)) continue;
    _mm512_store_si512(to + j * point + at[j], raw(d[j]));
  }
}

// A row of patches of two blocks from `columns` to the inputs, `to` being those of the first point.
void transform_row(const Patches& patches, int64_t row, int64_t step, int16_t* to, Work& work) {
  const int64_t point = input_point(patches, step);
  const bool half_row = patches.half_row && row == patches.rows - 1;
  for (int i = 0; i < kPatch; ++i) {
    if (half_row && !in_half(i)) continue;
    int16_t* const points = to + i * kPatch * point;
    int64_t at[kPatch];
    for (int j = 0; j < kPatch; ++j) at[j] = row * patches.columns_at(j) * step;
    const int64_t whole = patches.columns - patches.half_column;
    const int16_t* from = work.columns[i];
    for (int64_t patch = 0; patch < whole; ++patch, from += kSide * kTwoBlocks) {
      transform_patch<false>(from, points, point, at);
#pragma GCC unroll 6
      for (int j = 0; j < kPatch; ++j) at[j] += step;
    }
    if (patches.half_column) transform_patch<true>(from, points, point, at);
  }
}

void transform_inputs(const Context& c, const Band& band, const Patches& patches, int64_t n,
                      Work& work) {
  const int64_t step = input_step(c.filter), row_bytes = band.scratch_columns * kHostBlock;
  const int32_t blocks = channel_blocks(c.filter.in_channels);
  for (int32_t first = 0; first < blocks; first += 2) {
    for (int64_t row = 0; row < patches.rows; ++row) {
      const bool half = patches.half_row && row == patches.rows - 1;
      for (int32_t block = first; block < first + 2 && block < blocks; ++block) {
        uint8_t* const pixels = work.pixels[block - first];
        if (row == 0) {
          load_block(c, band, c.image(n) + block * c.in_plane,
                     lanes_of_block(c.filter.in_channels, block), pixels);
        }
        const uint8_t* const from = pixels + row * kSide * row_bytes;
        half ? transform_columns<true>(from, band.scratch_columns, block - first, work)
             : transform_columns<false>(from, band.scratch_columns, block - first, work);
      }
      transform_row(patches, row, step, work.inputs + first * kHostBlock, work);
    }
  }
}

// A few patches at one point.
struct Rows {
  const int16_t* inputs;
  int64_t step;  // from one patch to the next
  const int16_t* weights;
  int64_t pairs;
  const int32_t* start;
  int64_t start_step;
  int32_t* products;
};

template <int kRows, int kVectors>
void multiply_rows(const Rows& rows) {
  __m512i sum[kRows][kVectors];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      sum[r][v] = _mm512_load_si512(rows.start + r * rows.start_step + v * kVector);
  }
  const int16_t *inputs = rows.inputs, *weights = rows.weights;
  const int64_t step = rows.step;
  for (int64_t pair = 0; pair < rows.pairs; ++pair, inputs += 2, weights += kVectors * kPair) {
    __m512i w[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) w[v] = _mm512_load_si512(weights + v * kPair);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      int32_t two;
      __builtin_memcpy(&two, inputs + r * step, sizeof two);
      const __m512i spread = _mm512_set1_epi32(two);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        asm("vpdpwssd %2, %1, %0" : "+v"(sum[r][v]) : "v"(spread), "v"(w[v]));
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      _mm512_store_si512(rows.products + (r * kVectors + v) * kVector, sum[r][v]);
  }
}

template <int kVectors>
constexpr void (*kMultiplyRows[kMaxRows])(const Rows&) = {
    multiply_rows<1, kVectors>, multiply_rows<2, kVectors>, multiply_rows<3, kVectors>,
    multiply_rows<4, kVectors>, multiply_rows<5, kVectors>, multiply_rows<6, kVectors>};

// What one pass over a piece of the input channels reads.
struct Piece {
  int64_t first, pairs;
  const int16_t* weights;
  int64_t point;         // from one point's weights to the next
  const int32_t* start;  // of the tile's sums; null: they go on
  const int8_t* soon;    // weights of the next piece, for the second-level cache
};
// Cache lines of the next piece to fetch per point.
constexpr int64_t kSoonLines = kPiece * 4 * kTaps * kPair / 64 / kPoints;

// All patches at all points, in tiles of about equal height.
template <int kVectors>
void multiply(const Patches& patches, int64_t step, const Piece& piece, Work& work) {
  alignas(64) static constexpr int32_t kZero[kVectors * kVector] = {};
  constexpr int64_t kStep = kVectors * kVector;
  for (int point = 0; point < kPoints; ++point) {
    for (int64_t line = 0; line < kSoonLines; ++line)
      _mm_prefetch(piece.soon + (point * kSoonLines + line) * 64, _MM_HINT_T1);
    const int64_t count = patches.rows_at(point / kPatch) * patches.columns_at(point % kPatch);
    const int64_t tiles = (count + kMaxRows - 1) / kMaxRows;
    const int16_t* const inputs =
        work.inputs + point * input_point(patches, step) + piece.first * 2;
    for (int64_t tile = 0, done = 0; tile < tiles; ++tile) {
      const int64_t rows = (count - done + tiles - tile - 1) / (tiles - tile);
      int32_t* const products = work.products + point * kProductPoint + done * kStep;
      const int32_t* const start = piece.start == nullptr ? products
                                   : point == kStartPoint ? piece.start
                                                          : kZero;
      kMultiplyRows<kVectors>[rows - 1]({inputs + done * step, step,
                                         piece.weights + point * piece.point, piece.pairs, start,
                                         piece.start == nullptr ? kStep : 0, products});
      done += rows;
    }
  }
}

template <bool kHalf>
constexpr const int (&kShiftOf)[kSide] = kHalf ? kHalfShift : kShift;

// One tile of output channels of a band of patches.
struct TileOfPatches {
  const Context& c;
  const Patches& patches;
  const Target& target;
  int64_t lane;
};

template <typename Route>
struct FinishPatch {
  const Route route;
  const Ending ending;  // of the tile
  __m512i first, inverse;
  int64_t row_bytes;

  explicit FinishPatch(const TileOfPatches& t)
      : route(t.c.params, t.c.constants),
        ending(vnni::ending(t.c, t.target, t.lane, nullptr, nullptr)),
        first(_mm512_set1_epi32(first_bits(t.c.constants))),
        inverse(_mm512_set1_epi32(static_cast<int32_t>(kInverseOf9))),
        row_bytes(int64_t{t.c.extents.out.w} * kHostBlock) {}

  // Vector v of the patch whose first pixel lies at `at`; `products` of its points: those a half has, and the others.
  template <bool kHalfRow, bool kHalfColumn>
  inline __attribute__((always_inline)) void patch(const int32_t* const (&products)[2], int v,
                                                   int64_t height, int64_t width,
                                                   int64_t at) const {
    constexpr int kHeight = kHalfRow ? kSide / 2 : kSide, kWidth = kHalfColumn ? kSide / 2 : kSide;
    const auto lanes = route.lanes(ending.channel + v * kVector);
    const __mmask64 pixels = ~__mmask64{0} >> (kSide - width) * kHostBlock;
    at += v * ending.plane;
    Sums half[kSide][kPatch];
#pragma GCC unroll 6
    for (int j = 0; j < kPatch; ++j) {
      if (kHalfColumn && !in_half(j)) continue;
      Sums m[kPatch], y[kSide];
#pragma GCC unroll 6
      for (int i = 0; i < kPatch; ++i) {
        if (kHalfRow && !in_half(i)) continue;
        m[i] = (Sums)_mm512_load_si512(products[!in_half(j)] + (i * kPatch + j) * kProductPoint);
      }
      transform_back<kHalfRow>(m, y);
#pragma GCC unroll 4
      for (int i = 0; i < kHeight; ++i) half[i][j] = y[i];
    }
#pragma GCC unroll 4
    for (int i = 0; i < kHeight; ++i, at += row_bytes) {
      if (i >= height) break;
      Sums scaled[kSide];
      transform_back<kHalfColumn>(half[i], scaled);
      __m512i y[kSide];
#pragma GCC unroll 4
      for (int j = 0; j < kWidth; ++j) {
        const __m512i ninth = _mm512_mullo_epi32(raw(scaled[j]), inverse);
        const __m512i sum = _mm512_add_epi32(
            _mm512_srai_epi32(ninth, kShiftOf<kHalfRow>[i] + kShiftOf<kHalfColumn>[j]), first);
        // A pixel that does not exist takes the residual of the last one.
        const int8_t* const residual =
            Route::kResidual ? ending.residual + at + smaller(j, width - 1) * kHostBlock : nullptr;
        y[j] = route.apply(sum, lanes, residual);
      }
      const __m512i bytes = kHalfColumn ? route.bytes(ending, y[0], y[1], y[0], y[1])
                                        : route.bytes(ending, y[0], y[1], y[2], y[3]);
      _mm512_mask_storeu_epi8(ending.output + at, pixels, bytes);
    }
  }
};

template <typename Route>
void finish_patches(const TileOfPatches& tile, int vectors, const Work& work) {
  const Extent2 out = tile.c.extents.out;
  const Patches patches = tile.patches;
  const FinishPatch<Route> finish(tile);
  for (int v = 0; v < vectors; ++v) {
    for (int64_t row = 0; row < patches.rows; ++row) {
      const int64_t y = row * kSide;
      const int64_t height = smaller(kSide, out.h - patches.row * kSide - y);
      const bool half_row = patches.half_row && row == patches.rows - 1;
      for (int64_t column = 0; column < patches.columns; ++column) {
        const int64_t x = column * kSide;
        const int64_t width = smaller(kSide, out.w - patches.column * kSide - x);
        const bool half_column = patches.half_column && column == patches.columns - 1;
        const auto products = [&](int j) {
          const int64_t patch = row * patches.columns_at(j) + column;
          return work.products + (patch * vectors + v) * kVector;
        };
        const int32_t* const both[2] = {products(0), products(3)};
        const int64_t at = (y * out.w + x) * kHostBlock;
        if (half_row) {
          half_column ? finish.template patch<true, true>(both, v, height, width, at)
                      : finish.template patch<true, false>(both, v, height, width, at);
        } else {
          half_column ? finish.template patch<false, true>(both, v, height, width, at)
                      : finish.template patch<false, false>(both, v, height, width, at);
        }
      }
    }
  }
}

void finish(const TileOfPatches& tile, int vectors, const Work& work) {
  const bool residual = tile.c.params.has_residual;
  if (tile.c.constants.ends == Ends::kLookup) {
    finish_patches<FloatRoute<Stages::kLookup>>(tile, vectors, work);
  } else if (tile.c.constants.ends == Ends::kSlope) {
    residual ? finish_patches<SlopeRoute<true>>(tile, vectors, work)
             : finish_patches<SlopeRoute<false>>(tile, vectors, work);
  } else if (tile.c.constants.ends == Ends::kFloat) {
    residual                  ? finish_patches<FloatRoute<Stages::kResidual>>(tile, vectors, work)
    : tile.c.constants.direct ? finish_patches<FloatRoute<Stages::kDirect>>(tile, vectors, work)
                              : finish_patches<FloatRoute<Stages::kApart>>(tile, vectors, work);
  } else {
    residual ? finish_patches<DoubleRoute<true>>(tile, vectors, work)
             : finish_patches<DoubleRoute<false>>(tile, vectors, work);
  }
}

template <int kVectors>
void tile_of_patches(const TileOfPatches& tile, Work& work) {
  alignas(64) int32_t start[kVectors * kVector];
  const auto first = static_cast<uint32_t>(first_bits(tile.c.constants));
  for (int i = 0; i < kVectors * kVector; ++i) {
    const auto base = static_cast<uint32_t>(tile.c.constants.start[tile.lane + i]) - first;
    start[i] = static_cast<int32_t>(base * kStartFactor);
  }
  const ConvFilter& f = tile.c.filter;
  const int64_t all = channel_pairs(f), index = tile.lane / kTile, step = input_step(f);
  if (tile.c.constants.transformed) {
    const auto* const weights =
        reinterpret_cast<const int16_t*>(tile.c.weights()) + index * tile_elements(f);
    multiply<kVectors>(
        tile.patches, step,
        {0, all, weights, all * kVectors * kPair, start, reinterpret_cast<const int8_t*>(start)},
        work);
  } else {
    const auto* const offsets =
        reinterpret_cast<const int16_t*>(tile.c.weights()) + index * 4 * kPair;
    const int8_t* from = tile.c.weights() + offset_bytes(f) + index * tile_bytes(f);
    for (int64_t pair = 0; pair < all; pair += kPiece) {
      const int64_t pairs = smaller(kPiece, all - pair);
      if (work.transformed != from)
        transform_weights({from, offsets, pairs, kVectors, work.weights, kWeightPoint});
      work.transformed = from;
      from += kPiece * kVectors * kTaps * kPair;
      multiply<kVectors>(
          tile.patches, step,
          {pair, pairs, work.weights, kWeightPoint, pair == 0 ? start : nullptr, from}, work);
    }
  }
  finish(tile, kVectors, work);
}

void band_of_patches(const Context& c, const Patches& patches, TileRange tiles, int64_t n,
                     Work& work) {
  const int64_t rows = patches.rows * kSide, columns = patches.columns * kSide;
  const Band band = {patches.row * kSide, patches.column * kSide, rows, columns,
                     c.y.span(rows),      c.x.span(columns)};
  transform_inputs(c, band, patches, n, work);
  for (int32_t t = tiles.begin; t < tiles.end; ++t) {
    const Target target(c, band, n, t * 4, 4);
    const TileOfPatches tile = {c, patches, target, int64_t{t} * kTile};
    switch (vectors_of(c.filter, t)) {
      case 1:
        tile_of_patches<1>(tile, work);
        break;
      case 2:
        tile_of_patches<2>(tile, work);
        break;
      case 3:
        tile_of_patches<3>(tile, work);
        break;
      default:
        tile_of_patches<4>(tile, work);
    }
  }
}

}  // namespace

void transform_weights(const WeightTransform& t) {
  for (int64_t at = 0; at < t.pairs * t.vectors; ++at) {
    const auto offset = (Words)_mm512_loadu_si512(t.offsets + at % t.vectors * kPair);
    Words g[kTaps];
#pragma GCC unroll 9
    for (int tap = 0; tap < kTaps; ++tap) {
      const auto* const bytes =
          reinterpret_cast<const __m256i*>(t.from + (at * kTaps + tap) * kPair);
      g[tap] = (Words)_mm512_cvtepi8_epi16(_mm256_loadu_si256(bytes)) + offset;
    }
    transform_kernel(
        g, [&](int point, const Words& u) __attribute__((always_inline)) {
          _mm512_store_si512(t.to + at * kPair + point * t.point, raw(u));
        });
  }
}

void run(const ConvI8Args& args, IndexRange range) {
  const Context c(args);
  const PatchUnits units(c.filter, args.extents);
  const int64_t across = patches_along(c.extents.out.w);
  const int64_t most = patches_of_band(c.filter);
  const int64_t pieces = (across + most - 1) / most;
  const int64_t height = pieces == 1 ? most / across : 1;
  const ThreadScratch scratch;
  Work& work = *static_cast<Work*>(scratch.data());
  work.transformed = nullptr;
  for (int64_t unit = range.begin; unit < range.end;) {
    const PatchUnits::Run rows = units.run(unit, range.end);
    unit += rows.units;
    const int64_t bands = (rows.count + height - 1) / height;
    for (int64_t band = 0, row = rows.first; band < bands; ++band) {
      const int64_t left = rows.first + rows.count - row;
      const int64_t high = (left + bands - band - 1) / (bands - band);
      for (int64_t piece = 0, column = 0; piece < pieces; ++piece) {
        const int64_t wide = (across - column + pieces - piece - 1) / (pieces - piece);
        const Patches patches = {row,
                                 column,
                                 high,
                                 wide,
                                 row + high == units.height && ends_in_half(c.extents.out.h),
                                 column + wide == across && ends_in_half(c.extents.out.w)};
        band_of_patches(c, patches, rows.tiles, rows.picture, work);
        column += wide;
      }
      row += high;
    }
  }
}

}  // namespace rk::kernels::vnni::winograd

RK_AVX512VBMI_END

#endif  // x86-64
