// SPDX-License-Identifier: Apache-2.0
// Which input channels the lanes of a block of 16 output channels read where a filter has groups, in fours: kernels with
// groups give every four lanes the four channels of their own group. Private to kernels/conv.
#pragma once

#include <cstdint>

#include "kernels/conv/common/blocking.h"

namespace rk::kernels {

inline constexpr int32_t kQuad = 4;

struct GroupLanes {
  bool uniform;          // all belong to one group
  BlockRange blocks;     // of the input
  int32_t first[kQuad];  // input channel 0 of the group of each four lanes

  GroupLanes(const ConvFilter& f, int64_t block) {
    const auto begin = static_cast<int32_t>(block * kHostBlock);
    const int32_t last = begin + lanes_of_block(f.out_channels, static_cast<int32_t>(block)) - 1;
    blocks = input_blocks(f, begin, last);
    uniform = begin / f.out_per_group() == last / f.out_per_group();
    for (int32_t q = 0; q < kQuad; ++q) {
      const int32_t oc = begin + q * kQuad < last ? begin + q * kQuad : last;
      first[q] = oc / f.out_per_group() * f.in_per_group();
    }
  }

  // The two input blocks in which channels `at`.. of all groups lie, perhaps the same; false: there are more.
  bool pair(int32_t at, BlockRange& two) const {
    two = {(first[0] + at) / kHostBlock, (first[kQuad - 1] + at) / kHostBlock};
    for (const int32_t channel : first) {
      const int32_t block = (channel + at) / kHostBlock;
      if (block != two.begin && block != two.end) return false;
    }
    return true;
  }
};

// Whether fours of lanes and of channels never belong to two groups, except where `uniform` blocks do not care, and each
// step needs two blocks of the input at most.
inline bool groups_suit_quads(const ConvFilter& f) {
  const bool quads = f.in_per_group() % kQuad == 0 && f.out_per_group() % kQuad == 0;
  for (int32_t block = 0; block < channel_blocks(f.out_channels); ++block) {
    const GroupLanes lanes(f, block);
    if (lanes.uniform) continue;
    if (!quads) return false;
    BlockRange two;
    for (int32_t at = 0; at < f.in_per_group(); at += kQuad) {
      if (!lanes.pair(at, two)) return false;
    }
  }
  return true;
}

}  // namespace rk::kernels
