// SPDX-License-Identifier: Apache-2.0
#include "compiler/conv_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rk::compiler {
namespace {

using testing::ElementsAre;

// Two channels of one weight each; the sums have the unit 0.5 * 0.01.
ConvSpec two_channels(float out_scale) {
  ConvSpec spec;
  spec.params.group = 1;
  spec.weight_shape = Shape{2, 1, 1, 1};
  spec.weights = {1.0f, 0.2f};
  spec.weight_scale = {0.01f, 0.004f};
  spec.weight_zero_point = {0, 0};
  spec.in_channels = 1;
  spec.out_channels = 2;
  spec.in = {0.5f, 0};
  spec.out = {out_scale, 0};
  return spec;
}

TEST(ConvStep, CalibratedScalesUseTheUnitOfTheSums) {
  const auto conv = quantize_conv(two_channels(0.015f));
  ASSERT_TRUE(conv.ok()) << conv.status().message();
  EXPECT_THAT(conv->weights, ElementsAre(100, 50));
  EXPECT_THAT(conv->channels.multiplier, ElementsAre(16384, 6554));
  EXPECT_EQ(conv->multiplier_shift, 14);
  EXPECT_NEAR(conv->accumulator_scale, 0.005, 1e-9);
}

// A step of the output is only three units of the sums: v is made finer, until 2 * 128 * 100 sums reach 2^22 units.
TEST(ConvStep, ScalesOfTheModelsOwnUseAllBitsOfTheRegisters) {
  ConvSpec spec = two_channels(0.015f);
  spec.keep_weight_scales = true;
  const auto conv = quantize_conv(spec);
  ASSERT_TRUE(conv.ok()) << conv.status().message();
  EXPECT_THAT(conv->weights, ElementsAre(100, 50));
  EXPECT_THAT(conv->channels.multiplier, ElementsAre(32767, 13107));
  EXPECT_EQ(conv->multiplier_shift, 8);
  EXPECT_NEAR(conv->accumulator_scale, 0.005 * 256 / 32767, 1e-11);
}

TEST(ConvStep, WideOutputStepsNeedNoFinerUnit) {
  ConvSpec spec = two_channels(10.0f);
  spec.keep_weight_scales = true;
  const auto conv = quantize_conv(spec);
  ASSERT_TRUE(conv.ok()) << conv.status().message();
  EXPECT_EQ(conv->multiplier_shift, 14);
  EXPECT_THAT(conv->channels.multiplier, ElementsAre(32767, 13107));
}

// Sums that fill the room already keep the usual form.
TEST(ConvStep, LargeSumsKeepTheUsualMultiplier) {
  ConvSpec spec = two_channels(0.015f);
  spec.keep_weight_scales = true;
  spec.bias = {0.005f * (1 << 22), 0};
  const auto conv = quantize_conv(spec);
  ASSERT_TRUE(conv.ok()) << conv.status().message();
  EXPECT_THAT(conv->channels.multiplier, ElementsAre(16384, 6554));
  EXPECT_EQ(conv->multiplier_shift, 14);
}

}  // namespace
}  // namespace rk::compiler
