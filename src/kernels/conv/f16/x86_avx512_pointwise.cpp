// SPDX-License-Identifier: Apache-2.0
// Kernels of one tap under conv_f16__avx512_6x64: tiles of 7 pixels by 64 output channels (14 by 32, 28 by 16) read the
// input where it lies. While the products of one input block are summed, the block after it is widened into a buffer that
// never leaves the first-level cache; a multiply-add broadcasts its input from there. Sums in the order that conv_f16.h
// states.
//
// Note: do not broadcast with instructions. On Zen 4 they take time from the multiply-adds, where an operand
// that broadcasts takes none and leaves all registers to sums and weights.
#if defined(__x86_64__)

#include "kernels/conv/f16/x86_avx512.h"

RK_AVX512_BEGIN

namespace rk::kernels::avx512_f16 {
namespace {

constexpr int32_t kShortPixels = 7;  // of a tile by four vectors
constexpr int32_t kMostPixels = 28;  // of a tile
constexpr int64_t kBandPixels =
    224;  // that all tiles of output channels read before others are read
constexpr int64_t kBandBytes = 440 << 10;  // of their input
constexpr int64_t kWeightBytes = 512
                                 << 10;  // of 64 output channels: each tile of pixels reads them
constexpr int64_t kAhead = 2;  // tiles from the one that is summed to the one that is asked for
constexpr int64_t kPlaces = kBandPixels + (kAhead + 1) * kMostPixels;

struct Scratch {
  alignas(
      64) float wide[2][kMostPixels][kLanes];  // one input block that is read and one that is next
  int read = 0;                                // which of them
  // Elements from the band's first input pixel to the others' and to those after the band; `count` of them are there, the
  // rest is 0. Bands that begin in the same `column` share it.
  int64_t input_at[kPlaces];
  int64_t count = 0, column = 0;
};

// One tile of output channels of a band.
template <typename Weight>
struct Pass {
  const uint16_t* input;  // of the band's first pixel
  int64_t in_plane;
  int64_t blocks;
  int32_t last_lanes;  // channels of the last block
  const Weight* weights;
  int64_t next_vector;  // weights to those of the next vector
  const float* bias;
  Target target;
};

// Adds the products of one input channel. `done` weights of each vector come before those of its block.
template <bool kNarrow, typename Weight, int kPixels, int kCount>
inline __attribute__((always_inline)) void add_lane(const float (*x)[kLanes], int64_t lane,
                                                    const Weight* const (&weights)[kCount],
                                                    int64_t done, __m512 (&sum)[kPixels][kCount]) {
  __m512 w[kCount];
#pragma GCC unroll 4
  for (int v = 0; v < kCount; ++v) w[v] = load_wide(weights[v] + done + lane * kLanes);
#pragma GCC unroll 28
  for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 4
    for (int v = 0; v < kCount; ++v) {
      sum[p][v] = kNarrow && v == kCount - 1 ? fused_low(x[p][lane], w[v], sum[p][v])
                                             : fused(x[p][lane], w[v], sum[p][v]);
    }
  }
}

// Pixels of a tile whose next block is widened beside input channel `lane`.
template <int kPixels>
inline __attribute__((always_inline)) void widen_share(const uint16_t* input, const int64_t* at,
                                                       float (*to)[kLanes], int lane) {
#pragma GCC unroll 28
  for (int p = 0; p < kPixels; ++p) {
    if (p * kLanes / kPixels == lane) _mm512_store_ps(to[p], load_wide(input + at[p]));
  }
}

template <int kPixels>
inline __attribute__((always_inline)) void widen_all(const uint16_t* input, const int64_t* at,
                                                     float (*to)[kLanes]) {
#pragma GCC unroll 28
  for (int p = 0; p < kPixels; ++p) _mm512_store_ps(to[p], load_wide(input + at[p]));
}

// kPixels pixels from number `pixel` on, by kCount vectors. Their first block has been widened, and afterwards that of as
// many pixels behind them has been. kNarrow: the last vector has but 8 channels.
template <int kPixels, int kCount, bool kNarrow, typename Weight>
__attribute__((noinline)) void sum_pixels(const Pass<Weight>& pass, Scratch& scratch,
                                          int64_t pixel) {
  __m512 sum[kPixels][kCount];
#pragma GCC unroll 28
  for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 4
    for (int v = 0; v < kCount; ++v) sum[p][v] = _mm512_load_ps(pass.bias + v * kLanes);
  }
  pass.target.template ask<kPixels, kCount>(pixel);
  const int64_t* const at = scratch.input_at + pixel;
  const Weight* weights[kCount];
#pragma GCC unroll 4
  for (int v = 0; v < kCount; ++v) weights[v] = pass.weights + v * pass.next_vector;
  hide(weights);
  const int64_t in_plane = pass.in_plane;
  const uint16_t* input = pass.input;
  float(*x)[kLanes] = scratch.wide[scratch.read];
  float(*to)[kLanes] = scratch.wide[1 - scratch.read];
  const auto ask = [&]() __attribute__((always_inline)) {
#pragma GCC unroll 28
    for (int p = 1; p < kPixels; p += 2)
      _mm_prefetch(reinterpret_cast<const char*>(input + at[p + kAhead * kPixels]), _MM_HINT_T0);
  };
  int64_t done = 0;
  for (int64_t block = pass.blocks; --block > 0; done += kLanes * kLanes) {
    ask();
    input += in_plane;
#pragma GCC unroll 16
    for (int lane = 0; lane < kLanes; ++lane) {
      add_lane<kNarrow>(x, lane, weights, done, sum);
      widen_share<kPixels>(input, at, to, lane);
    }
    float(*const read)[kLanes] = x;
    x = to;
    to = read;
  }
  ask();
  if (pass.last_lanes == kLanes) {
#pragma GCC unroll 16
    for (int lane = 0; lane < kLanes; ++lane) {
      add_lane<kNarrow>(x, lane, weights, done, sum);
      widen_share<kPixels>(pass.input, at + kPixels, to, lane);
    }
  } else {
    widen_all<kPixels>(pass.input, at + kPixels, to);
#pragma GCC unroll 1
    for (int32_t lane = 0; lane < pass.last_lanes; ++lane)
      add_lane<kNarrow>(x, lane, weights, done, sum);
  }
  scratch.read = to == scratch.wide[1];
  const Target target = pass.target;
  target.finish_tile(sum, pixel);
}

// Pixels from `pixel` to `end` in tiles of kPixels, then what is left.
template <int kPixels, int kCount, bool kNarrow, typename Weight>
void sum_run(const Pass<Weight>& pass, Scratch& scratch, int64_t pixel, int64_t end) {
  for (; pixel + kPixels <= end; pixel += kPixels)
    sum_pixels<kPixels, kCount, kNarrow>(pass, scratch, pixel);
  if constexpr (kPixels > 1) {
    if (pixel < end)
      sum_run<kPixels == 7 ? 4 : kPixels / 2, kCount, kNarrow>(pass, scratch, pixel, end);
  }
}

// What happens to a sum on its way to the output where there is no residual. Comparisons with infinity change nothing.
struct Limits {
  __m512 low, high;

  explicit Limits(const Target& target)
      : low(_mm512_set1_ps(target.clamps ? 0.0f : -__builtin_inff())),
        high(_mm512_set1_ps(target.clips ? target.clip : __builtin_inff())) {}

  inline __attribute__((always_inline)) void finish(__m512 sum, uint16_t* to) const {
    const __m512 limited = _mm512_min_ps(high, _mm512_max_ps(low, sum));
    __m256i half = _mm512_cvtps_ph(limited, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    asm volatile("" : "+v"(half));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), half);
  }
};

// Sums of kShortPixels pixels by two vectors, and where they go.
struct Half {
  __m512 sum[kShortPixels][2];
  uint16_t* to[2];

  inline __attribute__((always_inline)) void start(const float* bias) {
#pragma GCC unroll 7
    for (int p = 0; p < kShortPixels; ++p) {
      sum[p][0] = _mm512_load_ps(bias);
      sum[p][1] = _mm512_load_ps(bias + kLanes);
    }
  }
};

// Sums `half`, of one or two input blocks at `x`, while `ready` is finished and widen(lane) does what there is to do beside
// each channel of the first block.
template <int kBlocks, typename Weight, typename Widen>
inline __attribute__((always_inline)) void sum_half(const float (*x)[kLanes], int32_t last_lanes,
                                                    const Weight* const (&weights)[2], Half& half,
                                                    const Half& ready, const Limits& limits,
                                                    const Widen& widen) {
#pragma GCC unroll 16
  for (int lane = 0; lane < kLanes; ++lane) {
    add_lane<false>(x, lane, weights, 0, half.sum);
    if (lane < 2 * kShortPixels) {
      const int p = lane / 2, v = lane % 2;
      limits.finish(ready.sum[p][v], ready.to[v] + p * kLanes);
    }
    widen(lane);
  }
  if (kBlocks == 1) return;
#pragma GCC unroll 1
  for (int32_t lane = 0; lane < last_lanes; ++lane)
    add_lane<false>(x + kShortPixels, lane, weights, kLanes * kLanes, half.sum);
}

// Four vectors of sums so short that finishing them takes almost as long: while one half is summed the other is finished.
// Returns how many pixels are done.
template <int kBlocks, typename Weight>
__attribute__((noinline)) int64_t sum_short(const Pass<Weight>& pass, Scratch& scratch,
                                            int64_t pixels) {
  const Target target = pass.target;
  const Limits limits(target);
  const uint16_t* const input = pass.input;
  const float* const bias = pass.bias;
  const int64_t in_plane = pass.in_plane;
  const int32_t last_lanes = pass.last_lanes;
  const Weight* weights[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) weights[v] = pass.weights + v * pass.next_vector;
  hide(weights);
  const Weight* const low_weights[2] = {weights[0], weights[1]};
  const Weight* const high_weights[2] = {weights[2], weights[3]};
  float(*x)[kLanes] = scratch.wide[0];
  float(*next)[kLanes] = scratch.wide[1];
  const auto widen = [&](const int64_t* at, int p, float(*to)[kLanes])
      __attribute__((always_inline)) {
#pragma GCC unroll 2
    for (int b = 0; b < kBlocks; ++b)
      _mm512_store_ps(to[b * kShortPixels + p], load_wide(input + b * in_plane + at[p]));
  };
#pragma GCC unroll 7
  for (int p = 0; p < kShortPixels; ++p) widen(scratch.input_at, p, x);
  uint16_t nothing[kShortPixels * kLanes];
  Half low, high;
  high.start(bias);
  high.to[0] = high.to[1] = nothing;
  const int64_t* at = scratch.input_at;
  uint16_t* to = target.output;
  int64_t pixel = 0;
  for (; pixel + kShortPixels <= pixels;
       pixel += kShortPixels, at += kShortPixels, to += kShortPixels * kLanes) {
#pragma GCC unroll 7
    for (int p = 1; p < kShortPixels; p += 2) {
      const uint16_t* const ahead = input + at[p + kAhead * kShortPixels];
      _mm_prefetch(reinterpret_cast<const char*>(ahead), _MM_HINT_T0);
    }
    target.ask<kShortPixels, kVectors>(pixel);
    low.start(bias);
    sum_half<kBlocks>(x, last_lanes, low_weights, low, high, limits, [](int) {});
    low.to[0] = to;
    low.to[1] = to + target.out_plane;
    high.start(bias + 2 * kLanes);
    sum_half<kBlocks>(x, last_lanes, high_weights, high, low, limits, [&](int lane) {
      if (lane < 2 * kShortPixels && lane % 2 == 0) widen(at + kShortPixels, lane / 2, next);
    });
    high.to[0] = to + 2 * target.out_plane;
    high.to[1] = to + 3 * target.out_plane;
    float(*const read)[kLanes] = x;
    x = next;
    next = read;
  }
#pragma GCC unroll 7
  for (int p = 0; p < kShortPixels; ++p) {
    limits.finish(high.sum[p][0], high.to[0] + p * kLanes);
    limits.finish(high.sum[p][1], high.to[1] + p * kLanes);
  }
  return pixel;
}

// Pixels from `pixel` on for four vectors, in tiles of about equal size, none of them small: each reads all weights.
template <typename Weight>
void sum_even(const Pass<Weight>& pass, Scratch& scratch, int64_t pixel, int64_t pixels) {
  constexpr int kMost = 7;
  widen_all<kMost>(pass.input, scratch.input_at + pixel, scratch.wide[scratch.read]);
  for (int64_t tiles = (pixels - pixel + kMost - 1) / kMost; tiles > 0; --tiles) {
    const int64_t size = (pixels - pixel + tiles - 1) / tiles;
    switch (size) {
      case 7:
        sum_pixels<7, 4, false>(pass, scratch, pixel);
        break;
      case 6:
        sum_pixels<6, 4, false>(pass, scratch, pixel);
        break;
      case 5:
        sum_pixels<5, 4, false>(pass, scratch, pixel);
        break;
      case 4:
        sum_pixels<4, 4, false>(pass, scratch, pixel);
        break;
      case 3:
        sum_pixels<3, 4, false>(pass, scratch, pixel);
        break;
      case 2:
        sum_pixels<2, 4, false>(pass, scratch, pixel);
        break;
      default:
        sum_pixels<1, 4, false>(pass, scratch, pixel);
    }
    pixel += size;
  }
}

bool is_short(const Context& c) {
  return c.filter.in_channels >= kLanes && c.filter.in_channels <= 2 * kLanes &&
         !c.params.has_residual && !c.params.relu_after_add && c.out_pixel == kLanes;
}

template <typename Weight>
void sum_tile(const Context& c, const Pass<Weight>& pass, int64_t vectors, int64_t pixels,
              Scratch& scratch) {
  const int32_t rest = c.filter.out_channels % kLanes;
  const bool narrow = rest >= 1 && rest <= kLanes / 2;
  const auto run = [&]<int kPixels, int kCount, bool kNarrow = false>() {
    widen_all<kPixels>(pass.input, scratch.input_at, scratch.wide[scratch.read]);
    sum_run<kPixels, kCount, kNarrow>(pass, scratch, 0, pixels);
  };
  if (vectors == 4) {
    int64_t done = 0;
    if constexpr (sizeof(Weight) == sizeof(float)) {
      if (is_short(c)) {
        done = pass.blocks == 1 ? sum_short<1>(pass, scratch, pixels)
                                : sum_short<2>(pass, scratch, pixels);
      }
    }
    return sum_even(pass, scratch, done, pixels);
  }
  if (vectors == 3) return run.template operator()<8, 3>();
  if (vectors == 2 && narrow) return run.template operator()<14, 2, true>();
  if (vectors == 2) return run.template operator()<14, 2>();
  return run.template operator()<28, 1>();
}

// Where the pixels of a band lie and those after it, as far as there are any.
void fill_places(const Context& c, const Band& band, Scratch& scratch) {
  const int64_t left = int64_t{c.extents.out.h} * c.extents.out.w - band.ox;
  const int64_t count = smaller(left, kPlaces), column = band.ox % c.extents.out.w;
  if (count == scratch.count && (c.flat || column == scratch.column)) return;
  scratch.count = count;
  scratch.column = column;
  const int64_t next_pixel = c.x.step * c.in_pixel;
  const int64_t next_row = c.y.step * c.extents.in.w * c.in_pixel;
  int64_t row = -column * next_pixel;
  for (int64_t i = 0, x = column; i < count; ++i, ++x) {
    if (x == c.extents.out.w) {
      x = 0;
      row += next_row;
    }
    scratch.input_at[i] = row + x * next_pixel;
  }
  for (int64_t i = count; i < kPlaces; ++i) scratch.input_at[i] = 0;
}

template <typename Weight>
void sum_band(const Context& c, const Band& band, TileRange tiles, int64_t n, Scratch& scratch) {
  fill_places(c, band, scratch);
  const int64_t y = band.ox / c.extents.out.w, x = band.ox % c.extents.out.w;
  const uint16_t* const input =
      c.image(n) + (y * c.y.step * c.extents.in.w + x * c.x.step) * c.in_pixel;
  const int64_t out_blocks = channel_blocks(c.filter.out_channels);
  const int32_t blocks = channel_blocks(c.filter.in_channels);
  for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
    const int64_t first = tile * kVectors;
    const Pass<Weight> pass = {input,
                               c.in_plane,
                               blocks,
                               lanes_of_block(c.filter.in_channels, blocks - 1),
                               c.weights<Weight>() + first * c.block_weights,
                               c.block_weights,
                               c.bias + first * kLanes,
                               Target(c, band, n, first)};
    sum_tile(c, pass, smaller(kVectors, out_blocks - first), band.pixels(), scratch);
  }
}

bool takes(const Context& c) {
  const auto inside = [](const AxisPlan& axis, int64_t out, int64_t in) {
    return (out - 1) * axis.step < in;
  };
  const int64_t weight_bytes = c.args.packed->half ? sizeof(uint16_t) : sizeof(float);
  return c.one_tap && c.extents.pad_before == Extent2{0, 0} &&
         inside(c.y, c.extents.out.h, c.extents.in.h) &&
         inside(c.x, c.extents.out.w, c.extents.in.w) &&
         c.block_weights * kVectors * weight_bytes <= kWeightBytes;
}

}  // namespace

bool pointwise(const ConvF16Args& args, IndexRange units) {
  const Context c(args);
  if (!takes(c)) return false;
  Scratch scratch;
  const int64_t pixel_bytes = int64_t{channel_blocks(c.filter.in_channels)} * kLanes * 2;
  const ConvUnits counted(c.filter, args.extents, kConvF16Tile);
  for_each_run(counted, counted_extents(c.filter, args.extents).out,
               smaller(kBandPixels, kBandBytes / pixel_bytes), kMostPixels, units,
               [&](const Band& band, TileRange tiles, int64_t n) {
                 if (args.packed->half) {
                   sum_band<uint16_t>(c, band, tiles, n, scratch);
                 } else {
                   sum_band<float>(c, band, tiles, n, scratch);
                 }
               });
  return true;
}

}  // namespace rk::kernels::avx512_f16

RK_AVX512_END

#endif  // x86-64
