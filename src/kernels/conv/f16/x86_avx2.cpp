// SPDX-License-Identifier: Apache-2.0
// conv_f16 with AVX2. A band's input is widened to float32 scratch once, then tiles of 6 pixels by 16 output channels are
// summed by fused multiply-adds, in the order that conv_f16.h states, and narrowed once at the end. Kernels of one tap that
// read nothing but pixels of the picture, and matrix products, take their pixels as one long row.
//
// Note: padding lanes of the input may hold infinities; they are never multiplied, not even by 0.
#if defined(__x86_64__)

#include "kernels/conv/f16/x86_avx2.h"

#include "kernels/conv/f16/lane_f16.h"

namespace rk::kernels {

decltype(conv_f16) conv_f16__generic;
decltype(conv_f16) conv_f16__avx2;

}  // namespace rk::kernels

RK_ISA_BEGIN

namespace rk::kernels::avx2_f16 {
namespace {

constexpr int32_t kMostPixels = 6;  // of a tile: 12 sums, 2 vectors of weights, 1 of input
constexpr int64_t kBandPixels = 192;
constexpr int64_t kFewBandPixels = 512;  // where channels are few
constexpr int64_t kFewPixels = 48;       // a smaller band would read the weights too often
constexpr int64_t kScratchPixels = kHalfScratchPixels;
constexpr int64_t kTileBlocks = kConvF16Tile / kLanes;
// A step is one tap of one input block: 1 KiB of weights. As many stay in the first-level cache while all pixels pass.
constexpr int64_t kPartSteps = 16;

constexpr int64_t kAccPixels = kBandPixels;

struct Scratch {
  alignas(64) float pixels[kScratchPixels][kLanes];
  // Sums between the parts of a long sum; where channels are few, weights without gaps.
  union {
    alignas(64) float acc[kTileBlocks][kAccPixels][kLanes];
    alignas(64) float few_weights[kFewWeights];
  };
  int64_t source[kBandPixels];  // of pixels that lie in one long row
  BandPlaces<kFewBandPixels> places;
  int32_t step_offset[kScratchPixels];  // floats from a pixel's place to what a step reads
};
static_assert(sizeof(Scratch) <= ThreadScratch::kBytes);

// One pass over some steps for kBlocks blocks of output channels.
struct Pass {
  const Stages& stages;
  const Scratch& scratch;
  int64_t pixel_floats;
  const int32_t* step_offset;
  int64_t full_steps, steps;  // the first ones have all 16 channels
  int32_t last_lanes;         // channels of the others
  const float* weights;       // of the first block
  int64_t last_weights;       // of one of the last steps
  int64_t next_block;         // weights to those of the next block
  const float* bias;
  float (*acc)[kLanes];  // of pixel 0
  bool first, last;      // of the sum
  // Of the first block at the band's first pixel.
  const uint16_t* residual;  // null: none
  uint16_t* output;
  int64_t out_pixel, residual_pixel, out_plane;  // elements
};

template <int kPixels, int kBlocks>
inline __attribute__((always_inline)) void add_lane(const float* const (&x)[kPixels], int64_t at,
                                                    const float* weights, int64_t next_block,
                                                    __m256 (&sum)[kPixels][kBlocks * 2]) {
#pragma GCC unroll 4
  for (int b = 0; b < kBlocks; ++b) {
    const __m256 w0 = _mm256_load_ps(weights + b * next_block);
    const __m256 w1 = _mm256_load_ps(weights + b * next_block + 8);
#pragma GCC unroll 6
    for (int p = 0; p < kPixels; ++p) {
      const __m256 v = _mm256_broadcast_ss(x[p] + at);
      sum[p][2 * b] = _mm256_fmadd_ps(v, w0, sum[p][2 * b]);
      sum[p][2 * b + 1] = _mm256_fmadd_ps(v, w1, sum[p][2 * b + 1]);
    }
  }
}

template <int kPixels, int kBlocks, bool kResidual>
inline __attribute__((always_inline)) void finish_tile(const Pass& pass, int64_t pixel,
                                                       const __m256 (&sum)[kPixels][kBlocks * 2]) {
  const Stages stages = pass.stages;
  const int32_t* const places = pass.scratch.places.output + pixel;
  uint16_t* const output = pass.output;
  const uint16_t* const residual = pass.residual;
  const int64_t out_pixel = pass.out_pixel, residual_pixel = pass.residual_pixel;
#pragma GCC unroll 6
  for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 8
    for (int v = 0; v < kBlocks * 2; ++v) {
      const int64_t at = v / 2 * pass.out_plane + v % 2 * 8;
      stages.finish<kResidual>(sum[p][v], residual + places[p] * residual_pixel + at,
                               output + places[p] * out_pixel + at);
    }
  }
}

// kRow: the last lanes of a step, where there are no others; 0: as the pass says.
template <int kPixels, int kBlocks, int kRow = 0>
__attribute__((noinline)) void sum_tile(const Pass& pass, int64_t pixel) {
  const float* x[kPixels];
  __m256 sum[kPixels][kBlocks * 2];
#pragma GCC unroll 6
  for (int p = 0; p < kPixels; ++p)
    x[p] = pass.scratch.pixels[0] + pass.scratch.places.scratch[pixel + p] * pass.pixel_floats;
  if (pass.first) {
#pragma GCC unroll 8
    for (int v = 0; v < kBlocks * 2; ++v) {
      const __m256 bias = _mm256_load_ps(pass.bias + v * 8);
#pragma GCC unroll 6
      for (int p = 0; p < kPixels; ++p) sum[p][v] = bias;
    }
  } else {
#pragma GCC unroll 6
    for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 8
      for (int v = 0; v < kBlocks * 2; ++v)
        sum[p][v] = _mm256_load_ps(pass.acc[v / 2 * kAccPixels + pixel + p] + v % 2 * 8);
    }
  }
  const float* weights = pass.weights;
  const int32_t *offset = pass.step_offset, *const full = offset + pass.full_steps;
  const int32_t* const end = offset + pass.steps;
  const int64_t next_block = pass.next_block;
  if constexpr (kRow != 0) {
    for (; offset < end; ++offset, weights += kRow * kLanes) {
      const int64_t at = *offset;
#pragma GCC unroll 21
      for (int lane = 0; lane < kRow; ++lane)
        add_lane<kPixels, kBlocks>(x, at + lane, weights + lane * kLanes, next_block, sum);
    }
  } else {
    for (; offset < full; ++offset, weights += kLanes * kLanes) {
      const int64_t at = *offset;
#pragma GCC unroll 16
      for (int lane = 0; lane < kLanes; ++lane)
        add_lane<kPixels, kBlocks>(x, at + lane, weights + lane * kLanes, next_block, sum);
    }
    const int32_t lanes = pass.last_lanes;
    for (; offset < end; ++offset, weights += pass.last_weights) {
      const int64_t at = *offset;
#pragma GCC unroll 4
      for (int32_t lane = 0; lane < lanes; ++lane)
        add_lane<kPixels, kBlocks>(x, at + lane, weights + lane * kLanes, next_block, sum);
    }
  }
  if (!pass.last) {
#pragma GCC unroll 6
    for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 8
      for (int v = 0; v < kBlocks * 2; ++v)
        _mm256_store_ps(pass.acc[v / 2 * kAccPixels + pixel + p] + v % 2 * 8, sum[p][v]);
    }
  } else if (pass.residual != nullptr) {
    finish_tile<kPixels, kBlocks, true>(pass, pixel, sum);
  } else {
    finish_tile<kPixels, kBlocks, false>(pass, pixel, sum);
  }
}

// All pixels of a band in tiles of about equal size: each reads all weights.
template <int kRow = 0>
void sum_pixels(const Pass& pass, int64_t pixels) {
  int64_t pixel = 0;
  for (int64_t tiles = (pixels + kMostPixels - 1) / kMostPixels; tiles > 0; --tiles) {
    const int64_t size = (pixels - pixel + tiles - 1) / tiles;
    switch (size) {
      case 6:
        sum_tile<6, 1, kRow>(pass, pixel);
        break;
      case 5:
        sum_tile<5, 1, kRow>(pass, pixel);
        break;
      case 4:
        sum_tile<4, 1>(pass, pixel);
        break;
      case 3:
        sum_tile<3, 1>(pass, pixel);
        break;
      case 2:
        sum_tile<2, 1>(pass, pixel);
        break;
      default:
        sum_tile<1, 1>(pass, pixel);
    }
    pixel += size;
  }
}

// Up to three pixels, which leave room for the sums of more channels.
void sum_few_pixels(const Pass& pass, int64_t pixels, int64_t blocks) {
  if (pixels == 1) {
    blocks == 4   ? sum_tile<1, 4>(pass, 0)
    : blocks == 3 ? sum_tile<1, 3>(pass, 0)
                  : sum_tile<1, 2>(pass, 0);
  } else {
    pixels == 2 ? sum_tile<2, 2>(pass, 0) : sum_tile<3, 2>(pass, 0);
  }
}
int64_t blocks_together(int64_t pixels) { return pixels == 1 ? 4 : pixels <= 3 ? 2 : 1; }

class DenseConv {
 public:
  DenseConv(const ConvF16Args& args, Scratch& scratch)
      : args_(args),
        params_(args.packed->params),
        filter_(params_.filter),
        stages_(params_),
        scratch_(scratch),
        units_(filter_, args.extents, kConvF16Tile),
        extents_(args.extents),
        y_(axis_plan(filter_, true)),
        x_(axis_plan(filter_, false)),
        taps_(y_.kernel * x_.kernel),
        in_blocks_(channel_blocks(filter_.in_channels)),
        out_blocks_(channel_blocks(filter_.out_channels)),
        in_plane_(int64_t{extents_.in.h} * extents_.in.w * kLanes),
        out_plane_(int64_t{extents_.out.h} * extents_.out.w * kLanes),
        in_stride_(args.input_batch_stride != 0 ? args.input_batch_stride
                                                : in_blocks_ * in_plane_),
        out_stride_(args.output_batch_stride != 0 ? args.output_batch_stride
                                                  : out_blocks_ * out_plane_),
        few_(is_few(filter_)),
        weights_(reinterpret_cast<const float*>(args.packed->weights.data())),
        bias_(reinterpret_cast<const float*>(args.packed->bias.data())) {}

  void run(IndexRange units) {
    if (units_.matrix_product || is_points()) return run_points(units);
    BandLimits limits = {kBandPixels, kScratchPixels, true};
    if (few_) {
      gather_few_weights();
      // Rows of floats without gaps, and what the last store of a row writes beyond it.
      limits = {kFewBandPixels, kScratchPixels * kLanes / kFewChannels - kLanes, true};
    } else {
      limits.scratch_pixels = pixels_for_all_blocks(filter_, extents_, kScratchPixels, kFewPixels);
    }
    for_each_band(filter_, extents_, units_, limits, units,
                  [&](const Band& band, TileRange tiles, int64_t n) {
                    few_ ? few_band(band, tiles, n) : dense_band(band, tiles, n);
                  });
  }

 private:
  // Every output pixel reads one input pixel.
  bool is_points() const {
    const auto inside = [](int32_t in, int32_t out, int32_t stride) {
      return int64_t{out - 1} * stride < in;
    };
    return taps_ == 1 && !filter_.transposed && extents_.pad_before == Extent2{0, 0} &&
           inside(extents_.in.h, extents_.out.h, filter_.stride.h) &&
           inside(extents_.in.w, extents_.out.w, filter_.stride.w);
  }

  // Where a band's output begins.
  struct Place {
    int64_t output, residual;  // elements
    int64_t out_pixel, residual_pixel;
  };

  Pass pass_of(const Place& place, int64_t block) const {
    const int64_t at = block * out_plane_;
    const uint16_t* const residual =
        params_.has_residual ? args_.residual + place.residual + at : nullptr;
    return {stages_,
            scratch_,
            kLanes,
            nullptr,
            0,
            0,
            0,
            nullptr,
            kLanes * kLanes,
            in_blocks_ * taps_ * kLanes * kLanes,
            bias_ + block * kLanes,
            scratch_.acc[block % kTileBlocks],
            true,
            true,
            residual,
            args_.output + place.output + at,
            place.out_pixel,
            place.residual_pixel,
            out_plane_};
  }
  Place place_of(const Band& band, int64_t n) const {
    const int64_t at = (band.oy * extents_.out.w + band.ox) * kLanes;
    return {n * out_stride_ + at, n * out_blocks_ * out_plane_ + at, kLanes, kLanes};
  }

  // Steps begin..end of those whose input is held, for the blocks of one tile of output channels; `held` is the first.
  void sum_held(int64_t pixels, const Place& place, int64_t tile, int64_t held, int64_t begin,
                int64_t end) const {
    const int64_t all = in_blocks_ * taps_;
    const int64_t full = int64_t{filter_.in_channels / kLanes} * taps_;
    const int64_t last_block = smaller((tile + 1) * kTileBlocks, out_blocks_);
    const int64_t together = blocks_together(pixels);
    for (int64_t block = tile * kTileBlocks; block < last_block;) {
      const int64_t blocks = smaller(together, last_block - block);
      Pass pass = pass_of(place, block);
      const int64_t part = even_part(end - begin, kPartSteps);
      for (int64_t step = begin; step < end; step += part) {
        const int64_t stop = smaller(step + part, end);
        pass.step_offset = scratch_.step_offset + (step - held);
        pass.steps = stop - step;
        pass.full_steps = stop <= full ? pass.steps : full > step ? full - step : 0;
        pass.last_lanes = filter_.in_channels % kLanes;
        pass.weights = weights_ + block * pass.next_block + step * kLanes * kLanes;
        pass.first = step == 0;
        pass.last = stop == all;
        blocks > 1 ? sum_few_pixels(pass, pixels, blocks) : sum_pixels(pass, pixels);
      }
      block += blocks;
    }
  }

  // Tiles of output channels over the input that `load` brings block by block, `each` scratch pixels of them.
  template <typename Load>
  void sum_tiles(int64_t pixels, int64_t each, const Place& place, TileRange tiles,
                 const Load& load) {
    const int64_t hold = smaller(kScratchPixels / each, in_blocks_);
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
      for (int64_t block = 0; block < in_blocks_; block += hold) {
        const int64_t end = smaller(block + hold, in_blocks_);
        for (int64_t i = block; i < end && (hold < in_blocks_ || tile == tiles.begin); ++i)
          load(i, scratch_.pixels + (i - block) * each);
        sum_held(pixels, place, tile, block * taps_, block * taps_, end * taps_);
      }
    }
  }

  void fill_steps(int64_t each, int64_t columns) {
    const int64_t hold = smaller(kScratchPixels / each, in_blocks_);
    int32_t* to = scratch_.step_offset;
    for (int64_t block = 0; block < hold; ++block) {
      for (int64_t ky = 0; ky < y_.kernel; ++ky) {
        const int64_t row = block * each + y_.tap(ky) * columns;
        for (int64_t kx = 0; kx < x_.kernel; ++kx)
          *to++ = static_cast<int32_t>((row + x_.tap(kx)) * kLanes);
      }
    }
  }

  void dense_band(const Band& band, TileRange tiles, int64_t n) {
    scratch_.places.fill(band, y_.step, x_.step, extents_.out.w);
    fill_steps(band.scratch_pixels(), band.scratch_columns);
    const uint16_t* const image = args_.input + n * in_stride_;
    sum_tiles(band.pixels(), band.scratch_pixels(), place_of(band, n), tiles,
              [&](int64_t block, float (*to)[kLanes]) {
                load_block(band, image + block * in_plane_, to);
              });
  }

  void load_block(const Band& band, const uint16_t* plane, float (*to)[kLanes]) const {
    const int64_t top = y_.lead(band.oy, extents_.pad_before.h);
    const int64_t left = x_.lead(band.ox, extents_.pad_before.w);
    for (int64_t r = 0; r < band.scratch_rows; ++r) {
      const int64_t iy = y_.source(top + r, extents_.in.h);
      const uint16_t* const row = plane + iy * extents_.in.w * kLanes;
      if (iy < 0) {
        for (int64_t i = 0; i < band.scratch_columns; ++i) fill_border(*to++);
      } else if (x_.stuffing == 1) {
        const RowPart part = row_part(left, band.scratch_columns, extents_.in.w);
        for (int64_t i = 0; i < part.before; ++i) fill_border(*to++);
        const uint16_t* from = row + (left + part.before) * kLanes;
        for (int64_t i = 0; i < part.body; ++i, from += kLanes) Avx2Half::widen(from, *to++);
        for (int64_t i = part.before + part.body; i < band.scratch_columns; ++i) fill_border(*to++);
      } else {
        for (int64_t i = 0; i < band.scratch_columns; ++i, ++to) {
          const int64_t ix = x_.source(left + i, extents_.in.w);
          ix >= 0 ? Avx2Half::widen(row + ix * kLanes, *to) : fill_border(*to);
        }
      }
    }
  }
  static void fill_border(float* to) {
    _mm256_store_ps(to, _mm256_setzero_ps());
    _mm256_store_ps(to + 8, _mm256_setzero_ps());
  }

  // Pixels of all rows in turn, or the rows of a matrix.
  void run_points(IndexRange units) {
    const int64_t all = kScratchPixels / in_blocks_;
    const int64_t most = all < kFewPixels ? kBandPixels : smaller(all, kBandPixels);
    for_each_region(units_, units_.height, units,
                    [&](int64_t n, TileRange tiles, int64_t oy, int64_t rows) {
                      const int64_t width = units_.matrix_product ? 1 : extents_.out.w;
                      const int64_t end = (oy + rows) * width;
                      const int64_t part = even_part(rows * width, most);
                      for (int64_t at = oy * width; at < end; at += part)
                        points(n, tiles, at, smaller(part, end - at));
                    });
  }

  void points(int64_t n, TileRange tiles, int64_t first, int64_t pixels) {
    Place place = {n * out_stride_ + first * kLanes, n * out_blocks_ * out_plane_ + first * kLanes,
                   kLanes, kLanes};
    if (units_.matrix_product) {
      place = {first * out_stride_, first * out_blocks_ * out_plane_, out_stride_,
               out_blocks_ * out_plane_};
    }
    for (int64_t i = 0; i < pixels; ++i)
      scratch_.places.scratch[i] = scratch_.places.output[i] = static_cast<int32_t>(i);
    find_sources(first, pixels);
    fill_steps(pixels, pixels);
    const uint16_t* const image = args_.input + (units_.matrix_product ? 0 : n * in_stride_);
    sum_tiles(pixels, pixels, place, tiles, [&](int64_t block, float (*to)[kLanes]) {
      const uint16_t* const plane = image + block * in_plane_;
      for (int64_t i = 0; i < pixels; ++i) Avx2Half::widen(plane + scratch_.source[i], to[i]);
    });
  }

  // Where pixels lie, in elements of a plane.
  void find_sources(int64_t first, int64_t pixels) {
    if (units_.matrix_product) {
      for (int64_t i = 0; i < pixels; ++i) scratch_.source[i] = (first + i) * in_stride_;
      return;
    }
    const int64_t down = (int64_t{filter_.stride.h} * extents_.in.w -
                          int64_t{extents_.out.w} * filter_.stride.w) *
                         kLanes;
    int64_t y = first / extents_.out.w, x = first % extents_.out.w;
    int64_t at = (y * filter_.stride.h * extents_.in.w + x * filter_.stride.w) * kLanes;
    for (int64_t i = 0; i < pixels; ++i, at += int64_t{filter_.stride.w} * kLanes) {
      scratch_.source[i] = at;
      if (++x == extents_.out.w) x = 0, at += down;
    }
  }

  // The weights of channels that exist, without gaps: [oc block][kernel.h][kernel.w][channels][16 oc].
  void gather_few_weights() {
    float* to = scratch_.few_weights;
    for (int64_t row = 0; row < out_blocks_ * taps_; ++row) {
      for (int64_t i = 0; i < filter_.in_channels; ++i, to += kLanes) {
        const float* const from = weights_ + (row * kLanes + i) * kLanes;
        _mm256_store_ps(to, _mm256_load_ps(from));
        _mm256_store_ps(to + 8, _mm256_load_ps(from + 8));
      }
    }
  }

  // One step per row of the kernel.
  void few_band(const Band& band, TileRange tiles, int64_t n) {
    const int64_t channels = filter_.in_channels, row = x_.kernel * channels;
    scratch_.places.fill(band, y_.step, x_.step, extents_.out.w);
    for (int64_t ky = 0; ky < y_.kernel; ++ky) {
      scratch_.step_offset[ky] =
          static_cast<int32_t>(y_.tap(ky) * band.scratch_columns * channels);
    }
    load_few(band, args_.input + n * in_stride_);
    const int64_t end = smaller(tiles.end * kTileBlocks, out_blocks_);
    for (int64_t block = tiles.begin * kTileBlocks; block < end; ++block) {
      Pass pass = pass_of(place_of(band, n), block);
      pass.pixel_floats = channels;
      pass.step_offset = scratch_.step_offset;
      pass.steps = y_.kernel;
      pass.last_lanes = static_cast<int32_t>(row);
      pass.last_weights = row * kLanes;
      pass.weights = scratch_.few_weights + block * y_.kernel * row * kLanes;
      switch (row) {
        case 9:
          sum_pixels<9>(pass, band.pixels());
          break;
        case 18:
          sum_pixels<18>(pass, band.pixels());
          break;
        case 21:
          sum_pixels<21>(pass, band.pixels());
          break;
        default:
          sum_pixels(pass, band.pixels());
      }
    }
  }
  void load_few(const Band& band, const uint16_t* image) {
    const int64_t channels = filter_.in_channels;
    const int64_t top = y_.lead(band.oy, extents_.pad_before.h);
    const int64_t left = x_.lead(band.ox, extents_.pad_before.w);
    float* to = scratch_.pixels[0];
    for (int64_t r = 0; r < band.scratch_rows; ++r) {
      const int64_t iy = y_.source(top + r, extents_.in.h);
      RowPart part = row_part(left, band.scratch_columns, extents_.in.w);
      if (iy < 0) part = {band.scratch_columns, 0};
      for (int64_t i = 0; i < part.before * channels; ++i) *to++ = 0;
      const uint16_t* from = image + (iy * extents_.in.w + left + part.before) * kLanes;
      // Four lanes each; what is too much is overwritten by the next.
      for (int64_t i = 0; i < part.body; ++i, from += kLanes, to += channels)
        _mm_storeu_ps(to, _mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
      for (int64_t i = (part.before + part.body) * channels; i < band.scratch_columns * channels;
           ++i)
        *to++ = 0;
    }
  }

  const ConvF16Args& args_;
  const ConvF16Params& params_;
  const ConvFilter& filter_;
  const Stages stages_;
  Scratch& scratch_;
  const ConvUnits units_;
  const ConvExtents& extents_;
  const AxisPlan y_, x_;
  const int64_t taps_, in_blocks_, out_blocks_;
  const int64_t in_plane_, out_plane_, in_stride_, out_stride_;  // elements
  const bool few_;
  const float* const weights_;
  const float* const bias_;
};

}  // namespace

void dense(const ConvF16Args& args, IndexRange units) {
  const ThreadScratch scratch;
  DenseConv(args, *static_cast<Scratch*>(scratch.data())).run(units);
}

}  // namespace rk::kernels::avx2_f16

namespace rk::kernels {

void conv_f16__avx2(const ConvF16Args& args, IndexRange units) {
  const ConvFilter& filter = args.packed->params.filter;
  const IsaRounding mode;
  if (takes_dense_tiles(filter)) {
    avx2_f16::dense(args, units);
  } else if (avx2_f16::depthwise(args, units)) {
    return;
  } else if (lanes_f16_accept(filter)) {
    run_lanes_f16<LanesF16<IsaF32, IsaHalf>>(args, units);
  } else {
    conv_f16__generic(args, units);
  }
}

}  // namespace rk::kernels

RK_ISA_END

#endif  // x86-64
