// SPDX-License-Identifier: Apache-2.0
#include "quant/regions.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/registry.h"

namespace rk::quant {
namespace {

// Names of the activations that are int8 on RK3588, in order of creation.
std::string i8_names(std::string_view text) {
  auto graph = parse_graph(text, ops::registry());
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  if (!graph.ok()) return "";
  const auto i8 = i8_values(*graph, target::find_target("rk3588").value());
  std::string out;
  for (const Value* value : graph->values()) {
    if (i8.contains(value)) out += (out.empty() ? "" : " ") + value->name();
  }
  return out;
}

TEST(I8Values, AllOfAConvolutionalNetwork) {
  EXPECT_EQ(i8_names(R"(graph "g" {
    input %x: f32[1,4,4,4]
    const %w: f32[4,4,1,1] = [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]
    %a = Conv(%x, %w)
    %b = Sigmoid(%a)
    %c = Mul(%a, %b)
    %y = Conv(%c, %w)
    output %y
  })"),
            "x a b c y");
}

TEST(I8Values, BetweenFloatOperatorsNothingIsRounded) {
  // Sqrt is a CPU operator, Relu could run in int8 but would only add two conversions.
  EXPECT_EQ(i8_names(R"(graph "g" {
    input %x: f32[1,4,4,4]
    %a = Sqrt(%x)
    %b = Relu(%a)
    %c = Sqrt(%b)
    %y = Sqrt(%c)
    output %y
  })"),
            "x y");
}

TEST(I8Values, AreWhatAccumulatorsReadAndWriteEvenNextToFloat) {
  EXPECT_EQ(i8_names(R"(graph "g" {
    input %x: f32[1,4,4,4]
    const %w: f32[4,4,1,1] = [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]
    %a = Conv(%x, %w)
    %b = Sqrt(%a)
    %c = Relu(%b)
    %d = Conv(%c, %w)
    %y = Conv(%d, %w)
    output %y
  })"),
            "x a c d y");
}

TEST(I8Values, FloatSpreadsBackThroughLightOperatorsThatOnlyFeedIt) {
  // The squares of an STFT: rounding them to 8 bits before the root would erase small magnitudes.
  EXPECT_EQ(i8_names(R"(graph "g" {
    input %x: f32[1,4,4,4]
    const %w: f32[4,4,1,1] = [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]
    const %e: f32[] = [2]
    %a = Conv(%x, %w)
    %b = Pow(%a, %e)
    %c = Add(%b, %b)
    %d = Sqrt(%c)
    %y = Conv(%d, %w)
    output %y
  })"),
            "x a d y");
}

TEST(I8Values, MovedValuesFollowTheirSource) {
  EXPECT_EQ(i8_names(R"(graph "g" {
    input %x: f32[1,4,4,4]
    const %s: i64[3] = [1, 4, 16]
    %a = Sqrt(%x)
    %b = Reshape(%a, %s)
    %c = Sqrt(%b)
    %y = Sqrt(%c)
    output %y
  })"),
            "x y");
}

TEST(I8Values, LayersOfTheUsersListAreFloatUpToTheOutputTheyAreMovedTo) {
  const auto graph = parse_graph(R"(graph "g" {
    input %x: f32[1,4,4,4]
    const %w: f32[4,4,1,1] = [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]
    const %s: i64[3] = [1, 4, 16]
    %a = Conv(%x, %w)
    %b = Conv(%a, %w)
    %y = Reshape(%b, %s)
    output %y
  })",
                                 ops::registry());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto i8 = i8_values(*graph, target::find_target("rk3588").value(), {"b"});
  EXPECT_TRUE(i8.contains(graph->find("a")));
  EXPECT_FALSE(i8.contains(graph->find("b")));
  EXPECT_FALSE(i8.contains(graph->find("y")));
}

TEST(I8Values, AnInputOfTheUsersListIsFloatUnlessAnAccumulatorReadsIt) {
  const auto graph = parse_graph(R"(graph "g" {
    input %x: f32[1,4,4,4]
    input %z: f32[1,4,4,4]
    const %w: f32[4,4,1,1] = [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]
    %a = Sqrt(%x)
    %b = Conv(%z, %w)
    %y = Add(%a, %b)
    output %y
  })",
                                 ops::registry());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto i8 = i8_values(*graph, target::find_target("rk3588").value(), {"x", "z"});
  EXPECT_FALSE(i8.contains(graph->find("x")));
  EXPECT_TRUE(i8.contains(graph->find("z")));
}

TEST(I8Values, WithoutATargetEveryOperatorWithAnI8RuleCounts) {
  const auto graph = parse_graph(
      "graph \"g\" { input %x: f32[2] %a = Sqrt(%x) %y = Sqrt(%a) output %y }", ops::registry());
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(i8_values(*graph, nullptr).size(), 3u);
}

}  // namespace
}  // namespace rk::quant
