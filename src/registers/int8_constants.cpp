// SPDX-License-Identifier: Apache-2.0
#include "registers/int8_constants.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "registers/half_weights.h"

namespace rk::registers {
namespace {

constexpr int64_t kBlock = 32;  // channels of a depthwise block of RK3562

// Block, tap, two weights and their two offsets. An offset of 128 has the bits of -128.
std::vector<uint8_t> paired_weights(const Shape& shape, std::span<const int8_t> plain,
                                    std::span<const int16_t> offset) {
  const int64_t channels = shape[1], taps = shape[2] * shape[3];
  const int64_t blocks = ceil_div(channels, kBlock);
  std::vector<uint8_t> bytes(static_cast<size_t>(2 * blocks * kBlock * taps));
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t lane = c % kBlock, first = (c / kBlock * taps + tap) * kBlock;
      const auto at = static_cast<size_t>(2 * first + lane / 2 * 4 + lane % 2);
      bytes[at] = static_cast<uint8_t>(plain[static_cast<size_t>(c * taps + tap)]);
      bytes[at + 2] = static_cast<uint8_t>(offset[static_cast<size_t>(c)]);
    }
  }
  return bytes;
}

std::vector<uint8_t> bias_without_offsets(const program::BiasBlock& block, int group) {
  const size_t step = static_cast<size_t>(group), padded = align_up(block.bias.size(), size_t{32});
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

}  // namespace

HelperConstant int8_weights(const target::Target& target, const Chip& chip, const Shape& shape,
                            program::WeightUse use, std::span<const int8_t> plain,
                            std::span<const int16_t> offset) {
  HelperConstant out{.dtype = DType::kI8};
  out.layout = program::Layout::kWeight;
  out.shape = shape;
  if (chip.is_rk3562 && use == program::WeightUse::kDepthwise) {
    out.native_shape = {1,
                        static_cast<int32_t>(ceil_div(shape[1], kBlock)),
                        static_cast<int32_t>(shape[2]),
                        static_cast<int32_t>(shape[3]),
                        1,
                        static_cast<int32_t>(kBlock)};
    out.bytes = paired_weights(shape, plain, offset);
    return out;
  }
  out.native_shape = program::native_weight_shape(int8_layout(target, shape), shape, use);
  out.bytes = program::pack_weights(plain, shape, offset, out.native_shape);
  return out;
}

HelperConstant int8_bias(const target::Target& target, const Chip& chip,
                         const program::BiasBlock& block, bool is_depthwise) {
  HelperConstant out{.dtype = DType::kI32};
  const target::WeightLayout& layout = target.weights_i8;
  out.shape = Shape{static_cast<int64_t>(block.bias.size())};
  out.bytes =
      chip.is_rk3562 && is_depthwise
          ? bias_without_offsets(block, layout.bias_group)
          : program::pack_bias(block, layout.bias_group, std::max(layout.bias_channel_align, 1));
  out.native_shape = {static_cast<int32_t>(out.bytes.size() / sizeof(int32_t))};
  return out;
}

}  // namespace rk::registers
