// SPDX-License-Identifier: Apache-2.0
#include "base/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace rk {
namespace {

TEST(BufferTest, BytesAreZeroAndAligned) {
  for (const size_t size : {size_t{1}, size_t{63}, size_t{64}, size_t{1000}}) {
    const Buffer buffer = Buffer::make(size);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(buffer.span().size(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
    EXPECT_TRUE(std::all_of(buffer.data(), buffer.data() + size, [](uint8_t b) { return b == 0; }));
  }
}

TEST(BufferTest, NothingTakesNoMemory) {
  EXPECT_EQ(Buffer().data(), nullptr);
  const Buffer empty = Buffer::make(0);
  EXPECT_EQ(empty.data(), nullptr);
  EXPECT_EQ(empty.clone().size(), 0u);
}

TEST(BufferTest, SizesAboveTheLimitAreRefused) {
  EXPECT_TRUE(Buffer::try_make(100, 100).ok());
  const auto refused = Buffer::try_make(101, 100);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), Code::kOutOfMemory);
  EXPECT_EQ(refused.status().message(), "a block of 101 bytes is wanted, the limit is 100");
}

TEST(BufferTest, SizesThatNoMachineHasAreRefusedWhateverTheLimit) {
  EXPECT_EQ(Buffer::try_make(UINT64_MAX, UINT64_MAX).status().code(), Code::kOutOfMemory);
  EXPECT_EQ(Buffer::try_make(UINT64_MAX - 63, UINT64_MAX).status().code(), Code::kOutOfMemory);
}

TEST(BufferTest, ACloneIsApartAndAMoveIsNot) {
  Buffer buffer = Buffer::make(3);
  buffer.data()[1] = 7;
  Buffer copy = buffer.clone();
  copy.data()[1] = 8;
  EXPECT_EQ(buffer.data()[1], 7);
  const uint8_t* const address = buffer.data();
  const Buffer moved = std::move(buffer);
  EXPECT_EQ(moved.data(), address);
  EXPECT_EQ(moved.size(), 3u);
}

}  // namespace
}  // namespace rk
