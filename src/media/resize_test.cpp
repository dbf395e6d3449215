// SPDX-License-Identifier: Apache-2.0
#include "media/resize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/crc32.h"
#include "base/npy.h"

namespace rk::media {
namespace {

using testing::ElementsAre;

std::string testdata(const std::string& name) {
  return (std::filesystem::path(__FILE__).parent_path() / "testdata" / name).string();
}

Picture corner_of(const NpyArray& source, int channels, int width, int height) {
  Picture out{width, height, channels, {}};
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < channels; ++c) {
        out.pixels.push_back(source.bytes[static_cast<size_t>((y * source.shape[1] + x) * 3 + c)]);
      }
    }
  }
  return out;
}

TEST(ResizeTest, EqualsOpenCvForManySizes) {
  const auto source = read_npy(testdata("resize_source.npy"));
  const auto cases = read_npy(testdata("resize_cases.npy"));
  ASSERT_TRUE(source.ok() && cases.ok());
  ASSERT_EQ(cases->shape, (std::vector<int64_t>{128, 6}));
  for (size_t row = 0; row < 128; ++row) {
    const auto field = [&](size_t i) { return load<uint32_t>(&cases->bytes[(row * 6 + i) * 4]); };
    const auto extent = [&](size_t i) { return static_cast<int>(field(i)); };
    const Picture from = corner_of(*source, extent(0), extent(1), extent(2));
    const auto resized = resize_bilinear(from, extent(3), extent(4));
    ASSERT_TRUE(resized.ok()) << resized.status().message();
    EXPECT_EQ(crc32(resized->pixels), field(5))
        << from.width << " x " << from.height << " x " << from.channels << " to " << extent(3)
        << " x " << extent(4);
  }
}

TEST(ResizeTest, GrowingTwofoldMixesThreeToOne) {
  // Positions -0.25, 0.25, 0.75, 1.25 of (0, 100): the ends are held, 25 and 75 lie between.
  const auto out = resize_bilinear({2, 1, 1, {0, 100}}, 4, 1);
  ASSERT_TRUE(out.ok());
  EXPECT_THAT(out->pixels, ElementsAre(0, 25, 75, 100));
}

TEST(ResizeTest, HalvingBothSidesAveragesAndRoundsUp) {
  const auto out = resize_bilinear({2, 2, 1, {0, 0, 1, 1}}, 1, 1);  // 0.5
  ASSERT_TRUE(out.ok());
  EXPECT_THAT(out->pixels, ElementsAre(1));
}

TEST(ResizeTest, ReducingFourfoldTakesTheMiddleTwo) {
  const auto out = resize_bilinear({4, 1, 1, {255, 10, 20, 255}}, 1, 1);  // position 1.5
  ASSERT_TRUE(out.ok());
  EXPECT_THAT(out->pixels, ElementsAre(15));
}

TEST(ResizeTest, ChannelsDoNotMix) {
  const auto out = resize_bilinear({1, 1, 3, {10, 20, 30}}, 2, 1);
  ASSERT_TRUE(out.ok());
  EXPECT_THAT(out->pixels, ElementsAre(10, 20, 30, 10, 20, 30));
}

TEST(ResizeTest, ExtentsBeyondTheLimitsAreRefused) {
  const Picture one{1, 1, 1, {0}};
  EXPECT_FALSE(resize_bilinear(one, 0, 1).ok());
  EXPECT_FALSE(resize_bilinear(one, 1, -3).ok());
  EXPECT_FALSE(resize_bilinear(one, 65536, 1).ok());
  EXPECT_FALSE(resize_bilinear(one, 65535, 65535).ok());
  EXPECT_FALSE(resize_bilinear({}, 1, 1).ok());
}

}  // namespace
}  // namespace rk::media
