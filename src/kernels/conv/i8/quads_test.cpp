// SPDX-License-Identifier: Apache-2.0
// The proof of quads.h at its edges: the heaviest weights of either sign under the largest inputs, where 16-bit sums of
// unproved weights would saturate.
#include "kernels/conv/i8/quads.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "kernels/conv/conv.h"
#include "kernels/layout/blocked.h"

namespace rk::kernels {
namespace {

const ConvI8Kernel* variant(std::string_view name) {
  for (const ConvI8Variant& v : conv_i8_variants()) {
    if (v.name == name) return v.kernel;
  }
  return nullptr;
}

class QuadsTest : public testing::Test {
 protected:
  static constexpr int32_t kIn = 22, kOut = 19, kSide = 5;
  void SetUp() override {
    if (variant("conv_i8__avx2_quads") == nullptr) GTEST_SKIP() << "this CPU has no such variant";
  }

  // Accumulators themselves: a multiplier of 1 and an output scale so small that only the sum's upper bits are seen would
  // hide errors; so the largest sum maps to about 127.
  static std::vector<int8_t> run(const ConvI8Kernel& kernel, const std::vector<int8_t>& weights,
                                 int8_t input, int16_t offset, int32_t side = 3) {
    std::vector<int16_t> multiplier(kOut, 16384), offsets(kOut, offset);
    ConvI8Params p;
    p.filter.in_channels = kIn;
    p.filter.out_channels = kOut;
    p.filter.kernel = {side, side};
    p.weights = weights.data();
    p.weight_offset = offsets.data();
    p.multiplier = multiplier.data();
    p.input_zero_point = -128;
    p.output.scale = {16384, 29};
    const auto packed = pack_conv_i8(p, kernel);
    EXPECT_TRUE(packed.ok());
    const ActivationShape in = {1, kIn, {kSide, kSide}}, out = {1, kOut, {kSide, kSide}};
    std::vector<int8_t> x(static_cast<size_t>(blocked_elements(in)), input);
    std::vector<int8_t> y(static_cast<size_t>(blocked_elements(out)));
    const ConvI8Args args = {&*packed,
                             {1, {kSide, kSide}, {kSide, kSide}, {side / 2, side / 2}},
                             x.data(),
                             nullptr,
                             y.data()};
    conv_i8(args, {0, conv_i8_units(args)});
    std::vector<int8_t> back(weights.size());
    unpack_conv_i8(*packed, offsets.data(), back.data());
    EXPECT_EQ(back, weights);
    return y;
  }
};

TEST_F(QuadsTest, HeaviestWeightsUnderTheLargestInputsEqualTheGenericKernel) {
  using Pattern = std::function<int(size_t)>;
  const Pattern patterns[] = {
      [](size_t) { return 127; },
      [](size_t) { return -128; },
      [](size_t i) { return i % 2 == 0 ? 127 : -128; },
      [](size_t i) { return i % 3 == 0 ? 127 : 2; },  // pairs of 129 and of 4
      [](size_t) { return 64; },                      // one beyond kSafe
      [](size_t i) { return i % 2 == 0 ? 64 : 63; },  // just safe, and not twice
      [](size_t i) { return i % 7 == 0 ? -128 : -1; },
      [](size_t) { return 31; },  // safe twice
      [](size_t) { return 21; },  // safe three times
      [](size_t) { return 0; },
  };
  // Of one tap a quad has a row for each order of its channels, of nine only one.
  for (const int32_t side : {1, 3}) {
    const auto taps = static_cast<size_t>(side * side);
    for (const Pattern& pattern : patterns) {
      std::vector<int8_t> weights(size_t{kOut} * kIn * taps);
      for (size_t i = 0; i < weights.size(); ++i)
        weights[i] = static_cast<int8_t>(pattern(i / taps));
      for (const int8_t input : {int8_t{127}, int8_t{-128}, int8_t{0}}) {
        for (const int16_t offset : {int16_t{0}, int16_t{1}, int16_t{-120}}) {
          EXPECT_EQ(run(*variant("conv_i8__avx2_quads"), weights, input, offset, side),
                    run(*variant("conv_i8__generic"), weights, input, offset, side))
              << int(weights[0]) << " " << int(weights[taps]) << ", input " << int(input)
              << ", offset " << offset << ", kernel " << side;
        }
      }
    }
  }
}

// One pixel more than whole vectors hold: alone in rows of 9, 17, 25 and 49, with border and
// without, with a residual and without, in chunks and in orders.
TEST_F(QuadsTest, OnePixelAfterWholeVectorsEqualsTheGenericKernel) {
  uint32_t state = 7;
  const auto next = [&] {
    return static_cast<int8_t>((state = state * 1664525 + 1013904223) >> 24);
  };
  for (const Extent2 extent : {Extent2{1, 9}, Extent2{1, 17}, Extent2{5, 5}, Extent2{7, 7}}) {
    for (const int32_t side : {1, 3}) {
      for (const int32_t deep : {21, 70, 600}) {
        for (const bool residual : {false, true}) {
          std::vector<int8_t> weights(static_cast<size_t>(kOut * deep * side * side));
          for (int8_t& w : weights) w = next();
          const std::vector<int16_t> multiplier(kOut, 16384), offsets(kOut, deep == 70 ? 90 : 0);
          ConvI8Params p;
          p.filter.in_channels = deep;
          p.filter.out_channels = kOut;
          p.filter.kernel = {side, side};
          p.weights = weights.data();
          p.weight_offset = offsets.data();
          p.multiplier = multiplier.data();
          p.input_zero_point = 3;
          p.activation = Activation::kRelu;
          p.has_residual = residual;
          p.residual_scale = {16384, 3};
          p.output = {{16384 + 321, 28}, -7};
          const ConvExtents extents = {1, extent, extent, {side / 2, side / 2}};
          std::vector<int8_t> x(static_cast<size_t>(blocked_elements({1, deep, extent})));
          std::vector<int8_t> e(static_cast<size_t>(blocked_elements({1, kOut, extent})));
          for (int8_t& v : x) v = next();
          for (int8_t& v : e) v = next();
          const auto run = [&](std::string_view name) {
            const auto packed = pack_conv_i8(p, *variant(name));
            EXPECT_TRUE(packed.ok());
            std::vector<int8_t> y(e.size());
            const ConvI8Args args = {&*packed, extents, x.data(), residual ? e.data() : nullptr,
                                     y.data()};
            conv_i8(args, {0, conv_i8_units(args)});
            return y;
          };
          EXPECT_EQ(run("conv_i8__avx2_quads"), run("conv_i8__generic"))
              << extent.h << "x" << extent.w << ", kernel " << side << ", " << deep
              << " channels, residual " << residual;
        }
      }
    }
  }
}

// More output channels than keep their sums between chunks, and inputs of more than one chunk.
TEST_F(QuadsTest, ManyChannelsEqualTheGenericKernel) {
  constexpr int32_t kMany = 2070, kDeep = 850;
  std::vector<int8_t> weights(size_t{kMany} * kDeep);
  uint32_t state = 1;
  const auto next = [&] {
    return static_cast<int8_t>((state = state * 1664525 + 1013904223) >> 24);
  };
  for (int8_t& w : weights) w = next();
  const std::vector<int16_t> multiplier(kMany, 16384);
  ConvI8Params p;
  p.filter.in_channels = kDeep;
  p.filter.out_channels = kMany;
  p.weights = weights.data();
  p.multiplier = multiplier.data();
  p.output.scale = {16384, 27};
  std::vector<int8_t> x(static_cast<size_t>(blocked_elements({1, kDeep, {1, 3}})));
  for (int8_t& v : x) v = next();
  const auto run = [&](std::string_view name) {
    const auto packed = pack_conv_i8(p, *variant(name));
    EXPECT_TRUE(packed.ok());
    std::vector<int8_t> y(static_cast<size_t>(blocked_elements({1, kMany, {1, 3}})));
    const ConvI8Args args = {&*packed, {1, {1, 3}, {1, 3}, {0, 0}}, x.data(), nullptr, y.data()};
    conv_i8(args, {0, conv_i8_units(args)});
    std::vector<int8_t> back(weights.size());
    unpack_conv_i8(*packed, nullptr, back.data());
    EXPECT_EQ(back, weights);
    return y;
  };
  EXPECT_EQ(run("conv_i8__avx2_quads"), run("conv_i8__generic"));
}

}  // namespace
}  // namespace rk::kernels
