// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions by phases against the kernels' transposed form, which the kernels' own tests hold against the
// definition: integers bit by bit, fp16 on numbers whose sums are exact.
#include "runtime/host/conv_phases.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/checked_math.h"
#include "base/half.h"
#include "kernels/layout/blocked.h"

namespace rk::runtime::host {
namespace {

using kernels::ConvExtents;
using kernels::ConvFilter;

struct Case {
  int32_t in_channels, out_channels;
  kernels::Extent2 kernel, stride, in, pad;
  kernels::Extent2 cut = {0, 0};  // rows and columns less at the end, as pads there take them
};

// The last two have more padding in front than the kernel is long, and a stride longer than the kernel.
const Case kCases[] = {
    {5, 1, {1, 256}, {1, 256}, {1, 7}, {0, 0}},
    {20, 3, {4, 16}, {4, 8}, {3, 5}, {1, 4}},
    {17, 16, {8, 8}, {8, 8}, {2, 3}, {0, 0}},
    {16, 33, {5, 7}, {3, 4}, {4, 3}, {2, 3}, {1, 2}},
    {3, 18, {16, 16}, {8, 8}, {3, 3}, {4, 4}, {4, 4}},
    {4, 2, {1, 9}, {1, 8}, {1, 6}, {0, 13}},
    {6, 20, {5, 8}, {4, 8}, {3, 4}, {3, 5}, {0, 1}},
};

ConvFilter filter_of(const Case& c) {
  return {.in_channels = c.in_channels,
          .out_channels = c.out_channels,
          .kernel = c.kernel,
          .stride = c.stride,
          .dilation = {1, 1},
          .transposed = true};
}

ConvExtents extents_of(const Case& c) {
  return {.batch = 2,
          .in = c.in,
          .out = {(c.in.h - 1) * c.stride.h + c.kernel.h - c.pad.h - c.cut.h,
                  (c.in.w - 1) * c.stride.w + c.kernel.w - c.pad.w - c.cut.w},
          .pad_before = c.pad};
}

class Numbers {
 public:
  int operator()(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }
  template <typename T>
  std::vector<T> list(int64_t count, int low, int high) {
    std::vector<T> out(static_cast<size_t>(count));
    for (T& x : out) x = static_cast<T>((*this)(low, high));
    return out;
  }

 private:
  std::mt19937 random_{7};
};

// Runs a step on one input and one output, in one arena.
template <typename T>
std::vector<T> run(const StepFunction& step, const std::vector<T>& input, int64_t elements) {
  std::vector<HostTensor> tensors(2);
  tensors[0].in_arena = tensors[1].in_arena = true;
  const size_t input_bytes = align_up(input.size() * sizeof(T), size_t{64});
  tensors[1].offset_in_arena = input_bytes;
  auto made = Buffer::try_make(input_bytes + static_cast<size_t>(elements) * sizeof(T), 1 << 24);
  EXPECT_TRUE(made.ok());
  Buffer arena = std::move(*made);
  std::memcpy(arena.data(), input.data(), input.size() * sizeof(T));
  ScratchTensors scratch;
  const Status status = step({.tensors = tensors, .arena = arena.data(), .scratch = &scratch});
  EXPECT_TRUE(status.ok()) << status.message();
  std::vector<T> out(static_cast<size_t>(elements));
  std::memcpy(out.data(), arena.data() + input_bytes, out.size() * sizeof(T));
  return out;
}

template <typename T>
void expect_equal(const Case& c, const std::vector<T>& want, const std::vector<T>& found) {
  const ConvExtents e = extents_of(c);
  const kernels::ActivationShape shape{e.batch, c.out_channels, e.out};
  int64_t different = 0;
  for (int32_t n = 0; n < e.batch; ++n) {
    for (int32_t o = 0; o < c.out_channels; ++o) {
      for (int32_t y = 0; y < e.out.h; ++y) {
        for (int32_t x = 0; x < e.out.w; ++x) {
          const auto i = static_cast<size_t>(kernels::blocked_index(shape, n, o, y, x));
          different += want[i] != found[i];
        }
      }
    }
  }
  EXPECT_EQ(different, 0) << c.out_channels << " channels, kernel " << c.kernel.h << "x"
                          << c.kernel.w;
}

int64_t input_elements(const Case& c) {
  return kernels::blocked_elements({2, c.in_channels, c.in});
}
int64_t output_elements(const Case& c) {
  return kernels::blocked_elements({2, c.out_channels, extents_of(c).out});
}
int64_t weight_count(const Case& c) {
  return int64_t{c.in_channels} * c.out_channels * c.kernel.h * c.kernel.w;
}

TEST(ConvPhases, IntegersAreThoseOfTheTransposedForm) {
  Numbers draw;
  for (const Case& c : kCases) {
    kernels::ConvI8Params params;
    params.filter = filter_of(c);
    params.order = kernels::WeightOrder::kIohw;
    const auto weights = draw.list<int8_t>(weight_count(c), -128, 127);
    const auto offset = draw.list<int16_t>(c.out_channels, -100, 100);
    const auto bias = draw.list<int32_t>(c.out_channels, -100000, 100000);
    const auto multiplier = draw.list<int16_t>(c.out_channels, 100, 16384);
    params.weights = weights.data();
    params.weight_offset = offset.data();
    params.bias = bias.data();
    params.multiplier = multiplier.data();
    params.input_zero_point = draw(-128, 127);
    params.activation = kernels::Activation::kRelu;
    params.output = {{17000, 24}, -3};
    const auto packed = kernels::pack_conv_i8(params);
    ASSERT_TRUE(packed.ok()) << packed.status().message();
    const auto input = draw.list<int8_t>(input_elements(c), -128, 127);
    std::vector<int8_t> want(static_cast<size_t>(output_elements(c)));
    const kernels::ConvI8Args args{
        .packed = &*packed, .extents = extents_of(c), .input = input.data(), .output = want.data()};
    kernels::conv_i8(args, {0, kernels::conv_i8_units(args)});

    const auto phases = find_phases(filter_of(c), extents_of(c), false);
    ASSERT_TRUE(phases.has_value());
    PhaseConstantsI8 held;
    ASSERT_TRUE(to_phases(*phases, params, held));
    auto plain = kernels::pack_conv_i8(params);
    ASSERT_TRUE(plain.ok()) << plain.status().message();
    const auto step =
        run_phases(*phases, std::make_shared<const kernels::PackedConvI8>(std::move(*plain)), 0, 1);
    expect_equal(c, want, run(step, input, output_elements(c)));
  }
}

TEST(ConvPhases, HalvesAreThoseOfTheTransposedForm) {
  Numbers draw;
  const auto halves = [&](int64_t count) {
    std::vector<uint16_t> out;
    for (const int x : draw.list<int>(count, -4, 4)) out.push_back(float_to_half(x * 0.5f));
    return out;
  };
  for (const Case& c : kCases) {
    kernels::ConvF16Params params;
    params.filter = filter_of(c);
    params.order = kernels::WeightOrder::kIohw;
    const auto weights = halves(weight_count(c));
    const auto bias = draw.list<float>(c.out_channels, -9, 9);
    params.weights_f16 = weights.data();
    params.bias = bias.data();
    const auto packed = kernels::pack_conv_f16(params);
    ASSERT_TRUE(packed.ok()) << packed.status().message();
    const auto input = halves(input_elements(c));
    std::vector<uint16_t> want(static_cast<size_t>(output_elements(c)));
    const kernels::ConvF16Args args{
        .packed = &*packed, .extents = extents_of(c), .input = input.data(), .output = want.data()};
    kernels::conv_f16(args, {0, kernels::conv_f16_units(args)});

    const auto phases = find_phases(filter_of(c), extents_of(c), false);
    ASSERT_TRUE(phases.has_value());
    PhaseConstantsF16 held;
    to_phases(*phases, params, held);
    auto plain = kernels::pack_conv_f16(params);
    ASSERT_TRUE(plain.ok()) << plain.status().message();
    const auto step = run_phases(
        *phases, std::make_shared<const kernels::PackedConvF16>(std::move(*plain)), 0, 1);
    expect_equal(c, want, run(step, input, output_elements(c)));
  }
}

TEST(ConvPhases, WhatWouldGrowOrIsShortOrIsGroupedStaysAsItIs) {
  const Case wide = {8, 4, {1, 1}, {16, 16}, {2, 2}, {0, 0}};
  EXPECT_FALSE(
      find_phases(filter_of(wide), extents_of(wide), false));  // 255 of 256 phases are empty
  const Case usual = {8, 4, {4, 4}, {2, 2}, {2, 2}, {1, 1}};
  EXPECT_FALSE(find_phases(filter_of(usual), extents_of(usual), false));
  Case long_steps = {8, 4, {8, 8}, {8, 8}, {2, 2}, {0, 0}};
  EXPECT_TRUE(find_phases(filter_of(long_steps), extents_of(long_steps), false));
  EXPECT_FALSE(find_phases(filter_of(long_steps), extents_of(long_steps), true));
  ConvFilter grouped = filter_of(long_steps);
  grouped.groups = 4;
  EXPECT_FALSE(find_phases(grouped, extents_of(long_steps), false));
  ConvFilter plain = filter_of(long_steps);
  plain.transposed = false;
  EXPECT_FALSE(find_phases(plain, extents_of(long_steps), false));
}

}  // namespace
}  // namespace rk::runtime::host
