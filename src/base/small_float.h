// SPDX-License-Identifier: Apache-2.0
// Floats of 8 and 4 bits as bit patterns, one per byte. The formats differ in what the largest codes mean (infinity,
// NaN or a number) and in whether there is a negative zero; a codec for one is wrong for all others.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace rk {

struct SmallFloat {
  int mantissa_bits;
  int bias;
  uint8_t largest;   // code of the largest finite number
  uint8_t infinity;  // 0: there is none
  uint8_t nan;       // 0: there is none
  uint8_t sign;      // bit of the sign; 0: there are only positive numbers
  bool has_negative_zero;
};

inline constexpr SmallFloat kFloat8E4M3Fn = {3, 7, 0x7e, 0, 0x7f, 0x80, true};
inline constexpr SmallFloat kFloat8E4M3FnUz = {3, 8, 0x7f, 0, 0x80, 0x80, false};
inline constexpr SmallFloat kFloat8E5M2 = {2, 15, 0x7b, 0x7c, 0x7f, 0x80, true};
inline constexpr SmallFloat kFloat8E5M2FnUz = {2, 16, 0x7f, 0, 0x80, 0x80, false};
inline constexpr SmallFloat kFloat4E2M1 = {1, 1, 0x07, 0, 0, 0x08, true};

inline float small_to_float(const SmallFloat& format, uint8_t bits) {
  const int magnitude = bits & (format.sign - 1);
  const bool negative = (bits & format.sign) != 0;
  if (magnitude > format.largest || (!format.has_negative_zero && bits == format.nan)) {
    if (format.infinity == 0 || magnitude != format.infinity) {
      return std::numeric_limits<float>::quiet_NaN();
    }
    return negative ? -std::numeric_limits<float>::infinity()
                    : std::numeric_limits<float>::infinity();
  }
  const int exponent = magnitude >> format.mantissa_bits;
  const int one = 1 << format.mantissa_bits;
  const int mantissa = (magnitude & (one - 1)) + (exponent == 0 ? 0 : one);
  const int power = (exponent == 0 ? 1 : exponent) - format.bias - format.mantissa_bits;
  const float value = std::ldexp(static_cast<float>(mantissa), power);
  return negative ? -value : value;
}

// Rounds to nearest even. Beyond the largest number: that number where `saturate` holds (also for infinities), else
// infinity or NaN, whichever the format has.
inline uint8_t float_to_small(const SmallFloat& format, double value, bool saturate) {
  if (std::isnan(value)) return format.nan;
  const uint8_t sign = std::signbit(value) ? format.sign : 0;
  const auto overflow = [&]() -> uint8_t {
    if (saturate || (format.infinity == 0 && format.nan == 0)) return sign | format.largest;
    if (format.infinity != 0) return sign | format.infinity;
    return format.has_negative_zero ? sign | format.nan : format.nan;
  };
  if (std::isinf(value)) return overflow();
  int exponent = 0;
  std::frexp(value, &exponent);  // value = m * 2^exponent, m in [0.5, 1)
  const int power = std::max(exponent - 1, 1 - format.bias) - format.mantissa_bits;
  const int one = 1 << format.mantissa_bits;
  const double steps = std::nearbyint(std::ldexp(std::fabs(value), -power));
  if (steps == 0) return format.has_negative_zero ? sign : 0;
  // Steps that round up to the next power of two carry into the exponent by the addition.
  const int field = steps < one ? 0 : power + format.mantissa_bits + format.bias;
  const double code = steps < one ? steps : steps - one + std::ldexp(field, format.mantissa_bits);
  if (code > format.largest) return overflow();
  return static_cast<uint8_t>(sign | static_cast<uint8_t>(code));
}

// Float8 E8M0 is a power of two and nothing else, meant for scales: 2^(code - 127), NaN 0xff.
enum class PowerRounding { kUp, kDown, kNearest };

inline float power_to_float(uint8_t bits) {
  if (bits == 0xff) return std::numeric_limits<float>::quiet_NaN();
  return std::ldexp(1.0f, bits - 127);
}

// The sign is lost. What is too large becomes 2^127 where `saturate` holds, else NaN.
inline uint8_t float_to_power(double value, bool saturate, PowerRounding rounding) {
  if (!std::isfinite(value)) return std::isnan(value) || !saturate ? 0xff : 0xfe;
  int exponent = 0;
  const double mantissa = std::frexp(std::fabs(value), &exponent);  // in [0.5, 1)
  if (mantissa == 0) return 0;
  int power = exponent - 1;
  if (rounding == PowerRounding::kUp) power += mantissa > 0.5;
  if (rounding == PowerRounding::kNearest) power += mantissa >= 0.75;
  if (power > 127) return saturate ? 0xfe : 0xff;
  return static_cast<uint8_t>(std::max(power + 127, 0));
}

}  // namespace rk
