// SPDX-License-Identifier: Apache-2.0
#include "format/vendor/product_lists.h"

#include <gtest/gtest.h>

#include "base/half.h"

namespace rk::format {
namespace {

// Entry i of the lower table is 10 i and stands at 32 (i - 512).
SoftmaxStage stage() {
  SoftmaxStage s;
  s.addend = 3;
  s.unit = 0.5f;
  s.table_multiplier = 32;
  s.table_exponent = 15;
  s.table.start = -16384;
  s.table.end = 16384;
  s.table.entry_shift = 5;
  for (int i = 0; i < 513; ++i) {
    s.table.low.push_back(static_cast<int16_t>(10 * i));
    s.table.high.push_back(static_cast<int16_t>(5120 + i));
  }
  return s;
}

float exponential(const SoftmaxStage& s, int x, int largest) {
  return half_to_float(s.exponential(x, largest));
}

TEST(SoftmaxStageTest, LooksUpTheDistanceToTheLargest) {
  // Numbers -2 and 0, index -64, entry 510.
  EXPECT_EQ(exponential(stage(), -7, -3), 5100.0f / 32768);
  EXPECT_EQ(exponential(stage(), -3, -3), 5120.0f / 32768);
  // Index -16, half way between entries 511 and 512: 5115, the next half is 5116.
  EXPECT_EQ(exponential(stage(), -4, -3), 5116.0f / 32768);
}

TEST(SoftmaxStageTest, NumbersBelowTheTableFollowItsSlope) {
  SoftmaxStage s = stage();
  s.table_multiplier = 1024;
  s.table.below = {0, 0};
  EXPECT_EQ(exponential(s, -128, 127), 0.0f);
  s.table.below = {1, 4};
  // Distance -127.5, index -130560, 114176 below the start.
  EXPECT_EQ(exponential(s, -128, 127), -7136.0f / 32768);
}

TEST(SoftmaxStageTest, NumbersAreRoundedToHalves) {
  SoftmaxStage s = stage();
  s.addend = 0;
  s.unit = 0.1f;
  // 0.1 * 127 is 12.7031 as a half, 0.1 * 126 is 12.6016: 0.1015625 apart and not 0.1.
  EXPECT_EQ(exponential(s, 126, 127),
            half_to_float(float_to_half((5120 - 0.1015625f * 10) / 32768)));
}

}  // namespace
}  // namespace rk::format
