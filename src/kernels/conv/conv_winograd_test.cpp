// SPDX-License-Identifier: Apache-2.0
// The Winograd form of conv_i8 against the generic kernel: every size around a patch and a band, both forms of the
// weights, and numbers at their extremes, where a range that is off by one bit would show. Variants that choose the form
// while running (lane_winograd.h) take part.
#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

#include "kernels/conv/conv.h"
#include "kernels/cpu_features.h"
#include "kernels/layout/blocked.h"

namespace rk::kernels {
namespace {

const ConvI8Kernel* winograd() {
  for (const ConvI8Variant& variant : conv_i8_variants()) {
    if (std::string_view(variant.kernel->name).find("winograd") != std::string_view::npos)
      return variant.kernel;
  }
  return nullptr;
}

struct Layer {
  int32_t in_channels, out_channels;
  ConvExtents extents;
  std::vector<int8_t> weights, input, residual;
  std::vector<int16_t> offset, multiplier;
  std::vector<int32_t> bias;
  ConvI8Params params;

  Layer(int32_t in, int32_t out, const ConvExtents& e)
      : in_channels(in),
        out_channels(out),
        extents(e),
        weights(size_t(in) * out * 9),
        input(size_t(blocked_elements({e.batch, in, e.in}))),
        residual(size_t(blocked_elements({e.batch, out, e.out}))),
        offset(size_t(out)),
        multiplier(size_t(out), 16384),
        bias(size_t(out)) {
    params = {.filter = {in, out, 1, {3, 3}},
              .weights = weights.data(),
              .weight_offset = offset.data(),
              .bias = bias.data(),
              .multiplier = multiplier.data(),
              .input_zero_point = -3,
              .residual_offset = 7,
              .residual_scale = {20000, 10},
              .output = {{16384, 27}, 4}};
  }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  std::vector<int8_t> run(const ConvI8Kernel& kernel, int64_t spare_bytes, int64_t step) {
    params.spare_bytes = spare_bytes;
    const auto packed = pack_conv_i8(params, kernel);
    EXPECT_TRUE(packed.ok()) << packed.status().message();
    std::vector<int8_t> output(residual.size(), 55);
    if (!packed.ok()) return output;
    std::vector<int8_t> unpacked(weights.size());
    unpack_conv_i8(*packed, offset.data(), unpacked.data());
    EXPECT_EQ(unpacked, weights);
    const ConvI8Args args = {&*packed, extents, input.data(), residual.data(), output.data()};
    const int64_t units = conv_i8_units(args);
    for (int64_t unit = 0; unit < units; unit += step)
      conv_i8(args, {unit, std::min(units, unit + step)});
    return output;
  }

  void expect_equal() {
    const std::vector<int8_t> expected = run(*conv_i8_variants().back().kernel, 0, 1 << 20);
    for (const ConvI8Variant& variant : conv_i8_variants()) {
      const std::string_view name = variant.kernel->name;
      if (name.ends_with("grouped") || name.ends_with("depthwise")) continue;  // one group here
      for (const int64_t spare : {int64_t{0}, int64_t{1} << 40}) {
        for (const int64_t step : {int64_t{1} << 20, int64_t{3}, int64_t{1}}) {
          EXPECT_EQ(run(*variant.kernel, spare, step), expected)
              << variant.kernel->name << ": " << in_channels << " -> " << out_channels << " at "
              << extents.out.h << "x" << extents.out.w << ", spare " << spare << ", units " << step;
        }
      }
    }
  }
};

template <typename T>
void fill(std::vector<T>& values, std::mt19937& random, int low, int high) {
  for (T& value : values) value = static_cast<T>(low + int(random() % uint32_t(high - low + 1)));
}

// Of the variant by that name.
class ConvWinogradVariantTest : public testing::Test {
 protected:
  void SetUp() override {
    if (winograd() == nullptr || (needs::kAvx512Vbmi & ~allowed_features()) != 0)
      GTEST_SKIP() << "this CPU has no such variant, or RKNN_KERNEL forbids it";
  }
};

TEST(ConvWinogradTest, EqualsTheGenericVariantOnEverySizeOfPicture) {
  std::mt19937 random(1);
  const int32_t channels[][2] = {{1, 1}, {16, 16}, {33, 48}, {20, 70}, {130, 33}};
  int i = 0;
  for (const auto& [in, out] : channels) {
    for (const int32_t width : {1, 4, 7, 14, 131}) {
      const int32_t height = 1 + (i * 5) % 13;
      Layer layer(in, out, {1 + i % 2, {height, width}, {height, width}, {1, 1}});
      fill(layer.weights, random, -128, 127);
      fill(layer.input, random, -128, 127);
      fill(layer.residual, random, -128, 127);
      fill(layer.bias, random, -50000, 50000);
      if (i % 3 != 0) fill(layer.offset, random, -128, 127);
      layer.params.has_residual = i % 2 == 1;
      layer.params.relu_after_add = i % 4 == 1;
      layer.params.activation = static_cast<Activation>(i % 3);
      layer.params.clip = 4000;
      layer.expect_equal();
      ++i;
    }
  }
}

TEST(ConvWinogradTest, EqualsTheGenericVariantOnLargePictures) {
  std::mt19937 random(4);
  const int32_t shapes[][4] = {{64, 40, 20, 30}, {48, 64, 14, 14}, {40, 100, 9, 150}};
  for (const auto& [in, out, height, width] : shapes) {
    Layer layer(in, out, {2, {height, width}, {height, width}, {1, 1}});
    fill(layer.weights, random, -128, 127);
    fill(layer.input, random, -128, 127);
    fill(layer.offset, random, -100, 100);
    fill(layer.bias, random, -50000, 50000);
    layer.expect_equal();
  }
}

TEST(ConvWinogradTest, PaddingMayBeAnything) {
  std::mt19937 random(2);
  const ConvExtents pictures[] = {
      {1, {9, 11}, {7, 9}, {0, 0}}, {1, {5, 6}, {11, 12}, {4, 4}}, {1, {12, 12}, {6, 5}, {-2, -3}}};
  for (const ConvExtents& extents : pictures) {
    Layer layer(40, 40, extents);
    fill(layer.weights, random, -128, 127);
    fill(layer.input, random, -128, 127);
    layer.expect_equal();
  }
}

// Bytes at the ends of their range make the largest factors and sums that can occur.
TEST(ConvWinogradTest, ExtremesStayExact) {
  std::mt19937 random(3);
  for (const int offset : {0, 255, -255}) {
    for (int pattern = 0; pattern < 4; ++pattern) {
      Layer layer(64, 16, {1, {12, 12}, {12, 12}, {1, 1}});
      const auto end = [&](bool high) { return static_cast<int8_t>(high ? 127 : -128); };
      for (size_t i = 0; i < layer.weights.size(); ++i)
        layer.weights[i] = end(pattern == 0 ? i % 2 == 0 : pattern == 1 || random() % 2 == 0);
      for (size_t i = 0; i < layer.input.size(); ++i)
        layer.input[i] = end(pattern == 0 ? i / 16 % 2 == 0 : pattern == 1 || random() % 2 == 0);
      layer.offset.assign(layer.offset.size(), static_cast<int16_t>(offset));
      layer.params.input_zero_point = pattern == 2 ? 127 : -128;
      layer.expect_equal();
    }
  }
}

TEST_F(ConvWinogradVariantTest, LeavesSumsItCannotDivideToOthers) {
  Layer layer(512, 16, {1, {8, 8}, {8, 8}, {1, 1}});
  layer.weights.assign(layer.weights.size(), -128);  // 512 * 9 * 128 * 128 >= 2^25
  EXPECT_EQ(pack_conv_i8(layer.params, *winograd()).status().code(), Code::kUnsupported);
  layer.weights.assign(layer.weights.size(), 50);
  EXPECT_TRUE(pack_conv_i8(layer.params, *winograd()).ok());
  layer.offset.assign(layer.offset.size(), 256);
  layer.weights.assign(layer.weights.size(), -128);
  EXPECT_EQ(pack_conv_i8(layer.params, *winograd()).status().code(), Code::kUnsupported);
}

TEST_F(ConvWinogradVariantTest, IsChosenWhereItPays) {
  Layer layer(64, 64, {1, {56, 56}, {56, 56}, {1, 1}});
  EXPECT_NE(pack_conv_i8(layer.params)->kernel, winograd());  // the picture is not known
  layer.params.usual_output = {56, 56};
  EXPECT_EQ(pack_conv_i8(layer.params)->kernel, winograd());
  const size_t small = pack_conv_i8(layer.params)->weights.size();
  EXPECT_LT(small, layer.weights.size() + 4096);
  layer.params.spare_bytes = 1 << 20;
  EXPECT_GT(pack_conv_i8(layer.params)->weights.size(), 4 * small);
  layer.params.usual_output = {7, 7};
  EXPECT_NE(pack_conv_i8(layer.params)->kernel, winograd());
}

}  // namespace
}  // namespace rk::kernels
