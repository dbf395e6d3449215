// SPDX-License-Identifier: Apache-2.0
#include "analysis/accuracy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/auto_hybrid.h"
#include "ir/text.h"
#include "ops/registry.h"
#include "quant/quantize.h"

namespace rk::analysis {
namespace {

using ::testing::HasSubstr;

TEST(Compare, GivesTheHandComputedNumbers) {
  const std::vector<float> golden = {3, 4}, found = {3, 3};
  const Errors errors = compare(golden, found);
  EXPECT_NEAR(errors.cosine, 21 / (5 * std::sqrt(18.0)), 1e-12);
  EXPECT_DOUBLE_EQ(errors.euclidean, 1);
  EXPECT_DOUBLE_EQ(errors.max_abs, 1);
  EXPECT_NEAR(errors.sqnr_db, 10 * std::log10(25.0), 1e-12);
}

TEST(Compare, ZeroVectorsAreEqualToEachOtherOnly) {
  const std::vector<float> zero = {0, 0}, other = {1, 0};
  EXPECT_EQ(compare(zero, zero).cosine, 1);
  EXPECT_EQ(compare(zero, other).cosine, 0);
  EXPECT_EQ(compare(other, std::vector<float>{INFINITY, 0}).cosine, 0);
}

Trial trial_of(const quant::Ranges& ranges) {
  auto graph = parse_graph(R"(graph "g" {
    input %x: f32[1,4,2,2]
    const %w: f32[4,4,1,1] = [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]
    %a = Conv(%x, %w)
    %y = Sigmoid(%a)
    output %y
  })",
                           ops::registry());
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_TRUE(quant::quantize(*graph, ranges, {}).ok());
  auto program = compiler::compile(*graph, {});
  EXPECT_TRUE(program.ok()) << program.status().message();
  return {std::move(graph).value(), std::move(program).value()};
}

TEST(Analyze, BlamesTheLayerWhoseRangeIsTooNarrow) {
  std::vector<float> values;
  for (int i = 0; i < 16; ++i) values.push_back(static_cast<float>(i - 8) / 2);
  const std::vector<Tensor> input = {Tensor::f32({1, 4, 2, 2}, values)};
  // The convolution copies -4..3.5, but its range ends at 1.1.
  const Trial trial = trial_of({{"x", {-4, 4}}, {"a", {-1.1f, 1.1f}}, {"y", {0, 1}}});
  const auto report = analyze(trial.graph, trial.program, {}, input, input, {}, nullptr);
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(report->layers.size(), 3u);
  EXPECT_EQ(report->layers[0].type, "Input");
  const Layer& conv = report->layers[1];
  EXPECT_EQ(conv.name, "a");
  ASSERT_TRUE(conv.single.has_value());
  EXPECT_LT(conv.single->cosine, 0.97);
  EXPECT_NEAR(conv.saturated, 11.0 / 16, 1e-9);  // all but -1, -0.5, 0, 0.5, 1
  ASSERT_TRUE(report->layers[2].single.has_value());
  EXPECT_GT(report->layers[2].single->sqnr_db, conv.single->sqnr_db);
  EXPECT_EQ(worst_layers(*report).front(), "a");
  EXPECT_THAT(to_text(*report), HasSubstr("[Conv] a"));
  EXPECT_THAT(to_html(*report), HasSubstr("\"name\":\"a\""));
}

}  // namespace
}  // namespace rk::analysis
