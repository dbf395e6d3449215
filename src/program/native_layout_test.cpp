// SPDX-License-Identifier: Apache-2.0
// Layout facts of vendor files as numbers, and round trips over awkward channel counts.
#include "program/native_layout.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "target/chips.h"

namespace rk::program {
namespace {

using Native = std::vector<int32_t>;

const target::WeightLayout& rk3588_weights() { return target::rk3588().weights_i8; }

std::vector<int8_t> numbered(int64_t count) {
  std::vector<int8_t> out(static_cast<size_t>(count));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int8_t>(i * 37 % 251 - 125);
  return out;
}

int64_t product(const Native& native) {
  int64_t sum = 0;
  for (size_t i = 0; i < native.size(); i += 6) {
    int64_t lanes = 1;
    for (size_t j = 0; j < 6; ++j) lanes *= native[i + j];
    sum += lanes;
  }
  return sum;
}

TEST(NativeWeightsTest, ShapesEqualThoseOfVendorFiles) {
  const auto& w = rk3588_weights();
  EXPECT_EQ(native_weight_shape(w, {8, 3, 3, 3}, WeightUse::kPicture), (Native{1, 1, 3, 3, 8, 16}));
  EXPECT_EQ(native_weight_shape(w, {144, 24, 1, 1}, WeightUse::kDense),
            (Native{4, 1, 1, 1, 32, 32, 1, 1, 1, 1, 16, 32}));
  EXPECT_EQ(
      native_weight_shape(w, {240, 240, 1, 1}, WeightUse::kDense),
      (Native{7, 7, 1, 1, 32, 32, 7, 1, 1, 1, 32, 16, 1, 7, 1, 1, 16, 32, 1, 1, 1, 1, 16, 16}));
  EXPECT_EQ(native_weight_shape(w, {2, 240, 1, 1}, WeightUse::kDense),
            (Native{1, 7, 1, 1, 2, 32, 1, 1, 1, 1, 2, 16}));
  EXPECT_EQ(native_weight_shape(w, {64, 16, 3, 3}, WeightUse::kDense),
            (Native{2, 1, 3, 3, 32, 16}));
  EXPECT_EQ(native_weight_shape(w, {1, 64, 2, 2}, WeightUse::kDepthwise),
            (Native{1, 1, 2, 2, 1, 64}));
  EXPECT_EQ(native_weight_shape(w, {1, 16, 2, 2}, WeightUse::kDepthwise),
            (Native{1, 0, 2, 2, 1, 64, 1, 1, 2, 2, 1, 16}));

  const auto& lite = target::rk3566().weights_i8;
  EXPECT_EQ(native_weight_shape(lite, {240, 240, 1, 1}, WeightUse::kDense),
            (Native{15, 7, 1, 1, 16, 32, 15, 1, 1, 1, 16, 16}));
  EXPECT_EQ(native_weight_shape(lite, {64, 3, 3, 3}, WeightUse::kPicture),
            (Native{4, 1, 3, 3, 16, 8}));
  EXPECT_EQ(native_weight_shape(lite, {1, 2, 2, 2}, WeightUse::kDepthwise),
            (Native{1, 0, 2, 2, 1, 32, 1, 1, 2, 2, 1, 8}));
  EXPECT_EQ(native_weight_shape(target::rk3576().weights_i8, {8, 32, 1, 1}, WeightUse::kDense),
            (Native{1, 1, 1, 1, 16, 32}));
  EXPECT_TRUE(native_weight_shape(target::rk3562().weights_i8, {1, 16, 3, 3}, WeightUse::kDepthwise)
                  .empty());
}

TEST(NativeWeightsTest, EightKernelsOnAPictureTake1152Bytes) {
  const Shape shape{8, 3, 3, 3};
  const auto native = native_weight_shape(rk3588_weights(), shape, WeightUse::kPicture);
  EXPECT_EQ(pack_weights(numbered(216), shape, std::vector<int16_t>(8, 5), native).size(), 1152u);
}

TEST(NativeWeightsTest, PaddedLanesHoldTheNegativeOffset) {
  const Shape shape{2, 3, 1, 1};
  const auto native = native_weight_shape(rk3588_weights(), shape, WeightUse::kPicture);
  const std::vector<int8_t> plain = {1, 2, 3, 4, 5, 6};
  const std::vector<int16_t> offset = {7, -9};
  const auto bytes = pack_weights(plain, shape, offset, native);
  ASSERT_EQ(bytes.size(), 32u);
  const auto at = [&](size_t i) { return static_cast<int>(static_cast<int8_t>(bytes[i])); };
  EXPECT_EQ(at(0), 1);
  EXPECT_EQ(at(2), 3);
  EXPECT_EQ(at(3), -7);
  EXPECT_EQ(at(15), -7);
  EXPECT_EQ(at(16), 4);
  EXPECT_EQ(at(31), 9);
}

TEST(NativeWeightsTest, BlocksAreOrderedByOutputBlockThenInputBlockThenTap) {
  // 33 x 48 channels: input blocks of 32 and 16, output blocks of 32 and 2 (vendor files have an even number); two taps.
  const Shape shape{33, 48, 1, 2};
  const auto native = native_weight_shape(rk3588_weights(), shape, WeightUse::kDense);
  std::vector<int8_t> plain(static_cast<size_t>(shape.elements()));
  const auto set = [&](int oc, int ic, int tap, int8_t value) {
    plain[static_cast<size_t>((oc * 48 + ic) * 2 + tap)] = value;
  };
  set(0, 1, 0, 11);   // first block, lane 1
  set(1, 0, 1, 12);   // first block, second tap, row 1
  set(0, 32, 0, 13);  // second input block
  set(32, 0, 0, 14);  // second output block
  const auto bytes = pack_weights(plain, shape, std::vector<int16_t>(33, 0), native);
  EXPECT_EQ(bytes.size(), size_t{2 * 34 * 48});
  EXPECT_EQ(bytes[1], 11);
  EXPECT_EQ(bytes[32 * 32 + 32], 12);
  EXPECT_EQ(bytes[2 * 32 * 32], 13);
  EXPECT_EQ(bytes[2 * 32 * 48], 14);
}

TEST(NativeWeightsTest, RoundTripsOverChannelCountsOnEveryChip) {
  for (const target::Target* chip : target::all_targets()) {
    for (const int64_t ic : {1, 3, 16, 17, 33, 144, 240}) {
      for (const int64_t oc : {1, 2, 8, 24, 39, 240}) {
        const Shape shape{oc, ic, 3, 2};
        const auto use = ic < 4 ? WeightUse::kPicture : WeightUse::kDense;
        const auto native = native_weight_shape(chip->weights_i8, shape, use);
        if (native.empty()) continue;
        const auto plain = numbered(shape.elements());
        const auto bytes =
            pack_weights(plain, shape, std::vector<int16_t>(static_cast<size_t>(oc), 3), native);
        EXPECT_EQ(static_cast<int64_t>(bytes.size()), product(native));
        const auto back = unpack_weights(bytes, native, shape);
        ASSERT_TRUE(back.ok()) << chip->name << to_string(shape) << back.status().message();
        EXPECT_EQ(*back, plain) << chip->name << to_string(shape);
      }
    }
  }
}

TEST(NativeWeightsTest, DepthwiseRoundTripsUnderBothLogicalShapes) {
  for (const int64_t channels : {1, 3, 16, 17, 33, 64, 96, 112, 144, 240}) {
    const Shape shape{1, channels, 3, 3};
    const auto native = native_weight_shape(rk3588_weights(), shape, WeightUse::kDepthwise);
    const auto plain = numbered(shape.elements());
    const auto bytes = pack_weights(plain, shape, {}, native);
    EXPECT_EQ(*unpack_weights(bytes, native, shape), plain);
    const auto swapped = unpack_weights(bytes, native, {channels, 1, 3, 3});
    ASSERT_TRUE(swapped.ok()) << swapped.status().message();
    EXPECT_EQ(*swapped, plain);
  }
}

TEST(NativeWeightsTest, ReadsTheRowFormOfPictureLayersOnRk3576) {
  // [OC1 1, KH 1, OC2 16, KW 3 padded to 4, 4]: 256 bytes where the native product is 192.
  const Shape shape{2, 3, 1, 3};
  std::vector<uint8_t> bytes(256);
  for (size_t oc = 0; oc < 2; ++oc) {
    for (size_t kw = 0; kw < 3; ++kw) {
      for (size_t ic = 0; ic < 3; ++ic) {
        bytes[(oc * 4 + kw) * 4 + ic] = static_cast<uint8_t>(oc * 100 + ic * 10 + kw);
      }
    }
  }
  const auto plain = unpack_weights(bytes, Native{1, 1, 1, 3, 16, 4}, shape);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  EXPECT_EQ(*plain, (std::vector<int8_t>{0, 1, 2, 10, 11, 12, 20, 21, 22, 100, 101, 102, 110, 111,
                                         112, 120, 121, 122}));
}

TEST(NativeWeightsTest, RefusesShapesAndSizesThatDoNotAgree) {
  const Native good = {1, 1, 1, 1, 8, 16};
  const std::vector<uint8_t> bytes(128);
  EXPECT_TRUE(unpack_weights(bytes, good, {8, 16, 1, 1}).ok());
  EXPECT_FALSE(unpack_weights(bytes, good, {8, 17, 1, 1}).ok());
  EXPECT_FALSE(unpack_weights(bytes, good, {9, 16, 1, 1}).ok());
  EXPECT_FALSE(unpack_weights(bytes, good, {8, 16, 3, 3}).ok());
  EXPECT_FALSE(unpack_weights(bytes, good, {8, 16}).ok());
  EXPECT_FALSE(unpack_weights({bytes.data(), 127}, good, {8, 16, 1, 1}).ok());
  EXPECT_FALSE(unpack_weights(bytes, Native{1, 1, 1, 1, 8}, {8, 16, 1, 1}).ok());
  EXPECT_FALSE(unpack_weights(bytes, Native{}, {8, 16, 1, 1}).ok());
  EXPECT_FALSE(unpack_weights(bytes, Native{1, 1, 1, 1, 0, 16}, {8, 16, 1, 1}).ok());
  EXPECT_FALSE(unpack_weights(bytes, Native{-1, 1, 1, 1, 8, 16}, {8, 16, 1, 1}).ok());
  EXPECT_FALSE(
      unpack_weights(bytes, Native{1 << 20, 1 << 20, 1, 1, 1 << 20, 1 << 20}, {8, 16, 1, 1}).ok());
}

TEST(BiasBlockTest, GroupsHoldBiasThenOffsetThenMultiplier) {
  BiasBlock block;
  for (int c = 0; c < 9; ++c) {
    block.bias.push_back(1000 + c);
    block.offset.push_back(static_cast<int16_t>(-c));
    block.multiplier.push_back(static_cast<int16_t>(16384 - c));
  }
  const auto bytes = pack_bias(block, 8, 32);
  ASSERT_EQ(bytes.size(), 256u);  // as in the vendor's file: 64 words for 8 channels
  EXPECT_EQ(load<int32_t>(bytes.data() + 4), 1001);
  EXPECT_EQ(load<int16_t>(bytes.data() + 32 + 6), -3);
  EXPECT_EQ(load<int16_t>(bytes.data() + 48 + 14), 16384 - 7);
  EXPECT_EQ(load<int32_t>(bytes.data() + 64), 1008);
  EXPECT_EQ(load<int32_t>(bytes.data() + 68), 0);
  EXPECT_EQ(pack_bias(block, 4, 16).size(), 128u);

  const auto back = unpack_bias(bytes, 9, 8);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->bias, block.bias);
  EXPECT_EQ(back->offset, block.offset);
  EXPECT_EQ(back->multiplier, block.multiplier);
  EXPECT_FALSE(unpack_bias(bytes, 33, 8).ok());
  EXPECT_FALSE(unpack_bias({bytes.data(), 255}, 32, 8).ok());
}

struct FeatureCase {
  const target::Target& chip;
  DType dtype;
  Shape shape;
  FeatureUse use;
  bool is_output;
  uint64_t size_bytes;
  Native native;
};

TEST(NativeFeatureTest, SizesEqualThoseOfVendorFilesAndLogs) {
  const auto i8 = DType::kI8, f16 = DType::kF16;
  const FeatureCase cases[] = {
      {target::rk3588(),
       i8,
       {1, 512, 7, 7},
       FeatureUse::kConvOutput,
       true,
       26624,
       {1, 33, 7, 7, 16}},
      {target::rk3588(),
       i8,
       {1, 8, 128, 128},
       FeatureUse::kConvOutput,
       true,
       524288,
       {1, 2, 128, 128, 16}},
      {target::rk3588(),
       i8,
       {1, 8, 128, 128},
       FeatureUse::kConvOutput,
       false,
       524288,
       {1, 1, 128, 128, 16}},
      {target::rk3588(),
       i8,
       {1, 240, 48, 48},
       FeatureUse::kOther,
       false,
       552960,
       {1, 15, 48, 48, 16}},
      {target::rk3588(),
       i8,
       {1, 240, 48, 48},
       FeatureUse::kConvOutput,
       false,
       589824,
       {1, 15, 48, 48, 16}},
      {target::rk3566(),
       i8,
       {1, 8, 128, 128},
       FeatureUse::kConvOutput,
       false,
       262144,
       {1, 1, 128, 128, 8}},
      {target::rk3562(),
       i8,
       {1, 8, 128, 128},
       FeatureUse::kConvOutput,
       false,
       262144,
       {1, 1, 128, 128, 16}},
      {target::rk3588(), f16, {1, 3, 10, 10}, FeatureUse::kInput, false, 960, {1, 1, 10, 10, 3}},
      {target::rk3566(), f16, {1, 3, 10, 10}, FeatureUse::kInput, false, 720, {1, 1, 10, 10, 3}},
      {target::rk3588(),
       i8,
       {1, 3, 192, 192},
       FeatureUse::kInput,
       false,
       110592,
       {1, 1, 192, 192, 3}},
      {target::rk3588(),
       f16,
       {1, 3, 10, 10},
       FeatureUse::kConvOutput,
       false,
       3200,
       {1, 1, 10, 10, 8}},
      {target::rk3588(), i8, {1, 17, 1, 1}, FeatureUse::kOther, false, 32, {1, 2, 1, 1, 16}},
      {target::rk3588(), i8, {1, 10}, FeatureUse::kInput, false, 16, {1, 10}},
      {target::rk3588(), i8, {1, 20}, FeatureUse::kInput, false, 32, {1, 20}},
      {target::rk3588(), f16, {1, 20}, FeatureUse::kInput, false, 48, {1, 20}},
      {target::rk3588(), i8, {1, 3, 7}, FeatureUse::kInput, false, 24, {1, 3, 7}},
      {target::rk3588(), i8, {1, 20}, FeatureUse::kOther, true, 20, {1, 20}},
      {target::rk3566(), i8, {1, 5}, FeatureUse::kInput, false, 8, {1, 5}},
      {target::rk3566(), i8, {1, 20}, FeatureUse::kInput, false, 24, {1, 20}},
      {target::rk3566(), f16, {1, 20}, FeatureUse::kInput, false, 40, {1, 20}},
      {target::rk3566(), f16, {1, 3, 7}, FeatureUse::kInput, false, 48, {1, 3, 7}},
      {target::rk3588(),
       DType::kI64,
       {1, 192, 192},
       FeatureUse::kOther,
       true,
       294912,
       {1, 192, 192}},
  };
  for (const FeatureCase& c : cases) {
    const auto feature = native_feature(c.chip, c.dtype, c.shape, c.use, c.is_output);
    ASSERT_TRUE(feature.ok());
    EXPECT_EQ(feature->size_bytes, c.size_bytes) << c.chip.name << to_string(c.shape);
    EXPECT_EQ(feature->native_shape, c.native) << c.chip.name << to_string(c.shape);
  }
  EXPECT_EQ(
      native_feature(target::rk3588(), i8, {1, 3, 8, 8}, FeatureUse::kInput, false)->width_align,
      16u);
}

}  // namespace
}  // namespace rk::program
