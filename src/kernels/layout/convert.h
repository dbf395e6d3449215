// SPDX-License-Identifier: Apache-2.0
// Moves activations between plain layouts, the chip's NC1HWC2 with its own C2, and the host's
// blocked layout, without changing a value. Sizes are in elements of 1, 2 or 4 bytes.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/layout/blocked.h"

namespace rk::kernels {

enum class PlainLayout { kNchw, kNhwc };

// One unit of every conversion is one row (n, h) of all channels.
inline int64_t layout_units(const ActivationShape& shape) {
  return int64_t{shape.batch} * shape.extent.h;
}

struct PlainArgs {
  ActivationShape shape;
  int32_t element_bytes = 1;  // 1, 2 or 4
  PlainLayout layout = PlainLayout::kNchw;
  int64_t w_stride = 0;  // pixels from one plain row to the next; 0: extent.w
  const void* input = nullptr;
  void* output = nullptr;
  uint32_t fill = 0;  // bits written to padding lanes (to blocked only)
};
void plain_to_blocked(const PlainArgs& args, IndexRange units);
void blocked_to_plain(const PlainArgs& args, IndexRange units);

// The chip's side: [n][C1][h][w][c2].
struct ChipLayout {
  int32_t c2 = 16;
  int64_t w_stride = 0;      // pixels from row to row; 0: extent.w
  int64_t plane_stride = 0;  // pixels from one C1 plane to the next; 0: extent.h * w_stride
};

struct ChipArgs {
  ActivationShape shape;
  int32_t element_bytes = 1;
  ChipLayout chip;
  const void* input = nullptr;
  void* output = nullptr;
  uint32_t fill = 0;  // bits written to padding lanes of the output
};
void chip_to_blocked(const ChipArgs& args, IndexRange units);
void blocked_to_chip(const ChipArgs& args, IndexRange units);

// Copies `count` channels from one blocked tensor into another of the same batch and extent:
// Concat, Split, Slice. With offsets that are multiples of 16 it is plane copying; else lanes are
// shifted, and lanes of the output outside the range keep their value.
struct ChannelCopyArgs {
  int32_t batch = 1;
  Extent2 extent;
  int32_t element_bytes = 1;
  const void* input = nullptr;
  int32_t input_channels = 1;
  int32_t input_begin = 0;
  void* output = nullptr;
  int32_t output_channels = 1;
  int32_t output_begin = 0;
  int32_t count = 1;
  const int8_t* table = nullptr;  // int8 only: y = table[x + 128]; null copies
};
// One unit is one row (n, h).
void copy_channels(const ChannelCopyArgs& args, IndexRange units);

// Any choice of channels, of blocked tensors of the same batch and extent: channel c of the output is channel source[c]
// of the input. Padding lanes of the output become copies of others.
struct ChannelGatherArgs {
  int32_t batch = 1;
  int64_t pixels = 1;         // of one picture
  int32_t element_bytes = 1;  // 1 or 2
  const void* input = nullptr;
  int32_t input_channels = 1;
  void* output = nullptr;
  int32_t output_channels = 1;
  const int32_t* source = nullptr;
};
// One unit is a block of 16 output channels of a picture.
inline int64_t gather_channels_units(const ChannelGatherArgs& args) {
  return int64_t{args.batch} * channel_blocks(args.output_channels);
}
void gather_channels(const ChannelGatherArgs& args, IndexRange units);

}  // namespace rk::kernels
