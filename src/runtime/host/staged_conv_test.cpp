// SPDX-License-Identifier: Apache-2.0
// Stages after an int8 convolution that conv_i8 does not have, against results computed by hand. The convolution is 1x1
// of one channel with weight 1, so v is the input (less nothing: its zero point is 0).
#include <gtest/gtest.h>

#include "runtime/session/session.h"
#include "runtime/test_program.h"

namespace rk::runtime {
namespace {

std::vector<float> run(const program::ConvParams& params, const std::vector<float>& x) {
  TestProgram p;
  const Shape shape{1, 1, 1, static_cast<int64_t>(x.size())};
  const int32_t in = p.input("x", {DType::kI8, shape, 1.0f, 0});
  const int32_t out = p.output("y", {DType::kI8, shape, 1.0f, 0});
  p.conv(in, out, {1, 1, 1, 1}, {{1}, {}, params});
  const auto model = LoadedModel::from_program(std::move(p.program), {});
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return {};
  auto session = Session::create(model.value(), {});
  EXPECT_TRUE(session.ok()) << session.status().message();
  const CallerFormat plain{.dtype = DType::kF32, .format = TensorFormat::kNchw};
  EXPECT_TRUE((*session)->set_input(0, plain, x.data(), x.size() * 4).ok());
  EXPECT_TRUE((*session)->run().ok());
  std::vector<float> y(x.size());
  EXPECT_TRUE((*session)->get_output(0, plain, y.data(), y.size() * 4).ok());
  return y;
}

// Entries every 4 units from -2048 to 2048; the function is t / 4 below zero and t / 2 above, lines beyond the ends.
program::LookupStage two_slopes() {
  program::LookupStage s;
  s.multiplier = 64;
  s.shift = 0;
  s.start = -2048;
  s.end = 2048;
  s.entry_shift = 2;
  for (int i = 0; i <= 512; ++i) {
    s.low.push_back(static_cast<int16_t>(i - 512));
    s.high.push_back(static_cast<int16_t>(2 * i));
  }
  s.below = {0, 0};
  s.above = {1, 1};
  return s;
}

TEST(StagedConvTest, ActivationsByTableInterpolateAndGoOnBeyondTheTable) {
  program::ConvParams params;
  params.lookup = two_slopes();
  params.output.scale = {1, 4};  // / 16
  // t = 64 x: x = -40 lies below the table and stays at its first entry, -512; x = 40 goes on with slope 1/2.
  //   x       -40   -8    -1    0   1   8    31    40
  //   t     -2560 -512   -64    0  64 512  1984  2560
  //   table  -512 -128   -16    0  32 256   992  1280
  const std::vector<float> expected = {-32, -8, -1, 0, 2, 16, 62, 80};
  EXPECT_EQ(run(params, {-40, -8, -1, 0, 1, 8, 31, 40}), expected);
}

TEST(StagedConvTest, SlopesApplyBelowZeroOnly) {
  program::ConvParams params;
  params.multiplier_shift = 10;  // the multiplier is 2^14: v = 16 x
  params.slope = program::SlopeStage{.negative_multiplier_shift = 14,
                                     .positive_shift = 0,
                                     .negative_shift = 0,
                                     .factor = {4}};  // 4 x in the unit of 16: a quarter
  params.output.scale = {1, 4};
  // Ties go to even: -0.5 is 0, -1.5 is -2.
  EXPECT_EQ(run(params, {-100, -6, -2, 0, 7, 100}), (std::vector<float>{-25, -2, 0, 0, 7, 100}));
}

TEST(StagedConvTest, MultipliersOfAnotherUnit) {
  program::ConvParams params;
  params.multiplier_shift = 15;  // half of x, rounded to even
  params.output.scale = {1, 0};
  EXPECT_EQ(run(params, {-3, -1, 1, 3, 6}), (std::vector<float>{-2, 0, 0, 2, 3}));
}

}  // namespace
}  // namespace rk::runtime
