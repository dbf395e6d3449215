// SPDX-License-Identifier: Apache-2.0
// fp16 convolution in portable loops over 16 lanes.
//
// Where a block of 16 output channels spans several groups, each group is summed on its own and only its lanes are kept:
// zero weights would not do, because 0 * inf from a neighboring group is NaN. For the same reason padding lanes of the
// input are never read into a sum.
#include "kernels/conv/common/blocking.h"
#include "kernels/conv/conv_f16.h"
#include "kernels/half_lanes.h"

namespace rk::kernels {
namespace {

constexpr int32_t kLanes = kHostBlock;
constexpr int32_t kPixels = 2;  // 8 SSE registers of sums, 4 of weights

struct Row {
  const ConvF16Args& args;
  const ConvFilter& filter;
  ConvAxis y;
  ConvAxis x;
  int32_t tile;
  int64_t oy;
  const uint16_t* image;

  // Of the tile, with that many rows of 16 for each tap.
  const float* weights(int64_t rows) const {
    const int64_t taps = int64_t{filter.kernel.h} * filter.kernel.w;
    return reinterpret_cast<const float*>(args.packed->weights.data()) +
           tile * taps * rows * kLanes;
  }
  int64_t plane() const { return int64_t{args.extents.in.h} * args.extents.in.w * kLanes; }
  const uint16_t* input_row(int32_t block, int64_t ky) const {
    const int64_t at = y.source(oy, ky);
    return at < 0 ? nullptr : image + block * plane() + at * args.extents.in.w * kLanes;
  }
  void load(const uint16_t* row, int64_t ox, int64_t kx, float* wide) const {
    const int64_t at = row != nullptr ? x.source(ox, kx) : -1;
    if (at < 0) {
      for (int32_t i = 0; i < kLanes; ++i) wide[i] = 0.0f;
    } else {
      widen_lanes<kLanes>(row + at * kLanes, wide);
    }
  }
};

struct ChannelRange {
  int32_t begin;
  int32_t end;
};

// Adds the products of one tap of input channels `in`, which lie in one block; `weights` are those of the first.
template <int32_t kCount>
void sum_tap(const Row& row, int64_t ox, ChannelRange in, int64_t ky, int64_t kx,
             const float* weights, float (*acc)[kLanes]) {
  float x[kCount][kLanes];
  const uint16_t* const input_row = row.input_row(in.begin / kLanes, ky);
  for (int32_t p = 0; p < kCount; ++p) row.load(input_row, ox + p, kx, x[p]);
  for (int32_t i = in.begin; i < in.end; ++i, weights += kLanes) {
    for (int32_t p = 0; p < kCount; ++p) {
      for (int32_t c = 0; c < kLanes; ++c) acc[p][c] += x[p][i % kLanes] * weights[c];
    }
  }
}

// The part of `in` that lies in the block of its first channel.
ChannelRange first_block_of(ChannelRange in) {
  const int32_t end = (in.begin / kLanes + 1) * kLanes;
  return {in.begin, in.end < end ? in.end : end};
}

template <int32_t kCount>
void sum_channels(const Row& row, int64_t ox, float (*acc)[kLanes]) {
  const ConvFilter& filter = row.filter;
  const float* weights = row.weights(channel_blocks(filter.in_channels) * kLanes);
  for (ChannelRange left = {0, filter.in_channels}; left.begin < left.end;) {
    const ChannelRange part = first_block_of(left);
    for (int64_t ky = 0; ky < filter.kernel.h; ++ky) {
      for (int64_t kx = 0; kx < filter.kernel.w; ++kx, weights += kLanes * kLanes)
        sum_tap<kCount>(row, ox, part, ky, kx, weights, acc);
    }
    left.begin = part.end;
  }
}

template <int32_t kCount>
void sum_group(const Row& row, int64_t ox, int32_t group, float (*acc)[kLanes]) {
  const ConvFilter& filter = row.filter;
  const int32_t channels = filter.in_per_group();
  const float* weights = row.weights(channels);
  for (int64_t ky = 0; ky < filter.kernel.h; ++ky) {
    for (int64_t kx = 0; kx < filter.kernel.w; ++kx) {
      for (ChannelRange left = {group * channels, (group + 1) * channels}; left.begin < left.end;) {
        const ChannelRange part = first_block_of(left);
        sum_tap<kCount>(row, ox, part, ky, kx, weights, acc);
        weights += (part.end - part.begin) * kLanes;
        left.begin = part.end;
      }
    }
  }
}

template <int32_t kCount>
void sum_dense(const Row& row, int64_t ox, const float* bias, float (*acc)[kLanes]) {
  const ConvFilter& filter = row.filter;
  const int32_t first = row.tile * kLanes;
  const int32_t end = first + lanes_of_block(filter.out_channels, row.tile);
  for (int32_t oc = first; oc < end;) {
    const int32_t group = oc / filter.out_per_group();
    const int32_t group_end = (group + 1) * filter.out_per_group();
    float sums[kCount][kLanes];
    for (int32_t p = 0; p < kCount; ++p) {
      for (int32_t c = 0; c < kLanes; ++c) sums[p][c] = bias[c];
    }
    if (filter.groups > 1) {
      sum_group<kCount>(row, ox, group, sums);
    } else {
      sum_channels<kCount>(row, ox, sums);
    }
    // Lanes of later groups are overwritten by their own turn; padding lanes stay finite: bias 0 and weights 0, or
    // whatever the last group made of them.
    for (int32_t p = 0; p < kCount; ++p) {
      for (int32_t c = oc - first; c < kLanes; ++c) acc[p][c] = sums[p][c];
    }
    oc = group_end < end ? group_end : end;
  }
}

template <int32_t kCount>
void sum_depthwise(const Row& row, int64_t ox, const float* bias, float (*acc)[kLanes]) {
  const ConvFilter& filter = row.filter;
  const float* weights = row.weights(1);
  for (int32_t p = 0; p < kCount; ++p) {
    for (int32_t c = 0; c < kLanes; ++c) acc[p][c] = bias[c];
  }
  for (int64_t ky = 0; ky < filter.kernel.h; ++ky) {
    const uint16_t* const input_row = row.input_row(row.tile, ky);
    for (int64_t kx = 0; kx < filter.kernel.w; ++kx, weights += kLanes) {
      for (int32_t p = 0; p < kCount; ++p) {
        float x[kLanes];
        row.load(input_row, ox + p, kx, x);
        for (int32_t c = 0; c < kLanes; ++c) acc[p][c] += x[c] * weights[c];
      }
    }
  }
}

// A comparison that is false for NaN, so that NaN stays.
void relu(float* v) {
  for (int32_t c = 0; c < kLanes; ++c) v[c] = v[c] < 0.0f ? 0.0f : v[c];
}

void finish_pixel(const ConvF16Params& params, float* v, const uint16_t* residual,
                  uint16_t* output) {
  if (params.activation != Activation::kNone) relu(v);
  if (params.activation == Activation::kClip) {
    for (int32_t c = 0; c < kLanes; ++c) v[c] = v[c] > params.clip ? params.clip : v[c];
  }
  if (residual != nullptr) {
    float e[kLanes];
    widen_lanes<kLanes>(residual, e);
    for (int32_t c = 0; c < kLanes; ++c) v[c] += e[c];
  }
  if (params.relu_after_add) relu(v);
  narrow_lanes<kLanes>(v, output);
}

template <int32_t kCount>
void pixels(const Row& row, int64_t ox, const uint16_t* residual, uint16_t* output) {
  const auto* const bias =
      reinterpret_cast<const float*>(row.args.packed->bias.data()) + row.tile * kLanes;
  float acc[kCount][kLanes];
  if (row.filter.depthwise()) {
    sum_depthwise<kCount>(row, ox, bias, acc);
  } else {
    sum_dense<kCount>(row, ox, bias, acc);
  }
  for (int32_t p = 0; p < kCount; ++p) {
    const int64_t at = (ox + p) * kLanes;
    finish_pixel(row.args.packed->params, acc[p], residual != nullptr ? residual + at : nullptr,
                 output + at);
  }
}

void run_row(const ConvF16Args& args, int64_t n, int32_t block, int64_t oy) {
  const ConvFilter& filter = args.packed->params.filter;
  const ConvExtents& extents = args.extents;
  const int64_t row_elements = int64_t{extents.out.w} * kLanes;
  const int64_t dense_in =
      int64_t{channel_blocks(filter.in_channels)} * extents.in.h * extents.in.w * kLanes;
  const int64_t dense_out = channel_blocks(filter.out_channels) * extents.out.h * row_elements;
  const int64_t in_stride = args.input_batch_stride != 0 ? args.input_batch_stride : dense_in;
  const int64_t out_stride = args.output_batch_stride != 0 ? args.output_batch_stride : dense_out;
  const Row row = {args,  filter, y_axis(filter, extents),   x_axis(filter, extents),
                   block, oy,     args.input + n * in_stride};
  const int64_t in_picture = (block * extents.out.h + oy) * row_elements;
  const uint16_t* const residual =
      args.packed->params.has_residual ? args.residual + n * dense_out + in_picture : nullptr;
  uint16_t* const output = args.output + n * out_stride + in_picture;
  int64_t ox = 0;
  for (; ox + kPixels <= extents.out.w; ox += kPixels) pixels<kPixels>(row, ox, residual, output);
  for (; ox < extents.out.w; ++ox) pixels<1>(row, ox, residual, output);
}

}  // namespace

void conv_f16__generic(const ConvF16Args& args, IndexRange units) {
  const int32_t blocks = channel_blocks(args.packed->params.filter.out_channels);
  constexpr int32_t kBlocksOfTile = kConvF16Tile / kLanes;
  for_each_row({args.packed->params.filter, args.extents, kConvF16Tile}, units,
               [&](int64_t n, int32_t tile, int64_t oy) {
                 const int32_t first = tile * kBlocksOfTile;
                 for (int32_t b = first; b < first + kBlocksOfTile && b < blocks; ++b)
                   run_row(args, n, b, oy);
               });
}

}  // namespace rk::kernels
