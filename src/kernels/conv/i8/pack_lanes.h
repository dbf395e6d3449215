// SPDX-License-Identifier: Apache-2.0
// Int8 weights with their offsets in lanes of 16 output channels, the form of the generic kernel and of the vector
// kernels that go through lane_tiles.h:
//   dense:     [oc block][ic block][kernel.h][kernel.w][16 / step][16 oc][step ic]
//   depthwise: [block][taps / step][16][step taps]
// where `step` is how many products one instruction adds up. Channels and taps that do not exist and pairs of different
// groups have weight 0, so padding lanes of the input do not matter. Private to kernels/conv.
#pragma once

#include <cstdint>
#include <optional>

#include "base/checked_math.h"
#include "kernels/conv/common/blocking.h"

namespace rk::kernels {

struct LaneSteps {
  int32_t dense = 1;
  int32_t depthwise = 1;
};

inline int32_t weight_offset_of(const ConvI8Params& source, int32_t channel) {
  return source.weight_offset != nullptr ? source.weight_offset[channel] : 0;
}

inline int32_t lane_blocks_per_tile(const ConvFilter& filter) {
  return filter.depthwise() ? 1 : max_tile_input_blocks(filter, kHostBlock);
}

inline std::optional<uint64_t> lane_weight_bytes(const ConvFilter& filter, LaneSteps steps,
                                                 int64_t element) {
  const int64_t taps = int64_t{filter.kernel.h} * filter.kernel.w;
  const int64_t extents[] = {channel_blocks(filter.out_channels),
                             lane_blocks_per_tile(filter),
                             filter.depthwise() ? align_up(taps, int64_t{steps.depthwise}) : taps,
                             filter.depthwise() ? 1 : kHostBlock,
                             kHostBlock,
                             element};
  return checked_product(extents);
}

// visit(oc, plain, packed) with the two indices of each weight.
template <typename Visit>
inline void visit_lanes(const ConvFilter& filter, WeightOrder order, LaneSteps steps,
                        const Visit& visit) {
  const int64_t taps = int64_t{filter.kernel.h} * filter.kernel.w;
  const int64_t tap_rows = align_up(taps, int64_t{steps.depthwise});
  const int64_t tile_blocks = lane_blocks_per_tile(filter);
  const bool depthwise = filter.depthwise();
  const int64_t step = depthwise ? steps.depthwise : steps.dense;
  const auto place_of = [&](int64_t row) { return row / step * kHostBlock * step + row % step; };
  int64_t of_lane[kHostBlock];  // divisions for each weight would be half of the time
  for (int64_t i = 0; i < kHostBlock; ++i) of_lane[i] = place_of(i);
  for (int32_t oc = 0; oc < filter.out_channels; ++oc) {
    const int32_t tile = oc / kHostBlock, lane = oc % kHostBlock;
    const int32_t first_block = tile_input_blocks(filter, tile, kHostBlock).begin;
    const int32_t group_begin = oc / filter.out_per_group() * filter.in_per_group();
    for (int32_t i = 0; i < filter.in_per_group(); ++i) {
      const int32_t ic = group_begin + i;
      const int64_t plain = plain_weight_index(filter, order, oc, i, 0);
      if (depthwise) {
        for (int64_t tap = 0; tap < taps; ++tap)
          visit(oc, plain + tap, place_of(tile * tap_rows + tap) + lane * step);
        continue;
      }
      const int64_t block = tile * tile_blocks + ic / kHostBlock - first_block;
      const int64_t at =
          block * taps * kHostBlock * kHostBlock + of_lane[ic % kHostBlock] + lane * step;
      for (int64_t tap = 0; tap < taps; ++tap)
        visit(oc, plain + tap, at + tap * kHostBlock * kHostBlock);
    }
  }
}

// `with_offset`: w + o, else w alone.
template <typename Weight>
inline void pack_lanes(const ConvI8Params& source, LaneSteps steps, bool with_offset,
                       Weight* packed) {
  visit_lanes(source.filter, source.order, steps, [&](int32_t oc, int64_t plain, int64_t at) {
    const int32_t offset = with_offset ? weight_offset_of(source, oc) : 0;
    packed[at] = static_cast<Weight>(source.weights[plain] + offset);
  });
}

// The inverse; `offset` is null where w alone was packed.
template <typename Weight>
inline void unpack_lanes(const PackedConvI8& packed, LaneSteps steps, const int16_t* offset,
                         int8_t* plain_weights) {
  const ConvI8Params& p = packed.params;
  const auto* const weights = reinterpret_cast<const Weight*>(packed.weights.data());
  visit_lanes(p.filter, p.order, steps, [&](int32_t oc, int64_t plain, int64_t at) {
    const int32_t added = offset != nullptr ? offset[oc] : 0;
    plain_weights[plain] = static_cast<int8_t>(weights[at] - added);
  });
}

}  // namespace rk::kernels
