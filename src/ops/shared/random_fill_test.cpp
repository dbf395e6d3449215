// SPDX-License-Identifier: Apache-2.0
// The drawn numbers: their distribution, and what they do and do not depend on.
#include "ops/shared/random_fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ops/registry.h"
#include "ops/shared/evaluate.h"

namespace rk::ops {
namespace {

std::vector<float> drawn(const std::string& op, const std::string& name, AttrMap attrs) {
  Graph graph(registry());
  attrs["shape"] = std::vector<int64_t>{10000};
  Node* node = *graph.add_node(
      {.op = op, .name = name, .inputs = {}, .outputs = {"y"}, .attrs = std::move(attrs)});
  return (*fold(*node))[0].to_f32();
}

double mean_of(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double deviation_of(const std::vector<float>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const float value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

// With 10000 numbers the mean lies within 4 / 100 deviations, the deviation within 4 / 141.
TEST(RandomFill, NormalHasItsMeanAndDeviation) {
  const auto values = drawn("RandomNormal", "n", {{"mean", 5.0f}, {"scale", 2.0f}});
  EXPECT_NEAR(mean_of(values), 5, 0.08);
  EXPECT_NEAR(deviation_of(values), 2, 0.06);
}

TEST(RandomFill, UniformFillsItsRangeEvenly) {
  const auto values = drawn("RandomUniform", "n", {{"low", -1.0f}, {"high", 3.0f}});
  EXPECT_NEAR(mean_of(values), 1, 0.05);
  EXPECT_NEAR(deviation_of(values), 4 / std::sqrt(12.0), 0.04);
  EXPECT_GE(std::ranges::min(values), -1.0f);
  EXPECT_LE(std::ranges::max(values), 3.0f);
}

TEST(RandomFill, SeedAndNameDecideTheNumbers) {
  const auto first = drawn("RandomUniform", "a", {{"seed", 1.0f}});
  EXPECT_EQ(first, drawn("RandomUniform", "a", {{"seed", 1.0f}}));
  EXPECT_NE(first, drawn("RandomUniform", "a", {{"seed", 2.0f}}));
  EXPECT_NE(first, drawn("RandomUniform", "b", {{"seed", 1.0f}}));
}

}  // namespace
}  // namespace rk::ops
