// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/plan.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace rk::runtime::host {
namespace {

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

TEST(SplitTest, OnePartForEachThreadOfEachCore) {
  const std::vector<int32_t> core_rows = {8, 6};
  ThreadPool pool(2);
  StepCall call;
  call.pool = &pool;
  for (const int cores : {1, 2}) {
    call.cores = cores;
    std::atomic<int> parts = 0, units = 0;
    StepCall::Rows shape = {.tiles = 2, .rows = 14, .cost = 1 << 20};
    const auto count = [&](IndexRange range) {
      ++parts;
      units += static_cast<int>(range.end - range.begin);
    };
    call.parallel_rows(shape, core_rows, count);
    EXPECT_GT(parts, 2 * cores);  // dealt out
    EXPECT_EQ(units, 28);
    parts = units = 0;
    shape.one_part = true;
    call.parallel_rows(shape, core_rows, count);
    EXPECT_EQ(parts, 2 * cores);
    EXPECT_EQ(units, 28);
  }
}

}  // namespace
}  // namespace rk::runtime::host
