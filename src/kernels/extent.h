// SPDX-License-Identifier: Apache-2.0
// Height and width of anything two-dimensional, kept as one value so that no call can cross them.
#pragma once

#include <cstdint>

namespace rk::kernels {

struct Extent2 {
  int32_t h = 1;
  int32_t w = 1;
  bool operator==(const Extent2&) const = default;
};

}  // namespace rk::kernels
