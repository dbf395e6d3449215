// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/i8/step_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace rk::kernels {
namespace {

// As kernels read it, for one index.
int8_t byte_at(const StepTable& table, const std::vector<uint8_t>& rows, int32_t index) {
  const int32_t t = std::clamp(index - table.first, 0, table.reach() - 1);
  const bool after = t >= table.border;
  const int32_t inside = after ? t - table.border : t, shift = table.shift[after];
  const int32_t segment = (inside >> shift) + (after ? kZoneSegments : 0);
  const int32_t place = inside & ((1 << shift) - 1);
  const auto number = [&](int32_t row) {
    return rows[static_cast<size_t>(row * kStepSegments + segment)];
  };
  int32_t y = number(0);
  for (int32_t i = 0; i < table.ups; ++i) y += place > number(1 + i);
  for (int32_t i = 0; i < table.downs; ++i) y -= place > number(1 + table.ups + i);
  return static_cast<int8_t>(y);
}

void expect_equal(const std::vector<int8_t>& bytes, int32_t lowest) {
  StepTable table;
  std::vector<uint8_t> rows;
  ASSERT_TRUE(make_step_table(bytes, lowest, rows, table));
  ASSERT_EQ(std::ssize(rows), table.row_bytes());
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int32_t index = lowest + static_cast<int32_t>(i);
    ASSERT_EQ(int{byte_at(table, rows, index)}, int{bytes[i]}) << "index " << index;
  }
  const auto end = lowest + static_cast<int32_t>(bytes.size());
  EXPECT_EQ(int{byte_at(table, rows, lowest - 70000)}, int{bytes.front()});
  EXPECT_EQ(int{byte_at(table, rows, end + 70000)}, int{bytes.back()});
}

template <typename Function>
std::vector<int8_t> bytes_of(int32_t count, const Function& function) {
  std::vector<int8_t> bytes;
  for (int32_t i = 0; i < count; ++i)
    bytes.push_back(
        static_cast<int8_t>(std::clamp<double>(std::nearbyint(function(i)), -128, 127)));
  return bytes;
}

TEST(StepTable, RisingAndFallingFunctionsGiveTheirBytes) {
  const auto silu = [](double x) { return x / (1 + std::exp(-x)); };
  expect_equal(bytes_of(39000, [&](int i) { return silu((i - 16384) / 2825.0) * 31 - 119; }),
               -16384);
  expect_equal(bytes_of(32768, [](int i) { return 128 * std::tanh((i - 16384) / 5425.0); }),
               -16384);
  expect_equal(bytes_of(5000, [](int i) { return 100 * std::sin(i / 900.0); }), 7);
  expect_equal(bytes_of(65536, [](int i) { return i / 256 - 128; }), -32768);
}

// 13 indices a byte where it is steep: 128 of them would have ten steps.
TEST(StepTable, TheSteepPartHasSegmentsOfItsOwn) {
  const auto silu = [](double x) { return x / (1 + std::exp(-x)); };
  const auto bytes = bytes_of(19210, [&](int i) { return silu((i - 16384) / 2825.0) * 200 - 72; });
  StepTable table;
  std::vector<uint8_t> rows;
  ASSERT_TRUE(make_step_table(bytes, -16384, rows, table));
  EXPECT_LE(table.ups, 6);
  EXPECT_LT(table.shift[1], table.shift[0]);
  expect_equal(bytes, -16384);
}

TEST(StepTable, FewIndicesAndOneByteAreTables) {
  expect_equal({5}, 3);
  expect_equal({-128, 127}, -1);
  expect_equal(std::vector<int8_t>(100000, int8_t{-7}), -50000);
  expect_equal(bytes_of(256, [](int i) { return i % 2 == 0 ? -128 : 127; }), 0);  // one a segment
}

TEST(StepTable, TooManyStepsOrTooLongARangeAreNone) {
  StepTable table;
  std::vector<uint8_t> rows;
  EXPECT_FALSE(make_step_table(bytes_of(1024, [](int i) { return i % 2 == 0 ? -128 : 127; }), 0,
                               rows, table));
  EXPECT_FALSE(
      make_step_table(bytes_of(70000, [](int i) { return i / 300 - 128; }), 0, rows, table));
  EXPECT_TRUE(rows.empty());
}

}  // namespace
}  // namespace rk::kernels
