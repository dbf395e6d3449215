// SPDX-License-Identifier: Apache-2.0
// Element-wise kernels against the formula in long double (64-bit mantissa, so products are exact) and by hand.
#include "kernels/eltwise/eltwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "base/half.h"
#include "kernels/kernel_test.h"

namespace rk::kernels {
namespace {

long double rounded(long double value, ScaleShift scale) {
  return std::nearbyint(std::ldexp(value * scale.scale, -scale.shift));
}

std::vector<int8_t> all_pairs(bool first) {
  std::vector<int8_t> values;
  for (int a = -128; a <= 127; ++a) {
    for (int b = -128; b <= 127; ++b) values.push_back(static_cast<int8_t>(first ? a : b));
  }
  return values;
}

KERNEL_TEST(SumI8Test, EveryPairOfBytesMatchesTheFormula) {
  const auto a = all_pairs(true), b = all_pairs(false);
  const int64_t elements = static_cast<int64_t>(a.size()) - 3;  // not a multiple of anything
  struct Scales {
    InputStage a, b;
    OutputStage output;
    bool relu;
  };
  const Scales list[] = {
      {{3, {20000, 5}}, {-128, {32767, 7}}, {{16384, 24}, -20}, false},
      {{0, {16384, 4}}, {127, {16385, 6}}, {{16384, 24}, 0}, true},
      {{0, {16384, 15}}, {0, {16384, 15}}, {{16384, 15}, 0}, false},         // ties at every stage
      {{0, {32767, 0}}, {0, {32767, 0}}, {{32767, 0}, 7}, false},            // saturates
      {{-128, {16384, 0}}, {-128, {27690, 1}}, {{16384, 28}, -128}, false},  // sums above 2^22
      {{-128, {16384, 0}}, {127, {32001, 1}}, {{32767, 29}, 3}, true},
  };
  for (const Scales& s : list) {
    const SumI8Input inputs[] = {{a.data(), s.a}, {b.data(), s.b}};
    std::vector<int8_t> output(a.size(), 55);
    const SumI8Args args = {inputs, 2, s.relu, s.output, output.data(), elements};
    ASSERT_TRUE(check_sum_i8(args).ok());
    const int64_t units = eltwise_units(elements);
    for (int64_t unit = units; unit-- > 0;) sum_i8(args, {unit, unit + 1});
    for (int64_t i = 0; i < elements; ++i) {
      long double v =
          rounded(a[i] - s.a.zero_point, s.a.scale) + rounded(b[i] - s.b.zero_point, s.b.scale);
      if (s.relu) v = std::max(v, 0.0L);
      const long double y = rounded(v, s.output.scale) + s.output.zero_point;
      ASSERT_EQ(output[i], std::clamp(y, -128.0L, 127.0L)) << int(a[i]) << " " << int(b[i]);
    }
    EXPECT_EQ(output[elements], 55);
  }
}

// One to four operands, random stages (small, tied, saturating and beyond what floats hold), lengths around whole vectors.
KERNEL_TEST(SumI8Test, AnyNumberOfOperandsMatchesTheFormula) {
  std::mt19937 random(5);
  const auto draw = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<uint32_t>(high - low + 1));
  };
  for (int round = 0; round < 200; ++round) {
    const int count = draw(1, 4);
    const auto elements = static_cast<size_t>(draw(1, 300));
    std::vector<std::vector<int8_t>> data(static_cast<size_t>(count));
    std::vector<SumI8Input> inputs;
    for (std::vector<int8_t>& x : data) {
      for (size_t i = 0; i < elements; ++i) x.push_back(static_cast<int8_t>(draw(-128, 127)));
      const ScaleShift scale = {draw(0, 3) == 0 ? 16384 : draw(16384, 32767), draw(0, 20)};
      inputs.push_back({x.data(), {draw(-130, 130), scale}});
    }
    const OutputStage stage = {{draw(-2, 20) < 0 ? -20000 : draw(16384, 32767), draw(10, 30)},
                               draw(-128, 127)};
    const bool relu = draw(0, 1) == 0;
    std::vector<int8_t> output(elements + 1, 55);
    const SumI8Args args = {inputs.data(), count,         relu,
                            stage,         output.data(), static_cast<int64_t>(elements)};
    ASSERT_TRUE(check_sum_i8(args).ok());
    sum_i8(args, {0, eltwise_units(args.elements)});
    for (size_t i = 0; i < elements; ++i) {
      long double v = 0;
      for (const SumI8Input& input : inputs)
        v += rounded(input.data[i] - input.stage.zero_point, input.stage.scale);
      if (relu) v = std::max(v, 0.0L);
      const long double y = rounded(v, stage.scale) + stage.zero_point;
      ASSERT_EQ(output[i], std::clamp(y, -128.0L, 127.0L)) << "round " << round << ", " << i;
    }
    EXPECT_EQ(output[elements], 55);
  }
}

KERNEL_TEST(SumI8Test, RefusesOverflowingScales) {
  const SumI8Input inputs[] = {{nullptr, {INT32_MIN, {INT32_MAX, 0}}},
                               {nullptr, {INT32_MIN, {INT32_MAX, 0}}}};
  EXPECT_EQ(check_sum_i8({.inputs = inputs, .input_count = 2}).code(), Code::kUnsupported);
  EXPECT_EQ(check_sum_i8({.inputs = inputs, .input_count = 0}).code(), Code::kInvalidArgument);
}

KERNEL_TEST(RescaleTest, TableTellsWhenItChangesNothing) {
  int8_t table[256];
  EXPECT_TRUE(make_rescale_table({5, {16384, 4}}, {{16384, 24}, 5}, table));
  EXPECT_EQ(table[0], -128);
  EXPECT_EQ(table[255], 127);
  EXPECT_FALSE(make_rescale_table({5, {16384, 5}}, {{16384, 24}, 5}, table));
  EXPECT_EQ(table[128 + 8], 7);  // (8 - 5) / 2 = 1.5 -> 2, + 5
  EXPECT_EQ(table[128 + 6], 5);  // 0.5 -> 0
  EXPECT_EQ(table[128 + 2], 3);  // -1.5 -> -2
}

KERNEL_TEST(TableI8Test, LooksUpEveryByteInPlace) {
  std::vector<int8_t> data(256), table(256);
  for (int i = 0; i < 256; ++i) {
    data[i] = static_cast<int8_t>(i - 128);
    table[i] = static_cast<int8_t>(127 - i);
  }
  table_i8({data.data(), data.data(), table.data(), 256}, {0, 1});
  for (int i = 0; i < 256; ++i) EXPECT_EQ(data[i], 127 - i);
}

// Lengths around whole vectors, every table entry another byte.
KERNEL_TEST(TableI8Test, AnyLengthMatchesTheTable) {
  std::mt19937 random(3);
  std::vector<int8_t> table(256);
  for (int8_t& entry : table) entry = static_cast<int8_t>(random());
  for (size_t elements = 1; elements < 140; ++elements) {
    std::vector<int8_t> x(elements), y(elements + 1, 55);
    for (int8_t& value : x) value = static_cast<int8_t>(random());
    table_i8({x.data(), y.data(), table.data(), static_cast<int64_t>(elements)}, {0, 1});
    for (size_t i = 0; i < elements; ++i) ASSERT_EQ(y[i], table[static_cast<size_t>(x[i] + 128)]);
    EXPECT_EQ(y[elements], 55);
  }
}

// The same of halves, in place too.
KERNEL_TEST(TableF16Test, AnyLengthMatchesTheTable) {
  std::mt19937 random(4);
  std::vector<uint16_t> table(65536);
  for (uint16_t& entry : table) entry = static_cast<uint16_t>(random());
  for (size_t elements = 1; elements < 40; ++elements) {
    std::vector<uint16_t> x(elements), y(elements + 1, 55);
    for (uint16_t& value : x) value = static_cast<uint16_t>(random());
    const auto count = static_cast<int64_t>(elements);
    table_f16({x.data(), y.data(), table.data(), count}, {0, 1});
    for (size_t i = 0; i < elements; ++i) ASSERT_EQ(y[i], table[x[i]]);
    EXPECT_EQ(y[elements], 55);
    table_f16({x.data(), x.data(), table.data(), count}, {0, 1});
    y.pop_back();
    EXPECT_EQ(x, y);
  }
}

KERNEL_TEST(SumF16Test, AddsWithOneRoundingAndKeepsNaN) {
  const uint16_t a[] = {0x3c00, 0x7bff, 0x7e00, 0xc000, 0x0001};  // 1, 65504, NaN, -2, smallest
  const uint16_t b[] = {0x1000, 0x7bff, 0x3c00, 0x3c00, 0x0001};  // 2^-11: a tie against 1
  uint16_t y[5];
  sum_f16({a, b, y, false, 5}, {0, 1});
  EXPECT_EQ(y[0], 0x3c00);
  EXPECT_EQ(y[1], 0x7c00);
  EXPECT_EQ(y[2] & 0x7e00, 0x7e00);
  EXPECT_EQ(y[3], 0xbc00);
  EXPECT_EQ(y[4], 0x0002);
  sum_f16({a, nullptr, y, true, 5}, {0, 1});
  EXPECT_EQ(y[0], 0x3c00);
  EXPECT_EQ(y[3], 0x0000);
}

KERNEL_TEST(SumF16Test, EveryPatternWithAndWithoutReluMatchesTheConversions) {
  std::vector<uint16_t> a(65536 + 7), b(a.size()), y(a.size(), 0x55);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<uint16_t>(i);
    b[i] = static_cast<uint16_t>(i * 40503);
  }
  for (const bool relu : {false, true}) {
    const auto elements = static_cast<int64_t>(a.size()) - 3;
    sum_f16({a.data(), b.data(), y.data(), relu, elements}, {0, eltwise_units(elements)});
    for (int64_t i = 0; i < elements; ++i) {
      const float sum = half_to_float(a[i]) + half_to_float(b[i]);
      if (std::isnan(sum)) {
        ASSERT_TRUE(std::isnan(half_to_float(y[i]))) << i;
      } else {
        ASSERT_EQ(y[i], float_to_half(relu && sum < 0 ? 0.0f : sum)) << i;
      }
    }
    EXPECT_EQ(y[elements], 0x55);
  }
}

KERNEL_TEST(ActivateF16Test, EveryPatternMatchesTheFormula) {
  std::vector<uint16_t> x(65536 + 5), y(x.size() + 1, 55);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint16_t>(i);
  for (const ActivationF16 kind :
       {ActivationF16::kHardSigmoid, ActivationF16::kHardSwish, ActivationF16::kLeakyRelu}) {
    const float alpha = 1.0f / 6.0f, beta = 0.5f;
    const ActivateF16Args args = {x.data(), y.data(), kind,
                                  alpha,    beta,     static_cast<int64_t>(x.size())};
    activate_f16(args, {1, eltwise_units(args.elements)});
    activate_f16(args, {0, 1});
    for (size_t i = 0; i < x.size(); ++i) {
      const float v = half_to_float(x[i]);
      const float part = std::max(0.0f, std::min(1.0f, alpha * v + beta));
      const float want = kind == ActivationF16::kHardSigmoid ? part
                         : kind == ActivationF16::kHardSwish ? v * part
                         : v >= 0                            ? v
                                                             : alpha * v;
      if (std::isnan(v) || std::isnan(want)) {
        ASSERT_TRUE(std::isnan(half_to_float(y[i]))) << i;
      } else {
        ASSERT_EQ(half_to_float(y[i]), half_to_float(float_to_half(want))) << i;
      }
    }
    EXPECT_EQ(y.back(), 55);
  }
}

KERNEL_TEST(ClampF32Test, ClampsBeforeAndAfterTheAddendAndKeepsNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> values = {-3, -0.0f, 2, 9, nan};
  const std::vector<float> addend = {1, 1, 1, -8, 0};
  auto seen =
      clamp_f32({values.data(), addend.data(), {0, 6}, {-1, 2.5f}, 5, true}, {0, eltwise_units(5)});
  EXPECT_TRUE(std::isnan(seen.low));
  EXPECT_EQ(std::vector<float>(values.begin(), values.begin() + 4),
            (std::vector<float>{1, 1, 2.5f, -1}));
  EXPECT_TRUE(std::isnan(values[4]));
  values = {-3, 4};
  clamp_f32({values.data(), nullptr, {0, 6}, {0, 3}, 2}, {0, eltwise_units(2)});
  EXPECT_EQ(values, (std::vector<float>{0, 3}));
  for (const size_t count : {1u, 15u, 16u, 40u, 3000u}) {
    std::vector<float> many(count);
    for (size_t i = 0; i < count; ++i) many[i] = static_cast<float>(i * 7 % 31) - 9;
    std::vector<float> expected = many;
    for (float& value : expected) value = std::min(std::max(value, -4.0f), 20.0f);
    const auto elements = static_cast<int64_t>(count);
    seen = clamp_f32({many.data(), nullptr, {-4, 20}, {-100, 100}, elements, true},
                     {0, eltwise_units(elements)});
    EXPECT_EQ(many, expected);
    EXPECT_EQ(seen.low, *std::ranges::min_element(expected));
    EXPECT_EQ(seen.high, *std::ranges::max_element(expected));
  }
}

}  // namespace
}  // namespace rk::kernels
