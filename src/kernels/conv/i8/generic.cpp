// SPDX-License-Identifier: Apache-2.0
// The integer reference of conv_i8: every other variant must equal it bit for bit. Plain loops over
// 16 channel lanes that a compiler vectorizes; the inner loops multiply int16 by int16 into int32,
// which baseline x86-64 has an instruction for, unlike int32 by int32.
//
// Packed weights (pack_lanes.h) hold w + o: int16, or int32 where sums need int64.
#include <cstring>

#include "kernels/conv/common/blocking.h"
#include "kernels/conv/conv.h"
#include "kernels/conv/i8/pack_lanes.h"
#include "kernels/conv/i8/stages.h"

namespace rk::kernels {
namespace {

constexpr int32_t kLanes = kHostBlock;
constexpr int32_t kPixels = 4;  // output pixels that share one load of weights

bool accepts_all(const PackedConvI8&) { return true; }

Status pack_generic(const ConvI8Params& source, PackedConvI8& packed) {
  const auto bytes = lane_weight_bytes(source.filter, {}, packed.wide ? 4 : 2);
  if (!bytes) return out_of_memory("convolution: the weights do not fit the address space");
  RK_ASSIGN(packed.weights, Buffer::try_make(*bytes, kMaxObjectBytes));
  if (packed.wide) {
    pack_lanes(source, {}, true, reinterpret_cast<int32_t*>(packed.weights.data()));
  } else {
    pack_lanes(source, {}, true, reinterpret_cast<int16_t*>(packed.weights.data()));
  }
  return ok_status();
}

void unpack_generic(const PackedConvI8& packed, const int16_t* offset, int8_t* plain) {
  if (packed.wide) {
    unpack_lanes<int32_t>(packed, {}, offset, plain);
  } else {
    unpack_lanes<int16_t>(packed, {}, offset, plain);
  }
}

// One run over a row of output pixels, with what does not change along it.
struct Row {
  const ConvI8Args& args;
  const ConvFilter& filter;
  ConvAxis y;
  ConvAxis x;
  int32_t tile;
  int32_t tile_blocks;  // input blocks in each tile's weights
  int64_t oy;
  const int8_t* image;  // first plane of this picture
  alignas(16) int8_t border[kLanes];

  Row(const ConvI8Args& a, int32_t blocks, int32_t n, int32_t tile_index, int64_t row)
      : args(a),
        filter(a.packed->params.filter),
        y(y_axis(filter, a.extents)),
        x(x_axis(filter, a.extents)),
        tile(tile_index),
        tile_blocks(blocks),
        oy(row) {
    const int64_t dense = channel_blocks(filter.in_channels) * plane();
    image = a.input + n * (a.input_batch_stride != 0 ? a.input_batch_stride : dense);
    std::memset(border, a.packed->params.input_zero_point, sizeof border);
  }
  int64_t plane() const { return int64_t{args.extents.in.h} * args.extents.in.w * kLanes; }

  // The 16 lanes that output pixel `ox` reads through column tap `kx` of input row `row`; null row:
  // border.
  const int8_t* pixel(const int8_t* row, int64_t ox, int64_t kx) const {
    const int64_t at = row != nullptr ? x.source(ox, kx) : -1;
    return at < 0 ? border : row + at * kLanes;
  }
  const int8_t* input_row(int32_t block, int64_t ky) const {
    const int64_t at = y.source(oy, ky);
    return at < 0 ? nullptr : image + block * plane() + at * args.extents.in.w * kLanes;
  }
};

// x * w for one input channel and 16 output channels. The narrow form stays in int16 x int16 ->
// int32.
inline void multiply_add(int32_t* acc, int16_t x, const int16_t* w) {
  for (int32_t c = 0; c < kLanes; ++c) acc[c] += int32_t{x} * w[c];
}
inline void multiply_add(int64_t* acc, int16_t x, const int32_t* w) {
  for (int32_t c = 0; c < kLanes; ++c) acc[c] += int64_t{x} * w[c];
}

template <typename Acc, typename Weight, int32_t kCount>
void dense_pixels(const Row& row, int64_t ox, Acc (*acc)[kLanes]) {
  const ConvFilter& filter = row.filter;
  const BlockRange blocks = tile_input_blocks(filter, row.tile, kLanes);
  const int64_t taps = int64_t{filter.kernel.h} * filter.kernel.w;
  const auto* weights = reinterpret_cast<const Weight*>(row.args.packed->weights.data()) +
                        row.tile * taps * row.tile_blocks * kLanes * kLanes;
  Acc local[kCount][kLanes] = {};
  for (int32_t block = blocks.begin; block < blocks.end; ++block) {
    const int32_t lanes = lanes_of_block(filter.in_channels, block);
    for (int64_t ky = 0; ky < filter.kernel.h; ++ky) {
      const int8_t* const input_row = row.input_row(block, ky);
      for (int64_t kx = 0; kx < filter.kernel.w; ++kx) {
        const int8_t* x[kCount];
        for (int32_t p = 0; p < kCount; ++p) x[p] = row.pixel(input_row, ox + p, kx);
        for (int32_t i = 0; i < lanes; ++i) {
          for (int32_t p = 0; p < kCount; ++p)
            multiply_add(local[p], x[p][i], weights + i * kLanes);
        }
        weights += kLanes * kLanes;
      }
    }
  }
  std::memcpy(acc, local, sizeof local);
}

template <typename Acc, typename Weight, int32_t kCount>
void depthwise_pixels(const Row& row, int64_t ox, Acc (*acc)[kLanes]) {
  const ConvFilter& filter = row.filter;
  const int64_t taps = int64_t{filter.kernel.h} * filter.kernel.w;
  const auto* weights =
      reinterpret_cast<const Weight*>(row.args.packed->weights.data()) + row.tile * taps * kLanes;
  for (int32_t p = 0; p < kCount; ++p) {
    for (int32_t c = 0; c < kLanes; ++c) acc[p][c] = 0;
  }
  for (int64_t ky = 0; ky < filter.kernel.h; ++ky) {
    const int8_t* const input_row = row.input_row(row.tile, ky);
    for (int64_t kx = 0; kx < filter.kernel.w; ++kx) {
      const Weight* const w = weights + (ky * filter.kernel.w + kx) * kLanes;
      for (int32_t p = 0; p < kCount; ++p) {
        const int8_t* const x = row.pixel(input_row, ox + p, kx);
        for (int32_t c = 0; c < kLanes; ++c) acc[p][c] += Acc{static_cast<int16_t>(x[c])} * w[c];
      }
    }
  }
}

// Accumulators of one pixel to 16 output bytes.
template <typename Acc>
void finish_pixel(const PackedConvI8& packed, int32_t tile, const Acc* acc, const int8_t* residual,
                  int8_t* output) {
  const ConvI8Params& params = packed.params;
  const auto* bias = reinterpret_cast<const int32_t*>(packed.bias.data()) + tile * kLanes;
  const auto* multiplier =
      reinterpret_cast<const int32_t*>(packed.multiplier.data()) + tile * kLanes;
  int64_t v[kLanes];
  if (params.has_usual_stages()) {
    for (int32_t c = 0; c < kLanes; ++c)
      v[c] = scale_round(int64_t{acc[c]} + bias[c], multiplier[c], 14);
  } else {
    for (int32_t c = 0; c < kLanes; ++c)
      v[c] = first_stages(params, (int64_t{acc[c]} + bias[c]) * multiplier[c], tile * kLanes + c);
  }
  if (params.activation != Activation::kNone) {
    for (int32_t c = 0; c < kLanes; ++c) v[c] = v[c] < 0 ? 0 : v[c];
  }
  if (params.activation == Activation::kClip) {
    for (int32_t c = 0; c < kLanes; ++c) v[c] = v[c] > params.clip ? params.clip : v[c];
  }
  if (params.has_residual) {
    for (int32_t c = 0; c < kLanes; ++c) {
      v[c] += scale_round(int64_t{residual[c]} + params.residual_offset,
                          params.residual_scale.scale, params.residual_scale.shift);
    }
  }
  if (params.relu_after_add) {
    for (int32_t c = 0; c < kLanes; ++c) v[c] = v[c] < 0 ? 0 : v[c];
  }
  for (int32_t c = 0; c < kLanes; ++c) output[c] = to_output(v[c], params.output);
}

template <typename Acc, typename Weight, int32_t kCount>
void pixels(const Row& row, int64_t ox, const int8_t* residual, int8_t* output) {
  Acc acc[kCount][kLanes];
  if (row.filter.depthwise()) {
    depthwise_pixels<Acc, Weight, kCount>(row, ox, acc);
  } else {
    dense_pixels<Acc, Weight, kCount>(row, ox, acc);
  }
  for (int32_t p = 0; p < kCount; ++p) {
    const int64_t at = (ox + p) * kLanes;
    finish_pixel(*row.args.packed, row.tile, acc[p], residual != nullptr ? residual + at : nullptr,
                 output + at);
  }
}

template <typename Acc, typename Weight>
void run_units(const ConvI8Args& args, IndexRange units) {
  const ConvFilter& filter = args.packed->params.filter;
  const ConvExtents& extents = args.extents;
  const int32_t tile_blocks = lane_blocks_per_tile(filter);
  const int64_t tiles = channel_blocks(filter.out_channels);
  const int64_t row_elements = int64_t{extents.out.w} * kLanes;
  const int64_t dense = tiles * extents.out.h * row_elements;
  const int64_t output_stride = args.output_batch_stride != 0 ? args.output_batch_stride : dense;
  for_each_row({filter, extents, kLanes}, units, [&](int64_t n, int32_t tile, int64_t oy) {
    const Row row(args, tile_blocks, static_cast<int32_t>(n), tile, oy);
    const int64_t in_picture = (tile * extents.out.h + oy) * row_elements;
    const int8_t* const residual =
        args.packed->params.has_residual ? args.residual + n * dense + in_picture : nullptr;
    int8_t* const output = args.output + n * output_stride + in_picture;
    int64_t ox = 0;
    for (; ox + kPixels <= extents.out.w; ox += kPixels) {
      pixels<Acc, Weight, kPixels>(row, ox, residual, output);
    }
    for (; ox < extents.out.w; ++ox) pixels<Acc, Weight, 1>(row, ox, residual, output);
  });
}

void run_generic(const ConvI8Args& args, IndexRange units) {
  if (args.packed->wide) {
    run_units<int64_t, int32_t>(args, units);
  } else {
    run_units<int32_t, int16_t>(args, units);
  }
}

}  // namespace

extern const ConvI8Kernel conv_i8__generic;
const ConvI8Kernel conv_i8__generic = {"conv_i8__generic", kLanes,      accepts_all,
                                       pack_generic,       run_generic, unpack_generic};

}  // namespace rk::kernels
