// SPDX-License-Identifier: Apache-2.0
// 3x3 depthwise layers of conv_f16__avx2: tiles of two rows by three pixels by eight channels, six sums beside the nine weights
// in registers. Each input is widened once for all outputs of a tile, by units that multiply-adds do not use. Tiles at an edge,
// and all of narrow pictures, read a copy with the border written out.
#if defined(__x86_64__)

#include "kernels/conv/f16/x86_avx2.h"

RK_ISA_BEGIN

namespace rk::kernels::avx2_f16 {
namespace {

constexpr int kRows = 2, kColumns = 3, kTaps = 9;
constexpr int64_t kNarrow =
    42;  // output columns of pictures that are copied, a multiple of kColumns
constexpr int64_t kCopiedRows = 8;  // of the output, at a time
// Of the input, with the larger stride.
constexpr int64_t kMostHigh = (kCopiedRows - 1) * 2 + 3, kMostWide = (kNarrow - 1) * 2 + 3;
using Copy = uint16_t[kMostHigh * kMostWide * kLanes];
static_assert(sizeof(Copy) <= ThreadScratch::kBytes);

struct Picture {
  const uint16_t* input;  // of the block
  const uint16_t* residual;
  uint16_t* output;
  const float* weights;  // [9][16]
  const float* bias;
};

// Of eight channels.
struct Weights {
  __m256 tap[kTaps], bias;
  Weights(const Picture& picture, int half) {
#pragma GCC unroll 9
    for (int t = 0; t < kTaps; ++t) tap[t] = _mm256_load_ps(picture.weights + t * kLanes + half);
    bias = _mm256_load_ps(picture.bias + half);
  }
};

// Sums of eight channels. `row`: elements from one input row to the next.
template <int kStride>
inline __attribute__((always_inline)) void sum_tile(const uint16_t* from, int64_t row,
                                                    const Weights& w,
                                                    __m256 (&sum)[kRows][kColumns]) {
  constexpr int kHigh = (kRows - 1) * kStride + 3, kWide = (kColumns - 1) * kStride + 3;
#pragma GCC unroll 2
  for (int o = 0; o < kRows; ++o) {
#pragma GCC unroll 3
    for (int p = 0; p < kColumns; ++p) sum[o][p] = w.bias;
  }
#pragma GCC unroll 5
  for (int r = 0; r < kHigh; ++r) {
#pragma GCC unroll 7
    for (int c = 0; c < kWide; ++c) {
      const __m256 x = widen8(from + r * row + c * kLanes);
#pragma GCC unroll 2
      for (int o = 0; o < kRows; ++o) {
        const int ky = r - o * kStride;
#pragma GCC unroll 3
        for (int p = 0; p < kColumns; ++p) {
          const int kx = c - p * kStride;
          if (ky >= 0 && ky < 3 && kx >= 0 && kx < 3)
            sum[o][p] = _mm256_fmadd_ps(x, w.tap[ky * 3 + kx], sum[o][p]);
        }
      }
    }
  }
}

template <int kStride, bool kResidual>
class DepthwiseConv {
 public:
  explicit DepthwiseConv(const ConvF16Args& args)
      : e_(args.extents), stages_(args.packed->params) {}

  // Rows oy..oy + rows of one block.
  void run(const Picture& picture, int64_t oy, int64_t rows, uint16_t* copy) const {
    if (e_.out.w <= kNarrow) {
      for (int64_t y = oy; y < oy + rows; y += kCopiedRows) {
        const int64_t count = smaller(kCopiedRows, oy + rows - y);
        run_copied(picture, {y, 0, count, e_.out.w}, copy);
      }
      return;
    }
    for (int64_t y = oy; y < oy + rows; y += kRows)
      run_rows(picture, y, smaller(kRows, oy + rows - y), copy);
  }

 private:
  static constexpr int kHigh = (kRows - 1) * kStride + 3, kWide = (kColumns - 1) * kStride + 3;

  struct Area {
    int64_t oy, ox, rows, columns;
  };
  static int64_t whole(int64_t count, int64_t tile) { return (count + tile - 1) / tile * tile; }

  // Whole tiles of an area whose input is copied first, and those of its outputs that exist.
  void run_copied(const Picture& picture, const Area& area, uint16_t* copy) const {
    const int64_t high = (whole(area.rows, kRows) - 1) * kStride + 3;
    const int64_t wide = (whole(area.columns, kColumns) - 1) * kStride + 3;
    copy_input(picture, area, high, wide, copy);
    for (int half = 0; half < kLanes; half += 8) {
      const Weights w(picture, half);
      for (int64_t o = 0; o < area.rows; o += kRows) {
        const uint16_t* from = copy + o * kStride * wide * kLanes + half;
        for (int64_t p = 0; p < area.columns; p += kColumns, from += kColumns * kStride * kLanes) {
          const int64_t to = ((area.oy + o) * e_.out.w + area.ox + p) * kLanes + half;
          if (o + kRows <= area.rows && p + kColumns <= area.columns) {
            whole_tile(picture, from, wide * kLanes, w, to);
          } else {
            part_of_tile(picture, from, wide * kLanes, w, to, area.rows - o, area.columns - p);
          }
        }
      }
    }
  }
  void copy_input(const Picture& picture, const Area& area, int64_t high, int64_t wide,
                  uint16_t* to) const {
    const int64_t top = area.oy * kStride - e_.pad_before.h;
    const int64_t left = area.ox * kStride - e_.pad_before.w;
    for (int64_t y = top; y < top + high; ++y) {
      RowPart part = row_part(left, wide, e_.in.w);
      if (y < 0 || y >= e_.in.h) part = {wide, 0};
      const auto zero = [&](int64_t pixels) {
        for (int64_t i = 0; i < pixels; ++i, to += kLanes)
          _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_setzero_si256());
      };
      zero(part.before);
      const uint16_t* from = picture.input + (y * e_.in.w + left + part.before) * kLanes;
      for (int64_t i = 0; i < part.body; ++i, from += kLanes, to += kLanes) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
      }
      zero(wide - part.before - part.body);
    }
  }

  void run_rows(const Picture& picture, int64_t oy, int64_t rows, uint16_t* copy) const {
    const int64_t iy = oy * kStride - e_.pad_before.h;
    const bool inside_rows = rows == kRows && iy >= 0 && iy + kHigh <= e_.in.h;
    // Tiles that read nothing but the picture.
    int64_t first = (e_.pad_before.w + kStride - 1) / kStride, last = first;
    if (inside_rows && first >= 0) {
      while (last + kColumns <= e_.out.w && last * kStride - e_.pad_before.w + kWide <= e_.in.w)
        last += kColumns;
    }
    if (last == first) first = last = e_.out.w;
    const int64_t row = int64_t{e_.in.w} * kLanes;
    for (int half = 0; half < kLanes; half += 8) {
      const Weights w(picture, half);
      const uint16_t* from =
          picture.input + iy * row + (first * kStride - e_.pad_before.w) * kLanes + half;
      for (int64_t ox = first; ox < last; ox += kColumns, from += kColumns * kStride * kLanes)
        whole_tile(picture, from, row, w, (oy * e_.out.w + ox) * kLanes + half);
    }
    for (int64_t ox = 0; ox < first; ox += kNarrow)
      run_copied(picture, {oy, ox, rows, smaller(kNarrow, first - ox)}, copy);
    for (int64_t ox = last; ox < e_.out.w; ox += kNarrow)
      run_copied(picture, {oy, ox, rows, smaller(kNarrow, e_.out.w - ox)}, copy);
  }

  // `to`: elements of the output up to the tile.
  inline __attribute__((always_inline)) void whole_tile(const Picture& picture,
                                                        const uint16_t* from, int64_t row,
                                                        const Weights& w, int64_t to) const {
    __m256 sum[kRows][kColumns];
    sum_tile<kStride>(from, row, w, sum);
#pragma GCC unroll 2
    for (int o = 0; o < kRows; ++o) {
#pragma GCC unroll 3
      for (int p = 0; p < kColumns; ++p) {
        const int64_t at = to + (o * int64_t{e_.out.w} + p) * kLanes;
        stages_.finish<kResidual>(sum[o][p], picture.residual + at, picture.output + at);
      }
    }
  }
  void part_of_tile(const Picture& picture, const uint16_t* from, int64_t row, const Weights& w,
                    int64_t to, int64_t rows, int64_t columns) const {
    __m256 sum[kRows][kColumns];
    sum_tile<kStride>(from, row, w, sum);
    for (int64_t o = 0; o < smaller(rows, kRows); ++o) {
      for (int64_t p = 0; p < smaller(columns, kColumns); ++p) {
        const int64_t at = to + (o * e_.out.w + p) * kLanes;
        stages_.finish<kResidual>(sum[o][p], picture.residual + at, picture.output + at);
      }
    }
  }

  const ConvExtents& e_;
  const Stages stages_;
};

template <int kStride, bool kResidual>
void run(const ConvF16Args& args, IndexRange units) {
  const ConvFilter& filter = args.packed->params.filter;
  const ConvExtents& e = args.extents;
  const int64_t blocks = channel_blocks(filter.out_channels);
  const int64_t in_plane = int64_t{e.in.h} * e.in.w * kLanes;
  const int64_t out_plane = int64_t{e.out.h} * e.out.w * kLanes;
  const int64_t in_stride =
      args.input_batch_stride != 0 ? args.input_batch_stride : blocks * in_plane;
  const int64_t out_stride =
      args.output_batch_stride != 0 ? args.output_batch_stride : blocks * out_plane;
  const auto* const weights = reinterpret_cast<const float*>(args.packed->weights.data());
  const auto* const bias = reinterpret_cast<const float*>(args.packed->bias.data());
  const ThreadScratch scratch;
  const DepthwiseConv<kStride, kResidual> conv(args);
  constexpr int32_t kTileBlocks = kConvF16Tile / kLanes;
  for_each_region({filter, e, kConvF16Tile}, e.out.h, units,
                  [&](int64_t n, TileRange tiles, int64_t oy, int64_t rows) {
                    const int64_t end = smaller(tiles.end * kTileBlocks, blocks);
                    for (int64_t b = tiles.begin * kTileBlocks; b < end; ++b) {
                      const Picture picture = {
                          args.input + n * in_stride + b * in_plane,
                          kResidual ? args.residual + (n * blocks + b) * out_plane : args.output,
                          args.output + n * out_stride + b * out_plane,
                          weights + b * kTaps * kLanes, bias + b * kLanes};
                      conv.run(picture, oy, rows, static_cast<uint16_t*>(scratch.data()));
                    }
                  });
}

}  // namespace

bool depthwise(const ConvF16Args& args, IndexRange units) {
  const ConvFilter& f = args.packed->params.filter;
  const bool residual = args.packed->params.has_residual;
  if (!f.depthwise() || f.kernel != Extent2{3, 3} || f.dilation != Extent2{1, 1} || f.transposed)
    return false;
  if (f.stride == Extent2{1, 1}) {
    residual ? run<1, true>(args, units) : run<1, false>(args, units);
  } else if (f.stride == Extent2{2, 2}) {
    residual ? run<2, true>(args, units) : run<2, false>(args, units);
  } else {
    return false;
  }
  return true;
}

}  // namespace rk::kernels::avx2_f16

RK_ISA_END

#endif  // x86-64
