// SPDX-License-Identifier: Apache-2.0
// Lookup tables in lanes of floats: straight lines between entries, and bytes by index. Private to kernels/conv.
#pragma once

#include <cstdint>

#include "kernels/conv/i8/stages.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

struct LookupTable {
  const int32_t* pairs;
  int32_t start, shift;
  int32_t rest;  // bits of the distance from an entry
  float unit;    // of that distance

  explicit LookupTable(const StageConstants& stages)
      : pairs(stages.pairs),
        start(stages.start),
        shift(stages.entry_shift),
        rest((1 << stages.entry_shift) - 1),
        unit(1.0f / static_cast<float>(1 << stages.entry_shift)) {}
};

// The table at whole numbers within its range: entry + rne(step * rest / 2^shift).
template <typename Float>
inline typename Float::Vector interpolate(typename Float::Vector t, const LookupTable& table) {
  if constexpr (requires { Float::interpolate(t, table); }) {
    return Float::interpolate(t, table);
  } else {
    float lanes[Float::kLanes];
    Float::store(lanes, t);
    for (int i = 0; i < Float::kLanes; ++i) {
      const int32_t distance = static_cast<int32_t>(lanes[i]) - table.start;
      const int32_t pair = table.pairs[distance >> table.shift];
      const int32_t rest = distance & table.rest;
      lanes[i] = static_cast<float>(static_cast<int16_t>(pair) +
                                    scale_round(pair >> 16, rest, table.shift));
    }
    return Float::load(lanes);
  }
}

// Bytes of 16 indices, which are the bits of floats, less `base`.
template <typename Float, size_t kVectors>
inline void store_bytes_at(const typename Float::Vector (&t)[kVectors], const int8_t* bytes,
                           int32_t base, int8_t* to) {
  if constexpr (requires { Float::store_bytes_at(t, bytes, base, to); }) {
    Float::store_bytes_at(t, bytes, base, to);
  } else {
    float lanes[kVectors * Float::kLanes];
    int32_t bits[kVectors * Float::kLanes];
    for (size_t i = 0; i < kVectors; ++i) Float::store(lanes + i * Float::kLanes, t[i]);
    __builtin_memcpy(bits, lanes, sizeof bits);
    for (size_t i = 0; i < kVectors * Float::kLanes; ++i) to[i] = bytes[bits[i] - base];
  }
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END
