// SPDX-License-Identifier: Apache-2.0
#include "base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rk {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The value of a pattern from the definition of binary16, in double.
double value_of(uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 0x1f);
  const double mantissa = bits & 0x3ff;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(HalfTest, EveryPatternHasItsValueAndComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = half_to_float(static_cast<uint16_t>(bits));
    if ((bits & 0x7c00) != 0x7c00) {
      ASSERT_EQ(value, value_of(bits)) << bits;
      ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
      ASSERT_EQ(float_to_half(value), bits);
    } else if ((bits & 0x3ff) == 0) {
      ASSERT_EQ(value, (bits & 0x8000) != 0 ? -kInfinity : kInfinity);
      ASSERT_EQ(float_to_half(value), bits);
    } else {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_EQ(float_to_half(value) & 0xfe00, (bits & 0x8000) | 0x7e00)
          << bits;  // quiet, sign kept
    }
  }
}

TEST(HalfTest, HalfwayBetweenNeighborsGoesToTheEvenOneAndTheRestToTheNearest) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const double low = value_of(bits);
    const double high = value_of(bits + 1);
    const auto middle = static_cast<float>((low + high) / 2);  // exact: one bit more than a half
    const uint32_t even = bits + (bits & 1);
    ASSERT_EQ(float_to_half(middle), even) << bits;
    ASSERT_EQ(float_to_half(-middle), even | 0x8000) << bits;
    ASSERT_EQ(float_to_half(std::nextafter(middle, 0.0f)), bits);
    ASSERT_EQ(float_to_half(std::nextafter(middle, kInfinity)), bits + 1);
  }
}

TEST(HalfTest, NumbersByHand) {
  EXPECT_EQ(float_to_half(1.0f), 0x3c00);
  EXPECT_EQ(float_to_half(-2.0f), 0xc000);
  EXPECT_EQ(float_to_half(0.1f), 0x2e66);
  EXPECT_EQ(float_to_half(65504.0f), 0x7bff);  // the largest
  EXPECT_EQ(float_to_half(-0.0f), 0x8000);
  EXPECT_EQ(float_to_half(0x1p-24f), 0x0001);  // the smallest
  EXPECT_EQ(float_to_half(2049.0f), 0x6800);   // between 2048 and 2050
  EXPECT_EQ(float_to_half(2051.0f), 0x6802);   // between 2050 and 2052
}

TEST(HalfTest, TheEndsOverflowToInfinityAndUnderflowToZero) {
  EXPECT_EQ(float_to_half(65519.996f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);  // halfway to 65536, which is even
  EXPECT_EQ(float_to_half(1e30f), 0x7c00);
  EXPECT_EQ(float_to_half(-1e30f), 0xfc00);
  EXPECT_EQ(float_to_half(0x1p-25f), 0x0000);  // halfway to the smallest
  EXPECT_EQ(float_to_half(0x1.000002p-25f), 0x0001);
  EXPECT_EQ(float_to_half(-0x1p-140f), 0x8000);
}

TEST(HalfTest, Bfloat16RoundsTheUpperHalfOfAFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = bfloat16_to_float(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(bfloat16_to_float(float_to_bfloat16(value)))) << bits;
    } else {
      ASSERT_EQ(float_to_bfloat16(value), bits);
    }
  }
  EXPECT_EQ(float_to_bfloat16(1.0f), 0x3f80);
  EXPECT_EQ(float_to_bfloat16(0x1.01p0f), 0x3f80);      // halfway, down to even
  EXPECT_EQ(float_to_bfloat16(0x1.03p0f), 0x3f82);      // halfway, up to even
  EXPECT_EQ(float_to_bfloat16(0x1.010002p0f), 0x3f81);  // just above halfway
  EXPECT_EQ(float_to_bfloat16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(float_to_bfloat16(-kInfinity), 0xff80);
  // A NaN whose bits all lie in the lower half stays a NaN.
  EXPECT_TRUE(std::isnan(bfloat16_to_float(float_to_bfloat16(std::bit_cast<float>(0x7f800001u)))));
}

}  // namespace
}  // namespace rk
