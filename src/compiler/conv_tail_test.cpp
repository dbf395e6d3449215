// SPDX-License-Identifier: Apache-2.0
// Activations that become part of a convolution's step, and those that do not. Constants are worked out by hand in the
// comment beside them, from docs/facts/lookup-tables.md.
#include "compiler/conv_tail.h"

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "ir/text.h"
#include "ops/registry.h"

namespace rk::compiler {
namespace {

using program::ConvParams;
using program::Program;

// A 1x1 convolution on 2 channels, sums in 0.5 * 0.01, then `rest` on %c.
std::string with_conv(std::string_view rest) {
  return str(R"(graph "g" {
    input %x: f32[1,2,1,1] q(i8, scale=[0.5], zp=[10], min=[-69.0], max=[58.5])
    input %e: f32[1,2,1,1] q(i8, scale=[0.02], zp=[5], min=[-2.66], max=[2.44])
    const %w: f32[2,2,1,1] q(i8, scale=[0.01], zp=[0], min=[-1.28], max=[1.27]) = [1.0, -0.5, 0.25, 0.1]
    %c: f32[1,2,1,1] q(i8, scale=[0.4], zp=[0], min=[-51.2], max=[50.8]) = Conv(%x, %w) @"c1"
)",
             rest, "}");
}

constexpr std::string_view kSwish = R"(
    %y: f32[1,2,1,1] q(i8, scale=[0.04], zp=[-7], min=[-4.84], max=[5.36]) = exSwish(%c) @"a"
    output %y
)";

Program compiled(const std::string& text, const CompileOptions& options = {}) {
  auto graph = parse_graph(text, ops::registry());
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  auto program = compile(*graph, options);
  EXPECT_TRUE(program.ok()) << program.status().message();
  return std::move(program).value();
}

std::string types(const Program& program) {
  std::string out;
  for (const program::Step& step : program.main_variant().steps)
    out += str(out.empty() ? "" : " ", step.type);
  return out;
}

TEST(ConvTail, ATableStandsInTheConvolutionsStepAndNothingIsStoredBetween) {
  const Program program = compiled(with_conv(kSwish));
  ASSERT_EQ(types(program), "ConvExSwish");
  const program::Step& step = program.main_variant().steps[0];
  EXPECT_EQ(step.name, "Conv:c1");
  for (const program::ProgramTensor& tensor : program.main_variant().tensors)
    EXPECT_NE(tensor.name, "c");
  const auto& p = std::get<ConvParams>(step.params);
  ASSERT_TRUE(p.lookup.has_value());
  EXPECT_EQ(p.multiplier_shift, 14);
  // 16384 * 0.005 / 5.8 = 14.1241 = 28926.2 / 2^11
  EXPECT_EQ(p.lookup->multiplier, 28926);
  EXPECT_EQ(p.lookup->shift, 11);
  EXPECT_EQ(p.lookup->addend, 0);
  // 5.782493 / 32767 / 0.04 = 0.00441183 = 18504.7 / 2^22
  EXPECT_EQ(p.output, (program::OutputStage{{18505, 22}, -7}));
  // 2 * 5.8 / 5.782493 = 2.006055 = 16433.6 / 2^13
  EXPECT_EQ(p.lookup->above, (ScaleShift{16434, 13}));
  EXPECT_EQ(p.lookup->below, (ScaleShift{0, 0}));
  EXPECT_EQ(p.lookup->low.front(), -99);
  EXPECT_EQ(p.lookup->high.back(), 32767);
}

TEST(ConvTail, ASlopeMultipliesSumsBelowZeroOnly) {
  const Program program = compiled(with_conv(R"(
    %y: f32[1,2,1,1] q(i8, scale=[0.04], zp=[-7], min=[-4.84], max=[5.36]) = LeakyRelu(%c) {alpha=0.1} @"a"
    output %y
)"));
  ASSERT_EQ(types(program), "ConvLeakyRelu");
  const auto& p = std::get<ConvParams>(program.main_variant().steps[0].params);
  ASSERT_TRUE(p.slope.has_value());
  // 0.005 / 2^14 / 0.04 = 2^-17 = 16384 / 2^31: no shift in the bias stage.
  EXPECT_EQ(p.multiplier_shift, 0);
  EXPECT_EQ(*p.slope, (program::SlopeStage{14, 0, 0, {1638}}));
  EXPECT_EQ(p.output, (program::OutputStage{{16384, 31}, -7}));
}

TEST(ConvTail, TheAddBehindASlopeJoinsToo) {
  const Program program = compiled(with_conv(R"(
    const %s: f32[2,1,1] = [0.15, -0.5]
    %a: f32[1,2,1,1] q(i8, scale=[0.4], zp=[0], min=[-51.2], max=[50.8]) = PRelu(%c, %s) @"a"
    %y: f32[1,2,1,1] q(i8, scale=[4.0], zp=[-7], min=[-484.0], max=[536.0]) = Add(%e, %a) @"s"
    output %y
)"));
  ASSERT_EQ(types(program), "ConvPReluAdd");
  const auto& p = std::get<ConvParams>(program.main_variant().steps[0].params);
  // 0.005 / 2^14 / 4 = 20971.5 / 2^38: two bits more than the last stage may shift.
  EXPECT_EQ(p.multiplier_shift, 2);
  EXPECT_EQ(*p.slope, (program::SlopeStage{16, 8, 8, {2457, -8192}}));  // cut off, not rounded
  EXPECT_EQ(p.output.scale.shift, 28);
  // 0.02 / (0.005 / 2^14 * 2^10) = 64 = 16384 / 2^8
  EXPECT_EQ(p.addend, (program::InputStage{-5, {16384, 8}}));
}

TEST(ConvTail, AbsIsASlopeOfMinusOne) {
  const Program program = compiled(with_conv(R"(
    %y: f32[1,2,1,1] q(i8, scale=[0.04], zp=[-128], min=[0.0], max=[10.2]) = Abs(%c) @"a"
    output %y
)"));
  ASSERT_EQ(types(program), "ConvLeakyRelu");
  EXPECT_EQ(std::get<ConvParams>(program.main_variant().steps[0].params).slope->factor,
            (std::vector<int16_t>{-16384}));
}

TEST(ConvTail, OfTwoSlopesThatAreAddedOneTakesTheAdd) {
  const Program program = compiled(with_conv(R"(
    %d: f32[1,2,1,1] q(i8, scale=[0.4], zp=[0], min=[-51.2], max=[50.8]) = Conv(%e, %w) @"c2"
    %a: f32[1,2,1,1] q(i8, scale=[0.4], zp=[0], min=[-51.2], max=[50.8]) = LeakyRelu(%c) {alpha=0.1} @"a"
    %b: f32[1,2,1,1] q(i8, scale=[0.4], zp=[0], min=[-51.2], max=[50.8]) = LeakyRelu(%d) {alpha=0.2} @"b"
    %y: f32[1,2,1,1] q(i8, scale=[0.8], zp=[0], min=[-102.4], max=[101.6]) = Add(%a, %b) @"s"
    output %y
)"));
  EXPECT_EQ(types(program), "ConvLeakyRelu ConvLeakyReluAdd");
}

// Kinds of sentences: what it is, the nodes behind the convolution, the steps.
struct Apart {
  const char* why;
  const char* rest;
  const char* steps;
};

TEST(ConvTail, StaysApartWhereTheChipHasNoSuchStep) {
  const Apart cases[] = {
      {"somebody else reads the convolution", R"(
    %y: f32[1,2,1,1] q(i8, scale=[0.04], zp=[-7], min=[-4.84], max=[5.36]) = exSwish(%c) @"a"
    output %y
    output %c
)",
       "Conv exSwish"},
      {"the table of tanh Gelu is not known", R"(
    %y: f32[1,2,1,1] q(i8, scale=[0.04], zp=[-7], min=[-4.84], max=[5.36]) = exGelu(%c) {approximate="tanh"} @"a"
    output %y
)",
       "Conv exGelu"},
      {"beyond the table x * sigmoid(x / 2) is not flat", R"(
    %y: f32[1,2,1,1] q(i8, scale=[0.04], zp=[-7], min=[-4.84], max=[5.36]) = exSwish(%c) {beta=0.5} @"a"
    output %y
)",
       "Conv exSwish"},
      {"a slope of 2 has no int16 in 1/16384", R"(
    %y: f32[1,2,1,1] q(i8, scale=[0.04], zp=[-7], min=[-4.84], max=[5.36]) = LeakyRelu(%c) {alpha=2.0} @"a"
    output %y
)",
       "Conv LeakyRelu"},
      {"slopes that differ along a row", R"(
    const %s: f32[2,1,1] = [0.15, -0.5]
    %r: f32[1,1,2,1] q(i8, scale=[0.4], zp=[0], min=[-51.2], max=[50.8]) = Transpose(%c) {perm=[0,2,1,3]} @"t"
    %y: f32[1,1,2,1] q(i8, scale=[0.04], zp=[-7], min=[-4.84], max=[5.36]) = exSwish(%r) @"a"
    output %y
)",
       "Conv Transpose exSwish"},
  };
  for (const Apart& c : cases) EXPECT_EQ(types(compiled(with_conv(c.rest))), c.steps) << c.why;
}

TEST(ConvTail, AUsersWordComesFirst) {
  EXPECT_EQ(types(compiled(with_conv(kSwish), {.op_target = {{"a", "cpu"}}})), "Conv exSwish");
  EXPECT_EQ(types(compiled(with_conv(kSwish), {.float_layers = {"y"}})).substr(0, 4), "Conv");
}

TEST(ConvTail, ChipsWithoutTablesInTheirConvolutionsKeepSlopesOnly) {
  const std::string leaky = with_conv(R"(
    %y: f32[1,2,1,1] q(i8, scale=[0.04], zp=[-7], min=[-4.84], max=[5.36]) = LeakyRelu(%c) {alpha=0.1} @"a"
    output %y
)");
  EXPECT_EQ(types(compiled(with_conv(kSwish), {.target = "rv1103b"})), "Conv exSwish");
  EXPECT_EQ(types(compiled(leaky, {.target = "rv1103b"})), "ConvLeakyRelu");
  EXPECT_EQ(types(compiled(with_conv(kSwish), {.target = "rk3566"})), "ConvExSwish");
}

// 5 / 0.005 = 1000 in front of the multiplication, times the multiplier behind it.
TEST(ConvTail, TheOffsetOfATableIsAddedWhereTheChipAddsIt) {
  const std::string elu = with_conv(R"(
    %y: f32[1,2,1,1] q(i8, scale=[0.04], zp=[-7], min=[-4.84], max=[5.36]) = Elu(%c) {alpha=1.0} @"a"
    output %y
)");
  for (const char* chip : {"rk3588", "rk3576"}) {
    const Program program = compiled(elu, {.target = chip});
    ASSERT_EQ(types(program), "ConvElu");
    const auto& stage = *std::get<ConvParams>(program.main_variant().steps[0].params).lookup;
    // 16384 * 0.005 / 5 = 16.384 = 16777.2 / 2^10
    EXPECT_EQ(stage.multiplier, 16777) << chip;
    EXPECT_EQ(stage.addend, 16777000) << chip;
  }
}

}  // namespace
}  // namespace rk::compiler
