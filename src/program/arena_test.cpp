// SPDX-License-Identifier: Apache-2.0
#include "program/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace rk::program {
namespace {

TEST(ArenaTest, TensorsThatDoNotMeetShareAPlace) {
  // A chain: 0 and 2 never live together.
  const Lifetime chain[] = {{640, 0, 1}, {128, 1, 2}, {320, 2, 3}};
  const ArenaPlan plan = plan_arena(chain, ArenaOrder::kAsTheyBegin);
  EXPECT_EQ(plan.offset, (std::vector<uint64_t>{0, 640, 0}));
  EXPECT_EQ(plan.size_bytes, 768u);
}

// Places as the vendor's compiler prints them for a network with such tensors (LinkNet on RK3562, layers 19 and 20).
TEST(ArenaTest, TakesTheSmallestGapThatFitsInTheOrderOfExecution) {
  const Lifetime blocks[] = {
      {0x13800, 0, 0}, {0xc000, 0, 1}, {0x10800, 0, 0},
      {0x18000, 0, 1}, {0x3000, 1, 1},  // [0, 0x13800) is free again too, and lower
  };
  EXPECT_EQ(plan_arena(blocks, ArenaOrder::kAsTheyBegin).offset,
            (std::vector<uint64_t>{0, 0x13800, 0x1f800, 0x30000, 0x1f800}));
}

TEST(ArenaTest, NeverOverlapsAndIsAligned) {
  std::mt19937 random(7);
  std::vector<Lifetime> blocks(200);
  for (Lifetime& block : blocks) {
    block.size_bytes = random() % 5000;
    block.first = static_cast<int64_t>(random() % 100);
    block.last = block.first + static_cast<int64_t>(random() % 10);
  }
  for (const ArenaOrder order : {ArenaOrder::kAsTheyBegin, ArenaOrder::kLargestFirst}) {
    const ArenaPlan plan = plan_arena(blocks, order);
    uint64_t end = 0;
    for (size_t i = 0; i < blocks.size(); ++i) {
      EXPECT_EQ(plan.offset[i] % 64, 0u);
      end = std::max(end, plan.offset[i] + blocks[i].size_bytes);
      for (size_t j = 0; j < i; ++j) {
        const bool meet = blocks[i].first <= blocks[j].last && blocks[j].first <= blocks[i].last;
        const bool apart = plan.offset[i] >= plan.offset[j] + blocks[j].size_bytes ||
                           plan.offset[j] >= plan.offset[i] + blocks[i].size_bytes;
        EXPECT_TRUE(!meet || apart) << i << " " << j;
      }
    }
    EXPECT_EQ(plan.size_bytes, end);
  }
}

TEST(ArenaTest, TheLargestFirstGetsThePlaceThatASmallOneWouldBlock) {
  const Lifetime blocks[] = {{640, 0, 1}, {128, 0, 3}, {1280, 2, 3}};
  const ArenaPlan early = plan_arena(blocks, ArenaOrder::kAsTheyBegin);
  EXPECT_EQ(early.offset, (std::vector<uint64_t>{0, 640, 768}));
  EXPECT_EQ(early.size_bytes, 2048u);
  const ArenaPlan large = plan_arena(blocks, ArenaOrder::kLargestFirst);
  EXPECT_EQ(large.offset, (std::vector<uint64_t>{0, 1280, 0}));
  EXPECT_EQ(large.size_bytes, 1408u);
}

TEST(ArenaTest, EmptyNeedsNothing) {
  EXPECT_EQ(plan_arena({}, ArenaOrder::kAsTheyBegin).size_bytes, 0u);
}

}  // namespace
}  // namespace rk::program
