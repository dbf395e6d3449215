// SPDX-License-Identifier: Apache-2.0
// Moves against the list of places that they come from.
#include "kernels/layout/move.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

namespace rk::kernels {
namespace {

struct Case {
  const char* name;
  std::vector<MoveArgs::Loop> loops;  // outermost first
  int64_t first = 0;
};

std::vector<int32_t> sources_of(const Case& c) {
  std::vector<int32_t> out = {static_cast<int32_t>(c.first)};
  for (const MoveArgs::Loop& loop : c.loops) {
    std::vector<int32_t> next;
    for (const int32_t at : out) {
      for (int64_t i = 0; i < loop.extent; ++i)
        next.push_back(at + static_cast<int32_t>(i * loop.step));
    }
    out = std::move(next);
  }
  return out;
}

const Case kCases[] = {
    {"OneElement", {}, 3},
    {"Straight", {{100, 1}}, 2},
    {"Reversed", {{9, -1}}, 8},
    {"Repeated", {{5, 0}, {3, 1}}},
    {"Matrix", {{48, 1}, {35, 48}}},
    {"SmallMatrix", {{3, 1}, {2, 3}}},
    {"Heads", {{4, 32}, {9, 128}, {32, 1}}},
    {"PictureToChannelsLast", {{2, 19 * 35}, {35, 1}, {19, 35}}},
    {"TurnedAroundAnotherLoop", {{20, 1}, {3, 20}, {33, 60}}},
    {"SliceOfRows", {{6, 40}, {7, 2}}, 5},
    {"Shuffle", {{8, 1}, {2, 8}}},
    {"ManyShortRuns", {{31, 6}, {2, 1}}},
};

template <typename T>
void check(const Case& c) {
  const std::vector<int32_t> sources = sources_of(c);
  std::vector<T> input(4096);
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<T>(i * 2654435761u);
  MoveArgs args;
  int64_t first = -1;
  ASSERT_TRUE(find_move_loops(sources.data(), std::ssize(sources), args, first));
  EXPECT_EQ(first, c.first);
  args.element_bytes = sizeof(T);
  args.input = input.data() + first;
  std::vector<T> output(sources.size());
  args.output = output.data();
  // In two parts, as two threads would.
  const int64_t units = move_units(args);
  move_elements(args, {units / 2, units});
  move_elements(args, {0, units / 2 == 0 ? units : units / 2});
  for (size_t i = 0; i < output.size(); ++i)
    ASSERT_EQ(output[i], input[static_cast<size_t>(sources[i])]) << c.name << " element " << i;
}

TEST(MoveTest, ElementsArriveFromWhereTheLoopsSay) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    check<uint8_t>(c);
    check<uint16_t>(c);
    check<uint32_t>(c);
    check<uint64_t>(c);
  }
}

TEST(MoveTest, LoopsAreJoinedAndDisorderIsRefused) {
  MoveArgs args;
  int64_t first = 0;
  std::vector<int32_t> straight(24);
  std::iota(straight.begin(), straight.end(), 0);
  ASSERT_TRUE(find_move_loops(straight.data(), 24, args, first));
  EXPECT_EQ(args.count, 1);
  const std::vector<int32_t> disorder = {0, 1, 2, 5, 3, 9};
  EXPECT_FALSE(find_move_loops(disorder.data(), 6, args, first));
  const std::vector<int32_t> ragged = {0, 1, 2, 7, 8};
  EXPECT_FALSE(find_move_loops(ragged.data(), 5, args, first));
}

}  // namespace
}  // namespace rk::kernels
