// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rk::runtime {

// Where a mask of one core counts from; masks of several begin at core 0.
inline int first_core(uint32_t mask) { return mask == 2 ? 1 : mask == 4 ? 2 : 0; }

}  // namespace rk::runtime
