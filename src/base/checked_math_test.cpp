// SPDX-License-Identifier: Apache-2.0
#include "base/checked_math.h"

#include <gtest/gtest.h>

#include <vector>

namespace rk {
namespace {

TEST(CheckedMathTest, ProductsAndSumsStopAtTwoToTheSixtyFour) {
  EXPECT_EQ(checked_mul(uint64_t{1} << 32, (uint64_t{1} << 32) - 1), 0xffffffff00000000u);
  EXPECT_EQ(checked_mul(uint64_t{1} << 32, uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(checked_mul(0, UINT64_MAX), 0u);
  EXPECT_EQ(checked_add(UINT64_MAX, 0), UINT64_MAX);
  EXPECT_EQ(checked_add(UINT64_MAX, 1), std::nullopt);
}

TEST(CheckedMathTest, ProductOfExtents) {
  EXPECT_EQ(checked_product({}), 1u);
  EXPECT_EQ(checked_product(std::vector<int64_t>{1, 224, 224, 3}), 150528u);
  EXPECT_EQ(checked_product(std::vector<int64_t>{5, 0, 7}), 0u);
  EXPECT_EQ(checked_product(std::vector<int64_t>{2, -1}), std::nullopt);
  EXPECT_EQ(checked_product(std::vector<int64_t>{INT64_MAX, 2}), uint64_t{INT64_MAX} * 2);
  EXPECT_EQ(checked_product(std::vector<int64_t>{INT64_MAX, 3}), std::nullopt);
}

TEST(CheckedMathTest, RoundingUpToAMultiple) {
  EXPECT_EQ(align_up(0, 64), 0);
  EXPECT_EQ(align_up(1, 64), 64);
  EXPECT_EQ(align_up(64, 64), 64);
  EXPECT_EQ(align_up(65, 16), 80);
  EXPECT_EQ(align_up(10, 3), 12);
  EXPECT_EQ(ceil_div(0, 8), 0);
  EXPECT_EQ(ceil_div(17, 8), 3);
  EXPECT_EQ(ceil_div(16, 8), 2);
}

}  // namespace
}  // namespace rk
