// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <gtest/gtest.h>

namespace rk {
namespace {

TEST(BytesTest, NumbersAreLittleEndianAndUnaligned) {
  const std::vector<uint8_t> bytes = {0xaa, 0x01, 0x02, 0x03, 0x04, 0xff, 0xff};
  ByteReader in(bytes);
  EXPECT_EQ(in.read<uint8_t>().value(), 0xaa);
  EXPECT_EQ(in.read<uint32_t>().value(), 0x04030201u);
  EXPECT_EQ(in.read<int16_t>().value(), -1);
  EXPECT_TRUE(in.at_end());
}

TEST(BytesTest, RunningOffTheEndIsAnInvalidModelAndMovesNothing) {
  const std::vector<uint8_t> bytes(5);
  ByteReader in(bytes);
  ASSERT_TRUE(in.take(2).ok());
  const auto number = in.read<uint32_t>();
  ASSERT_FALSE(number.ok());
  EXPECT_EQ(number.status().code(), Code::kInvalidModel);
  EXPECT_EQ(number.status().message(),
            "truncated data: 4 bytes wanted at offset 2, 5 bytes in all");
  EXPECT_EQ(in.offset(), 2u);
  EXPECT_FALSE(in.take(UINT64_MAX).ok());
  EXPECT_TRUE(in.take(3).ok());
  EXPECT_TRUE(in.take(0).ok());
  EXPECT_FALSE(in.read<uint8_t>().ok());
}

TEST(BytesTest, SeekReachesTheEndAndNoFurther) {
  const std::vector<uint8_t> bytes = {1, 2, 3};
  ByteReader in(bytes);
  EXPECT_TRUE(in.seek(3).ok());
  EXPECT_TRUE(in.at_end());
  EXPECT_FALSE(in.seek(4).ok());
  EXPECT_FALSE(in.seek(UINT64_MAX).ok());
  EXPECT_TRUE(in.seek(1).ok());
  EXPECT_EQ(in.read<uint8_t>().value(), 2);
}

TEST(BytesTest, AnEmptySpanHasNothingToRead) {
  ByteReader in(ByteSpan{});
  EXPECT_TRUE(in.at_end());
  EXPECT_TRUE(in.take(0).ok());
  EXPECT_FALSE(in.read_string().ok());
}

TEST(BytesTest, WhatIsWrittenIsRead) {
  ByteWriter out;
  out.write(uint16_t{0x1234});
  out.write_string(std::string_view("a\0b", 3));
  out.write_vector(std::vector<int64_t>{-1, INT64_MAX});
  out.write_vector(std::vector<float>{});
  out.write_bytes(std::vector<uint8_t>{9, 8});
  EXPECT_EQ(out.size(), 2u + 4 + 3 + 4 + 16 + 4 + 2);
  const std::vector<uint8_t> bytes = out.release();
  EXPECT_EQ(bytes[0], 0x34);
  ByteReader in(bytes);
  EXPECT_EQ(in.read<uint16_t>().value(), 0x1234);
  EXPECT_EQ(in.read_string().value(), std::string("a\0b", 3));
  EXPECT_EQ(in.read_vector<int64_t>().value(), (std::vector<int64_t>{-1, INT64_MAX}));
  EXPECT_TRUE(in.read_vector<float>().value().empty());
  EXPECT_EQ(in.remaining(), 2u);
}

TEST(BytesTest, CountsBeyondTheBytesAreRefusedBeforeAllocating) {
  ByteWriter out;
  out.write(uint32_t{0xffffffff});
  out.write(uint32_t{0});
  EXPECT_FALSE(ByteReader(out.bytes()).read_string().ok());
  EXPECT_FALSE(ByteReader(out.bytes()).read_vector<uint64_t>().ok());
}

}  // namespace
}  // namespace rk
