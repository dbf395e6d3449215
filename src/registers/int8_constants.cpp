// SPDX-License-Identifier: Apache-2.0
#include "registers/int8_constants.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "registers/half_weights.h"

namespace rk::registers {
namespace {

// Lanes of a depthwise block and of the last one.
struct Lanes {
  int64_t block = 0, last = 0, whole = 0;  // channels of whole blocks
};

Lanes lanes_of(const Chip& chip, int64_t channels) {
  constexpr int64_t kLeast = 16;
  const int64_t block = chip.depthwise_array_bytes, left = (channels - 1) % block + 1;
  return {block, chip.is_rk3576 || chip.is_rv1106 ? align_up(left, kLeast) : block,
          channels - left};
}

// Block, tap, two weights and their two offsets; each weight and its offset on RV1106. An offset of
// 128 has the bits of -128.
std::vector<uint8_t> paired_weights(const Chip& chip, const Shape& shape,
                                    std::span<const int8_t> plain,
                                    std::span<const int16_t> offset) {
  const int64_t channels = shape[1], taps = shape[2] * shape[3];
  const Lanes lanes = lanes_of(chip, channels);
  std::vector<uint8_t> bytes(static_cast<size_t>(2 * (lanes.whole + lanes.last) * taps));
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t lane = c % lanes.block;
      const int64_t first = (c - lane) * taps + tap * (c < lanes.whole ? lanes.block : lanes.last);
      const auto at =
          static_cast<size_t>(2 * first + (chip.is_rv1106 ? 2 * lane : lane / 2 * 4 + lane % 2));
      bytes[at] = static_cast<uint8_t>(plain[static_cast<size_t>(c * taps + tap)]);
      bytes[at + (chip.is_rv1106 ? 1 : 2)] = static_cast<uint8_t>(offset[static_cast<size_t>(c)]);
    }
  }
  return bytes;
}

std::vector<uint8_t> bias_without_offsets(const Chip& chip, const program::BiasBlock& block,
                                          int group) {
  const auto step = static_cast<size_t>(group);
  const size_t padded =
      align_up(block.bias.size(), static_cast<size_t>(chip.depthwise_array_bytes));
  constexpr size_t kBytes = sizeof(int32_t) + sizeof(int16_t);
  std::vector<uint8_t> bytes(padded * kBytes);
  for (size_t c = 0; c < block.bias.size(); ++c) {
    uint8_t* const first = bytes.data() + c / step * step * kBytes;
    std::memcpy(first + c % step * sizeof(int32_t), &block.bias[c], sizeof(int32_t));
    std::memcpy(first + step * sizeof(int32_t) + c % step * sizeof(int16_t), &block.multiplier[c],
                sizeof(int16_t));
  }
  return bytes;
}

constexpr int64_t kLeastKernels = 16;

// Of a picture: blocks of 32 kernels, the last of 16 where that is enough; row of the kernel,
// kernel, columns by fours, lanes. Lanes beyond the channels weigh nothing. Vendor files have as many
// zeros behind them.
std::vector<uint8_t> weights_in_rows(const Shape& shape, std::span<const int8_t> plain,
                                     std::span<const int16_t> offset) {
  constexpr int64_t kBlock = 32, kLanes = 4, kColumns = 4;
  const int64_t columns = align_up<int64_t>(shape[3], kColumns), taps = shape[2] * shape[3];
  const int64_t row = columns * kLanes, kernel = shape[2] * row;
  const int64_t kernels = align_up<int64_t>(shape[0], kLeastKernels);
  std::vector<uint8_t> bytes(static_cast<size_t>(2 * kernels * kernel));
  for (int64_t o = 0; o < shape[0]; ++o) {
    const int64_t first = o / kBlock * kBlock, block = std::min(kBlock, kernels - first);
    for (int64_t i = 0; i < kLanes; ++i) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t at = first * kernel + (tap / shape[3] * block + o - first) * row +
                           tap % shape[3] * kLanes + i;
        const auto weight = static_cast<size_t>((o * shape[1] + i) * taps + tap);
        bytes[static_cast<size_t>(at)] =
            static_cast<uint8_t>(i < shape[1] ? plain[weight] : -offset[static_cast<size_t>(o)]);
      }
    }
  }
  return bytes;
}

}  // namespace

HelperConstant int8_picture_rows(const target::Target& target, const Shape& shape,
                                 std::span<const int8_t> plain, std::span<const int16_t> offset) {
  HelperConstant out{.dtype = DType::kI8};
  out.layout = program::Layout::kWeight;
  out.shape = shape;
  const Shape padded{align_up<int64_t>(shape[0], kLeastKernels), shape[1], shape[2], shape[3]};
  out.native_shape = program::native_weight_shape(int8_layout(target, padded), padded,
                                                  program::WeightUse::kPicture);
  out.bytes = weights_in_rows(shape, plain, offset);
  return out;
}

HelperConstant int8_weights(const target::Target& target, const Chip& chip, const Shape& shape,
                            program::WeightUse use, std::span<const int8_t> plain,
                            std::span<const int16_t> offset) {
  HelperConstant out{.dtype = DType::kI8};
  out.layout = program::Layout::kWeight;
  out.shape = shape;
  if (chip.is_rk3562 && use == program::WeightUse::kDepthwise) {
    const Lanes lanes = lanes_of(chip, shape[1]);
    const auto add = [&](int64_t blocks, int64_t width) {
      for (const int64_t extent : {int64_t{1}, blocks, shape[2], shape[3], int64_t{1}, width})
        out.native_shape.push_back(static_cast<int32_t>(extent));
    };
    const bool narrow = lanes.last != lanes.block;
    const int64_t whole = lanes.whole / lanes.block + (narrow ? 0 : 1);
    if (whole != 0) add(whole, lanes.block);
    if (narrow) add(1, lanes.last);
    out.bytes = paired_weights(chip, shape, plain, offset);
    return out;
  }
  target::WeightLayout layout = int8_layout(target, shape);
  // Kernels of a picture come in pairs.
  if (chip.is_rv1106 && use == program::WeightUse::kPicture) layout.oc2_min = 2;
  out.native_shape = program::native_weight_shape(layout, shape, use);
  out.bytes = program::pack_weights(plain, shape, offset, out.native_shape);
  return out;
}

HelperConstant int8_bias(const target::Target& target, const Chip& chip,
                         const program::BiasBlock& block, bool is_depthwise) {
  HelperConstant out{.dtype = DType::kI32};
  const target::WeightLayout layout = int8_layout(target, Shape{1, 1, 1, 1});
  out.shape = Shape{static_cast<int64_t>(block.bias.size())};
  out.bytes =
      chip.is_rk3562 && is_depthwise
          ? bias_without_offsets(chip, block, layout.bias_group)
          : program::pack_bias(block, layout.bias_group, std::max(layout.bias_channel_align, 1));
  out.native_shape = {static_cast<int32_t>(out.bytes.size() / sizeof(int32_t))};
  return out;
}

}  // namespace rk::registers
