// SPDX-License-Identifier: Apache-2.0
// float32 convolution in portable loops: a matrix product of weights by patches, where patches are gathered panel by
// panel and never stored whole; filters with one input channel per group (depthwise) go plane by plane instead.
#include <cstring>

#include "base/checked_math.h"
#include "kernels/conv/common/blocking.h"
#include "kernels/conv/conv_f32.h"
#include "kernels/gemm/tile_f32.h"

namespace rk::kernels {
namespace {

int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

bool by_planes(const ConvFilter& filter) { return filter.groups > 1 && filter.in_per_group() == 1; }

int64_t out_pixels(const ConvF32Args& args) {
  return int64_t{args.extents.out.h} * args.extents.out.w;
}

// Where each output pixel of a panel reads through one tap, as an offset into a plane; -1: padding.
struct Offsets {
  int64_t at[kTileCols];
  bool consecutive;  // at[p] = at[0] + p for all
};

Offsets tap_offsets(const ConvF32Args& args, int64_t first_pixel, int64_t pixels, int64_t tap) {
  const ConvAxis y = y_axis(args.filter, args.extents);
  const ConvAxis x = x_axis(args.filter, args.extents);
  const int64_t ky = tap / args.filter.kernel.w;
  const int64_t kx = tap % args.filter.kernel.w;
  int64_t oy = first_pixel / args.extents.out.w;
  int64_t ox = first_pixel % args.extents.out.w;
  int64_t row = y.source(oy, ky);
  Offsets offsets;
  offsets.consecutive = true;
  for (int64_t p = 0; p < pixels; ++p) {
    const int64_t column = row < 0 ? -1 : x.source(ox, kx);
    offsets.at[p] = column < 0 ? -1 : row * args.extents.in.w + column;
    offsets.consecutive &= offsets.at[p] >= 0 && offsets.at[p] == offsets.at[0] + p;
    if (++ox == args.extents.out.w) {
      ox = 0;
      row = y.source(++oy, ky);
    }
  }
  return offsets;
}

// Rows k0..k0 + depth of the patch matrix; row k is input channel k / taps, tap k % taps. Taps are outermost so that a
// tap's offsets serve all channels of the panel.
void load_panel(const ConvF32Args& args, const float* image, int64_t k0, int64_t depth,
                int64_t first_pixel, int64_t pixels, TileF32& tile) {
  const int64_t taps = int64_t{args.filter.kernel.h} * args.filter.kernel.w;
  const int64_t plane = int64_t{args.extents.in.h} * args.extents.in.w;
  const int64_t tap_count = smaller(taps, depth);
  for (int64_t t = 0; t < tap_count; ++t) {
    const int64_t tap = (k0 + t) % taps;
    const Offsets offsets = tap_offsets(args, first_pixel, pixels, tap);
    for (int64_t k = t; k < depth; k += taps) {
      const float* const source = image + (k0 + k) / taps * plane;
      float* const panel = tile.panel[k];
      if (offsets.consecutive) {
        std::memcpy(panel, source + offsets.at[0], static_cast<size_t>(pixels) * sizeof(float));
      } else {
        for (int64_t p = 0; p < pixels; ++p) {
          panel[p] = offsets.at[p] < 0 ? 0.0f : source[offsets.at[p]];
        }
      }
      for (int64_t p = pixels; p < kTileCols; ++p) panel[p] = 0.0f;
    }
  }
}

// Weights of `rows` output channels, as a row-major matrix by k. OIHW is one already; IOHW is gathered into `scratch`.
struct WeightRows {
  const float* data;
  int64_t row_stride;
};

WeightRows weight_rows(const ConvF32Args& args, int64_t out_channel, int64_t rows, int64_t k0,
                       int64_t depth, float (*scratch)[kTileDepth]) {
  const ConvFilter& filter = args.filter;
  const int64_t taps = int64_t{filter.kernel.h} * filter.kernel.w;
  if (args.order == WeightOrder::kOihw) {
    const int64_t row_stride = filter.in_per_group() * taps;
    return {args.weights + out_channel * row_stride + k0, row_stride};
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t k = 0; k < depth; ++k) {
      scratch[r][k] = args.weights[plain_weight_index(filter, args.order, out_channel + r,
                                                      (k0 + k) / taps, (k0 + k) % taps)];
    }
  }
  return {scratch[0], kTileDepth};
}

void run_tile(MultiplyTileF32 multiply, const ConvF32Args& args, int64_t n, int64_t group,
              int64_t first_pixel, int64_t first_row) {
  const ConvFilter& filter = args.filter;
  const int64_t plane = int64_t{args.extents.in.h} * args.extents.in.w;
  const int64_t pixels = smaller(kTileCols, out_pixels(args) - first_pixel);
  const int64_t rows = smaller(kTileRows, filter.out_per_group() - first_row);
  const int64_t out_channel = group * filter.out_per_group() + first_row;
  const float* const image =
      args.input + (n * filter.in_channels + group * filter.in_per_group()) * plane;
  const int64_t k_count = int64_t{filter.in_per_group()} * filter.kernel.h * filter.kernel.w;
  TileF32 tile;
  float scratch[kTileRows][kTileDepth];
  for (int64_t r = 0; r < rows; ++r) {
    const float start = args.bias != nullptr ? args.bias[out_channel + r] : 0.0f;
    for (int64_t p = 0; p < kTileCols; ++p) tile.sums[r][p] = start;
  }
  for (int64_t k0 = 0; k0 < k_count; k0 += kTileDepth) {
    const int64_t depth = smaller(kTileDepth, k_count - k0);
    load_panel(args, image, k0, depth, first_pixel, pixels, tile);
    const WeightRows a = weight_rows(args, out_channel, rows, k0, depth, scratch);
    multiply(tile, a.data, a.row_stride, 1, rows, depth);
  }
  for (int64_t r = 0; r < rows; ++r) {
    float* const output =
        args.output + (n * filter.out_channels + out_channel + r) * out_pixels(args) + first_pixel;
    std::memcpy(output, tile.sums[r], static_cast<size_t>(pixels) * sizeof(float));
  }
}

// output[ox] += w * input[column of ox] over one row, for the columns that exist.
void add_row(const ConvF32Args& args, const ConvAxis& x, const float* input, int64_t kx, float w,
             float* output) {
  const int64_t width = args.extents.out.w;
  if (x.transposed) {
    for (int64_t ox = 0; ox < width; ++ox) {
      const int64_t at = x.source(ox, kx);
      if (at >= 0) output[ox] += w * input[at];
    }
    return;
  }
  const int64_t shift = kx * x.dilation - x.pad_before;  // at = ox * stride + shift
  const int64_t begin = shift >= 0 ? 0 : ceil_div(-shift, x.stride);
  const int64_t end = x.in > shift ? smaller(width, ceil_div(x.in - shift, x.stride)) : 0;
  if (x.stride == 1) {
    for (int64_t ox = begin; ox < end; ++ox) output[ox] += w * input[ox + shift];
  } else {
    for (int64_t ox = begin; ox < end; ++ox) output[ox] += w * input[ox * x.stride + shift];
  }
}

void run_plane(const ConvF32Args& args, int64_t n, int64_t out_channel) {
  const ConvFilter& filter = args.filter;
  const ConvAxis y = y_axis(filter, args.extents);
  const ConvAxis x = x_axis(filter, args.extents);
  const int64_t in_channel = out_channel / filter.out_per_group();
  const float* const image = args.input + (n * filter.in_channels + in_channel) *
                                              int64_t{args.extents.in.h} * args.extents.in.w;
  float* const output = args.output + (n * filter.out_channels + out_channel) * out_pixels(args);
  const float start = args.bias != nullptr ? args.bias[out_channel] : 0.0f;
  for (int64_t oy = 0; oy < args.extents.out.h; ++oy) {
    float* const row = output + oy * args.extents.out.w;
    for (int64_t ox = 0; ox < args.extents.out.w; ++ox) row[ox] = start;
    for (int64_t ky = 0; ky < filter.kernel.h; ++ky) {
      const int64_t iy = y.source(oy, ky);
      if (iy < 0) continue;
      for (int64_t kx = 0; kx < filter.kernel.w; ++kx) {
        const int64_t at =
            plain_weight_index(filter, args.order, out_channel, 0, ky * filter.kernel.w + kx);
        add_row(args, x, image + iy * args.extents.in.w, kx, args.weights[at], row);
      }
    }
  }
}

struct Tiles {
  int64_t rows;    // per group
  int64_t panels;  // of pixels
};
Tiles tiles_of(const ConvF32Args& args) {
  return {ceil_div<int64_t>(args.filter.out_per_group(), kTileRows),
          ceil_div(out_pixels(args), kTileCols)};
}

}  // namespace

int64_t conv_f32_units(const ConvF32Args& args) {
  if (by_planes(args.filter)) return int64_t{args.extents.batch} * args.filter.out_channels;
  const Tiles tiles = tiles_of(args);
  return int64_t{args.extents.batch} * args.filter.groups * tiles.panels * tiles.rows;
}

void conv_f32_by(MultiplyTileF32 multiply, const ConvF32Args& args, IndexRange units) {
  if (by_planes(args.filter)) {
    for (int64_t unit = units.begin; unit < units.end; ++unit) {
      run_plane(args, unit / args.filter.out_channels, unit % args.filter.out_channels);
    }
    return;
  }
  const Tiles tiles = tiles_of(args);
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const int64_t panel = unit / tiles.rows % tiles.panels;
    const int64_t image_group = unit / tiles.rows / tiles.panels;
    run_tile(multiply, args, image_group / args.filter.groups, image_group % args.filter.groups,
             panel * kTileCols, unit % tiles.rows * kTileRows);
  }
}

void conv_f32__generic(const ConvF32Args& args, IndexRange units) {
  conv_f32_by(multiply_tile_f32__generic, args, units);
}

}  // namespace rk::kernels
