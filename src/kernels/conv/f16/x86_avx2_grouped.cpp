// SPDX-License-Identifier: Apache-2.0
// The grouped part of conv_f16__avx2, one block of 16 output channels at a time. Where a block belongs to one group, each
// input channel of the group is spread over the vectors. Where several groups share a block, scratch holds for each four
// input channels of a group vectors in which every four lanes have those of their own group; a shuffle within the four
// spreads each of them in turn.
//
// Note: a channel of another group may be infinite, so it is never multiplied, not even by 0.
#if defined(__x86_64__)

#include "kernels/conv/f16/x86_avx2.h"

#include "kernels/conv/common/group_lanes.h"
#include "kernels/conv/common/x86_avx2_dense.h"

RK_ISA_BEGIN

namespace rk::kernels::avx2_f16 {
namespace {

constexpr int kPixels = 6;
constexpr int64_t kBandPixels = 192, kScratchPixels = avx2_dense::kScratchPixels;
constexpr int64_t kMaxSteps = 4096;  // taps by channels of a group

struct Widening {
  using Stored = uint16_t;
  using Lane = float;
  static void widen(const uint16_t* from, float* to) { Avx2Half::widen(from, to); }
};

// Scratch vectors of one pixel.
int64_t planes_of(const ConvFilter& f, const GroupLanes& lanes) {
  const int64_t blocks = lanes.blocks.end - lanes.blocks.begin;
  return lanes.uniform ? blocks : blocks + f.in_per_group() / kQuad;
}

int64_t most_planes(const ConvFilter& f) {
  int64_t most = 1;
  for (int32_t block = 0; block < channel_blocks(f.out_channels); ++block) {
    const int64_t planes = planes_of(f, GroupLanes(f, block));
    most = planes > most ? planes : most;
  }
  return most;
}

struct Scratch {
  alignas(64) float pixels[kScratchPixels][kLanes];
  BandPlaces<kBandPixels> places;
  int32_t offset[kMaxSteps];  // floats from a pixel's place to what a step reads
};
static_assert(sizeof(Scratch) <= ThreadScratch::kBytes);

// A step is one tap of one channel (uniform), or of four.
struct Pass {
  const Scratch& scratch;
  const Stages& stages;
  const uint16_t* residual;  // of the block at the band's first pixel; null: none
  uint16_t* output;
  const float* weights;
  int64_t steps;
  const float* bias;
};

template <int kCount, int kLane>
inline __attribute__((always_inline)) void add_lane(const float* const (&x)[kCount], int64_t at,
                                                    const float* weights,
                                                    __m256 (&sum)[kCount][2]) {
  const __m256 w0 = _mm256_load_ps(weights + kLane * kLanes);
  const __m256 w1 = _mm256_load_ps(weights + kLane * kLanes + 8);
  constexpr int kSpread = kLane * 0x55;  // that lane of each four
#pragma GCC unroll 6
  for (int p = 0; p < kCount; ++p) {
    sum[p][0] =
        _mm256_fmadd_ps(_mm256_permute_ps(_mm256_load_ps(x[p] + at), kSpread), w0, sum[p][0]);
    sum[p][1] =
        _mm256_fmadd_ps(_mm256_permute_ps(_mm256_load_ps(x[p] + at + 8), kSpread), w1, sum[p][1]);
  }
}

template <int kCount, bool kUniform>
__attribute__((noinline)) void sum_pixels(const Pass& pass, int64_t pixel) {
  const float* x[kCount];
  __m256 sum[kCount][2];
#pragma GCC unroll 6
  for (int p = 0; p < kCount; ++p) {
    x[p] = pass.scratch.pixels[pass.scratch.places.scratch[pixel + p]];
    sum[p][0] = _mm256_load_ps(pass.bias), sum[p][1] = _mm256_load_ps(pass.bias + 8);
  }
  const float* weights = pass.weights;
  for (int64_t step = 0; step < pass.steps; ++step) {
    const int64_t at = pass.scratch.offset[step];
    if constexpr (kUniform) {
      const __m256 w0 = _mm256_load_ps(weights), w1 = _mm256_load_ps(weights + 8);
#pragma GCC unroll 6
      for (int p = 0; p < kCount; ++p) {
        const __m256 v = _mm256_broadcast_ss(x[p] + at);
        sum[p][0] = _mm256_fmadd_ps(v, w0, sum[p][0]);
        sum[p][1] = _mm256_fmadd_ps(v, w1, sum[p][1]);
      }
      weights += kLanes;
    } else {
      add_lane<kCount, 0>(x, at, weights, sum);
      add_lane<kCount, 1>(x, at, weights, sum);
      add_lane<kCount, 2>(x, at, weights, sum);
      add_lane<kCount, 3>(x, at, weights, sum);
      weights += kQuad * kLanes;
    }
  }
  const Stages stages = pass.stages;
#pragma GCC unroll 6
  for (int p = 0; p < kCount; ++p) {
    const int64_t place = int64_t{pass.scratch.places.output[pixel + p]} * kLanes;
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      const int64_t at = place + v * 8;
      pass.residual != nullptr
          ? stages.finish<true>(sum[p][v], pass.residual + at, pass.output + at)
          : stages.finish<false>(sum[p][v], nullptr, pass.output + at);
    }
  }
}

template <bool kUniform>
void sum_band(const Pass& pass, int64_t pixels) {
  int64_t pixel = 0;
  for (int64_t tiles = (pixels + kPixels - 1) / kPixels; tiles > 0; --tiles) {
    const int64_t size = (pixels - pixel + tiles - 1) / tiles;
    switch (size) {
      case 6:
        sum_pixels<6, kUniform>(pass, pixel);
        break;
      case 5:
        sum_pixels<5, kUniform>(pass, pixel);
        break;
      case 4:
        sum_pixels<4, kUniform>(pass, pixel);
        break;
      default:
        for (int64_t i = 0; i < size; ++i) sum_pixels<1, kUniform>(pass, pixel + i);
    }
    pixel += size;
  }
}

class GroupedConv {
 public:
  GroupedConv(const ConvF16Args& args, Scratch& scratch)
      : args_(args),
        f_(args.packed->params.filter),
        e_(args.extents),
        stages_(args.packed->params),
        scratch_(scratch),
        y_(axis_plan(f_, true)),
        x_(axis_plan(f_, false)),
        blocks_(channel_blocks(f_.out_channels)),
        in_plane_(int64_t{e_.in.h} * e_.in.w * kLanes),
        out_plane_(int64_t{e_.out.h} * e_.out.w * kLanes) {}

  void run(IndexRange units, int64_t planes) {
    for_each_band(f_, e_, {f_, e_, kConvF16Tile}, {kBandPixels, kScratchPixels / planes, true},
                  units,
                  [&](const Band& band, TileRange tiles, int64_t n) { run_band(band, tiles, n); });
  }

 private:
  void run_band(const Band& band, TileRange tiles, int64_t n) {
    constexpr int64_t kTileBlocks = kConvF16Tile / kLanes;
    const int64_t in_blocks = channel_blocks(f_.in_channels);
    const uint16_t* const image =
        args_.input +
        n * (args_.input_batch_stride != 0 ? args_.input_batch_stride : in_blocks * in_plane_);
    const int64_t pixels = band.scratch_pixels(), taps = y_.kernel * x_.kernel;
    const int32_t channels = f_.in_per_group();
    scratch_.places.fill(band, y_.step, x_.step, e_.out.w);
    BlockRange held = {0, 0};
    const int64_t end = smaller(tiles.end * kTileBlocks, blocks_);
    for (int64_t block = tiles.begin * kTileBlocks; block < end; ++block) {
      const GroupLanes lanes(f_, block);
      if (lanes.blocks.begin != held.begin || lanes.blocks.end != held.end) {
        held = lanes.blocks;
        for (int32_t i = held.begin; i < held.end; ++i)
          avx2_dense::load_block<Widening>(f_, e_, band, image + i * in_plane_, 0.0f,
                                           scratch_.pixels + (i - held.begin) * pixels);
      }
      const int64_t first_vector = held.end - held.begin;
      for (int32_t i = 0; !lanes.uniform && i < channels; i += kQuad)
        spread_quads(lanes, i, pixels, scratch_.pixels + (first_vector + i / kQuad) * pixels);
      fill_offsets(band, lanes);
      const int64_t dense = blocks_ * out_plane_;
      const int64_t stride = args_.output_batch_stride != 0 ? args_.output_batch_stride : dense;
      const int64_t at = block * out_plane_ + (band.oy * e_.out.w + band.ox) * kLanes;
      const Pass pass = {
          scratch_,
          stages_,
          args_.packed->params.has_residual ? args_.residual + n * dense + at : nullptr,
          args_.output + n * stride + at,
          reinterpret_cast<const float*>(args_.packed->weights.data()) +
              block * taps * channels * kLanes,
          taps * channels / (lanes.uniform ? 1 : kQuad),
          reinterpret_cast<const float*>(args_.packed->bias.data()) + block * kLanes};
      lanes.uniform ? sum_band<true>(pass, band.pixels()) : sum_band<false>(pass, band.pixels());
    }
  }

  // Vectors of four channels of each group, `at`.. of them.
  void spread_quads(const GroupLanes& lanes, int32_t at, int64_t pixels, float (*to)[kLanes]) {
    for (int32_t q = 0; q < kQuad; ++q) {
      const int32_t channel = lanes.first[q] + at;
      const auto* const from = scratch_.pixels + (channel / kLanes - lanes.blocks.begin) * pixels;
      for (int64_t i = 0; i < pixels; ++i)
        _mm_store_ps(to[i] + q * kQuad, _mm_load_ps(from[i] + channel % kLanes));
    }
  }

  void fill_offsets(const Band& band, const GroupLanes& lanes) {
    const int64_t pixels = band.scratch_pixels();
    const int64_t first_vector = lanes.blocks.end - lanes.blocks.begin;
    int32_t* offset = scratch_.offset;
    for (int64_t ky = 0; ky < y_.kernel; ++ky) {
      for (int64_t kx = 0; kx < x_.kernel; ++kx) {
        const int64_t place = y_.tap(ky) * band.scratch_columns + x_.tap(kx);
        for (int32_t i = 0; i < f_.in_per_group(); i += lanes.uniform ? 1 : kQuad) {
          const int32_t channel = lanes.first[0] + i;
          const int64_t plane =
              lanes.uniform ? channel / kLanes - lanes.blocks.begin : first_vector + i / kQuad;
          const int64_t lane = lanes.uniform ? channel % kLanes : 0;
          *offset++ = static_cast<int32_t>((plane * pixels + place) * kLanes + lane);
        }
      }
    }
  }

  const ConvF16Args& args_;
  const ConvFilter& f_;
  const ConvExtents& e_;
  const Stages stages_;
  Scratch& scratch_;
  const AxisPlan y_, x_;
  const int64_t blocks_, in_plane_, out_plane_;  // elements
};

}  // namespace

bool grouped(const ConvF16Args& args, IndexRange units) {
  const ConvFilter& filter = args.packed->params.filter;
  if (filter.groups == 1 || filter.depthwise()) return false;
  const int64_t taps = int64_t{filter.kernel.h} * filter.kernel.w;
  const int64_t planes = most_planes(filter);
  if (!groups_suit_quads(filter) || taps * filter.in_per_group() > kMaxSteps ||
      !fits_bands(filter, kScratchPixels / planes)) {
    return false;
  }
  const ThreadScratch scratch;
  GroupedConv(args, *static_cast<Scratch*>(scratch.data())).run(units, planes);
  return true;
}

}  // namespace rk::kernels::avx2_f16

RK_ISA_END

#endif  // x86-64
