// SPDX-License-Identifier: Apache-2.0
// fp16 to fp32 for a run of lanes, without branches so that compilers vectorize it. Equal to rk::half_to_float for all
// 65536 patterns (tested), also when the host program has switched on flush-to-zero.
#pragma once

#include <bit>
#include <cstdint>

#include "base/half.h"

namespace rk::kernels {

template <int kCount>
inline void widen_lanes(const uint16_t* half, float* wide) {
  for (int i = 0; i < kCount; ++i) {
    const uint32_t magnitude = (half[i] & 0x7fffu) << 13;
    const uint32_t sign = (half[i] & 0x8000u) << 16;
    const uint32_t exponent = magnitude & 0x0f800000u;
    // Exponent 31 moves to 255, all others up by 112; a subnormal is 2^-14 * 1.mantissa less 2^-14.
    const uint32_t normal = magnitude + (exponent == 0x0f800000u ? 0x70000000u : 0x38000000u);
    const float subnormal = std::bit_cast<float>(magnitude + 0x38800000u) - 0x1p-14f;
    const uint32_t bits = exponent == 0 ? std::bit_cast<uint32_t>(subnormal) : normal;
    wide[i] = std::bit_cast<float>(bits | sign);
  }
}

template <int kCount>
inline void narrow_lanes(const float* wide, uint16_t* half) {
  for (int i = 0; i < kCount; ++i) half[i] = float_to_half(wide[i]);
}

}  // namespace rk::kernels
