// SPDX-License-Identifier: Apache-2.0
#include "compiler/memory_plan.h"

#include <gtest/gtest.h>

#include <random>

namespace rk::compiler {
namespace {

TEST(MemoryPlanTest, TensorsThatDoNotMeetShareAPlace) {
  // A chain: 0 and 2 never live together.
  const Lifetime chain[] = {{640, 0, 1}, {128, 1, 2}, {320, 2, 3}};
  const Plan plan = plan_memory(chain);
  EXPECT_EQ(plan.offset, (std::vector<uint64_t>{0, 640, 0}));
  EXPECT_EQ(plan.size_bytes, 768u);
}

TEST(MemoryPlanTest, TakesTheSmallestGapThatFits) {
  // At step 0 the three large blocks lie at 0, 1000 -> 1024 and 1984; later the middle ones leave
  // gaps of 960 and 128.
  const Lifetime blocks[] = {
      {1000, 0, 0},  // 0
      {960, 0, 1},   // 1024
      {900, 0, 0},   // 1984
      {800, 0, 1},   // 2944 -> 2892 aligned to 2944
      {700, 1, 1},   // between: gap [0, 1024) or [1984, 2944)
  };
  const Plan plan = plan_memory(blocks);
  EXPECT_EQ(plan.offset[0], 0u);
  EXPECT_EQ(plan.offset[1], 1024u);
  EXPECT_EQ(plan.offset[2], 1984u);
  EXPECT_EQ(plan.offset[3], 2944u);
  EXPECT_EQ(plan.offset[4], 1984u);  // 960 wide, the other gap is 1024
}

TEST(MemoryPlanTest, NeverOverlapsAndIsAligned) {
  std::mt19937 random(7);
  std::vector<Lifetime> blocks(200);
  for (Lifetime& block : blocks) {
    block.size_bytes = random() % 5000;
    block.first = static_cast<int64_t>(random() % 100);
    block.last = block.first + static_cast<int64_t>(random() % 10);
  }
  const Plan plan = plan_memory(blocks);
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

TEST(MemoryPlanTest, EmptyNeedsNothing) { EXPECT_EQ(plan_memory({}).size_bytes, 0u); }

}  // namespace
}  // namespace rk::compiler
