// SPDX-License-Identifier: Apache-2.0
// conv_i8 of every variant this CPU has against a naive loop over logical indices in 64 and 128
// bits, written from the formula alone.
#include "kernels/conv/conv.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/layout/blocked.h"

namespace rk::kernels {
namespace {

using Wide = __int128;

// value / 2^shift to nearest even, by quotient and remainder: another way than rk::scale_round
// goes.
Wide divide_even(Wide value, int shift) {
  const Wide unit = Wide{1} << shift;
  Wide quotient = value / unit;
  Wide rest = value % unit;
  if (rest < 0) rest += unit, --quotient;
  if (rest * 2 > unit || (rest * 2 == unit && quotient % 2 != 0)) ++quotient;
  return quotient;
}

int8_t clamp8(Wide value) {
  return static_cast<int8_t>(value > 127 ? 127 : value < -128 ? -128 : value);
}

struct Case {
  const char* name;
  ConvFilter filter;
  ConvExtents extents;
  WeightOrder order = WeightOrder::kOihw;
  Activation activation = Activation::kNone;
  int32_t clip = 0;
  bool residual = false;
  bool relu_after_add = false;
  ScaleShift out_scale = {20000, 26};
  bool asymmetric = true;  // weights with an offset
  bool hostile = false;    // offsets, bias and multipliers at their extremes
  int32_t largest_offset = 127;
};

struct Problem {
  Case c;
  std::vector<int8_t> weights, input, residual;  // input and residual plain NCHW
  std::vector<int16_t> offset, multiplier;
  std::vector<int32_t> bias;
  ConvI8Params params;

  int8_t x(int n, int ch, int64_t y, int64_t xx) const {
    const Extent2 in = c.extents.in;
    if (y < 0 || xx < 0 || y >= in.h || xx >= in.w) {
      return static_cast<int8_t>(params.input_zero_point);
    }
    return input[((int64_t{n} * c.filter.in_channels + ch) * in.h + y) * in.w + xx];
  }
};

template <typename T>
void fill(std::vector<T>& values, size_t count, std::mt19937& random, int64_t low, int64_t high) {
  std::uniform_int_distribution<int64_t> draw(low, high);
  values.resize(count);
  for (T& value : values) value = static_cast<T>(draw(random));
}

Problem make_problem(const Case& c, uint32_t seed) {
  std::mt19937 random(seed);
  Problem p;
  p.c = c;
  const ConvFilter& f = c.filter;
  const ConvExtents& e = c.extents;
  const size_t oc = static_cast<size_t>(f.out_channels);
  fill(p.weights, oc * f.in_per_group() * f.kernel.h * f.kernel.w, random, -128, 127);
  fill(p.input, size_t(e.batch) * f.in_channels * e.in.h * e.in.w, random, -128, 127);
  fill(p.residual, size_t(e.batch) * oc * e.out.h * e.out.w, random, -128, 127);
  fill(p.offset, oc, random, -c.largest_offset - 1, c.largest_offset);
  fill(p.bias, oc, random, -100000, 100000);
  fill(p.multiplier, oc, random, 32, 16384);
  if (!c.asymmetric) p.offset.assign(oc, 0);
  if (c.hostile) {
    for (size_t i = 0; i < oc; ++i) {
      p.offset[i] = i % 3 == 0 ? 32767 : i % 3 == 1 ? -32768 : 0;
      p.bias[i] = i % 2 == 0 ? INT32_MAX : INT32_MIN;
      p.multiplier[i] = i % 5 == 0 ? -32768 : 32767;
    }
  }
  p.params = {.filter = f,
              .order = c.order,
              .weights = p.weights.data(),
              .weight_offset = p.offset.data(),
              .bias = p.bias.data(),
              .multiplier = p.multiplier.data(),
              .input_zero_point = -7,
              .activation = c.activation,
              .clip = c.clip,
              .has_residual = c.residual,
              .residual_offset = 19,
              .residual_scale = {23456, 9},
              .relu_after_add = c.relu_after_add,
              .output = {c.out_scale, 5}};
  return p;
}

int64_t weight_at(const Problem& p, int oc, int i, int ky, int kx) {
  const ConvFilter& f = p.c.filter;
  const int group = oc / f.out_per_group();
  const int64_t outer =
      p.c.order == WeightOrder::kOihw
          ? int64_t{oc} * f.in_per_group() + i
          : int64_t{group * f.in_per_group() + i} * f.out_per_group() + oc % f.out_per_group();
  return p.weights[(outer * f.kernel.h + ky) * f.kernel.w + kx];
}

// Input coordinate of a tap by searching, so that it shares nothing with the kernel's arithmetic.
int64_t search_source(int64_t out, int tap, int in, int stride, int dilation, int pad,
                      bool transposed) {
  for (int64_t i = 0; i < in; ++i) {
    if (transposed ? i * stride - pad + tap * dilation == out
                   : out * stride - pad + tap * dilation == i) {
      return i;
    }
  }
  return -1;
}

int8_t naive(const Problem& p, int n, int oc, int oy, int ox) {
  const ConvFilter& f = p.c.filter;
  const ConvExtents& e = p.c.extents;
  const int group = oc / f.out_per_group();
  Wide acc = 0;
  for (int ky = 0; ky < f.kernel.h; ++ky) {
    const int64_t y =
        search_source(oy, ky, e.in.h, f.stride.h, f.dilation.h, e.pad_before.h, f.transposed);
    for (int kx = 0; kx < f.kernel.w; ++kx) {
      const int64_t x =
          search_source(ox, kx, e.in.w, f.stride.w, f.dilation.w, e.pad_before.w, f.transposed);
      for (int i = 0; i < f.in_per_group(); ++i) {
        const int8_t value = y < 0 || x < 0 ? static_cast<int8_t>(p.params.input_zero_point)
                                            : p.x(n, group * f.in_per_group() + i, y, x);
        acc += Wide{value} * (weight_at(p, oc, i, ky, kx) + p.offset[oc]);
      }
    }
  }
  Wide v = divide_even((acc + p.bias[oc]) * p.multiplier[oc], 14);
  if (p.c.activation != Activation::kNone && v < 0) v = 0;
  if (p.c.activation == Activation::kClip && v > p.c.clip) v = p.c.clip;
  if (p.c.residual) {
    const int64_t at = ((int64_t{n} * f.out_channels + oc) * e.out.h + oy) * e.out.w + ox;
    v +=
        divide_even(Wide{p.residual[at] + p.params.residual_offset} * p.params.residual_scale.scale,
                    p.params.residual_scale.shift);
  }
  if (p.c.relu_after_add && v < 0) v = 0;
  return clamp8(divide_even(v * p.params.output.scale.scale, p.params.output.scale.shift) +
                p.params.output.zero_point);
}

// Plain NCHW to blocked, padding lanes full of noise.
std::vector<int8_t> to_blocked(const std::vector<int8_t>& plain, const ActivationShape& shape) {
  std::mt19937 random(99);
  std::vector<int8_t> blocked;
  fill(blocked, static_cast<size_t>(blocked_elements(shape)), random, -128, 127);
  size_t at = 0;
  for (int n = 0; n < shape.batch; ++n) {
    for (int c = 0; c < shape.channels; ++c) {
      for (int h = 0; h < shape.extent.h; ++h) {
        for (int w = 0; w < shape.extent.w; ++w) {
          blocked[static_cast<size_t>(blocked_index(shape, n, c, h, w))] = plain[at++];
        }
      }
    }
  }
  return blocked;
}

std::vector<Case> cases() {
  return {
      {"Pointwise", {17, 33}, {1, {5, 7}, {5, 7}}},
      {"PointwiseRelu", {64, 48}, {1, {3, 9}, {3, 9}}, WeightOrder::kOihw, Activation::kRelu},
      {"OneChannel", {1, 1, 1, {3, 2}}, {1, {6, 5}, {5, 5}, {1, 0}}},
      {"ThreeChannelsStride", {3, 33, 1, {3, 5}, {2, 3}}, {2, {13, 17}, {7, 6}, {1, 2}}},
      {"Symmetric3x3",
       {16, 64, 1, {3, 3}},
       {1, {9, 14}, {9, 14}, {1, 1}},
       WeightOrder::kOihw,
       Activation::kNone,
       0,
       false,
       false,
       {17000, 25},
       false},
      {"Dilated",
       {33, 17, 1, {3, 3}, {1, 2}, {2, 3}},
       {1, {11, 19}, {9, 8}, {1, 2}},
       WeightOrder::kOihw,
       Activation::kClip,
       3000},
      {"TwoGroups", {32, 48, 2, {3, 1}}, {1, {6, 4}, {6, 4}, {1, 0}}},
      {"GroupsAcrossBlocks", {30, 42, 6, {3, 3}}, {1, {5, 6}, {5, 6}, {1, 1}}},
      {"DepthwiseMultiplier", {9, 27, 9, {3, 3}, {2, 1}}, {1, {8, 5}, {4, 5}, {1, 1}}},
      {"Depthwise3", {3, 3, 3, {3, 3}}, {1, {6, 9}, {6, 9}, {1, 1}}},
      {"Depthwise17",
       {17, 17, 17, {5, 3}, {1, 2}},
       {2, {9, 13}, {9, 7}, {2, 1}},
       WeightOrder::kOihw,
       Activation::kRelu},
      {"Depthwise48Stride2",
       {48, 48, 48, {3, 3}, {2, 2}},
       {1, {15, 18}, {8, 9}, {1, 1}},
       WeightOrder::kOihw,
       Activation::kClip,
       30000,
       true},
      {"Depthwise5x5", {40, 40, 40, {5, 5}}, {1, {11, 9}, {11, 9}, {2, 2}}},
      {"Depthwise5x5Stride2", {40, 40, 40, {5, 5}, {2, 2}}, {1, {21, 37}, {11, 19}, {2, 2}}},
      {"Depthwise3x3Rows", {20, 20, 20, {3, 3}}, {2, {7, 41}, {7, 41}, {1, 1}}},
      {"MatrixProduct", {300, 100}, {37, {1, 1}, {1, 1}}},
      {"MatrixProductResidual",
       {40, 150},
       {5, {1, 1}, {1, 1}},
       WeightOrder::kOihw,
       Activation::kRelu,
       0,
       true},
      {"TallTiles", {20, 150, 1, {3, 3}}, {1, {31, 7}, {31, 7}, {1, 1}}},
      {"WideRows", {5, 33, 1, {3, 3}}, {1, {6, 203}, {6, 203}, {1, 1}}},
      {"LongSums", {1040, 70, 1, {3, 3}}, {1, {9, 8}, {9, 8}, {1, 1}}},
      {"DepthwiseDilated", {33, 33, 33, {3, 3}, {1, 1}, {2, 2}}, {1, {9, 8}, {9, 8}, {2, 2}}},
      {"Residual",
       {20, 35, 1, {3, 3}},
       {2, {7, 5}, {7, 5}, {1, 1}},
       WeightOrder::kOihw,
       Activation::kNone,
       0,
       true},
      {"ResidualReluAfter",
       {20, 35},
       {2, {7, 5}, {7, 5}},
       WeightOrder::kOihw,
       Activation::kNone,
       0,
       true,
       true},
      {"ResidualReluBefore",
       {16, 16},
       {1, {7, 5}, {7, 5}},
       WeightOrder::kOihw,
       Activation::kRelu,
       0,
       true},
      {"Saturating",
       {40, 20},
       {1, {4, 4}, {4, 4}},
       WeightOrder::kOihw,
       Activation::kNone,
       0,
       false,
       false,
       {32767, 0}},
      {"Ties",
       {2, 18},
       {1, {16, 16}, {16, 16}},
       WeightOrder::kOihw,
       Activation::kNone,
       0,
       false,
       false,
       {16384, 22}},
      {"Transposed", {17, 19, 1, {4, 3}, {2, 3}, {1, 1}, true}, {1, {5, 4}, {10, 10}, {1, 1}}},
      {"TransposedGroupsIohw",
       {6, 9, 3, {3, 3}, {2, 2}, {1, 2}, true},
       {1, {4, 5}, {9, 11}, {0, 1}},
       WeightOrder::kIohw},
      {"TransposedDepthwise", {20, 20, 20, {2, 2}, {2, 2}, {1, 1}, true}, {1, {4, 3}, {8, 6}}},
      {"Hostile",
       {37, 33, 1, {3, 3}},
       {1, {5, 6}, {5, 6}, {1, 1}},
       WeightOrder::kOihw,
       Activation::kNone,
       0,
       false,
       false,
       {32767, 40},
       true,
       true},
      {"HostileDepthwise",
       {19, 19, 19, {3, 3}},
       {1, {5, 6}, {5, 6}, {1, 1}},
       WeightOrder::kOihw,
       Activation::kNone,
       0,
       false,
       false,
       {32767, 38},
       true,
       true},
      {.name = "DepthwiseLargeOffsets",
       .filter = {35, 35, 35, {3, 3}},
       .extents = {1, {9, 14}, {9, 14}, {1, 1}},
       .largest_offset = 3000},
      // Weights of 255 and, one channel away, of -256.
      {.name = "DepthwiseNegatedChannels",
       .filter = {40, 40, 40, {3, 3}},
       .extents = {2, {11, 14}, {11, 14}, {1, 1}},
       .largest_offset = 128},
      {.name = "DepthwiseNegatedChannelsStride2",
       .filter = {40, 40, 40, {5, 5}, {2, 2}},
       .extents = {1, {11, 19}, {6, 10}, {2, 2}},
       .activation = Activation::kClip,
       .clip = 3000,
       .largest_offset = 128},
      {.name = "PointwiseStride",
       .filter = {40, 100, 1, {1, 1}, {2, 3}},
       .extents = {2, {9, 20}, {5, 7}}},
      {.name = "PointwiseStrideBeyondTheInput",
       .filter = {7, 90, 1, {1, 1}, {2, 2}},
       .extents = {1, {9, 8}, {6, 7}},
       .residual = true},
      {.name = "DepthwiseLargestOffsets",
       .filter = {16, 16, 16, {5, 5}, {2, 2}},
       .extents = {1, {9, 14}, {5, 7}, {2, 2}},
       .residual = true,
       .largest_offset = 32000},
      {.name = "GroupsLargeOffsets",
       .filter = {30, 42, 6, {3, 3}},
       .extents = {1, {5, 6}, {5, 6}, {1, 1}},
       .largest_offset = 3000},
      {"LongSum", {1500, 5}, {1, {2, 3}, {2, 3}}},
      {"FullyConnected", {512, 100}, {3, {1, 1}, {1, 1}}},
      {"MatrixRows", {70, 200}, {37, {1, 1}, {1, 1}}},
      {"MatrixManyRows", {16, 16}, {530, {1, 1}, {1, 1}}},
      {"NegativePadCrops", {4, 6, 1, {2, 2}}, {1, {9, 9}, {5, 4}, {-2, -3}}},
      {"WholeBorder", {16, 16, 1, {3, 3}}, {1, {2, 1}, {9, 8}, {4, 4}}},
      {"LongRow", {5, 70, 1, {3, 3}}, {1, {2, 205}, {2, 205}, {1, 1}}},
      {"LongRowStride2", {4, 40, 1, {3, 5}, {1, 2}}, {1, {2, 301}, {2, 151}, {1, 2}}},
      {"ManyInputBlocks", {900, 20, 1, {3, 3}}, {1, {6, 5}, {6, 5}, {1, 1}}},
      {"LargeDilatedKernel", {5, 17, 1, {9, 9}, {1, 1}, {3, 2}}, {1, {9, 40}, {9, 40}, {12, 8}}},
      {"DepthwiseLongRow", {17, 17, 17, {3, 3}}, {1, {2, 700}, {2, 700}, {1, 1}}},
      {"Depthwise7x6", {16, 16, 16, {7, 6}}, {1, {9, 9}, {9, 9}, {3, 3}}},
      {"Wide", {32, 80, 1, {3, 3}}, {1, {4, 61}, {4, 61}, {1, 1}}},
      // Few input channels: three rows of a kernel in 32 bytes, tiles of one to four vectors.
      {"FirstLayer", {3, 32, 1, {3, 3}, {2, 2}}, {2, {35, 67}, {18, 34}, {1, 1}}},
      {"FirstLayerLongRow", {3, 24, 1, {3, 3}, {1, 2}}, {1, {3, 601}, {3, 301}, {1, 1}}},
      {"FirstLayerTall", {3, 72, 1, {3, 3}}, {1, {90, 3}, {88, 1}}},
      {.name = "FirstLayerDilated",
       .filter = {2, 17, 1, {3, 5}, {1, 1}, {2, 1}},
       .extents = {1, {9, 21}, {9, 21}, {2, 2}},
       .activation = Activation::kRelu},
      {.name = "FirstLayerPlain",
       .filter = {3, 60, 1, {3, 3}, {2, 2}},
       .extents = {1, {12, 30}, {6, 15}, {0, 0}},
       .asymmetric = false},
      {"FewOutputs", {50, 9}, {2, {7, 9}, {7, 9}}},
      {.name = "FewOutputsApart",
       .filter = {32, 16},
       .extents = {1, {17, 19}, {17, 19}},
       .out_scale = {32767, 38},
       .hostile = true},
      {.name = "FewOutputsResidual",
       .filter = {37, 23},
       .extents = {2, {7, 9}, {7, 9}},
       .activation = Activation::kRelu,
       .residual = true},
      {.name = "FewOutputsResidualAfter",
       .filter = {144, 24},
       .extents = {1, {6, 56}, {6, 56}},
       .residual = true,
       .relu_after_add = true,
       .asymmetric = false},
      {"Expand1", {16, 16}, {1, {9, 31}, {9, 31}}},
      {"Expand24", {20, 24}, {1, {9, 31}, {9, 31}}},
      {"Expand96", {16, 96}, {1, {9, 31}, {9, 31}}, WeightOrder::kOihw, Activation::kRelu},
      {"Expand192", {32, 184}, {1, {9, 31}, {9, 31}}},
  };
}

std::vector<int8_t> interleaved(const std::vector<int8_t>& plain, const ActivationShape& s) {
  std::vector<int8_t> out;
  for (int n = 0; n < s.batch; ++n) {
    for (int64_t pixel = 0; pixel < s.pixels(); ++pixel) {
      for (int c = 0; c < s.channels; ++c)
        out.push_back(plain[static_cast<size_t>((n * s.channels + c) * s.pixels() + pixel)]);
    }
  }
  return out;
}

class ConvI8Test : public testing::TestWithParam<Case> {};

TEST_P(ConvI8Test, EveryVariantEqualsTheFormulaWhereverTheWorkIsCut) {
  const Case& c = GetParam();
  const ActivationShape in = {c.extents.batch, c.filter.in_channels, c.extents.in};
  const ActivationShape out = {c.extents.batch, c.filter.out_channels, c.extents.out};
  const Problem problem = make_problem(c, 20240601);
  const auto input = to_blocked(problem.input, in);
  const auto residual = to_blocked(problem.residual, out);
  for (const ConvI8Variant& variant : conv_i8_variants()) {
    SCOPED_TRACE(variant.kernel->name);
    auto packed = pack_conv_i8(problem.params, *variant.kernel);
    const bool generic = variant.name.ends_with("__generic");
    if (!generic && packed.status().code() == Code::kUnsupported) continue;
    ASSERT_TRUE(packed.ok()) << packed.status().message();
    EXPECT_EQ(can_unpack_conv_i8(*packed), !c.filter.depthwise());
    if (can_unpack_conv_i8(*packed)) {
      std::vector<int8_t> weights(problem.weights.size(), 77);
      unpack_conv_i8(*packed, problem.offset.data(), weights.data());
      EXPECT_EQ(weights, problem.weights);
    }
    std::vector<int8_t> output(static_cast<size_t>(blocked_elements(out)));
    const ConvI8Args args = {&*packed, c.extents, input.data(), residual.data(), output.data()};
    const int64_t units = conv_i8_units(args);
    conv_i8(args, {0, units});
    int64_t bad = 0;
    for (int n = 0; n < out.batch; ++n) {
      for (int oc = 0; oc < out.channels; ++oc) {
        for (int y = 0; y < out.extent.h; ++y) {
          for (int x = 0; x < out.extent.w; ++x) {
            bad += output[blocked_index(out, n, oc, y, x)] != naive(problem, n, oc, y, x);
          }
        }
      }
    }
    EXPECT_EQ(bad, 0);

    if (takes_interleaved_input(*packed)) {
      const std::vector<int8_t> picture = interleaved(problem.input, in);
      std::vector<int8_t> same(output.size(), 77);
      ConvI8Args from_picture = args;
      from_picture.input = picture.data();
      from_picture.output = same.data();
      from_picture.interleaved_input = true;
      conv_i8(from_picture, {0, units});
      EXPECT_EQ(same, output);
    }

    std::vector<int8_t> pieces(output.size(), 77);
    ConvI8Args cut = args;
    cut.output = pieces.data();
    int64_t begin = 0;
    for (int64_t step = 1; begin < units; step = step * 2 % 7 + 1) {
      const int64_t end = std::min(begin + step, units);
      conv_i8(cut, {begin, end});
      begin = end;
    }
    EXPECT_EQ(pieces, output);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ConvI8Test, testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.name); });

// Random geometry and constants: every variant against the generic one, padding lanes included.
// A slow fall-back would go unnoticed: results are the same.
TEST(ConvI8VariantTest, LargeOffsetsOfDepthwiseWeightsKeepTheFastVariant) {
  const Case c{.name = "",
               .filter = {64, 64, 64, {3, 3}},
               .extents = {1, {8, 8}, {8, 8}, {1, 1}},
               .largest_offset = 3000};
  const Problem problem = make_problem(c, 7);
  // The kernel chosen is the best one that takes depthwise layers at all.
  const auto chosen = pack_conv_i8(problem.params);
  const auto small = pack_conv_i8(make_problem({.name = "", .filter = c.filter}, 7).params);
  ASSERT_TRUE(chosen.ok() && small.ok());
  EXPECT_EQ(chosen->kernel->name, small->kernel->name);
}

// Numbers for random convolutions, and the parts that all of them share.
struct Draw {
  std::mt19937 random;

  int operator()(int low, int high) { return low + int(random() % uint32_t(high - low + 1)); }
  bool one_of(int count) { return (*this)(1, count) == 1; }

  Case stages() {
    Case c;
    c.name = "";
    c.activation = static_cast<Activation>((*this)(0, 2));
    c.clip = (*this)(0, 1 << (*this)(1, 20));
    c.residual = one_of(3);
    c.relu_after_add = one_of(2);
    c.asymmetric = one_of(2);
    c.largest_offset = one_of(6) ? 3000 : (*this)(126, 128);
    c.out_scale = {(*this)(16384, 32767), (*this)(14, 32)};
    return c;
  }
};

// A picture of `elements` every `stride` elements.
std::vector<int8_t> apart(const std::vector<int8_t>& dense, size_t elements, size_t stride) {
  std::vector<int8_t> out(dense.size() / elements * stride, 3);
  for (size_t i = 0; i < dense.size(); ++i) out[i / elements * stride + i % elements] = dense[i];
  return out;
}

// Every variant gives the generic one's bytes, padding lanes included, with pictures apart from each other. With
// `overwrite` the output takes the residual's place.
void expect_generic_bytes(const Case& c, uint32_t seed, bool overwrite) {
  const Problem problem = make_problem(c, seed);
  const auto batch = static_cast<size_t>(c.extents.batch);
  const ActivationShape in = {c.extents.batch, c.filter.in_channels, c.extents.in};
  const ActivationShape out = {c.extents.batch, c.filter.out_channels, c.extents.out};
  const size_t in_elements = size_t(blocked_elements(in)) / batch;
  const size_t out_elements = size_t(blocked_elements(out)) / batch;
  const size_t in_stride = in_elements + 32,
               out_stride = overwrite ? out_elements : out_elements + 16;
  const auto input = apart(to_blocked(problem.input, in), in_elements, in_stride);
  const auto residual = to_blocked(problem.residual, out);
  std::vector<int8_t> expected;
  const auto variants = conv_i8_variants();
  for (auto variant = variants.rbegin(); variant != variants.rend(); ++variant) {
    const auto packed = pack_conv_i8(problem.params, *variant->kernel);
    if (!packed.ok()) continue;
    std::vector<int8_t> output = overwrite ? residual : std::vector<int8_t>(batch * out_stride, 5);
    ConvI8Args args = {&*packed, c.extents, input.data(),
                       overwrite ? output.data() : residual.data(), output.data()};
    args.input_batch_stride = int64_t(in_stride);
    args.output_batch_stride = int64_t(out_stride);
    const int64_t units = conv_i8_units(args);
    conv_i8(args, {0, units / 3});
    conv_i8(args, {units / 3, units});
    if (expected.empty()) expected = output;
    ASSERT_EQ(output, expected) << variant->kernel->name;
  }
}

TEST(ConvI8VariantTest, VariantsEqualTheGenericOneOnRandomConvolutions) {
  Draw draw{std::mt19937(4)};
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    Case c = draw.stages();
    const int kind = draw(0, 3);  // dense, dense, groups, depthwise
    const int groups = kind == 2 ? draw(2, 5) : kind == 3 ? draw(2, 70) : 1;
    c.filter.groups = groups;
    c.filter.in_channels = kind == 3 ? groups : groups * draw(1, kind == 2 ? 20 : 90);
    c.filter.out_channels = kind == 3 ? groups : groups * draw(1, kind == 2 ? 30 : 150);
    c.filter.kernel = {draw(1, 5), draw(1, 5)};
    c.filter.stride = {draw(1, 3), draw(1, 3)};
    c.filter.dilation = {draw(1, 2), draw(1, 3)};
    c.filter.transposed = draw.one_of(5);
    c.extents = {draw(1, 2),
                 {draw(1, 12), draw(1, 30)},
                 {draw(1, 12), draw(1, 30)},
                 {draw(0, 3), draw(0, 3)}};
    expect_generic_bytes(c, draw.random(), c.residual && draw.one_of(2));
  }
}

TEST(ConvI8VariantTest, VariantsEqualTheGenericOneOnRandomPointwiseConvolutions) {
  Draw draw{std::mt19937(5)};
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    Case c = draw.stages();
    c.filter.groups = draw.one_of(6) ? 2 : 1;
    c.filter.in_channels = c.filter.groups * draw(1, draw.one_of(2) ? 40 : 200);
    c.filter.out_channels = c.filter.groups * draw(1, 200);
    if (draw.one_of(4)) c.filter.stride = {draw(1, 3), draw(1, 3)};
    const Extent2 in = {draw(1, 20), draw(1, 30)};
    const Extent2 stride = c.filter.stride;
    c.extents = {draw(1, 2), in, {(in.h - 1) / stride.h + 1, (in.w - 1) / stride.w + 1}};
    expect_generic_bytes(c, draw.random(), c.residual && draw.one_of(2));
  }
}

TEST(ConvI8VariantTest, VariantsEqualTheGenericOneOnRandomFirstLayers) {
  Draw draw{std::mt19937(6)};
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    Case c = draw.stages();
    c.filter.in_channels = draw(1, 4);
    c.filter.out_channels = draw(1, 80);
    c.filter.kernel = {draw(1, 7), draw(1, 7)};
    c.filter.stride = {draw(1, 3), draw(1, 3)};
    c.filter.dilation = {draw(1, 2), draw.one_of(4) ? 2 : 1};
    c.extents = {draw(1, 2),
                 {draw(1, 20), draw(1, 60)},
                 {draw(1, 12), draw(1, 40)},
                 {draw(0, 3), draw(0, 3)}};
    expect_generic_bytes(c, draw.random(), c.residual && draw.one_of(2));
  }
}

TEST(ConvI8VariantTest, VariantsEqualTheGenericOneOnRandomGroups) {
  Draw draw{std::mt19937(8)};
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    Case c = draw.stages();
    const int groups = draw(2, 12), each = 4 * draw(1, draw.one_of(3) ? 12 : 4);
    c.filter.groups = groups;
    c.filter.in_channels = groups * each;
    c.filter.out_channels = groups * (draw.one_of(3) ? 4 * draw(1, 12) : each);
    c.filter.kernel = {draw(1, 4), draw(1, 4)};
    c.filter.stride = {draw(1, 2), draw(1, 2)};
    c.filter.dilation = {draw(1, 2), draw(1, 2)};
    c.filter.transposed = draw.one_of(5);
    c.extents = {draw(1, 2),
                 {draw(1, 12), draw(1, 30)},
                 {draw(1, 12), draw(1, 30)},
                 {draw(0, 3), draw(0, 3)}};
    expect_generic_bytes(c, draw.random(), c.residual && draw.one_of(2));
  }
}

TEST(ConvI8VariantTest, VariantsEqualTheGenericOneOnRandomDepthwiseConvolutions) {
  Draw draw{std::mt19937(7)};
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    Case c = draw.stages();
    c.residual = draw.one_of(6);
    const int channels = draw(2, 70), kernel = draw.one_of(3) ? 5 : 3, stride = draw(1, 2);
    c.filter = {channels, channels, channels, {kernel, kernel}, {stride, stride}};
    c.extents = {draw(1, 2),
                 {draw(1, 20), draw(1, 30)},
                 {draw(1, 20), draw(1, 30)},
                 {draw(0, 3), draw(-1, 6)}};
    expect_generic_bytes(c, draw.random(), c.residual && draw.one_of(2));
  }
}

// Sums of -16384 to 16383, each at its own pixel, through output scales of which some suit a variant's short cuts and
// others do not.
TEST(ConvI8VariantTest, EverySumRoundsAsTheFormulaSays) {
  constexpr int kSide = 256, kChannels = 16;
  const ActivationShape shape = {1, kChannels, {kSide, kSide}};
  std::vector<int8_t> input(size_t(blocked_elements(shape)));
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      input[blocked_index(shape, 0, 0, y, x)] = int8_t(y - 128);
      input[blocked_index(shape, 0, 1, y, x)] = int8_t(x - 128);
    }
  }
  std::vector<int8_t> weights(kChannels, 0);
  weights[0] = 127;
  weights[1] = 1;
  const int16_t multiplier = 12345;
  for (const int shift : {14, 20, 21, 22, 23, 24, 25, 27}) {
    for (const int scale : {16384, 20002, 24407}) {
      for (const auto& [zero_point, relu] :
           {std::pair{-128, false}, std::pair{0, false}, std::pair{3, true}}) {
        SCOPED_TRACE(testing::Message() << scale << " / 2^" << shift << " + " << zero_point);
        ConvI8Params params;
        params.filter = {kChannels, 1};
        params.weights = weights.data();
        params.multiplier = &multiplier;
        params.activation = relu ? Activation::kRelu : Activation::kNone;
        params.output = {{scale, shift}, zero_point};
        const auto packed = pack_conv_i8(params);
        ASSERT_TRUE(packed.ok());
        std::vector<int8_t> output(input.size());
        const ConvI8Args args = {
            &*packed, {1, shape.extent, shape.extent}, input.data(), nullptr, output.data()};
        conv_i8(args, {0, conv_i8_units(args)});
        int64_t bad = 0;
        for (int y = 0; y < kSide; ++y) {
          for (int x = 0; x < kSide; ++x) {
            Wide v = divide_even(Wide{multiplier} * (127 * (y - 128) + x - 128), 14);
            if (relu && v < 0) v = 0;
            const int8_t expected = clamp8(divide_even(v * scale, shift) + zero_point);
            bad += output[blocked_index(shape, 0, 0, y, x)] != expected;
          }
        }
        EXPECT_EQ(bad, 0);
      }
    }
  }
}

// Upsampling by copying, as a transposed convolution whose taps do not overlap.
struct Upsampling {
  std::vector<int8_t> weights;
  std::vector<int16_t> multiplier;
  ConvI8Params params;

  // With weights of one, results are x * scale / 2^shift.
  Upsampling(int32_t channels, Extent2 factor, ScaleShift scale)
      : weights(size_t(channels * factor.h * factor.w), 1), multiplier(size_t(channels), 16384) {
    params.filter = {channels, channels, channels, factor, factor};
    params.filter.transposed = true;
    params.order = WeightOrder::kIohw;
    params.weights = weights.data();
    params.multiplier = multiplier.data();
    params.output = {scale, 0};
  }
  std::optional<RepeatedBytes> bytes() const {
    const auto packed = pack_conv_i8(params);
    return packed.ok() ? repeated_bytes(*packed) : std::nullopt;
  }
};

TEST(ConvI8PackTest, TellsWhatAnUpsamplingMakesOfEachByte) {
  for (const Extent2 factor : {Extent2{2, 2}, Extent2{1, 3}, Extent2{1, 1}}) {
    const auto copied = Upsampling(48, factor, {16384, 14}).bytes();
    const auto halved = Upsampling(48, factor, {16384, 15}).bytes();
    ASSERT_TRUE(copied.has_value() && halved.has_value());
    for (int x = -128; x < 128; ++x) {
      EXPECT_EQ((*copied)[size_t(x + 128)], x);
      EXPECT_EQ((*halved)[size_t(x + 128)], clamp8(divide_even(x, 1)));
    }
  }
}

TEST(ConvI8PackTest, WhatDiffersByChannelOrTapOrOverlapsIsNoUpsampling) {
  Upsampling tap(32, {2, 2}, {16384, 14}), channel = tap, overlap = tap, rest = tap;
  tap.weights[7] = 2;
  tap.params.weights = tap.weights.data();
  EXPECT_FALSE(tap.bytes().has_value());
  channel.multiplier[31] = 16000;
  channel.params.multiplier = channel.multiplier.data();
  EXPECT_FALSE(channel.bytes().has_value());
  overlap.params.filter.stride = {1, 2};
  EXPECT_FALSE(overlap.bytes().has_value());
  rest.params.filter.in_channels = rest.params.filter.out_channels = rest.params.filter.groups = 20;
  EXPECT_FALSE(rest.bytes().has_value());
}

TEST(ConvI8PackTest, OutputMayBeAChannelSliceAndMayOverwriteTheResidual) {
  const Case c = {"", {16, 32}, {2, {3, 4}, {3, 4}}, WeightOrder::kOihw, Activation::kNone,
                  0,  true};
  const Problem problem = make_problem(c, 5);
  const ActivationShape in = {2, 16, {3, 4}}, out = {2, 32, {3, 4}}, whole = {2, 64, {3, 4}};
  const auto input = to_blocked(problem.input, in);
  auto residual = to_blocked(problem.residual, out);
  const auto packed = pack_conv_i8(problem.params);
  ASSERT_TRUE(packed.ok());
  std::vector<int8_t> output(static_cast<size_t>(blocked_elements(whole)), 1);
  ConvI8Args args = {&*packed, c.extents, input.data(), residual.data(), output.data() + 16 * 12};
  args.output_batch_stride = blocked_elements(whole) / 2;
  conv_i8(args, {0, conv_i8_units(args)});
  args.output = residual.data();
  args.output_batch_stride = 0;
  conv_i8(args, {0, conv_i8_units(args)});
  for (int n = 0; n < 2; ++n) {
    for (int ch = 0; ch < 32; ++ch) {
      EXPECT_EQ(output[blocked_index(whole, n, 16 + ch, 1, 2)], naive(problem, n, ch, 1, 2));
      EXPECT_EQ(residual[blocked_index(out, n, ch, 1, 2)], naive(problem, n, ch, 1, 2));
    }
    EXPECT_EQ(output[blocked_index(whole, n, 15, 1, 2)], 1);
    EXPECT_EQ(output[blocked_index(whole, n, 48, 1, 2)], 1);
  }
}

TEST(ConvI8PackTest, RefusesGroupsThatDoNotDivideNamingThem) {
  const Problem problem = make_problem({"", {4, 4}, {}}, 1);
  ConvI8Params params = problem.params;
  params.filter.groups = 3;
  const auto packed = pack_conv_i8(params);
  ASSERT_FALSE(packed.ok());
  EXPECT_NE(packed.status().message().find("3 groups do not divide 4"), std::string::npos);
}

TEST(ConvI8PackTest, RefusesScalesThatCouldOverflow64Bits) {
  const Problem problem = make_problem({"", {4, 4}, {}}, 1);
  for (const ScaleShift scale : {ScaleShift{16384, 63}, ScaleShift{16384, -1}}) {
    ConvI8Params params = problem.params;
    params.output.scale = scale;
    EXPECT_EQ(pack_conv_i8(params).status().code(), Code::kUnsupported);
    params = problem.params;
    params.has_residual = true;
    params.residual_scale = scale;
    EXPECT_EQ(pack_conv_i8(params).status().code(), Code::kUnsupported);
  }
}

// A damaged file may hold anything where there is no residual; kernels prepare the stage all the same.
TEST(ConvI8PackTest, AnUnusedResidualStageIsDropped) {
  const Problem problem = make_problem({"", {4, 4}, {}}, 1);
  ConvI8Params params = problem.params;
  params.has_residual = false;
  params.residual_scale = {16384, -16777202};
  params.residual_offset = 1 << 30;
  const auto packed = pack_conv_i8(params);
  ASSERT_TRUE(packed.ok());
  EXPECT_EQ(packed->params.residual_scale, ScaleShift{});
  EXPECT_EQ(packed->params.residual_offset, 0);
}

TEST(ConvI8PackTest, UsesWideSumsOnlyWhereInt32CouldOverflow) {
  // 128 * 255 * 66000 > 2^31 > 128 * 255 * 65000.
  for (const auto& [channels, wide] : {std::pair{65000, false}, std::pair{66000, true}}) {
    std::vector<int8_t> weights(static_cast<size_t>(channels), 127);
    const int16_t offset = 128, multiplier = 16384;
    ConvI8Params params;
    params.filter = {channels, 1};
    params.weights = weights.data();
    params.weight_offset = &offset;
    params.multiplier = &multiplier;
    const auto packed = pack_conv_i8(params);
    ASSERT_TRUE(packed.ok());
    EXPECT_EQ(packed->wide, wide);
    EXPECT_EQ(packed->acc_bound, int64_t{channels} * 255 * 128);
  }
}

}  // namespace
}  // namespace rk::kernels
