// SPDX-License-Identifier: Apache-2.0
// int8 convolutions without groups with AVX2: products of bytes by vpmaddubsw, which packing has proved not to saturate
// (quads.h). Two output channels by 24 pixels.
#if defined(__x86_64__)

#include "kernels/x86_avx2.h"

#include "kernels/conv/common/bands.h"
#include "kernels/conv/i8/lane_finish.h"
#include "kernels/conv/i8/quads.h"
#include "kernels/conv/i8/x86_avx2_squeeze.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

using quads::BlockSteps;
using quads::kPixels;

constexpr int64_t kTileBlocks = quads::kTile / kLanes;
constexpr int64_t kMostTiles = 32;  // whose sums are kept between chunks

constexpr int kMostPixels = kPixels + 8;  // with one that is left over, in a vector of its own
using BlockSums = int32_t[kLanes][kMostPixels];

struct QuadScratch {
  alignas(64) uint8_t rows[quads::kChunkRows][quads::kRowBytes];
  alignas(64) BlockSums sums[kMostTiles * kTileBlocks];
  alignas(64) int32_t totals[kMostPixels];             // of all inputs of a pixel, where asked for
  alignas(64) int32_t pixel[kPixels + 1][2 * kLanes];  // 16 sums and the total
  // Where pixels read, in elements from a block's plane on: under the first tap, and how much further the others lie,
  // where none of them is border; else under each tap, and kBorder.
  int64_t corners[kMostPixels];
  int64_t further[quads::kMaxTaps];
  int64_t sources[quads::kMaxTaps][kMostPixels];
  int64_t input_rows[quads::kMaxTaps][kMostPixels], input_columns[quads::kMaxTaps][kMostPixels];
  uint8_t span[quads::kSpanBytes + quads::kSpanSlack];  // of one input row, squeezed
};
static_assert(kMostPixels == kPixels + 8, "quads::takes_squeezed counts them");
constexpr int64_t kBorder = -1;  // all bits set
static_assert(sizeof(QuadScratch) <= ThreadScratch::kBytes);

inline __m256i load256(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
inline __m128i load128(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}
inline void store256(void* to, __m256i v) { _mm256_storeu_si256(static_cast<__m256i*>(to), v); }
inline void store128(void* to, __m128i v) { _mm_storeu_si128(static_cast<__m128i*>(to), v); }
inline __m256i spread(const int8_t* from) {
  int32_t quad;
  __builtin_memcpy(&quad, from, sizeof quad);
  return _mm256_set1_epi32(quad);
}

// 4x4 numbers of 32 bits turned around in each half.
__attribute__((always_inline)) inline void turn(__m256i (&v)[4]) {
  const __m256i a = _mm256_unpacklo_epi32(v[0], v[1]), b = _mm256_unpackhi_epi32(v[0], v[1]);
  const __m256i c = _mm256_unpacklo_epi32(v[2], v[3]), d = _mm256_unpackhi_epi32(v[2], v[3]);
  v[0] = _mm256_unpacklo_epi64(a, c), v[1] = _mm256_unpackhi_epi64(a, c);
  v[2] = _mm256_unpacklo_epi64(b, d), v[3] = _mm256_unpackhi_epi64(b, d);
}

alignas(64) constexpr int16_t kOnes[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

// One group of steps onto the sums of two output channels by kVectors vectors of eight pixels.
// As assembly, because a compiler that moves products apart from their additions runs out of registers.
template <int kVectors, int kSteps>
__attribute__((always_inline)) inline void add_group(const uint8_t* rows, const uint16_t* places,
                                                     const int8_t* weights,
                                                     __m256i (&sum)[2][kVectors]) {
  __m256i part[2][kVectors];
#pragma GCC unroll 4
  for (int k = 0; k < kSteps; ++k) {
    const uint8_t* const row = rows + places[k];
    const __m256i w0 = spread(weights + k * quads::kStepBytes);
    const __m256i w1 = spread(weights + k * quads::kStepBytes + 4);
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) {
      const __m256i x = load256(row + v * 32);
      if (k == 0) {
        asm("vpmaddubsw %2, %1, %0" : "=x"(part[0][v]) : "x"(x), "x"(w0));
        asm("vpmaddubsw %2, %1, %0" : "=x"(part[1][v]) : "x"(x), "x"(w1));
        continue;
      }
      __m256i products;
      asm("vpmaddubsw %[w], %[x], %[products]\n\tvpaddw %[products], %[part], %[part]"
          : [part] "+x"(part[0][v]), [products] "=&x"(products)
          : [x] "x"(x), [w] "x"(w0));
      asm("vpmaddubsw %[w], %[x], %[products]\n\tvpaddw %[products], %[part], %[part]"
          : [part] "+x"(part[1][v]), [products] "=&x"(products)
          : [x] "x"(x), [w] "x"(w1));
    }
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) {
      asm("vpmaddwd %[ones], %[part], %[part]\n\tvpaddd %[part], %[sum], %[sum]"
          : [sum] "+x"(sum[i][v]), [part] "+x"(part[i][v])
          : [ones] "m"(kOnes));
    }
  }
}

// All groups of one size.
template <int kVectors, int kSteps>
__attribute__((always_inline)) inline void add_groups(const quads::PairGroups& groups,
                                                      const uint8_t* rows, const uint16_t*& places,
                                                      const int8_t*& weights,
                                                      __m256i (&sum)[2][kVectors]) {
  for (uint32_t i = groups.of[kSteps]; i > 0; --i) {
    __builtin_prefetch(weights + 4096);
    if constexpr (kSteps >= 3) __builtin_prefetch(places + 1024);
    add_group<kVectors, kSteps>(rows, places, weights, sum);
    places += kSteps, weights += kSteps * quads::kStepBytes;
  }
}

// The sums of a block's pairs over one chunk, from `start` or, where that is null, from what `sums` hold.
template <int kVectors>
__attribute__((noinline)) void sum_block(const BlockSteps& steps, const uint16_t* places,
                                         const int8_t* weights, const uint8_t* rows, int32_t lanes,
                                         const int32_t* start, BlockSums& sums) {
  for (int32_t lane = 0; lane < lanes; lane += 2) {
    __m256i sum[2][kVectors];
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) {
      sum[0][v] = start != nullptr ? _mm256_set1_epi32(start[lane]) : load256(sums[lane] + v * 8);
      sum[1][v] =
          start != nullptr ? _mm256_set1_epi32(start[lane + 1]) : load256(sums[lane + 1] + v * 8);
    }
    const quads::PairGroups& groups = steps.pairs[lane / quads::kPair];
    add_groups<kVectors, 4>(groups, rows, places, weights, sum);
    add_groups<kVectors, 3>(groups, rows, places, weights, sum);
    add_groups<kVectors, 2>(groups, rows, places, weights, sum);
    add_groups<kVectors, 1>(groups, rows, places, weights, sum);
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) {
      store256(sums[lane] + v * 8, sum[0][v]);
      store256(sums[lane + 1] + v * 8, sum[1][v]);
    }
  }
  for (int32_t lane = (lanes + 1) / 2 * 2; lane < kLanes && start != nullptr; ++lane) {
    for (int v = 0; v < kVectors; ++v) store256(sums[lane] + v * 8, _mm256_setzero_si256());
  }
}

// The same of one pixel, whose quads lie twice from `rows` on: vectors are four steps of two
// channels.
__attribute__((noinline)) void sum_single(const BlockSteps& steps, const uint16_t* places,
                                          const int8_t* weights, const uint8_t* rows, int32_t lanes,
                                          const int32_t* start, BlockSums& sums, int64_t pixel) {
  const __m256i ones = load256(kOnes);
  const auto twice = [&](const uint16_t* two) __attribute__((always_inline)) {
    const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(rows + two[0]));
    return _mm_castpd_si128(
        _mm_loadh_pd(_mm_castsi128_pd(first), reinterpret_cast<const double*>(rows + two[1])));
  };
  for (int32_t lane = 0; lane < lanes; lane += quads::kPair) {
    uint32_t left = steps.pairs[lane / quads::kPair].steps();
    __m256i sum = _mm256_setzero_si256();
    for (; left >= 4; left -= 4, places += 4, weights += 4 * quads::kStepBytes) {
      const __m256i x = _mm256_set_m128i(twice(places + 2), twice(places));
      sum =
          _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(x, load256(weights)), ones));
    }
    __m128i both = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    both = _mm_add_epi32(both, _mm_unpackhi_epi64(both, both));
    for (; left > 0; --left, ++places, weights += quads::kStepBytes) {
      const __m128i x = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(rows + *places));
      const __m128i w = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(weights));
      both = _mm_add_epi32(both,
                           _mm_madd_epi16(_mm_maddubs_epi16(x, w), _mm256_castsi256_si128(ones)));
    }
    const uint32_t first =
        static_cast<uint32_t>(start != nullptr ? start[lane] : sums[lane][pixel]);
    const uint32_t second =
        static_cast<uint32_t>(start != nullptr ? start[lane + 1] : sums[lane + 1][pixel]);
    sums[lane][pixel] =
        static_cast<int32_t>(first + static_cast<uint32_t>(_mm_cvtsi128_si32(both)));
    sums[lane + 1][pixel] =
        static_cast<int32_t>(second + static_cast<uint32_t>(_mm_extract_epi32(both, 1)));
  }
  for (int32_t lane = (lanes + 1) / 2 * 2; lane < kLanes; ++lane) sums[lane][pixel] = 0;
}

// Where the stages come in vectors of pixels too.
template <typename Finish>
constexpr bool kByPixels = false;
template <bool kTotals>
constexpr bool kByPixels<FinishNarrow<IsaF32, kTotals>> = true;
template <bool kTotals>
constexpr bool kByPixels<FinishLookup<IsaF32, kTotals>> = true;
template <bool kTotals>
constexpr bool kByPixels<FinishWide<kTotals>> = true;

template <typename Finish>
inline __m256i by_pixels(const Finish& finish, __m256i sums, __m256i totals, int64_t channel) {
  return finish.by_pixels(sums, totals, channel);
}
template <bool kTotals>
inline __m256i by_pixels(const FinishWide<kTotals>& finish, __m256i sums, __m256i totals,
                         int64_t channel) {
  return finish.template by_pixels<Avx2F64>(sums, totals, channel);
}

template <typename Finish>
__attribute__((noinline)) void finish_by_pixels(const Finish finish, ByteClamps clamps,
                                                const BlockSums& sums, const int32_t* totals,
                                                int64_t channel, int64_t pixels, int8_t* output,
                                                int64_t step) {
  const __m256i less = _mm256_set1_epi32(finish.base());
  const __m256i low = _mm256_set1_epi8(clamps.low), high = _mm256_set1_epi8(clamps.high);
  // Bytes of four pixels of four channels, channels innermost.
  const __m256i order = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  for (int64_t at = 0; at < pixels; at += 8, output += 8 * step) {
    const __m256i total = load256(totals + at);
    __m256i bytes[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      __m256i four[4];
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const int c = 4 * j + i;
        four[i] =
            _mm256_sub_epi32(by_pixels(finish, load256(sums[c] + at), total, channel + c), less);
      }
      const __m256i mixed = _mm256_packs_epi16(_mm256_packs_epi32(four[0], four[1]),
                                               _mm256_packs_epi32(four[2], four[3]));
      bytes[j] = _mm256_shuffle_epi8(_mm256_min_epi8(_mm256_max_epi8(mixed, low), high), order);
    }
    turn(bytes);
    if (at + 8 <= pixels) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        store128(output + i * step, _mm256_castsi256_si128(bytes[i]));
        store128(output + (i + 4) * step, _mm256_extracti128_si256(bytes[i], 1));
      }
      continue;
    }
    const int64_t left = pixels - at;
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      if (i < left) store128(output + i * step, _mm256_castsi256_si128(bytes[i]));
      if (i + 4 < left) store128(output + (i + 4) * step, _mm256_extracti128_si256(bytes[i], 1));
    }
  }
}

template <typename Finish>
class QuadConv {
 public:
  QuadConv(const ConvI8Args& args, const quads::Constants& constants, const Finish& finish)
      : args_(args),
        constants_(constants),
        finish_(finish),
        filter_(args.packed->params.filter),
        extents_(args.extents),
        rows_(filter_),
        units_(filter_, args.extents, quads::kTile),
        blocks_(channel_blocks(filter_.out_channels)),
        in_plane_(int64_t{extents_.in.h} * extents_.in.w * kLanes),
        out_plane_(int64_t{extents_.out.h} * extents_.out.w * kLanes),
        reach_{(filter_.kernel.h - 1) * filter_.dilation.h + 1,
               (filter_.kernel.w - 1) * filter_.dilation.w + 1},
        points_(!units_.matrix_product && rows_.taps == 1 && !filter_.transposed &&
                filter_.stride == Extent2{1, 1} && extents_.pad_before == Extent2{0, 0} &&
                extents_.in == extents_.out),
        step_(int64_t{filter_.stride.w} * filter_.in_channels),
        eight_(step_),
        weights_(reinterpret_cast<const int8_t*>(args.packed->weights.data())) {
    const auto zero_point = static_cast<int8_t>(args.packed->params.input_zero_point);
    for (int8_t& lane : border_) lane = zero_point;
  }

  void run(IndexRange units, QuadScratch& scratch) const {
    for (int64_t tap = 0; tap < rows_.taps && !rows_.squeezed; ++tap) {
      const int64_t y = tap / filter_.kernel.w * filter_.dilation.h;
      const int64_t x = tap % filter_.kernel.w * filter_.dilation.w;
      scratch.further[tap] = (y * extents_.in.w + x) * kLanes;
    }
    for_each_region(units_, units_.height, units,
                    [&](int64_t n, TileRange tiles, int64_t oy, int64_t rows) {
                      for (int64_t tile = tiles.begin; tile < tiles.end; tile += kMostTiles) {
                        const int64_t end = smaller(tiles.end, tile + kMostTiles);
                        // Squeezed pixels of a piece are of one row.
                        const int64_t high = rows_.squeezed ? 1 : rows;
                        for (int64_t y = oy; y < oy + rows; y += high) {
                          run_region(n, tile * kTileBlocks, smaller(end * kTileBlocks, blocks_),
                                     y * extents_.out.w, high * extents_.out.w, scratch);
                        }
                      }
                    });
  }

 private:
  static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

  // Output channels and pixels that are computed together.
  struct Piece {
    int64_t n, first_block, end_block;
    int64_t pixel, pixels;  // counted over all rows
    bool single;            // after whole vectors there is one more
  };

  void run_region(int64_t n, int64_t first_block, int64_t end_block, int64_t pixel, int64_t count,
                  QuadScratch& scratch) const {
    // As even as vectors allow.
    const bool single = count % 8 == 1 && count > 8;
    int64_t vectors = single ? count / 8 : (count + 7) / 8;
    int64_t pieces = (vectors + quads::kVectors - 1) / quads::kVectors;
    for (const int64_t end = pixel + count; pieces > 0;) {
      const int64_t now = (vectors + pieces - 1) / pieces;
      const bool last = pieces == 1;
      const Piece piece = {
          n, first_block, end_block, pixel, last ? end - pixel : 8 * now, single && last};
      switch (now) {
        case 1:
          run_piece<1>(piece, scratch);
          break;
        case 2:
          run_piece<2>(piece, scratch);
          break;
        default:
          run_piece<3>(piece, scratch);
      }
      vectors -= now, --pieces;
      pixel += 8 * now;
    }
  }

  template <int kVectors>
  void run_piece(const Piece& piece, QuadScratch& scratch) const {
    const int64_t count = kVectors * 8 + (piece.single ? 1 : 0);
    const bool inside = rows_.squeezed || find_corners(piece, count, scratch);
    if (!inside) find_sources(piece, count, scratch);
    const int64_t chunks = rows_.chunks();
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      rows_.squeezed ? load_squeezed<kVectors>(piece, count, scratch)
                     : load_chunk<kVectors>(piece, chunk, inside, scratch);
      for (int64_t block = piece.first_block; block < piece.end_block; ++block) {
        BlockSums& sums = scratch.sums[chunks == 1 ? 0 : block - piece.first_block];
        const BlockSteps& steps = constants_.blocks[chunk * blocks_ + block];
        const uint16_t* const places = constants_.places + steps.first;
        const int8_t* const weights = weights_ + int64_t{steps.first} * quads::kStepBytes;
        const int32_t lanes = lanes_of_block(filter_.out_channels, static_cast<int32_t>(block));
        const int32_t* const start = chunk == 0 ? constants_.start + block * kLanes : nullptr;
        sum_block<kVectors>(steps, places, weights, scratch.rows[0], lanes, start, sums);
        if (piece.single) {
          sum_single(steps, places, weights, scratch.rows[0] + kVectors * 32, lanes, start, sums,
                     kVectors * 8);
        }
        if (chunk + 1 == chunks) finish_block<kVectors>(piece, block, sums, scratch);
      }
    }
  }

  // True where no pixel of the piece reads border.
  bool find_corners(const Piece& piece, int64_t count, QuadScratch& scratch) const {
    const int64_t width = extents_.out.w;
    // Vectors beyond the last pixel repeat it.
    const auto pixel = [&](int64_t i) { return piece.pixel + smaller(i, piece.pixels - 1); };
    if (units_.matrix_product || points_) {
      const int64_t step = points_ ? kLanes : in_stride();
      for (int64_t i = 0; i < count; ++i) scratch.corners[i] = pixel(i) * step;
      return true;
    }
    if (filter_.transposed) return false;
    int64_t oy = piece.pixel / width, ox = piece.pixel % width;
    bool inside = true;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t iy = oy * filter_.stride.h - extents_.pad_before.h;
      const int64_t ix = ox * filter_.stride.w - extents_.pad_before.w;
      scratch.corners[i] = (iy * extents_.in.w + ix) * kLanes;
      inside = inside && iy >= 0 && ix >= 0 && iy + reach_.h <= extents_.in.h &&
               ix + reach_.w <= extents_.in.w;
      if (i + 1 < piece.pixels && ++ox == width) ox = 0, ++oy;
    }
    return inside;
  }

  // Where each pixel reads under each tap.
  void find_sources(const Piece& piece, int64_t count, QuadScratch& scratch) const {
    const ConvAxis y = y_axis(filter_, extents_), x = x_axis(filter_, extents_);
    const int64_t width = extents_.out.w;
    int64_t oy = piece.pixel / width, ox = piece.pixel % width;
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t k = 0; k < filter_.kernel.h; ++k) {
        const int64_t iy = y.source(oy, k);
        scratch.input_rows[k][i] = iy < 0 ? kBorder : iy * extents_.in.w * kLanes;
      }
      for (int64_t k = 0; k < filter_.kernel.w; ++k) {
        const int64_t ix = x.source(ox, k);
        scratch.input_columns[k][i] = ix < 0 ? kBorder : ix * kLanes;
      }
      if (i + 1 < piece.pixels && ++ox == width) ox = 0, ++oy;
    }
    for (int64_t tap = 0; tap < rows_.taps; ++tap) {
      const int64_t* const row = scratch.input_rows[tap / filter_.kernel.w];
      const int64_t* const column = scratch.input_columns[tap % filter_.kernel.w];
      for (int i = 0; i < kMostPixels; i += 4) {
        const __m256i a = load256(row + i), b = load256(column + i);
        // kBorder where one of them is.
        const __m256i outside = _mm256_cmpgt_epi64(_mm256_setzero_si256(), _mm256_or_si256(a, b));
        store256(scratch.sources[tap] + i, _mm256_or_si256(_mm256_add_epi64(a, b), outside));
      }
    }
  }
  int64_t in_stride() const {
    const int64_t dense = args_.interleaved_input
                              ? int64_t{extents_.in.h} * extents_.in.w * filter_.in_channels
                              : channel_blocks(filter_.in_channels) * in_plane_;
    return args_.input_batch_stride != 0 ? args_.input_batch_stride : dense;
  }

  // Copies the inputs of one chunk, 128 more than stored, a row of pixels for each quad of channels.
  template <int kVectors>
  void load_chunk(const Piece& piece, int64_t chunk, bool inside, QuadScratch& scratch) const {
    const int8_t* const input = args_.input + (units_.matrix_product ? 0 : piece.n * in_stride());
    const int64_t first = chunk * quads::kChunkSpots;
    const int64_t end = smaller(rows_.spots(), first + quads::kChunkSpots);
    const bool totals = constants_.lanes.totals != nullptr;
    const int64_t orders = rows_.orders();
    if (totals && chunk == 0) start_totals(scratch);
    int64_t block = first / rows_.taps, tap = first % rows_.taps;
    uint8_t* row = scratch.rows[0];
    for (int64_t spot = first; spot < end; ++spot) {
      const int8_t* const plane = input + block * in_plane_;
      const int64_t quads = rows_.quads(spot);
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) {
        __m256i pixels[4];
        if (inside) {
          const int8_t* const first = plane + scratch.further[tap];
          load_pixels(scratch.corners + 8 * v, pixels, [&](int64_t at) { return first + at; });
        } else {
          load_pixels(scratch.sources[tap] + 8 * v, pixels,
                      [&](int64_t at) { return at == kBorder ? border_ : plane + at; });
        }
        uint8_t* to = row + v * 32;
        if (quads == 1) {
          const __m256i low = _mm256_unpacklo_epi32(pixels[0], pixels[1]);
          const __m256i high = _mm256_unpacklo_epi32(pixels[2], pixels[3]);
          store_orders(_mm256_unpacklo_epi64(low, high), orders, to);
          continue;
        }
        turn(pixels);
        for (int64_t quad = 0; quad < quads; ++quad, to += orders * quads::kRowBytes)
          store_orders(pixels[quad], orders, to);
      }
      if (piece.single) {
        const int64_t at = inside ? scratch.corners[8 * kVectors] + scratch.further[tap]
                                  : scratch.sources[tap][8 * kVectors];
        load_single(!inside && at == kBorder ? border_ : plane + at, quads, orders,
                    row + kVectors * 32);
      }
      if (totals) {
        const int64_t channels = lanes_of_block(filter_.in_channels, static_cast<int32_t>(block));
        add_totals<kVectors>(piece, row, channels, quads, orders, scratch.totals);
      }
      row += quads * orders * quads::kRowBytes;
      if (++tap == rows_.taps) tap = 0, ++block;
    }
  }
  template <typename Place>
  static void load_pixels(const int64_t* from, __m256i (&pixels)[4], const Place& place) {
    const __m256i flip = _mm256_set1_epi8(static_cast<char>(0x80));
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m128i low = load128(place(from[i])), high = load128(place(from[i + 4]));
      pixels[i] = _mm256_xor_si256(_mm256_set_m128i(high, low), flip);
    }
  }

  // The quads of eight pixels, a row for each order.
  __attribute__((always_inline)) static void store_orders(__m256i pixels, int64_t orders,
                                                          uint8_t* to) {
    store256(to, pixels);
    if (orders == 1) return;
    const auto in_order = [&](const uint8_t(&o)[4]) __attribute__((always_inline)) {
      const int32_t first = o[0] | o[1] << 8 | o[2] << 16 | o[3] << 24;
      const __m256i within = _mm256_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c, 0, 0x04040404,
                                               0x08080808, 0x0c0c0c0c);
      return _mm256_shuffle_epi8(pixels, _mm256_add_epi8(_mm256_set1_epi32(first), within));
    };
    static_assert(quads::kMostOrders == 3);
    store256(to + quads::kRowBytes, in_order(quads::kOrders[1]));
    store256(to + 2 * quads::kRowBytes, in_order(quads::kOrders[2]));
  }
  // Each quad of one pixel twice.
  static void load_single(const int8_t* from, int64_t quads, int64_t orders, uint8_t* to) {
    alignas(16) uint32_t quad[4];
    const __m128i flip = _mm_set1_epi8(static_cast<char>(0x80));
    _mm_store_si128(reinterpret_cast<__m128i*>(quad), _mm_xor_si128(load128(from), flip));
    for (int64_t i = 0; i < quads; ++i, to += orders * quads::kRowBytes)
      store_single(quad[i], orders, to);
  }
  static void store_single(uint32_t quad, int64_t orders, uint8_t* to) {
    for (int64_t i = 0; i < orders; ++i, to += quads::kRowBytes) {
      uint64_t both = 0;
      for (int k = 0; k < 4; ++k)
        both |= (quad >> (8 * quads::kOrders[i][k]) & uint64_t{0xff}) << (8 * k);
      both |= both << 32;
      __builtin_memcpy(to, &both, sizeof both);
    }
  }

  // load_chunk of squeezed pixels.
  template <int kVectors>
  void load_squeezed(const Piece& piece, int64_t count, QuadScratch& scratch) const {
    const int64_t channels = filter_.in_channels, orders = rows_.orders();
    const int64_t pixel = args_.interleaved_input ? channels : kLanes;
    const int64_t oy = piece.pixel / extents_.out.w, ox = piece.pixel % extents_.out.w;
    const int64_t left = ox * filter_.stride.w - extents_.pad_before.w;
    const int64_t columns = (count - 1) * filter_.stride.w + filter_.kernel.w;
    const RowPart part = row_part(left, columns, extents_.in.w);
    const int border = static_cast<uint8_t>(border_[0]) ^ 0x80;
    const bool totals = constants_.lanes.totals != nullptr;
    if (totals) start_totals(scratch);
    uint8_t* row = scratch.rows[0];
    for (int64_t ky = 0; ky < filter_.kernel.h; ++ky) {
      const int64_t iy = oy * filter_.stride.h - extents_.pad_before.h + ky * filter_.dilation.h;
      const bool there = iy >= 0 && iy < extents_.in.h && part.body > 0;
      const int64_t before = (there ? part.before : columns) * channels;
      std::memset(scratch.span, border, static_cast<size_t>(before));
      if (there) {
        const int8_t* const from =
            args_.input + piece.n * in_stride() + (iy * extents_.in.w + left + part.before) * pixel;
        quads::squeeze_pixels(from, pixel, part.body, channels, scratch.span + before);
        const int64_t end = before + part.body * channels;
        std::memset(scratch.span + end, border, static_cast<size_t>(columns * channels - end));
      }
      for (int64_t quad = 0; quad < rows_.last; ++quad) {
        uint8_t* const to = row + quad * orders * quads::kRowBytes;
        const uint8_t* const from = scratch.span + 4 * quad;
#pragma GCC unroll 3
        for (int v = 0; v < kVectors; ++v)
          store_orders(eight_.load(from + 8 * v * step_), orders, to + v * 32);
        if (piece.single) {
          uint32_t one;
          __builtin_memcpy(&one, from + 8 * kVectors * step_, sizeof one);
          store_single(one, orders, to + kVectors * 32);
        }
      }
      if (totals)
        add_totals<kVectors>(piece, row, rows_.row_bytes, rows_.last, orders, scratch.totals);
      row += rows_.last * orders * quads::kRowBytes;
    }
  }

  static int32_t single_total(const uint8_t* row, int64_t channels, int64_t quads, int64_t orders) {
    int32_t total = 0;
    for (int64_t c = 0; c < channels && c < 4 * quads; ++c)
      total += row[c / 4 * orders * quads::kRowBytes + c % 4];
    return total;
  }

  // The sum of all inputs, as stored, that each pixel reads.
  void start_totals(QuadScratch& scratch) const {
    for (int32_t& total : scratch.totals)
      total =
          static_cast<int32_t>(-128 * filter_.in_channels * filter_.kernel.h * filter_.kernel.w);
  }
  template <int kVectors>
  static void add_totals(const Piece& piece, const uint8_t* row, int64_t channels, int64_t quads,
                         int64_t orders, int32_t* totals) {
    if (piece.single)
      totals[8 * kVectors] += single_total(row + kVectors * 32, channels, quads, orders);
    const __m256i ones = load256(kOnes);
    for (int64_t quad = 0; quad < quads; ++quad, row += orders * quads::kRowBytes) {
      const int64_t used = smaller(4, channels - 4 * quad);
      const __m256i each = _mm256_srli_epi32(_mm256_set1_epi8(1), static_cast<int>(32 - 8 * used));
      for (int v = 0; v < kVectors; ++v) {
        const __m256i pairs = _mm256_maddubs_epi16(load256(row + v * 32), each);
        store256(totals + v * 8,
                 _mm256_add_epi32(load256(totals + v * 8), _mm256_madd_epi16(pairs, ones)));
      }
    }
  }

  template <int kVectors>
  void finish_block(const Piece& piece, int64_t block, const BlockSums& sums,
                    QuadScratch& scratch) const {
    const int64_t dense = blocks_ * out_plane_;
    const int64_t stride = args_.output_batch_stride != 0 ? args_.output_batch_stride : dense;
    const bool matrix = units_.matrix_product;
    const int64_t at = block * out_plane_ + (matrix ? 0 : piece.pixel * kLanes);
    const int64_t first = matrix ? piece.pixel : piece.n;
    const int64_t step = matrix ? stride : kLanes, residual_step = matrix ? dense : kLanes;
    int8_t* const output = args_.output + first * stride + at;
    const bool has_residual = args_.packed->params.has_residual;
    if constexpr (kByPixels<Finish>) {
      if (!has_residual) {
        finish_by_pixels(finish_, constants_.lanes.clamps, sums, scratch.totals, block * kLanes,
                         piece.pixels, output, step);
        return;
      }
    }
    const int8_t* const residual = has_residual ? args_.residual + first * dense + at : nullptr;
    turn_sums<kVectors>(sums, scratch);
    for (int c = 0; c < kLanes && piece.single; ++c)
      scratch.pixel[8 * kVectors][c] = sums[c][8 * kVectors];
    // A copy, which the bytes that are stored cannot alias: its constants stay in registers.
    const Finish finish(finish_);
    for (int64_t i = 0; i < piece.pixels; ++i) {
      scratch.pixel[i][kLanes] = scratch.totals[i];
      finish(scratch.pixel[i], block, has_residual ? residual + i * residual_step : nullptr,
             output + i * step);
    }
  }

  // From the pixels of a channel to the channels of a pixel.
  template <int kVectors>
  static void turn_sums(const BlockSums& sums, QuadScratch& scratch) {
    for (int v = 0; v < kVectors; ++v) {
      for (int c = 0; c < kLanes; c += 4) {
        __m256i four[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) four[i] = load256(sums[c + i] + v * 8);
        turn(four);
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
          store128(scratch.pixel[v * 8 + i] + c, _mm256_castsi256_si128(four[i]));
          store128(scratch.pixel[v * 8 + 4 + i] + c, _mm256_extracti128_si256(four[i], 1));
        }
      }
    }
  }

  const ConvI8Args& args_;
  const quads::Constants& constants_;
  const Finish& finish_;
  const ConvFilter& filter_;
  const ConvExtents& extents_;
  const quads::Rows rows_;
  const ConvUnits units_;
  const int64_t blocks_;                // of output channels
  const int64_t in_plane_, out_plane_;  // elements
  const Extent2 reach_;                 // of the kernel
  const bool points_;                   // an output pixel reads the input pixel of its place
  const int64_t step_;                  // bytes from one squeezed pixel to the next
  const quads::QuadsOfPixels eight_;
  const int8_t* const weights_;
  alignas(16) int8_t border_[kLanes];
};

template <bool kTotals>
void run_by(const ConvI8Args& args, const quads::Constants& constants, IndexRange units) {
  const ThreadScratch scratch;
  with_finish<IsaF32, kTotals>(*args.packed, constants.lanes, [&](const auto& finish) {
    QuadConv(args, constants, finish).run(units, *static_cast<QuadScratch*>(scratch.data()));
  });
}

void run_quads(const ConvI8Args& args, IndexRange units) {
  quads::Constants constants;
  std::memcpy(&constants, args.packed->constants.data(), sizeof constants);
  const IsaRounding mode;
  constants.lanes.totals != nullptr ? run_by<true>(args, constants, units)
                                    : run_by<false>(args, constants, units);
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

namespace rk::kernels {

extern const ConvI8Kernel conv_i8__avx2_quads;
const ConvI8Kernel conv_i8__avx2_quads = {
    .name = "conv_i8__avx2_quads",
    .channel_tile = quads::kTile,
    .accepts = quads::accepts,
    .pack = quads::pack,
    .run = run_quads,
    .unpack = quads::unpack,
    .pays = quads::pays,
    .takes_interleaved = quads::takes_interleaved,
    .large_ranges = true,
};

}  // namespace rk::kernels

#endif  // x86-64
