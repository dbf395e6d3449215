// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/plan.h"

#include <gtest/gtest.h>

namespace rk::runtime::host {
namespace {

TEST(ArenaTest, TensorsOfDifferentTimesShareMemory) {
  std::vector<HostTensor> tensors(4);
  // A chain: 0 -> 1 -> 2 -> 3, each alive while the next is computed.
  const uint64_t bytes =
      place_in_arena({{0, 1000, 0, 1}, {1, 1000, 1, 2}, {2, 1000, 2, 3}, {3, 1000, 3, 4}}, tensors);
  EXPECT_EQ(bytes, 2048u);
  EXPECT_EQ(tensors[0].offset_in_arena, tensors[2].offset_in_arena);
  EXPECT_NE(tensors[0].offset_in_arena, tensors[1].offset_in_arena);
}

TEST(ArenaTest, TensorsAliveTogetherNeverOverlap) {
  std::vector<Lifetime> lives;
  for (size_t i = 0; i < 60; ++i) {
    const auto first = static_cast<int64_t>(i * 13 % 40);
    lives.push_back({i, 1 + i * 977 % 5000, first, first + static_cast<int64_t>(i % 7)});
  }
  std::vector<HostTensor> tensors(lives.size());
  const uint64_t bytes = place_in_arena(lives, tensors);
  for (const Lifetime& a : lives) {
    EXPECT_EQ(tensors[a.tensor].offset_in_arena % 64, 0u);
    EXPECT_LE(tensors[a.tensor].offset_in_arena + a.size_bytes, bytes);
    for (const Lifetime& b : lives) {
      if (a.tensor == b.tensor || a.last < b.first || b.last < a.first) continue;
      const uint64_t at_a = tensors[a.tensor].offset_in_arena,
                     at_b = tensors[b.tensor].offset_in_arena;
      EXPECT_TRUE(at_a + a.size_bytes <= at_b || at_b + b.size_bytes <= at_a)
          << a.tensor << " and " << b.tensor;
    }
  }
}

TEST(SplitTest, ShortWorkHasOnePartPerThreadAndLongWorkManyPieces) {
  EXPECT_EQ(split_grain(28, 100, 4, 2), 28);   // less than a hand-over is worth
  EXPECT_EQ(split_grain(28, 4000, 4, 2), 14);  // two halves, whatever the pieces
  EXPECT_EQ(split_grain(21, 4000, 7, 2), 11);
  EXPECT_EQ(split_grain(112, 5000, 4, 2), 4);     // long: dealt out
  EXPECT_EQ(split_grain(28, 50000, 4, 2), 7);     // not seven pieces for two threads
  EXPECT_EQ(split_grain(126, 10000, 14, 2), 21);  // nor nine
  EXPECT_EQ(split_grain(105, 10000, 7, 2), 7);    // fifteen are about as good as sixteen
  EXPECT_EQ(split_grain(100000, 10, 1, 2), 820);  // 8192 cycles a piece
  EXPECT_EQ(split_grain(112, 5000, 4, 1), 112);
  EXPECT_EQ(split_grain(INT64_MAX, INT64_MAX, 1, 2), 1);
}

TEST(SplitTest, CoresShareEveryUnitOnceWhetherUnitsAreRowsOrNot) {
  const std::vector<int32_t> core_rows = {4, 3, 3, 2, 2};  // of two cores, of three
  StepCall call;
  call.cores = 3;
  // Two tiles of the seven rows; five units that are something else.
  for (const StepCall::Rows shape : {StepCall::Rows{2, 7}, StepCall::Rows{1, 5}}) {
    std::vector<int> done(static_cast<size_t>(shape.tiles * shape.rows));
    call.parallel_rows(shape, core_rows, [&](IndexRange units) {
      for (int64_t unit = units.begin; unit < units.end; ++unit) ++done.at(size_t(unit));
    });
    EXPECT_EQ(done, std::vector<int>(done.size(), 1));
  }
}

}  // namespace
}  // namespace rk::runtime::host
