// SPDX-License-Identifier: Apache-2.0
// int8 depthwise 3x3 convolutions of stride 1 and 2 with AVX2: four pixels of one block of channels, from the input where
// it lies to bytes without leaving the registers.
//
// Two neighboring columns are interleaved as int16: one vpmaddwd adds the first two taps of a row, another the third tap
// and 0 times its neighbor, so that each pair of columns serves two pixels. Interleaving leaves channels 0-3 and 8-11 in
// one vector and 4-7 and 12-15 in the other; weights and constants lie likewise, and packing results to words undoes it.
#if defined(__x86_64__)

#include "kernels/x86_avx2.h"

#include <cmath>
#include <cstring>

#include "base/checked_math.h"
#include "kernels/conv/common/bands.h"
#include "kernels/conv/i8/exact_stages.h"
#include "kernels/conv/i8/lane_finish.h"

namespace rk::kernels {
namespace {

constexpr int32_t kSide = 3;
constexpr int32_t kDepthwiseTile = 64;  // output channels of one unit
constexpr int32_t kDepthwisePixels = 4;
constexpr int32_t kRowWeights =
    4 * kHostBlock;                  // of a kernel row: the first two taps, then the third and 0
constexpr int32_t kMostColumns = 9;  // that four pixels read

// What lies in PackedConvI8::constants; per channel in the order of interleaved vectors.
struct DepthwiseConstants {
  LaneConstants lanes;
  const float *scale = nullptr, *addend = nullptr;
  const int32_t* start = nullptr;
};

}  // namespace
}  // namespace rk::kernels

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

using Finish = FinishNarrow<IsaF32, false>;

inline __m256i load256(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
inline __m256i widened(const int8_t* from) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

struct Sums {
  __m256i low[kDepthwisePixels], high[kDepthwisePixels];
};

// As assembly, because a compiler that moves products apart from their additions runs out of registers.
__attribute__((always_inline)) inline void add_products(__m256i& sum, __m256i x, const int16_t* w) {
  struct Words {
    int16_t words[16];
  };
  __m256i products;
  asm("vpmaddwd %[w], %[x], %[products]\n\tvpaddd %[products], %[sum], %[sum]"
      : [sum] "+x"(sum), [products] "=&x"(products)
      : [x] "x"(x), [w] "m"(*reinterpret_cast<const Words*>(w)));
}

// One row of the kernel; `from` is the first column that the first pixel reads.
template <int kStride>
__attribute__((always_inline)) inline void add_row(const int8_t* from, const int16_t* weights,
                                                   Sums& sums) {
  constexpr int kThird = 2 / kStride;  // pairs from a pixel's first to that of its third tap
  constexpr int kPairs = kDepthwisePixels + kThird;
  __m256i column = widened(from);
#pragma GCC unroll 6
  for (int i = 0; i < kPairs; ++i) {
    // Of the last pair only the first column counts.
    const __m256i next = i + 1 == kPairs ? column : widened(from + (i * kStride + 1) * kHostBlock);
    const __m256i low = _mm256_unpacklo_epi16(column, next);
    const __m256i high = _mm256_unpackhi_epi16(column, next);
    if (i < kDepthwisePixels) {
      add_products(sums.low[i], low, weights);
      add_products(sums.high[i], high, weights + 16);
    }
    if (i >= kThird) {
      add_products(sums.low[i - kThird], low, weights + 32);
      add_products(sums.high[i - kThird], high, weights + 48);
    }
    if (i + 1 < kPairs)
      column = kStride == 1 ? next : widened(from + (i + 1) * kStride * kHostBlock);
  }
}

class DepthwiseRows {
 public:
  DepthwiseRows(const ConvI8Args& args, const DepthwiseConstants& constants)
      : args_(args),
        constants_(constants),
        finish_(*args.packed, constants.lanes),
        filter_(args.packed->params.filter),
        extents_(args.extents),
        blocks_(channel_blocks(filter_.out_channels)),
        in_plane_(int64_t{extents_.in.h} * extents_.in.w * kHostBlock),
        out_plane_(int64_t{extents_.out.h} * extents_.out.w * kHostBlock),
        border_(_mm_set1_epi8(static_cast<char>(args.packed->params.input_zero_point))),
        weights_(reinterpret_cast<const int16_t*>(args.packed->weights.data())) {}

  template <int kStride>
  void run(IndexRange units) const {
    const int64_t blocks = kDepthwiseTile / kHostBlock;
    for_each_region({filter_, extents_, kDepthwiseTile}, extents_.out.h, units,
                    [&](int64_t n, TileRange tiles, int64_t oy, int64_t rows) {
                      const int64_t end =
                          tiles.end * blocks < blocks_ ? tiles.end * blocks : blocks_;
                      for (int64_t block = tiles.begin * blocks; block < end; ++block) {
                        for (int64_t y = oy; y < oy + rows; ++y) run_row<kStride>(n, block, y);
                      }
                    });
  }

 private:
  template <int kStride>
  void run_row(int64_t n, int64_t block, int64_t oy) const {
    constexpr int64_t kColumns = (kDepthwisePixels - 1) * kStride + kSide;
    static_assert(kColumns <= kMostColumns);
    const int64_t in_stride =
        args_.input_batch_stride != 0 ? args_.input_batch_stride : blocks_ * in_plane_;
    const int64_t out_stride =
        args_.output_batch_stride != 0 ? args_.output_batch_stride : blocks_ * out_plane_;
    const int8_t* const plane = args_.input + n * in_stride + block * in_plane_;
    int8_t* const output =
        args_.output + n * out_stride + block * out_plane_ + oy * extents_.out.w * kHostBlock;
    const int64_t top = oy * filter_.stride.h - extents_.pad_before.h;
    const bool inside = top >= 0 && top + kSide <= extents_.in.h;
    const int64_t width = extents_.in.w;
    for (int64_t ox = 0; ox < extents_.out.w; ox += kDepthwisePixels) {
      const int64_t left = ox * kStride - extents_.pad_before.w;
      const int64_t rest = extents_.out.w - ox;
      const int64_t pixels = rest < kDepthwisePixels ? rest : kDepthwisePixels;
      if (inside && left >= 0 && left + kColumns <= width) {
        four_pixels<kStride>(plane + (top * width + left) * kHostBlock, width * kHostBlock, block,
                             pixels, output + ox * kHostBlock);
        continue;
      }
      alignas(16) int8_t window[kSide][kMostColumns][kHostBlock];
      for (int64_t y = 0; y < kSide; ++y) {
        for (int64_t x = 0; x < kColumns; ++x) {
          const int64_t iy = top + y, ix = left + x;
          const bool there = iy >= 0 && iy < extents_.in.h && ix >= 0 && ix < width;
          const auto* const from =
              reinterpret_cast<const __m128i*>(plane + (iy * width + ix) * kHostBlock);
          _mm_store_si128(reinterpret_cast<__m128i*>(window[y][x]),
                          there ? _mm_loadu_si128(from) : border_);
        }
      }
      four_pixels<kStride>(window[0][0], kMostColumns * kHostBlock, block, pixels,
                           output + ox * kHostBlock);
    }
  }

  template <int kStride>
  __attribute__((always_inline)) void four_pixels(const int8_t* from, int64_t row, int64_t block,
                                                  int64_t pixels, int8_t* output) const {
    const int32_t* const start = constants_.start + block * kHostBlock;
    const float* const scale = constants_.scale + block * kHostBlock;
    Sums sums;
#pragma GCC unroll 4
    for (int p = 0; p < kDepthwisePixels; ++p)
      sums.low[p] = load256(start), sums.high[p] = load256(start + 8);
    const int16_t* const weights = weights_ + block * kSide * kRowWeights;
#pragma GCC unroll 3
    for (int y = 0; y < kSide; ++y)
      add_row<kStride>(from + y * row, weights + y * kRowWeights, sums);
    const float* const addend = constants_.addend + block * kHostBlock;
    const IsaF32::Vector low = IsaF32::load(scale), high = IsaF32::load(scale + 8);
    const IsaF32::Vector low_addend = IsaF32::load(addend), high_addend = IsaF32::load(addend + 8);
    const __m256i less = _mm256_set1_epi32(finish_.base());
    const __m256i least = _mm256_set1_epi8(constants_.lanes.clamps.low);
    const __m256i most = _mm256_set1_epi8(constants_.lanes.clamps.high);
    __m256i words[kDepthwisePixels];
#pragma GCC unroll 4
    for (int p = 0; p < kDepthwisePixels; ++p) {
      const __m256i a = finish_.scaled(sums.low[p], low, low_addend);
      const __m256i b = finish_.scaled(sums.high[p], high, high_addend);
      words[p] = _mm256_packs_epi32(_mm256_sub_epi32(a, less), _mm256_sub_epi32(b, less));
    }
#pragma GCC unroll 2
    for (int p = 0; p < kDepthwisePixels; p += 2) {
      const __m256i mixed = _mm256_packs_epi16(words[p], words[p + 1]);
      const __m256i bytes =
          _mm256_permute4x64_epi64(_mm256_min_epi8(_mm256_max_epi8(mixed, least), most), 0xd8);
      auto* const to = reinterpret_cast<__m128i*>(output + p * kHostBlock);
      if (p < pixels) _mm_storeu_si128(to, _mm256_castsi256_si128(bytes));
      if (p + 1 < pixels) _mm_storeu_si128(to + 1, _mm256_extracti128_si256(bytes, 1));
    }
  }

  const ConvI8Args& args_;
  const DepthwiseConstants& constants_;
  const Finish finish_;
  const ConvFilter& filter_;
  const ConvExtents& extents_;
  const int64_t blocks_;
  const int64_t in_plane_, out_plane_;  // elements
  const __m128i border_;
  const int16_t* const weights_;
};

void run_depthwise(const ConvI8Args& args, IndexRange units) {
  DepthwiseConstants constants;
  std::memcpy(&constants, args.packed->constants.data(), sizeof constants);
  const IsaRounding mode;
  const DepthwiseRows rows(args, constants);
  args.packed->params.filter.stride.w == 1 ? rows.run<1>(units) : rows.run<2>(units);
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

namespace rk::kernels {
namespace {

bool accepts_depthwise(const PackedConvI8& packed) {
  const ConvI8Params& p = packed.params;
  const ConvFilter& f = p.filter;
  return !packed.wide && f.depthwise() && !f.transposed && f.kernel == Extent2{kSide, kSide} &&
         f.dilation == Extent2{1, 1} && f.stride.w <= 2 && !p.has_residual && !p.lookup &&
         !p.slope && p.output.zero_point >= -128 && p.output.zero_point <= 127 &&
         p.output.scale.scale >= 0;
}

// The channel of a block that lies at a place of interleaved vectors.
int32_t interleaved_channel(int32_t place) {
  return place % 4 + (place / 4 % 2) * 8 + place / 8 * 4;
}

Status pack_depthwise(const ConvI8Params& source, PackedConvI8& packed) {
  const ConvFilter& f = source.filter;
  if (!exact_routes(packed).in_float)
    return unsupported("a stage could leave the range of exact floats");
  const auto channels = static_cast<size_t>(align_up(f.out_channels, kDepthwiseTile));
  const auto blocks = channels / kHostBlock;
  constexpr uint64_t kHeader = 128;
  static_assert(sizeof(DepthwiseConstants) <= kHeader);
  RK_ASSIGN(packed.constants, Buffer::try_make(kHeader + channels * 12, kMaxObjectBytes));
  RK_ASSIGN(packed.weights,
            Buffer::try_make(blocks * kSide * kRowWeights * sizeof(int16_t), kMaxObjectBytes));
  auto* const scale = reinterpret_cast<float*>(packed.constants.data() + kHeader);
  auto* const addend = scale + channels;
  auto* const start = reinterpret_cast<int32_t*>(addend + channels);
  auto* const weights = reinterpret_cast<int16_t*>(packed.weights.data());
  const auto* const multiplier = reinterpret_cast<const int32_t*>(packed.multiplier.data());
  const auto* const bias = reinterpret_cast<const int32_t*>(packed.bias.data());
  DepthwiseConstants constants;
  constants.lanes.float_route = true;
  constants.lanes.clamps = byte_clamps(packed.params);
  constants.scale = scale;
  constants.addend = addend;
  constants.start = start;
  for (int32_t i = 0; i < static_cast<int32_t>(channels); ++i) {
    const int32_t block = i / kHostBlock, place = i % kHostBlock;
    const int32_t c = block * kHostBlock + interleaved_channel(place);
    scale[i] = std::ldexp(static_cast<float>(multiplier[c]), -source.multiplier_shift);
    if (!start_addend(static_cast<double>(scale[i]), addend[i]))
      return unsupported("a multiplier has too many bits");
    start[i] = static_cast<int32_t>(static_cast<uint32_t>(bias[c]) + uint32_t{kSumStart});
    if (c >= f.out_channels) continue;
    const int32_t offset = source.weight_offset != nullptr ? source.weight_offset[c] : 0;
    for (int32_t tap = 0; tap < kSide * kSide; ++tap) {
      const int32_t y = tap / kSide, x = tap % kSide;
      // [2 halves of channels][8][2 taps] of the first two taps, then of the third.
      int16_t* const row = weights + (block * kSide + y) * kRowWeights + (x == 2 ? 32 : 0);
      row[place * 2 + x % 2] = static_cast<int16_t>(
          source.weights[plain_weight_index(f, source.order, c, 0, tap)] + offset);
    }
  }
  std::memcpy(packed.constants.data(), &constants, sizeof constants);
  return ok_status();
}

}  // namespace

extern const ConvI8Kernel conv_i8__avx2_depthwise;
const ConvI8Kernel conv_i8__avx2_depthwise = {
    .name = "conv_i8__avx2_depthwise",
    .channel_tile = kDepthwiseTile,
    .accepts = accepts_depthwise,
    .pack = pack_depthwise,
    .run = run_depthwise,
};

}  // namespace rk::kernels

#endif  // x86-64
