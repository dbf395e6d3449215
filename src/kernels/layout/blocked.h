// SPDX-License-Identifier: Apache-2.0
// The layout of activations inside the host runtime: NC1HWC2 with C2 = 16 for every dtype. Element
// (n, c, h, w) lies at
//   (((n * C1 + c / 16) * H + h) * W + w) * 16 + c % 16,   C1 = ceil(C / 16).
//
// Note: the lanes beyond the last channel exist in memory and hold anything. No
// kernel's real outputs depend on them; every kernel that writes a block writes all its lanes.
#pragma once

#include <cstdint>

#include "kernels/extent.h"

namespace rk::kernels {

inline constexpr int32_t kHostBlock = 16;

// Logical extents of an activation, whatever its layout.
struct ActivationShape {
  int32_t batch = 1;
  int32_t channels = 1;
  Extent2 extent;
  int64_t pixels() const { return int64_t{extent.h} * extent.w; }
  bool operator==(const ActivationShape&) const = default;
};

constexpr int32_t channel_blocks(int32_t channels) {
  return channels / kHostBlock + (channels % kHostBlock != 0);
}

// Elements in memory, padding lanes included. The shape must be validated: no overflow check here.
inline int64_t blocked_elements(const ActivationShape& shape) {
  return int64_t{shape.batch} * channel_blocks(shape.channels) * shape.pixels() * kHostBlock;
}

inline int64_t blocked_index(const ActivationShape& shape, int32_t n, int32_t c, int32_t h,
                             int32_t w) {
  const int64_t plane = int64_t{n} * channel_blocks(shape.channels) + c / kHostBlock;
  return ((plane * shape.extent.h + h) * shape.extent.w + w) * kHostBlock + c % kHostBlock;
}

}  // namespace rk::kernels
