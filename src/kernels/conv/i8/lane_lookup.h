// SPDX-License-Identifier: Apache-2.0
// Straight lines between the entries of a lookup table, in lanes of floats. Private to kernels/conv.
#pragma once

#include <cstdint>

#include "kernels/conv/i8/stages.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

struct LookupTable {
  const int32_t* pairs;
  int32_t start, shift;

  explicit LookupTable(const StageConstants& stages)
      : pairs(stages.pairs), start(stages.start), shift(stages.entry_shift) {}
};

// The table at whole numbers within its range: entry + rne(step * rest / 2^shift).
template <typename Float>
inline typename Float::Vector interpolate(typename Float::Vector t, const LookupTable& table) {
  if constexpr (requires { Float::interpolate(t, table.pairs, table.start, table.shift); }) {
    return Float::interpolate(t, table.pairs, table.start, table.shift);
  } else {
    float lanes[Float::kLanes];
    Float::store(lanes, t);
    for (int i = 0; i < Float::kLanes; ++i) {
      const int32_t distance = static_cast<int32_t>(lanes[i]) - table.start;
      const int32_t pair = table.pairs[distance >> table.shift];
      const int32_t rest = distance & ((1 << table.shift) - 1);
      lanes[i] = static_cast<float>(
          static_cast<int16_t>(pair) + scale_round(pair >> 16, rest, table.shift));
    }
    return Float::load(lanes);
  }
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END
