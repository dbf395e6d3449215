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
  std::vector<int8_t> run(const ConvI8Kernel& kernel, const std::vector<int8_t>& weights,
                          int8_t input, int16_t offset) const {
    std::vector<int16_t> multiplier(kOut, 16384), offsets(kOut, offset);
    ConvI8Params p;
    p.filter.in_channels = kIn;
    p.filter.out_channels = kOut;
    p.filter.kernel = {3, 3};
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
    const ConvI8Args args = {&*packed, {1, {kSide, kSide}, {kSide, kSide}, {1, 1}}, x.data(),
                             nullptr, y.data()};
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
      [](size_t i) { return i % 3 == 0 ? 127 : 2; },   // pairs of 129 and of 4
      [](size_t i) { return i % 2 == 0 ? 64 : 65; },   // one beyond what is safe
      [](size_t i) { return i % 2 == 0 ? 64 : 64; },   // just safe, and not twice
      [](size_t i) { return i % 7 == 0 ? -128 : -1; },
      [](size_t) { return 32; },                       // safe twice
      [](size_t) { return 0; },
  };
  for (const Pattern& pattern : patterns) {
    std::vector<int8_t> weights(size_t{kOut} * kIn * 9);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<int8_t>(pattern(i / 9));
    for (const int8_t input : {int8_t{127}, int8_t{-128}, int8_t{0}}) {
      for (const int16_t offset : {int16_t{0}, int16_t{1}, int16_t{-120}}) {
        EXPECT_EQ(run(*variant("conv_i8__avx2_quads"), weights, input, offset),
                  run(*variant("conv_i8__generic"), weights, input, offset))
            << int(weights[0]) << " " << int(weights[9]) << ", input " << int(input) << ", offset "
            << offset;
      }
    }
  }
}

}  // namespace
}  // namespace rk::kernels
