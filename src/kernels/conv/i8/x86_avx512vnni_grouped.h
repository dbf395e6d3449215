// SPDX-License-Identifier: Apache-2.0
// What the packing and the running half of conv_i8__avx512vnni_grouped agree on: groups of several channels, one block of
// 16 output channels at a time. A dot product takes four channels of each lane's own group, so weights hold no zeros of
// other groups: [block][ky][kx][four channels of the group][plane][16 oc][4 ic].
#pragma once

#include "kernels/conv/common/group_lanes.h"
#include "kernels/conv/i8/x86_avx512vnni.h"

namespace rk::kernels::vnni::grouped {

inline constexpr int32_t kMaxQuads = 64;  // of a group

// Vectors of weights of one block.
inline int64_t block_vectors(const ConvFilter& f, int32_t planes) {
  return int64_t{f.kernel.h} * f.kernel.w * (f.in_per_group() / kQuad) * planes;
}

// Of one block of output channels, at most.
inline int32_t most_input_blocks(const ConvFilter& f) { return max_tile_input_blocks(f, kVector); }

}  // namespace rk::kernels::vnni::grouped
