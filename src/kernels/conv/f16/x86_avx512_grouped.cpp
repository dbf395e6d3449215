// SPDX-License-Identifier: Apache-2.0
// The grouped part of conv_f16__avx512_6x64, one block of 16 output channels at a time. Where a block belongs to one
// group, each input channel of the group is spread over the vector. Where several groups share a block, scratch holds for
// each four input channels of a group a vector in which every four lanes have those of their own group; a shuffle within
// the four, which costs nothing beside multiply-adds, spreads each of them in turn.
//
// Note: a channel of another group may be infinite, so it is never multiplied, not even by 0.
#if defined(__x86_64__)

#include "kernels/conv/common/group_lanes.h"
#include "kernels/conv/f16/x86_avx512.h"

RK_AVX512_BEGIN

namespace rk::kernels::avx512_f16 {
namespace {

constexpr int kPixels = 8;
constexpr int64_t kBandPixels = 224;
constexpr int64_t kMaxSteps = 4096;  // taps by channels of a group

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

// A step is one tap of one channel (uniform), or of four.
struct Pass {
  const Scratch& scratch;
  Target target;
  const float* weights;
  int64_t steps;
  __m512 bias;
};

template <int kCount, bool kUniform>
__attribute__((noinline)) void sum_pixels(const Pass& pass, int64_t pixel) {
  const float* x[kCount];
  __m512 sum[kCount][1];
#pragma GCC unroll 8
  for (int p = 0; p < kCount; ++p) {
    x[p] = pass.scratch.pixels[pass.scratch.places.scratch[pixel + p]];
    sum[p][0] = pass.bias;
  }
  const float* weights = pass.weights;
  for (int64_t step = 0; step < pass.steps; ++step) {
    const int64_t at = pass.scratch.offset[step];
    if constexpr (kUniform) {
      const __m512 w = _mm512_load_ps(weights);
      weights += kLanes;
#pragma GCC unroll 8
      for (int p = 0; p < kCount; ++p)
        sum[p][0] = _mm512_fmadd_ps(_mm512_set1_ps(x[p][at]), w, sum[p][0]);
    } else {
      const __m512 w[kQuad] = {_mm512_load_ps(weights), _mm512_load_ps(weights + kLanes),
                               _mm512_load_ps(weights + 2 * kLanes),
                               _mm512_load_ps(weights + 3 * kLanes)};
      weights += kQuad * kLanes;
#pragma GCC unroll 8
      for (int p = 0; p < kCount; ++p) {
        const __m512 v = _mm512_load_ps(x[p] + at);
        sum[p][0] = _mm512_fmadd_ps(_mm512_permute_ps(v, 0x00), w[0], sum[p][0]);
        sum[p][0] = _mm512_fmadd_ps(_mm512_permute_ps(v, 0x55), w[1], sum[p][0]);
        sum[p][0] = _mm512_fmadd_ps(_mm512_permute_ps(v, 0xaa), w[2], sum[p][0]);
        sum[p][0] = _mm512_fmadd_ps(_mm512_permute_ps(v, 0xff), w[3], sum[p][0]);
      }
    }
  }
  const Target target = pass.target;
#pragma GCC unroll 8
  for (int p = 0; p < kCount; ++p)
    target.finish(sum[p], 0, pass.scratch.places.output[pixel + p], 0);
}

template <bool kUniform, int kCount = kPixels>
void sum_band(const Pass& pass, int64_t pixel, int64_t end) {
  for (; pixel + kCount <= end; pixel += kCount) sum_pixels<kCount, kUniform>(pass, pixel);
  if constexpr (kCount > 1) {
    if (pixel < end) sum_band<kUniform, kCount / 2>(pass, pixel, end);
  }
}

// Vectors of four channels of each group, `at`.. of them, from the two blocks that hold them.
void spread_quads(const GroupLanes& lanes, int32_t at, int64_t pixels,
                  const float (*blocks)[kLanes], float (*to)[kLanes]) {
  BlockRange two;
  lanes.pair(at, two);
  alignas(64) int32_t order[kLanes];
  for (int32_t i = 0; i < kLanes; ++i) {
    const int32_t channel = lanes.first[i / kQuad] + at + i % kQuad;
    order[i] = channel % kLanes + (channel / kLanes == two.begin ? 0 : kLanes);
  }
  const __m512i index = _mm512_load_si512(order);
  const auto* const low = blocks + (two.begin - lanes.blocks.begin) * pixels;
  const auto* const high = blocks + (two.end - lanes.blocks.begin) * pixels;
  for (int64_t i = 0; i < pixels; ++i)
    _mm512_store_ps(to[i],
                    _mm512_permutex2var_ps(_mm512_load_ps(low[i]), index, _mm512_load_ps(high[i])));
}

void fill_offsets(const Context& c, const Band& band, const GroupLanes& lanes, int32_t* offset) {
  const int64_t pixels = band.scratch_pixels();
  const int32_t channels = c.filter.in_per_group();
  const int64_t first_vector = lanes.blocks.end - lanes.blocks.begin;
  for (int64_t ky = 0; ky < c.y.kernel; ++ky) {
    for (int64_t kx = 0; kx < c.x.kernel; ++kx) {
      const int64_t place = c.y.tap(ky) * band.scratch_columns + c.x.tap(kx);
      for (int32_t i = 0; i < channels; i += lanes.uniform ? 1 : kQuad) {
        const int32_t channel = lanes.first[0] + i;
        const int64_t plane =
            lanes.uniform ? channel / kLanes - lanes.blocks.begin : first_vector + i / kQuad;
        const int64_t lane = lanes.uniform ? channel % kLanes : 0;
        *offset++ = static_cast<int32_t>((plane * pixels + place) * kLanes + lane);
      }
    }
  }
}

void grouped_band(const Context& c, const Band& band, TileRange tiles, int64_t n,
                  Scratch& scratch) {
  const int64_t pixels = band.scratch_pixels();
  const int64_t taps = c.y.kernel * c.x.kernel;
  const int32_t channels = c.filter.in_per_group();
  scratch.places.fill(band, c.y.step, c.x.step, c.extents.out.w);
  const int64_t end = smaller(int64_t{tiles.end} * kVectors, channel_blocks(c.filter.out_channels));
  BlockRange held = {0, 0};
  for (int64_t block = int64_t{tiles.begin} * kVectors; block < end; ++block) {
    const GroupLanes lanes(c.filter, block);
    if (lanes.blocks.begin != held.begin || lanes.blocks.end != held.end) {
      held = lanes.blocks;
      for (int32_t i = held.begin; i < held.end; ++i)
        load_block(c, band, c.image(n) + i * c.in_plane,
                   scratch.pixels + (i - held.begin) * pixels);
    }
    const int64_t first_vector = held.end - held.begin;
    for (int32_t i = 0; !lanes.uniform && i < channels; i += kQuad)
      spread_quads(lanes, i, pixels, scratch.pixels,
                   scratch.pixels + (first_vector + i / kQuad) * pixels);
    fill_offsets(c, band, lanes, scratch.offset);
    const Pass pass = {
        scratch, Target(c, band, n, block), c.weights<float>() + block * taps * channels * kLanes,
        taps * channels / (lanes.uniform ? 1 : kQuad), _mm512_load_ps(c.bias + block * kLanes)};
    if (lanes.uniform) {
      sum_band<true>(pass, 0, band.pixels());
    } else {
      sum_band<false>(pass, 0, band.pixels());
    }
  }
}

}  // namespace

bool grouped(const ConvF16Args& args, IndexRange units) {
  const ConvFilter& filter = args.packed->params.filter;
  const int64_t taps = int64_t{filter.kernel.h} * filter.kernel.w;
  const int64_t planes = most_planes(filter);
  if (!groups_suit_quads(filter) || taps * filter.in_per_group() > kMaxSteps ||
      !fits_bands(filter, kScratchPixels / planes)) {
    return false;
  }
  const Context c(args);
  Scratch scratch;
  for_each_band(filter, c.extents, {filter, args.extents, kConvF16Tile},
                {kBandPixels, kScratchPixels / planes}, units,
                [&](const Band& band, TileRange tiles, int64_t n) {
                  grouped_band(c, band, tiles, n, scratch);
                });
  return true;
}

}  // namespace rk::kernels::avx512_f16

RK_AVX512_END

#endif  // x86-64
