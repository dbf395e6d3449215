// SPDX-License-Identifier: Apache-2.0
#include "registers/half_weights.h"

#include <cstring>

#include "base/checked_math.h"
#include "target/target.h"

namespace rk::registers {
namespace {

// The element of the plain weight at each place of the chip's blocks; -1 where there is none.
Result<std::vector<int64_t>> block_places(const std::vector<int32_t>& native, const Shape& shape) {
  size_t places = 0;
  for (size_t i = 0; i + 5 < native.size(); i += 6) {
    size_t group = 1;
    for (size_t j = 0; j < 6; ++j) group *= static_cast<size_t>(native[i + j]);
    places += group;
  }
  std::vector<uint8_t> numbers(places * sizeof(uint32_t));
  for (uint32_t i = 0; i < places; ++i) std::memcpy(numbers.data() + i * sizeof i, &i, sizeof i);
  RK_ASSIGN(const std::vector<uint8_t> plain,
            program::unpack_weight_elements(numbers, native, shape, sizeof(uint32_t)));
  std::vector<int64_t> elements(places, -1);
  for (size_t i = 0; i * sizeof(uint32_t) < plain.size(); ++i)
    elements[load<uint32_t>(plain.data() + i * sizeof(uint32_t))] = static_cast<int64_t>(i);
  return elements;
}

// Blocks of float16 weights, as vendor files for the chip have them. What is left of the input
// channels takes a quarter of a block, half or all of it.
target::WeightLayout half_layout(const Chip& chip, const Shape& shape) {
  target::WeightLayout layout{.oc2 = 16, .oc2_min = 1, .ic2 = 32};
  if (chip.is_rk3566) layout = {.oc2 = 8, .oc2_min = 1, .ic2 = 16};
  if (chip.is_rk3562 && !chip.is_rk3576) layout.oc2 = 8;
  const int quarter = layout.ic2 / 4;
  layout.ic_small = shape[1] % layout.ic2 <= quarter ? quarter : 2 * quarter;
  layout.first_layer_ic = quarter;
  layout.depthwise_c2 = layout.ic2;
  if (chip.is_rk3562) layout.first_layer_ic = static_cast<int>(chip.picture_lanes);
  return layout;
}

// Depthwise blocks, the last one as wide as it needs.
std::vector<int32_t> lanes_shape(const Shape& shape, int64_t block, int64_t least) {
  std::vector<int32_t> native;
  const auto add = [&](int64_t blocks, int64_t lanes) {
    for (const int64_t extent : {int64_t{1}, blocks, shape[2], shape[3], int64_t{1}, lanes})
      native.push_back(static_cast<int32_t>(extent));
  };
  const int64_t whole = shape[1] / block, left = shape[1] % block;
  if (whole != 0) add(whole, block);
  if (left != 0) add(1, align_up(left, least));
  return native;
}

std::vector<int32_t> half_shape(const Chip& chip, const Shape& shape, program::WeightUse use) {
  constexpr int64_t kLeast = 8;
  if (chip.is_rk3576 && use == program::WeightUse::kPicture) {
    const Shape padded{align_up<int64_t>(shape[0], kLeast), shape[1], shape[2], shape[3]};
    return program::native_weight_shape(half_layout(chip, padded), padded, use);
  }
  if (!chip.is_rk3562 || use != program::WeightUse::kDepthwise)
    return program::native_weight_shape(half_layout(chip, shape), shape, use);
  if (chip.is_rk3576) return lanes_shape(shape, chip.depthwise_array_bytes / 2, kLeast);
  // Whole blocks only.
  constexpr int64_t kBlock = 16;
  const auto extent = [&](size_t axis) { return static_cast<int32_t>(shape[axis]); };
  return {1, static_cast<int32_t>(ceil_div(shape[1], kBlock)), extent(2), extent(3), 1, kBlock};
}

}  // namespace

Result<HelperConstant> half_blocks(const Chip& chip, const Shape& shape, program::WeightUse use,
                                   const std::function<uint16_t(int64_t)>& half_of) {
  HelperConstant blocks{.dtype = DType::kF16};
  blocks.layout = program::Layout::kWeight;
  blocks.shape = shape;
  blocks.native_shape = half_shape(chip, shape, use);
  RK_ASSIGN(const std::vector<int64_t> places, block_places(blocks.native_shape, shape));
  blocks.bytes.resize(places.size() * sizeof(uint16_t));
  for (size_t i = 0; i < places.size(); ++i) {
    const uint16_t half = places[i] < 0 ? 0 : half_of(places[i]);
    std::memcpy(blocks.bytes.data() + i * sizeof half, &half, sizeof half);
  }
  return blocks;
}

target::WeightLayout int8_layout(const target::Target& target, const Shape& shape) {
  target::WeightLayout layout = target.weights_i8;
  const Chip* const chip = find_chip(target.name);
  if (chip != nullptr && chip->is_rk3566) layout.ic_small = shape[1] % layout.ic2 <= 8 ? 8 : 16;
  if (chip != nullptr && chip->is_rk3576) layout.oc2_min = 2;
  // Programs have plain weights and the constants of RK3588.
  if (chip != nullptr && chip->is_rv1106) {
    layout = {.oc2 = 16, .oc2_min = 1, .ic2 = 32, .ic_small = 16, .first_layer_ic = 4};
    layout.bias_group = 4;
    layout.bias_channel_align = 16;
  }
  return layout;
}

}  // namespace rk::registers
