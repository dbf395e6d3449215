// SPDX-License-Identifier: Apache-2.0
// Lookup tables, slopes and multipliers of other units after the sums of conv_i8: every variant of this CPU against the
// formula of conv.h in 128 bits.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/conv/conv.h"
#include "kernels/conv/i8/stages.h"
#include "kernels/layout/blocked.h"

namespace rk::kernels {
namespace {

using Wide = __int128;

// By quotient and remainder: another way than rk::scale_round goes.
Wide divide_even(Wide value, int shift) {
  const Wide unit = Wide{1} << shift;
  Wide quotient = value / unit, rest = value % unit;
  if (rest < 0) rest += unit, --quotient;
  return quotient + (rest * 2 > unit || (rest * 2 == unit && quotient % 2 != 0));
}

struct Case {
  const char* name;
  ConvFilter filter;
  ConvExtents extents;
  ConvI8Params params;  // the stages
  int32_t largest_weight = 127;
  int32_t largest_bias = 20000;
  int32_t largest_offset = 0;
  int16_t multiplier = 0;  // of all channels; 0: at random
};

// What the vendor's converter writes for x * sigmoid(x); `unit` is the real value of one step of v.
ConvLookup silu(double unit) {
  ConvLookup s;
  int shift = 0;
  double factor = 16384 * unit / 5.8;
  while (factor < 16384) factor *= 2, ++shift;
  s.multiplier = std::lround(factor);
  s.shift = shift;
  s.start = -16384, s.end = 16384, s.entry_shift = 5;
  for (int k = 0; k <= 512; ++k) {
    const auto entry = [&](double x) {
      return static_cast<int16_t>(std::lround(32767 / 5.7825 * x / (1 + std::exp(-x))));
    };
    s.low.push_back(entry(5.8 * (k - 512) / 512));
    s.high.push_back(entry(5.8 * k / 512));
  }
  s.below = {0, 0};
  s.above = {16434, 13};
  return s;
}

ConvLookup noise(uint32_t seed, int largest) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> draw(-largest - 1, largest);
  ConvLookup s = silu(1e-3);
  for (size_t k = 0; k < kLookupEntries; ++k) {
    s.low[k] = static_cast<int16_t>(draw(random));
    s.high[k] = static_cast<int16_t>(draw(random));
  }
  s.below = {20011, 15};
  s.above = {-30007, 14};
  return s;
}

ConvI8Params lookup(ConvLookup table, ScaleShift out) {
  ConvI8Params p;
  p.lookup = std::move(table);
  p.output = {out, -100};
  return p;
}

ConvI8Params slope(std::vector<int16_t> factor) {
  ConvI8Params p;
  p.multiplier_shift = 1;
  p.slope = ConvSlope{15, 0, 0, std::move(factor)};
  p.output = {{17000, 42}, 3};
  return p;
}

template <typename Change>
ConvI8Params with(ConvI8Params p, const Change& change) {
  change(p);
  return p;
}

std::vector<Case> cases() {
  const ConvFilter dense = {20, 35, 1, {3, 3}}, point = {64, 40}, deep = {300, 24, 1, {3, 3}};
  const ConvFilter each = {24, 24, 24, {3, 3}}, winograd = {48, 32, 1, {3, 3}};
  const ConvExtents same = {1, {7, 9}, {7, 9}, {1, 1}}, points = {2, {5, 6}, {5, 6}};
  const ConvExtents small = {1, {3, 4}, {3, 4}, {1, 1}};
  const ConvExtents larger = {1, {14, 18}, {14, 18}, {1, 1}};
  const ScaleShift usual = {17000, 22};
  std::vector<int16_t> many(35);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<int16_t>(i * 900);
  const auto add = [](ConvI8Params& p) {
    p.has_residual = true, p.residual_offset = 19, p.residual_scale = {23456, 9};
  };
  return {
      {"Silu", dense, same, lookup(silu(1e-4), usual)},
      {"SiluOfSmallWeights", dense, same, lookup(silu(1e-3), usual), 9},
      {"SiluPoint", point, points, lookup(silu(1e-4), usual)},
      {"SiluDepthwise", each, same, lookup(silu(1e-4), usual)},
      {"SiluWinograd", winograd, larger, lookup(silu(1e-4), usual), 40},
      {"SiluSteep", dense, same, lookup(silu(3e-6), {17000, 19}), 9},
      {"SiluVerySteep", dense, same, lookup(silu(1e-6), {17000, 17}), 9},
      {"SiluFarTail", dense, same, lookup(silu(1e-4), {17000, 24})},
      {"SiluColors",
       {3, 24, 1, {3, 3}, {2, 2}},
       {1, {15, 17}, {8, 9}, {1, 1}},
       lookup(silu(1e-4), usual)},
      {"SiluDepthwise5x5",
       {24, 24, 24, {5, 5}, {2, 2}},
       {1, {15, 17}, {8, 9}, {2, 2}},
       lookup(silu(1e-4), usual)},
      {"SiluGroups", {32, 32, 4, {3, 3}}, same, lookup(silu(1e-4), usual)},
      {"SiluDeep", deep, small, lookup(silu(1e-5), usual), 60},
      {"SiluBeyondFloats", {1100, 24, 1, {3, 3}}, small, lookup(silu(1e-5), usual), 127, 1 << 30},
      {"SiluOffsets", dense, same, lookup(silu(1e-4), usual), 127, 20000, 127},
      {"SiluLargeOffsets", point, points, lookup(silu(1e-4), usual), 127, 20000, 3000},
      {"SiluNeverSaturates", dense, same, lookup(silu(1e-4), {17000, 34})},
      {"SiluAddend", dense, same,
       with(lookup(silu(1e-4), usual), [](auto& p) { p.lookup->addend = 0x12345678; })},
      {"SiluAdded", dense, same, with(lookup(silu(1e-4), usual), add)},
      {"SiluRelu", dense, same,
       with(lookup(silu(1e-4), usual), [](auto& p) { p.relu_after_add = true; })},
      {"Noise", dense, same, lookup(noise(1, 16000), usual)},
      {"NoiseOfLargeSteps", dense, same, lookup(noise(2, 32767), usual)},
      {"NegativeScale", dense, same, lookup(silu(1e-4), {-17000, 22})},
      {"NegativeMultiplier", dense, same,
       with(lookup(silu(1e-4), usual), [](auto& p) { p.lookup->multiplier *= -1; })},
      {"OtherRange", dense, same,
       with(lookup(silu(1e-4), usual),
            [](auto& p) { p.lookup->start = -9001, p.lookup->end = 777; })},
      {"OtherShift", dense, same,
       with(lookup(silu(1e-4), usual), [](auto& p) { p.multiplier_shift = 11; })},
      {"FineUnits", dense, same,
       with(lookup(silu(1e-7), usual), [](auto& p) { p.multiplier_shift = 4; })},
      {"Slope", dense, same, slope({1638})},
      {"SlopePerChannel", dense, same, slope(many)},
      {"SlopeDepthwise", each, same, slope({-16384})},
      {"SlopeDeep", deep, small, slope({164})},
      {"SlopeShifts", dense, same,
       with(slope({4000}),
            [](auto& p) {
              p.slope->positive_shift = 8, p.slope->negative_shift = 8, p.output.scale.shift = 34;
            })},
      // The output is half of the sum, or a 64th below zero: many halves.
      {"SlopeTies",
       {2, 18},
       points,
       with(slope({512}),
            [](auto& p) {
              p.output.scale = {16384, 28};
            }),
       3,
       500,
       0,
       16384},
      {"SlopeAdded", dense, same, with(slope({4000}), add)},
      {"MultiplierShift", dense, same,
       with(ConvI8Params{},
            [](auto& p) {
              p.multiplier_shift = 11, p.output = {{17000, 29}, 5};
            })},
      {"MultiplierShiftRelu", point, points,
       with(
           ConvI8Params{},
           [](auto& p) {
             p.multiplier_shift = 3, p.activation = Activation::kRelu, p.output = {{17000, 37}, -9};
           })},
  };
}

struct Problem {
  ConvI8Params params;
  std::vector<int8_t> weights, input, residual;  // plain
  std::vector<int16_t> offset, multiplier;
  std::vector<int32_t> bias;
};

template <typename T>
std::vector<T> draw(std::mt19937& random, int64_t count, int64_t low, int64_t high) {
  std::uniform_int_distribution<int64_t> number(low, high);
  std::vector<T> out(static_cast<size_t>(count));
  for (T& value : out) value = static_cast<T>(number(random));
  return out;
}

Problem make(const Case& c) {
  std::mt19937 random(5);
  const ConvFilter& f = c.filter;
  const ConvExtents& e = c.extents;
  Problem p;
  p.params = c.params;
  p.weights =
      draw<int8_t>(random, int64_t{f.out_channels} * f.in_per_group() * f.kernel.h * f.kernel.w,
                   -c.largest_weight, c.largest_weight);
  p.input = draw<int8_t>(random, int64_t{e.batch} * f.in_channels * e.in.h * e.in.w, -128, 127);
  p.residual =
      draw<int8_t>(random, int64_t{e.batch} * f.out_channels * e.out.h * e.out.w, -128, 127);
  p.offset = draw<int16_t>(random, f.out_channels, -c.largest_offset, c.largest_offset);
  p.multiplier = draw<int16_t>(random, f.out_channels, 64, 16384);
  if (c.multiplier != 0) p.multiplier.assign(p.multiplier.size(), c.multiplier);
  p.bias = draw<int32_t>(random, f.out_channels, -c.largest_bias, c.largest_bias);
  p.params.filter = f;
  p.params.input_zero_point = 3;
  p.params.weights = p.weights.data();
  p.params.weight_offset = p.offset.data();
  p.params.multiplier = p.multiplier.data();
  p.params.bias = p.bias.data();
  return p;
}

Wide table_value(const ConvLookup& s, Wide v) {
  const Wide t = divide_even(v * s.multiplier + s.addend, s.shift);
  if (t < s.start) return s.low[0] + divide_even((t - s.start) * s.below.scale, s.below.shift);
  if (t > s.end) return s.high[512] + divide_even((t - s.end) * s.above.scale, s.above.shift);
  const Wide from = t < 0 ? s.start : 0;
  const auto k = static_cast<size_t>((t - from) / (1 << s.entry_shift));
  const auto rest = (t - from) % (1 << s.entry_shift);
  const std::vector<int16_t>& table = t < 0 ? s.low : s.high;
  if (k >= 512) return table[512];
  return table[k] + divide_even((Wide{table[k + 1]} - table[k]) * rest, s.entry_shift);
}

int8_t naive(const Problem& p, const ConvExtents& e, int n, int oc, int oy, int ox) {
  const ConvFilter& f = p.params.filter;
  const auto c = static_cast<size_t>(oc);
  Wide acc = p.bias[c];
  for (int i = 0; i < f.in_per_group(); ++i) {
    const int ic = oc / f.out_per_group() * f.in_per_group() + i;
    for (int ky = 0; ky < f.kernel.h; ++ky) {
      for (int kx = 0; kx < f.kernel.w; ++kx) {
        const int y = oy * f.stride.h - e.pad_before.h + ky,
                  x = ox * f.stride.w - e.pad_before.w + kx;
        const bool inside = y >= 0 && x >= 0 && y < e.in.h && x < e.in.w;
        const auto at = static_cast<size_t>(((n * f.in_channels + ic) * e.in.h + y) * e.in.w + x);
        const auto weight =
            static_cast<size_t>(((oc * f.in_per_group() + i) * f.kernel.h + ky) * f.kernel.w + kx);
        acc += Wide{inside ? p.input[at] : p.params.input_zero_point} *
               (p.weights[weight] + p.offset[c]);
      }
    }
  }
  const Wide product = acc * p.multiplier[c];
  Wide v = 0;
  if (p.params.slope && product < 0) {
    const ConvSlope& s = *p.params.slope;
    v = divide_even(
        divide_even(product, s.negative_multiplier_shift) * s.factor[s.factor.size() == 1 ? 0 : c],
        s.negative_shift);
  } else {
    v = divide_even(product, p.params.multiplier_shift);
    if (p.params.slope) v = divide_even(v, p.params.slope->positive_shift);
    if (p.params.lookup) v = table_value(*p.params.lookup, v);
  }
  if (p.params.activation == Activation::kRelu && v < 0) v = 0;
  if (p.params.has_residual) {
    const auto at = static_cast<size_t>(((n * f.out_channels + oc) * e.out.h + oy) * e.out.w + ox);
    v +=
        divide_even(Wide{p.residual[at] + p.params.residual_offset} * p.params.residual_scale.scale,
                    p.params.residual_scale.shift);
  }
  if (p.params.relu_after_add && v < 0) v = 0;
  const OutputStage& out = p.params.output;
  const Wide y = divide_even(v * out.scale.scale, out.scale.shift) + out.zero_point;
  return static_cast<int8_t>(y < -128 ? -128 : y > 127 ? 127 : y);
}

std::vector<int8_t> to_blocked(const std::vector<int8_t>& plain, const ActivationShape& shape) {
  std::vector<int8_t> out(static_cast<size_t>(blocked_elements(shape)), 77);
  size_t at = 0;
  for (int n = 0; n < shape.batch; ++n) {
    for (int c = 0; c < shape.channels; ++c) {
      for (int h = 0; h < shape.extent.h; ++h) {
        for (int w = 0; w < shape.extent.w; ++w)
          out[static_cast<size_t>(blocked_index(shape, n, c, h, w))] = plain[at++];
      }
    }
  }
  return out;
}

template <typename Body>
void for_each_output(const ActivationShape& shape, const Body& body) {
  for (int n = 0; n < shape.batch; ++n) {
    for (int c = 0; c < shape.channels; ++c) {
      for (int y = 0; y < shape.extent.h; ++y) {
        for (int x = 0; x < shape.extent.w; ++x) body(n, c, y, x);
      }
    }
  }
}

class ConvStages : public testing::TestWithParam<Case> {};

TEST_P(ConvStages, EveryVariantEqualsTheFormula) {
  const Case& c = GetParam();
  const Problem p = make(c);
  const ConvExtents& e = c.extents;
  const ActivationShape in = {e.batch, c.filter.in_channels, e.in};
  const ActivationShape out = {e.batch, c.filter.out_channels, e.out};
  const std::vector<int8_t> input = to_blocked(p.input, in), residual = to_blocked(p.residual, out);
  std::vector<int8_t> expected(static_cast<size_t>(blocked_elements(out)));
  for_each_output(out, [&](int n, int oc, int y, int x) {
    expected[static_cast<size_t>(blocked_index(out, n, oc, y, x))] = naive(p, e, n, oc, y, x);
  });
  int variants = 0;
  for (const ConvI8Variant& variant : conv_i8_variants()) {
    const auto packed = pack_conv_i8(p.params, *variant.kernel);
    if (!packed.ok()) {
      EXPECT_EQ(packed.status().code(), Code::kUnsupported) << packed.status().message();
      continue;
    }
    ++variants;
    std::vector<int8_t> output(static_cast<size_t>(blocked_elements(out)));
    ConvI8Args args = {&*packed, e, input.data(), p.params.has_residual ? residual.data() : nullptr,
                       output.data()};
    conv_i8(args, {0, conv_i8_units(args)});
    int wrong = 0;
    for_each_output(out, [&](int n, int oc, int y, int x) {
      const auto at = static_cast<size_t>(blocked_index(out, n, oc, y, x));
      wrong += output[at] != expected[at];
    });
    EXPECT_EQ(wrong, 0) << variant.name;
  }
  EXPECT_GT(variants, 0);
}

INSTANTIATE_TEST_SUITE_P(All, ConvStages, testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.name); });

// Where floats suffice that is what layers of real files take.
TEST(ConvStagesTest, RoutesAreWhatTheirBoundsAllow) {
  const auto routes = [](const char* name) {
    for (const Case& c : cases()) {
      if (std::string(c.name) != name) continue;
      const Problem p = make(c);
      const auto packed = pack_conv_i8(p.params);
      const StageConstants* const stages = stage_constants(*packed);
      return stages->float_route ? 'f' : stages->double_route ? 'd' : 'i';
    }
    return '?';
  };
  EXPECT_EQ(routes("Silu"), 'f');
  EXPECT_EQ(routes("SiluDeep"), 'f');
  EXPECT_EQ(routes("SiluBeyondFloats"), 'd');
  EXPECT_EQ(routes("SiluNeverSaturates"), 'd');
  EXPECT_EQ(routes("FineUnits"), 'd');
  EXPECT_EQ(routes("SiluAddend"), 'd');
  EXPECT_EQ(routes("Slope"), 'f');
  EXPECT_EQ(routes("SlopeTies"), 'f');
  EXPECT_EQ(routes("SlopeAdded"), 'd');
  EXPECT_EQ(routes("NoiseOfLargeSteps"), 'i');
}

TEST(ConvStagesTest, WhatIsNotATableOrASlopeIsRefused) {
  const Case c = cases().front();
  const auto code = [&](const auto& change) {
    Problem p = make(c);
    change(p.params);
    const auto packed = pack_conv_i8(p.params);
    return packed.ok() ? Code::kOk : packed.status().code();
  };
  EXPECT_EQ(code([](auto& p) { p.lookup->low.pop_back(); }), Code::kInvalidArgument);
  EXPECT_EQ(code([](auto& p) { p.lookup->entry_shift = 17; }), Code::kInvalidArgument);
  EXPECT_EQ(code([](auto& p) { p.lookup->start = 1; }), Code::kInvalidArgument);
  EXPECT_EQ(code([](auto& p) { p.activation = Activation::kRelu; }), Code::kInvalidArgument);
  EXPECT_EQ(code([](auto& p) { p.multiplier_shift = 63; }), Code::kInvalidArgument);
  EXPECT_EQ(code([](auto& p) {
              p.lookup.reset(), p.slope = ConvSlope{1, 1, 1, {1, 2}};
            }),
            Code::kInvalidArgument);
  EXPECT_EQ(code([](auto& p) {
              p.lookup->above = {INT32_MAX, 0}, p.lookup->shift = 0;
            }),
            Code::kUnsupported);
}

}  // namespace
}  // namespace rk::kernels
