// SPDX-License-Identifier: Apache-2.0
// int8 convolutions without groups with AVX2: products of bytes by vpmaddubsw, which packing has proved not to saturate
// (quads.h). Four pixels by 16 output channels.
#if defined(__x86_64__)

#include "kernels/x86_avx2.h"

#include "kernels/conv/common/bands.h"
#include "kernels/conv/i8/lane_finish.h"
#include "kernels/conv/i8/quads.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

using quads::BlockSteps;

constexpr int64_t kTileBlocks = quads::kTile / kLanes;
constexpr int64_t kChunk = 128;  // doubles whose weights stay in the first-level cache

struct QuadScratch {
  alignas(64) uint8_t pixels[quads::kScratchPixels][kLanes];
  alignas(64) int32_t acc[quads::kBandPixels][2 * kLanes];  // 16 sums and, where asked for, that of the inputs
  int32_t places[quads::kMaxPlaces];                    // of quads, in bytes from a pixel on
  int32_t column_sums[quads::kScratchPixels];
  BandPlaces<quads::kBandPixels> band;
};
static_assert(sizeof(QuadScratch) <= ThreadScratch::kBytes);

inline __m256i load256(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
inline void store256(void* to, __m256i v) { _mm256_storeu_si256(static_cast<__m256i*>(to), v); }
struct Bytes32 {
  int8_t bytes[32];
};
inline __m256i spread(const uint8_t* from) {
  int32_t quad;
  __builtin_memcpy(&quad, from, sizeof quad);
  return _mm256_set1_epi32(quad);
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
        border_(static_cast<uint8_t>(args.packed->params.input_zero_point ^ 0x80)),
        y_(axis_plan(filter_, true)),
        x_(axis_plan(filter_, false)),
        taps_(y_.kernel * x_.kernel),
        in_blocks_(channel_blocks(filter_.in_channels)),
        in_plane_(int64_t{extents_.in.h} * extents_.in.w * kLanes),
        out_plane_(int64_t{extents_.out.h} * extents_.out.w * kLanes),
        weights_(reinterpret_cast<const int8_t*>(args.packed->weights.data())) {}

  void run(IndexRange units, QuadScratch& scratch) const {
    const BandLimits limits = {quads::kBandPixels, quads::kScratchPixels / in_blocks_};
    for_each_band(filter_, extents_, {filter_, extents_, quads::kTile}, limits, units,
                  [&](const Band& band, TileRange tiles, int64_t n) {
                    load(band, n, scratch);
                    const int64_t end = smaller(tiles.end * kTileBlocks,
                                                channel_blocks(filter_.out_channels));
                    for (int64_t block = tiles.begin * kTileBlocks; block < end; ++block)
                      sum_block(band, n, block, scratch);
                  });
  }

 private:
  static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

  // 16 bytes of `count` pixels, 128 more than stored.
  static void copy_pixels(const int8_t* from, int64_t count, uint8_t* to) {
    const __m256i flip = _mm256_set1_epi8(static_cast<char>(0x80));
    int64_t i = 0;
    for (; i + 2 <= count; i += 2)
      store256(to + i * kLanes, _mm256_xor_si256(load256(from + i * kLanes), flip));
    if (i < count) {
      const __m128i last = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * kLanes));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * kLanes),
                       _mm_xor_si128(last, _mm256_castsi256_si128(flip)));
    }
  }
  void fill_border(uint8_t* to, int64_t count) const {
    for (int64_t i = 0; i < count * kLanes; ++i) to[i] = border_;
  }

  void load_row(const int8_t* row, int64_t iy, int64_t left, int64_t columns, uint8_t* to) const {
    if (iy < 0) return fill_border(to, columns);
    if (x_.stuffing == 1) {
      const RowPart part = row_part(left, columns, extents_.in.w);
      fill_border(to, part.before);
      copy_pixels(row + (left + part.before) * kLanes, part.body, to + part.before * kLanes);
      fill_border(to + (part.before + part.body) * kLanes, columns - part.before - part.body);
      return;
    }
    for (int64_t i = 0; i < columns; ++i, to += kLanes) {
      const int64_t ix = x_.source(left + i, extents_.in.w);
      if (ix >= 0) {
        copy_pixels(row + ix * kLanes, 1, to);
      } else {
        fill_border(to, 1);
      }
    }
  }

  // The input of a band, all blocks, and where its quads lie.
  void load(const Band& band, int64_t n, QuadScratch& scratch) const {
    const int64_t dense = in_blocks_ * in_plane_;
    const int64_t stride = args_.input_batch_stride != 0 ? args_.input_batch_stride : dense;
    const int64_t top = y_.lead(band.oy, extents_.pad_before.h);
    const int64_t left = x_.lead(band.ox, extents_.pad_before.w);
    uint8_t* to = scratch.pixels[0];
    for (int64_t block = 0; block < in_blocks_; ++block) {
      const int8_t* const plane = args_.input + n * stride + block * in_plane_;
      for (int64_t r = 0; r < band.scratch_rows; ++r, to += band.scratch_columns * kLanes) {
        const int64_t iy = y_.source(top + r, extents_.in.h);
        load_row(plane + iy * extents_.in.w * kLanes, iy, left, band.scratch_columns, to);
      }
    }
    scratch.band.fill(band, y_.step, x_.step, extents_.out.w);
    int32_t* place = scratch.places;
    for (int64_t block = 0; block < in_blocks_; ++block) {
      for (int64_t tap = 0; tap < taps_; ++tap) {
        const int64_t at = block * band.scratch_pixels() + tap_pixel(band, tap);
        for (int64_t quad = 0; quad < 4; ++quad)
          *place++ = static_cast<int32_t>(at * kLanes + quad * 4);
      }
    }
    if (constants_.lanes.totals != nullptr) sum_inputs(band, scratch);
  }
  int64_t tap_pixel(const Band& band, int64_t tap) const {
    return y_.tap(tap / x_.kernel) * band.scratch_columns + x_.tap(tap % x_.kernel);
  }

  // The sum of all inputs, as stored, that each output pixel reads.
  void sum_inputs(const Band& band, QuadScratch& scratch) const {
    const int64_t pixels = band.scratch_pixels();
    const int32_t last_lanes =
        lanes_of_block(filter_.in_channels, static_cast<int32_t>(in_blocks_ - 1));
    for (int64_t p = 0; p < pixels; ++p) {
      __m128i sum = _mm_setzero_si128();
      const auto add = [&](__m128i bytes) __attribute__((always_inline)) {
        sum = _mm_add_epi64(sum, _mm_sad_epu8(bytes, _mm_setzero_si128()));
      };
      for (int64_t block = 0; block + 1 < in_blocks_; ++block)
        add(_mm_load_si128(
            reinterpret_cast<const __m128i*>(scratch.pixels[block * pixels + p])));
      alignas(16) uint8_t last[kLanes] = {};
      __builtin_memcpy(last, scratch.pixels[(in_blocks_ - 1) * pixels + p],
                       static_cast<size_t>(last_lanes));
      add(_mm_load_si128(reinterpret_cast<const __m128i*>(last)));
      scratch.column_sums[p] = _mm_cvtsi128_si32(sum) +
                               _mm_extract_epi32(sum, 2) - 128 * filter_.in_channels;
    }
    for (int64_t i = 0; i < band.pixels(); ++i) {
      int32_t sum = 0;
      for (int64_t tap = 0; tap < taps_; ++tap)
        sum += scratch.column_sums[scratch.band.scratch[i] + tap_pixel(band, tap)];
      scratch.acc[i][kLanes] = sum;
    }
  }

  // Steps of one block of output channels in pieces.
  struct Piece {
    const uint16_t* places;
    const int8_t* weights;
    int64_t doubles, singles;
  };

  template <int kPixels>
  static void sum_pixels(const Piece& piece, QuadScratch& scratch, int64_t pixel,
                         const int32_t* start) {
    const uint8_t* x[kPixels];
    __m256i low[kPixels], high[kPixels];
    const __m256i ones = _mm256_set1_epi16(1);
#pragma GCC unroll 4
    for (int p = 0; p < kPixels; ++p) {
      x[p] = scratch.pixels[scratch.band.scratch[pixel + p]];
      const int32_t* const from = start != nullptr ? start : scratch.acc[pixel + p];
      low[p] = load256(from), high[p] = load256(from + 8);
    }
    const uint16_t* step = piece.places;
    const int8_t* w = piece.weights;
    for (int64_t i = 0; i < piece.doubles; ++i, step += 2, w += 2 * quads::kStepBytes) {
      const int64_t a = scratch.places[step[0]], b = scratch.places[step[1]];
      const auto* const in_memory = reinterpret_cast<const Bytes32*>(w);
      const __m256i b_low = load256(w + 64), b_high = load256(w + 96);
#pragma GCC unroll 4
      for (int p = 0; p < kPixels; ++p) {
        __m256i xa = spread(x[p] + a), xb = spread(x[p] + b), product, other;
        // As assembly, because a compiler that moves the products apart runs out of registers: half of
        // the weights stay in memory.
        asm("vpmaddubsw %[a_low], %[xa], %[product]\n\t"
            "vpmaddubsw %[b_low], %[xb], %[other]\n\t"
            "vpaddw %[other], %[product], %[product]\n\t"
            "vpmaddwd %[ones], %[product], %[product]\n\t"
            "vpaddd %[product], %[low], %[low]\n\t"
            "vpmaddubsw %[a_high], %[xa], %[xa]\n\t"
            "vpmaddubsw %[b_high], %[xb], %[xb]\n\t"
            "vpaddw %[xb], %[xa], %[xa]\n\t"
            "vpmaddwd %[ones], %[xa], %[xa]\n\t"
            "vpaddd %[xa], %[high], %[high]"
            : [low] "+x"(low[p]), [high] "+x"(high[p]), [xa] "+x"(xa), [xb] "+x"(xb),
              [product] "=&x"(product), [other] "=&x"(other)
            : [a_low] "m"(in_memory[0]), [a_high] "m"(in_memory[1]), [b_low] "x"(b_low), [b_high] "x"(b_high),
              [ones] "x"(ones));
      }
    }
    for (int64_t i = 0; i < piece.singles; ++i, ++step, w += quads::kStepBytes) {
      const int64_t a = scratch.places[*step];
      const __m256i a_low = load256(w), a_high = load256(w + 32);
#pragma GCC unroll 4
      for (int p = 0; p < kPixels; ++p) {
        const __m256i xa = spread(x[p] + a);
        low[p] = _mm256_add_epi32(low[p], _mm256_madd_epi16(_mm256_maddubs_epi16(xa, a_low), ones));
        high[p] =
            _mm256_add_epi32(high[p], _mm256_madd_epi16(_mm256_maddubs_epi16(xa, a_high), ones));
      }
    }
#pragma GCC unroll 4
    for (int p = 0; p < kPixels; ++p) {
      store256(scratch.acc[pixel + p], low[p]), store256(scratch.acc[pixel + p] + 8, high[p]);
    }
  }

  // All pixels of a band: whole tiles, then ever smaller ones.
  template <int kPixels>
  void sum_band(const Piece& piece, QuadScratch& scratch, int64_t pixel, int64_t end,
                const int32_t* start) const {
    for (; pixel + kPixels <= end; pixel += kPixels)
      sum_pixels<kPixels>(piece, scratch, pixel, start);
    if constexpr (kPixels > 1) {
      if (pixel < end) sum_band<kPixels / 2>(piece, scratch, pixel, end, start);
    }
  }

  void sum_block(const Band& band, int64_t n, int64_t block, QuadScratch& scratch) const {
    const BlockSteps& steps = constants_.blocks[block];
    const int64_t end = band.pixels();
    Piece piece = {constants_.places + steps.first,
                   weights_ + int64_t{steps.first} * quads::kStepBytes, 0, 0};
    const int32_t* start = constants_.start + block * kLanes;
    int64_t doubles = steps.doubles;
    do {
      piece.doubles = smaller(kChunk, doubles);
      doubles -= piece.doubles;
      piece.singles = doubles == 0 ? steps.singles : 0;
      sum_band<4>(piece, scratch, 0, end, start);
      start = nullptr;
      piece.places += 2 * piece.doubles;
      piece.weights += 2 * piece.doubles * quads::kStepBytes;
    } while (doubles > 0);

    const int64_t dense = channel_blocks(filter_.out_channels) * out_plane_;
    const int64_t stride = args_.output_batch_stride != 0 ? args_.output_batch_stride : dense;
    const int64_t at = block * out_plane_ + (band.oy * extents_.out.w + band.ox) * kLanes;
    int8_t* const output = args_.output + n * stride + at;
    const bool has_residual = args_.packed->params.has_residual;
    const int8_t* const residual = has_residual ? args_.residual + n * dense + at : nullptr;
    // A copy, which the bytes that are stored cannot alias: its constants stay in registers.
    const Finish finish(finish_);
    for (int64_t i = 0; i < end; ++i) {
      const int64_t to = int64_t{scratch.band.output[i]} * kLanes;
      finish(scratch.acc[i], block, has_residual ? residual + to : nullptr, output + to);
    }
  }

  const ConvI8Args& args_;
  const quads::Constants& constants_;
  const Finish& finish_;
  const ConvFilter& filter_;
  const ConvExtents& extents_;
  const uint8_t border_;
  const AxisPlan y_, x_;
  const int64_t taps_, in_blocks_;
  const int64_t in_plane_, out_plane_;  // elements
  const int8_t* const weights_;
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
};

}  // namespace rk::kernels

#endif  // x86-64
