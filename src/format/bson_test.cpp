// SPDX-License-Identifier: Apache-2.0
#include "format/bson.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rk::format {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The attribute document of a custom operator in a public sample file: {alpha: {dtype: "f", value:
// 0.5}}.
const std::vector<uint8_t> kAlpha = {0x2D, 0, 0,   0,    0x03, 'a',  'l',  'p', 'h', 'a', 0, 0x21,
                                     0,    0, 0,   0x02, 'd',  't',  'y',  'p', 'e', 0,   2, 0,
                                     0,    0, 'f', 0,    1,    'v',  'a',  'l', 'u', 'e', 0, 0,
                                     0,    0, 0,   0,    0,    0xE0, 0x3F, 0,   0};

TEST(BsonTest, ReadsTheFloatAttributeOfACustomOperator) {
  const auto attributes = read_attributes(kAlpha);
  ASSERT_TRUE(attributes.ok()) << attributes.status().message();
  EXPECT_THAT(*attributes, ElementsAre(Attribute{"alpha", 0.5}));
}

TEST(BsonTest, WritesTheSameBytesAsTheSample) {
  EXPECT_EQ(write_attributes({{"alpha", 0.5}}), kAlpha);
}

TEST(BsonTest, RoundTripsEveryValueType) {
  const std::vector<Attribute> attributes = {
      {"axis", int64_t{-1}},
      {"big", int64_t{1} << 40},
      {"mode", std::string("linear")},
      {"empty", std::string()},
      {"pads", std::vector<int64_t>{1, 2, 3, 4}},
      {"none", std::vector<int64_t>{}},
      {"scales", std::vector<double>{0.5, -2.0}},
      {"names", std::vector<std::string>{"a", "bc"}},
  };
  EXPECT_EQ(read_attributes(write_attributes(attributes)).value(), attributes);
}

TEST(BsonTest, EmptyAndSingleZeroMeanNoAttributes) {
  EXPECT_TRUE(read_attributes({}).value().empty());
  EXPECT_TRUE(read_attributes(std::vector<uint8_t>{0}).value().empty());
  EXPECT_TRUE(write_attributes({}).empty());
}

TEST(BsonTest, RefusesEveryTruncation) {
  for (size_t size = 2; size < kAlpha.size(); ++size) {
    EXPECT_FALSE(read_attributes(ByteSpan(kAlpha).first(size)).ok()) << size;
  }
}

TEST(BsonTest, RefusesMixedArraysAndNegativeSizesNamingTheAttribute) {
  std::vector<uint8_t> bytes = kAlpha;
  bytes[11] = 0xFF, bytes[12] = bytes[13] = bytes[14] = 0xFF;
  const auto attributes = read_attributes(bytes);
  ASSERT_FALSE(attributes.ok());
  EXPECT_THAT(attributes.status().message(),
              HasSubstr("attribute 'alpha': BSON document of -1 bytes"));
}

}  // namespace
}  // namespace rk::format
