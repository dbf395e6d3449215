// SPDX-License-Identifier: Apache-2.0
#include "base/small_float.h"

#include <gtest/gtest.h>

namespace rk {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

struct FormatCase {
  const char* name;
  SmallFloat format;
  int codes;
  float largest;
  float smallest;  // positive subnormal
};

// Largest and smallest numbers as tabulated by the OCP 8-bit and MX specifications.
const FormatCase kFormats[] = {
    {"e4m3fn", kFloat8E4M3Fn, 256, 448.0f, 0x1p-9f},
    {"e4m3fnuz", kFloat8E4M3FnUz, 256, 240.0f, 0x1p-10f},
    {"e5m2", kFloat8E5M2, 256, 57344.0f, 0x1p-16f},
    {"e5m2fnuz", kFloat8E5M2FnUz, 256, 57344.0f, 0x1p-17f},
    {"e2m1", kFloat4E2M1, 16, 6.0f, 0.5f},
};

TEST(SmallFloat, EveryCodeSurvivesTheWayThroughFloat) {
  for (const FormatCase& c : kFormats) {
    for (int code = 0; code < c.codes; ++code) {
      const float value = small_to_float(c.format, static_cast<uint8_t>(code));
      const uint8_t back = float_to_small(c.format, value, false);
      if (std::isnan(value)) {
        EXPECT_EQ(back, c.format.nan) << c.name;
      } else {
        EXPECT_EQ(back, code) << c.name;
      }
    }
    EXPECT_EQ(small_to_float(c.format, c.format.largest), c.largest) << c.name;
    EXPECT_EQ(small_to_float(c.format, 1), c.smallest) << c.name;
  }
}

TEST(SmallFloat, HalvesRoundToEven) {
  EXPECT_EQ(float_to_small(kFloat8E4M3Fn, 1.0625, true), 0x38);      // between 1 and 1.125
  EXPECT_EQ(float_to_small(kFloat8E4M3Fn, 1.1875, true), 0x3a);      // between 1.125 and 1.25
  EXPECT_EQ(float_to_small(kFloat8E4M3Fn, 1.9375, true), 0x40);      // carries into the exponent
  EXPECT_EQ(float_to_small(kFloat8E4M3Fn, 0x1p-10, true), 0x00);     // half of the smallest
  EXPECT_EQ(float_to_small(kFloat8E4M3Fn, -0x1.8p-9, true), 0x82);   // 1.5 of the smallest
  EXPECT_EQ(float_to_small(kFloat8E4M3FnUz, -0x1p-12, true), 0x00);  // no negative zero
}

TEST(SmallFloat, TooLargeSaturatesOnlyWhenAsked) {
  for (const double value : {1e9, static_cast<double>(kInf)}) {
    EXPECT_EQ(float_to_small(kFloat8E4M3Fn, -value, true), 0xfe);
    EXPECT_EQ(float_to_small(kFloat8E4M3Fn, -value, false), 0xff);
    EXPECT_EQ(float_to_small(kFloat8E5M2, value, true), 0x7b);
    EXPECT_EQ(float_to_small(kFloat8E5M2, value, false), 0x7c);
    EXPECT_EQ(float_to_small(kFloat8E5M2FnUz, -value, false), 0x80);
    EXPECT_EQ(float_to_small(kFloat4E2M1, -value, false), 0x0f);
  }
}

TEST(SmallFloat, PowersOfTwoRoundAsAsked) {
  EXPECT_EQ(power_to_float(127), 1.0f);
  EXPECT_EQ(power_to_float(0), 0x1p-127f);
  EXPECT_TRUE(std::isnan(power_to_float(255)));
  EXPECT_EQ(float_to_power(3.0, true, PowerRounding::kUp), 129);
  EXPECT_EQ(float_to_power(3.0, true, PowerRounding::kDown), 128);
  EXPECT_EQ(float_to_power(2.9, true, PowerRounding::kNearest), 128);
  EXPECT_EQ(float_to_power(4.0, true, PowerRounding::kUp), 129);
  EXPECT_EQ(float_to_power(kInf, true, PowerRounding::kUp), 254);
  EXPECT_EQ(float_to_power(kInf, false, PowerRounding::kUp), 255);
  EXPECT_EQ(float_to_power(0.0, true, PowerRounding::kUp), 0);
}

}  // namespace
}  // namespace rk
