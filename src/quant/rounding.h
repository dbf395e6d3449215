// SPDX-License-Identifier: Apache-2.0
// Rounding for loops over many numbers. For calibrate.cpp and bias_correction.cpp.
#pragma once

namespace rk::quant {

// To nearest, ties to even, for |x| < 2^51; std::nearbyint is a call on baseline x86-64.
inline double rounded(double x) {
  constexpr double kMagic = 0x1.8p52;
  return (x + kMagic) - kMagic;
}

}  // namespace rk::quant
