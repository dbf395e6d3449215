// SPDX-License-Identifier: Apache-2.0
// Moves against the list of places that they come from.
#include "kernels/layout/move.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "kernels/kernel_test.h"
#include "kernels/layout/convert.h"

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

template <typename T>
void check_gather(int32_t in_channels, const std::vector<int32_t>& source) {
  constexpr int32_t kBatch = 2;
  constexpr int64_t kPixels = 7;
  const auto out_channels = static_cast<int32_t>(source.size());
  const ActivationShape in = {kBatch, in_channels, {1, kPixels}};
  const ActivationShape out = {kBatch, out_channels, {1, kPixels}};
  std::vector<T> input(static_cast<size_t>(blocked_elements(in)));
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<T>(i * 2654435761u >> 8);
  std::vector<T> output(static_cast<size_t>(blocked_elements(out)));
  ChannelGatherArgs args{kBatch,      kPixels,       sizeof(T),    input.data(),
                         in_channels, output.data(), out_channels, source.data()};
  const int64_t units = gather_channels_units(args);
  gather_channels(args, {1, units});
  gather_channels(args, {0, 1});
  for (int32_t n = 0; n < kBatch; ++n) {
    for (int32_t c = 0; c < out_channels; ++c) {
      for (int32_t w = 0; w < kPixels; ++w) {
        ASSERT_EQ(output[size_t(blocked_index(out, n, c, 0, w))],
                  input[size_t(blocked_index(in, n, source[size_t(c)], 0, w))])
            << "channel " << c << " pixel " << w;
      }
    }
  }
}

KERNEL_TEST(MoveTest, ChannelsAreGatheredFromAnyBlocks) {
  std::vector<int32_t> shuffle, slice(58), far, one = {5};
  for (int32_t c = 0; c < 58; ++c) shuffle.insert(shuffle.end(), {c, 58 + c});
  std::iota(slice.begin(), slice.end(), 58);
  for (int32_t c = 0; c < 40; ++c) far.push_back(c * 37 % 200);
  for (const auto& [channels, source] :
       {std::pair{116, shuffle}, {116, slice}, {200, far}, {6, one}}) {
    check_gather<uint8_t>(channels, source);
    check_gather<uint16_t>(channels, source);
  }
}

}  // namespace
}  // namespace rk::kernels
