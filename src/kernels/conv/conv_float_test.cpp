// SPDX-License-Identifier: Apache-2.0
// conv_f16 and conv_f32 against sums in double, with the tolerance of docs/fidelity.md: one ulp of the stored type plus
// K * 2^-24 * sum |x * w|.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/half.h"
#include "kernels/conv/conv_f16.h"
#include "kernels/conv/conv_f32.h"
#include "kernels/half_lanes.h"
#include "kernels/kernel_test.h"
#include "kernels/layout/blocked.h"

namespace rk::kernels {
namespace {

struct Case {
  const char* name;
  ConvFilter filter;
  ConvExtents extents;
  WeightOrder order = WeightOrder::kOihw;
  Activation activation = Activation::kNone;
  bool residual = false;
  bool relu_after_add = false;
};

struct Exact {
  double value = 0;
  double magnitude = 0;
  int64_t k = 0;
};

struct Problem {
  Case c;
  std::vector<float> input, weights, bias, residual;  // plain; every value is an exact fp16
};

std::vector<float> noise(size_t count, std::mt19937& random) {
  std::uniform_real_distribution<float> draw(-2.0f, 2.0f);
  std::vector<float> values(count);
  for (float& value : values) value = half_to_float(float_to_half(draw(random)));
  return values;
}

Problem make_problem(const Case& c) {
  std::mt19937 random(7);
  const ConvFilter& f = c.filter;
  const ConvExtents& e = c.extents;
  Problem p;
  p.c = c;
  p.input = noise(size_t(e.batch) * f.in_channels * e.in.h * e.in.w, random);
  p.weights = noise(size_t(f.out_channels) * f.in_per_group() * f.kernel.h * f.kernel.w, random);
  p.bias = noise(size_t(f.out_channels), random);
  p.residual = noise(size_t(e.batch) * f.out_channels * e.out.h * e.out.w, random);
  return p;
}

int64_t output_index(const Problem& p, int n, int oc, int oy, int ox) {
  const ConvExtents& e = p.c.extents;
  return ((int64_t{n} * p.c.filter.out_channels + oc) * e.out.h + oy) * e.out.w + ox;
}

// Scatters for a transposed filter and gathers for a plain one: all pairs of input and tap are tried.
Exact exact(const Problem& p, int n, int oc, int oy, int ox) {
  const ConvFilter& f = p.c.filter;
  const ConvExtents& e = p.c.extents;
  const int group = oc / f.out_per_group();
  Exact sum = {p.bias[oc], std::abs(double{p.bias[oc]}), 1};
  for (int i = 0; i < f.in_per_group(); ++i) {
    const int ic = group * f.in_per_group() + i;
    const int64_t outer = p.c.order == WeightOrder::kOihw
                              ? int64_t{oc} * f.in_per_group() + i
                              : int64_t{ic} * f.out_per_group() + oc % f.out_per_group();
    for (int ky = 0; ky < f.kernel.h; ++ky) {
      for (int kx = 0; kx < f.kernel.w; ++kx) {
        const double w = p.weights[(outer * f.kernel.h + ky) * f.kernel.w + kx];
        for (int y = 0; y < e.in.h; ++y) {
          const int from_y =
              (f.transposed ? y : oy) * f.stride.h - e.pad_before.h + ky * f.dilation.h;
          if (from_y != (f.transposed ? oy : y)) continue;
          for (int x = 0; x < e.in.w; ++x) {
            const int from_x =
                (f.transposed ? x : ox) * f.stride.w - e.pad_before.w + kx * f.dilation.w;
            if (from_x != (f.transposed ? ox : x)) continue;
            const double product =
                w * p.input[((int64_t{n} * f.in_channels + ic) * e.in.h + y) * e.in.w + x];
            sum.value += product;
            sum.magnitude += std::abs(product);
            ++sum.k;
          }
        }
      }
    }
  }
  return sum;
}

std::vector<uint16_t> to_blocked(const std::vector<float>& plain, const ActivationShape& shape) {
  std::vector<uint16_t> blocked(static_cast<size_t>(blocked_elements(shape)), 0x7e00);  // NaN
  size_t at = 0;
  for (int n = 0; n < shape.batch; ++n) {
    for (int c = 0; c < shape.channels; ++c) {
      for (int h = 0; h < shape.extent.h; ++h) {
        for (int w = 0; w < shape.extent.w; ++w) {
          blocked[static_cast<size_t>(blocked_index(shape, n, c, h, w))] =
              float_to_half(plain[at++]);
        }
      }
    }
  }
  return blocked;
}

std::vector<Case> cases() {
  return {
      {"Pointwise", {17, 33}, {1, {5, 7}, {5, 7}}},
      {"Stride", {3, 40, 1, {3, 5}, {2, 3}}, {2, {13, 17}, {7, 6}, {1, 2}}},
      {"Relu",
       {16, 70, 1, {3, 3}},
       {1, {9, 8}, {9, 8}, {1, 1}},
       WeightOrder::kOihw,
       Activation::kRelu},
      {"Clip", {16, 16}, {1, {9, 8}, {9, 8}}, WeightOrder::kOihw, Activation::kClip},
      {"Dilated", {33, 17, 1, {3, 3}, {1, 2}, {2, 3}}, {1, {11, 19}, {9, 8}, {1, 2}}},
      {"DilatedToTheBorder",
       {37, 64, 1, {3, 3}, {1, 1}, {9, 10}},
       {1, {13, 14}, {13, 14}, {9, 10}}},
      {"DilatedToTheBorderStride",
       {33, 128, 1, {3, 3}, {1, 2}, {7, 8}},
       {1, {13, 27}, {13, 14}, {7, 8}}},
      {"NothingButBorder", {20, 64, 1, {3, 3}}, {1, {5, 6}, {13, 14}, {5, 5}}},
      {"Groups", {30, 42, 6, {3, 3}}, {1, {5, 6}, {5, 6}, {1, 1}}},
      {"GroupsOfFour", {64, 64, 16, {3, 3}}, {2, {9, 11}, {9, 11}, {1, 1}}},
      {"GroupsOfEight", {40, 40, 5, {3, 3}, {2, 2}}, {1, {9, 30}, {5, 15}, {1, 1}}},
      {"GroupsOf24", {72, 72, 3, {3, 3}}, {1, {7, 7}, {7, 7}, {1, 1}}},
      {"GroupsOf32", {64, 96, 2, {1, 3}}, {1, {6, 14}, {6, 12}, {0, 0}}},
      {"GroupsUneven", {48, 24, 6, {3, 3}, {1, 1}, {2, 2}}, {1, {8, 9}, {8, 9}, {2, 2}}},
      {"GroupsPointwise", {240, 240, 3}, {1, {5, 7}, {5, 7}}},
      {"GroupsOfBlocks", {32, 64, 2, {3, 3}}, {1, {5, 6}, {5, 6}, {1, 1}}},
      {"DepthwiseMultiplier", {9, 27, 9, {3, 3}, {2, 1}}, {1, {8, 5}, {4, 5}, {1, 1}}},
      {"Depthwise", {20, 20, 20, {5, 3}, {1, 2}}, {2, {9, 13}, {9, 7}, {2, 1}}},
      {"Residual", {20, 35}, {2, {7, 5}, {7, 5}}, WeightOrder::kOihw, Activation::kRelu, true},
      {"ResidualRelu",
       {4, 5, 1, {3, 3}},
       {1, {7, 5}, {7, 5}, {1, 1}},
       WeightOrder::kOihw,
       Activation::kNone,
       true,
       true},
      {"Transposed", {17, 19, 1, {4, 3}, {2, 3}, {1, 1}, true}, {1, {5, 4}, {10, 10}, {1, 1}}},
      {"TransposedIohw",
       {6, 9, 3, {3, 3}, {2, 2}, {1, 2}, true},
       {1, {4, 5}, {9, 11}, {0, 1}},
       WeightOrder::kIohw},
      {"TransposedDepthwise", {20, 20, 20, {2, 2}, {2, 2}, {1, 1}, true}, {1, {4, 3}, {8, 6}}},
      {"DoublingDepthwise",
       {20, 20, 20, {3, 2}, {3, 2}, {1, 1}, true},
       {2, {5, 7}, {15, 14}},
       WeightOrder::kOihw,
       Activation::kRelu,
       true},
      {"PatchEmbedding", {3, 65, 1, {16, 12}, {16, 12}}, {1, {32, 36}, {2, 3}}},
      {"MatrixProduct", {300, 100}, {37, {1, 1}, {1, 1}}},
      {"MatrixProductResidual",
       {40, 150},
       {5, {1, 1}, {1, 1}},
       WeightOrder::kOihw,
       Activation::kRelu,
       true},
      {"LongSums", {393, 70, 1, {3, 3}}, {1, {5, 4}, {5, 4}, {1, 1}}},
      {"WideRows", {5, 33, 1, {3, 3}}, {1, {4, 203}, {4, 203}, {1, 1}}},
      {"FullyConnected", {300, 100}, {3, {1, 1}, {1, 1}}},
      {"Crop", {4, 6, 1, {2, 2}}, {1, {9, 9}, {5, 4}, {-2, -3}}},
      {"PointwiseStride", {40, 70, 1, {1, 1}, {2, 3}}, {2, {9, 11}, {6, 5}, {1, 1}}},
      {"PointwiseStrideInside", {40, 70, 1, {1, 1}, {2, 2}}, {2, {41, 34}, {21, 17}}},
      {"PointwiseOneVector",
       {32, 16},
       {2, {19, 31}, {19, 31}},
       WeightOrder::kOihw,
       Activation::kClip},
      {"PointwiseSmall", {48, 200}, {2, {7, 7}, {7, 7}}, WeightOrder::kOihw, Activation::kRelu},
      {"PointwiseShort", {16, 96}, {2, {9, 31}, {9, 31}}, WeightOrder::kOihw, Activation::kClip},
      {"PointwiseShortTwoBlocks", {24, 144}, {1, {14, 7}, {14, 7}}},
      {"PointwiseShortStride", {32, 64, 1, {1, 1}, {2, 1}}, {1, {5, 3}, {3, 3}}},
      {"PointwiseThreeVectors", {16, 48}, {1, {6, 9}, {6, 9}}},
      {"PointwiseManyPixels",
       {20, 130},
       {2, {17, 31}, {17, 31}},
       WeightOrder::kOihw,
       Activation::kNone,
       true,
       true},
      {"PointwiseLongSums", {2100, 40}, {1, {6, 9}, {6, 9}}},
      {"MatrixProductLongSums", {2100, 72}, {50, {1, 1}, {1, 1}}},
      {"NarrowOutputs",
       {20, 24},
       {2, {7, 31}, {7, 31}},
       WeightOrder::kOihw,
       Activation::kRelu,
       true},
      {"VeryNarrowOutputs", {20, 7, 1, {3, 3}}, {1, {5, 31}, {5, 31}, {1, 1}}},
      {"FewChannels", {3, 40, 1, {3, 3}, {2, 2}}, {2, {15, 61}, {8, 31}, {1, 1}}},
      {"TwoChannels", {2, 17, 1, {5, 3}}, {1, {9, 33}, {9, 33}, {2, 1}}},
      {"OneChannel", {1, 70, 1, {3, 3}, {1, 1}, {2, 1}}, {1, {9, 33}, {9, 33}, {2, 1}}},
      {"Depthwise3x3",
       {20, 20, 20, {3, 3}},
       {2, {9, 17}, {9, 17}, {1, 1}},
       WeightOrder::kOihw,
       Activation::kClip,
       true},
      {"Depthwise3x3Stride", {35, 35, 35, {3, 3}, {2, 2}}, {2, {10, 30}, {5, 15}}},
      {"Depthwise3x3StrideBorder", {35, 35, 35, {3, 3}, {2, 2}}, {1, {9, 27}, {5, 14}, {1, 1}}},
      {"Depthwise3x3WideBorder", {35, 35, 35, {3, 3}}, {1, {9, 12}, {11, 14}, {2, 2}}},
      {"Depthwise3x3OnePixel", {17, 17, 17, {3, 3}}, {1, {1, 1}, {1, 1}, {1, 1}}},
      {"WholeBorder", {4, 6, 1, {3, 3}}, {1, {2, 1}, {9, 8}, {4, 4}}},
      // Patches of two by two.
      {"PatchesResidual",
       {37, 50, 1, {3, 3}},
       {2, {9, 7}, {9, 7}, {1, 1}},
       WeightOrder::kOihw,
       Activation::kRelu,
       true,
       true},
      {"PatchesInside",
       {32, 48, 1, {3, 3}},
       {1, {10, 12}, {8, 10}},
       WeightOrder::kOihw,
       Activation::kClip},
      {"PatchesWideBorder", {16, 33, 1, {3, 3}}, {1, {6, 9}, {8, 11}, {2, 2}}},
      {"PatchesCrop", {20, 16, 1, {3, 3}}, {1, {11, 12}, {7, 8}, {-1, -2}}},
      {"PatchesLongSums", {300, 16, 1, {3, 3}}, {1, {6, 8}, {6, 8}, {1, 1}}},
      {"PatchesUneven", {18, 130, 1, {3, 3}}, {1, {29, 5}, {29, 5}, {1, 1}}},
  };
}

template <typename F>
void for_each_output(const Case& c, F&& check) {
  for (int n = 0; n < c.extents.batch; ++n) {
    for (int oc = 0; oc < c.filter.out_channels; ++oc) {
      for (int y = 0; y < c.extents.out.h; ++y) {
        for (int x = 0; x < c.extents.out.w; ++x) check(n, oc, y, x);
      }
    }
  }
}

class ConvFloatTest : public testing::TestWithParam<Case> {};

KERNEL_TEST_P(ConvFloatTest, Float32StaysWithinTheSummationBound) {
  const Problem p = make_problem(param);
  const Case& c = p.c;
  std::vector<float> output(p.residual.size(), NAN), pieces(output.size(), NAN);
  ConvF32Args args = {c.filter,         c.extents,     c.order,      p.input.data(),
                      p.weights.data(), p.bias.data(), output.data()};
  const int64_t units = conv_f32_units(args);
  conv_f32(args, {0, units});
  for_each_output(c, [&](int n, int oc, int y, int x) {
    const Exact want = exact(p, n, oc, y, x);
    const double bound = (want.k + 1) * 0x1p-24 * want.magnitude;
    ASSERT_NEAR(output[output_index(p, n, oc, y, x)], want.value, bound);
  });
  args.output = pieces.data();
  for (int64_t unit = units; unit-- > 0;) conv_f32(args, {unit, unit + 1});
  EXPECT_EQ(pieces, output);
}

void check_half(const Problem& p) {
  const Case& c = p.c;
  const ActivationShape in = {c.extents.batch, c.filter.in_channels, c.extents.in};
  const ActivationShape out = {c.extents.batch, c.filter.out_channels, c.extents.out};
  const auto input = to_blocked(p.input, in);
  const auto residual = to_blocked(p.residual, out);
  ConvF16Params params = {.filter = c.filter,
                          .order = c.order,
                          .weights_f32 = p.weights.data(),
                          .bias = p.bias.data(),
                          .activation = c.activation,
                          .clip = 1.5f,
                          .has_residual = c.residual,
                          .relu_after_add = c.relu_after_add};
  const auto packed = pack_conv_f16(params);
  ASSERT_TRUE(packed.ok()) << packed.status().message();
  std::vector<float> weights(p.weights.size());
  unpack_conv_f16(*packed, weights.data());
  EXPECT_EQ(weights, p.weights);
  std::vector<uint16_t> output(static_cast<size_t>(blocked_elements(out))), pieces(output.size());
  ConvF16Args args = {&*packed, c.extents, input.data(), residual.data(), output.data()};
  const int64_t units = conv_f16_units(args);
  conv_f16(args, {0, units});
  for_each_output(c, [&](int n, int oc, int y, int x) {
    Exact want = exact(p, n, oc, y, x);
    if (c.activation != Activation::kNone) want.value = std::max(want.value, 0.0);
    if (c.activation == Activation::kClip) want.value = std::min(want.value, 1.5);
    if (c.residual) want.value += p.residual[output_index(p, n, oc, y, x)];
    if (c.relu_after_add) want.value = std::max(want.value, 0.0);
    const double ulp = std::ldexp(1.0, std::max(-14, std::ilogb(std::abs(want.value) + 1e-9)) - 10);
    const double bound = ulp + (want.k + 2) * 0x1p-24 * (want.magnitude + 2);
    ASSERT_NEAR(half_to_float(output[blocked_index(out, n, oc, y, x)]), want.value, bound);
  });
  args.output = pieces.data();
  for (int64_t unit = units; unit-- > 0;) conv_f16(args, {unit, unit + 1});
  EXPECT_EQ(pieces, output);

  if (takes_interleaved_input(*packed)) {
    std::vector<uint16_t> picture;
    for (int n = 0; n < in.batch; ++n) {
      for (int64_t pixel = 0; pixel < in.pixels(); ++pixel) {
        for (int i = 0; i < in.channels; ++i)
          picture.push_back(float_to_half(p.input[(n * in.channels + i) * in.pixels() + pixel]));
      }
    }
    pieces.assign(pieces.size(), 0);
    ConvF16Args from_picture = args;
    from_picture.input = picture.data();
    from_picture.interleaved_input = true;
    conv_f16(from_picture, {0, units});
    EXPECT_EQ(pieces, output);
  }

  // How the weights are packed does not matter.
  params.output_pixels = 1;
  const auto packed_for_few = pack_conv_f16(params);
  ASSERT_TRUE(packed_for_few.ok());
  unpack_conv_f16(*packed_for_few, weights.data());
  EXPECT_EQ(weights, p.weights);
  pieces.assign(pieces.size(), 0);
  args.packed = &*packed_for_few;
  conv_f16(args, {0, units});
  EXPECT_EQ(pieces, output);

  // Nor whether the output takes the residual's place.
  if (c.residual) {
    pieces = residual;
    args.residual = pieces.data();
    conv_f16(args, {0, units});
    EXPECT_EQ(pieces, output);
    args.residual = residual.data();
  }

  // Nor where pictures of the batch lie.
  const auto spread = [&](const std::vector<uint16_t>& dense, size_t gap) {
    std::vector<uint16_t> wide;
    const size_t picture = dense.size() / size_t(c.extents.batch);
    for (int n = 0; n < c.extents.batch; ++n) {
      wide.insert(wide.end(), dense.begin() + long(n * picture),
                  dense.begin() + long((n + 1) * picture));
      wide.insert(wide.end(), gap, 0x7e00);
    }
    return wide;
  };
  const auto wide_input = spread(input, 32), wide_output = spread(output, 48);
  std::vector<uint16_t> found(wide_output.size(), 0x7e00);
  args.input = wide_input.data();
  args.output = found.data();
  args.input_batch_stride = int64_t(wide_input.size()) / c.extents.batch;
  args.output_batch_stride = int64_t(wide_output.size()) / c.extents.batch;
  conv_f16(args, {0, units});
  EXPECT_EQ(found, wide_output);
}

KERNEL_TEST_P(ConvFloatTest, HalfStaysWithinOneUlpAndTheSummationBound) {
  check_half(make_problem(param));
}

INSTANTIATE_TEST_SUITE_P(Cases, ConvFloatTest, testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.name); });

// The sanitized program looks for wrong accesses, not for wrong numbers, and is three times as slow.
#if defined(__SANITIZE_ADDRESS__)
constexpr int kRandomFilters = 30;
#else
constexpr int kRandomFilters = 90;
#endif

KERNEL_TEST(ConvF16Test, RandomFiltersStayWithinTheBound) {
  std::mt19937 random(11);
  const auto draw = [&](int low, int high) {
    return low + static_cast<int>(random() % uint32_t(high - low + 1));
  };
  for (int i = 0; i < kRandomFilters; ++i) {
    Case c = {"Random"};
    const bool depthwise = draw(0, 3) == 0;
    const int groups = depthwise || draw(0, 2) != 0 ? 1 : draw(2, 9);
    const int size = draw(0, 3) == 0 ? 1 : draw(1, 4);
    c.filter.in_channels = draw(1, depthwise ? 40 : 70);
    c.filter.out_channels = depthwise ? c.filter.in_channels : draw(1, 140);
    c.filter.groups = depthwise ? c.filter.in_channels : groups;
    if (groups > 1) {  // half of them by fours, as kernels like it
      const int each = draw(0, 1) == 0 ? 4 : 1;
      c.filter.in_channels = groups * each * draw(1, 9);
      c.filter.out_channels = groups * each * draw(1, 9);
    }
    c.filter.kernel = {size, draw(0, 2) == 0 ? draw(1, 3) : size};
    c.filter.stride = {draw(1, 2), draw(1, 2)};
    if (draw(0, 3) == 0) c.filter.dilation = {draw(1, 2), draw(1, 2)};
    c.extents.batch = draw(1, 2);
    c.extents.in = {draw(1, 9), draw(1, 27)};
    c.extents.pad_before = {draw(0, size - 1), draw(0, size - 1)};
    const auto out = [](int in, int pad, int stride) { return (in + 2 * pad - 1) / stride + 1; };
    c.extents.out = {out(c.extents.in.h, c.extents.pad_before.h, c.filter.stride.h),
                     out(c.extents.in.w, c.extents.pad_before.w, c.filter.stride.w)};
    c.activation = static_cast<Activation>(draw(0, 2));
    c.residual = draw(0, 1) == 1;
    c.relu_after_add = draw(0, 1) == 1;
    SCOPED_TRACE(i);
    check_half(make_problem(c));
    if (testing::Test::HasFailure()) return;
  }
}

KERNEL_TEST(ConvF16Test, InfinityInOneGroupDoesNotReachItsNeighbor) {
  const uint16_t one = 0x3c00, infinity = 0x7c00;
  for (const int32_t each : {1, 4, 8}) {  // input channels of a group
    const ConvFilter filter = {.in_channels = 2 * each, .out_channels = 8, .groups = 2};
    const std::vector<uint16_t> weights(size_t(8 * each), one);
    const auto packed = pack_conv_f16({.filter = filter, .weights_f16 = weights.data()});
    ASSERT_TRUE(packed.ok());
    std::vector<uint16_t> input(16, 0x7e00), output(16);
    for (int32_t c = 0; c < each; ++c) input[size_t(c)] = one;
    for (int32_t c = each; c < 2 * each; ++c) input[size_t(c)] = infinity;
    const ConvF16Args args = {&*packed, {}, input.data(), nullptr, output.data()};
    conv_f16(args, {0, conv_f16_units(args)});
    for (size_t c = 0; c < 4; ++c) EXPECT_EQ(half_to_float(output[c]), each) << c;
    for (size_t c = 4; c < 8; ++c) EXPECT_EQ(output[c], infinity) << c;
  }
}

// Of 1s with weights of 1: as many as the window sees of them.
KERNEL_TEST(ConvF16Test, RowsOfManyPatchesAreWholeAtTheirSeams) {
  const ConvFilter filter = {.in_channels = 20, .out_channels = 16, .kernel = {3, 3}};
  const std::vector<uint16_t> weights(size_t(20 * 16 * 9), 0x3c00);
  const auto packed = pack_conv_f16({.filter = filter, .weights_f16 = weights.data()});
  ASSERT_TRUE(packed.ok());
  const ConvExtents extents = {1, {3, 611}, {3, 611}, {1, 1}};
  const ActivationShape in = {1, 20, extents.in}, out = {1, 16, extents.out};
  const std::vector<uint16_t> input(size_t(blocked_elements(in)), 0x3c00);
  std::vector<uint16_t> output(size_t(blocked_elements(out)));
  const ConvF16Args args = {&*packed, extents, input.data(), nullptr, output.data()};
  conv_f16(args, {0, conv_f16_units(args)});
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 611; ++x) {
      const int seen = (y == 1 ? 3 : 2) * (x == 0 || x == 610 ? 2 : 3);
      ASSERT_EQ(half_to_float(output[size_t(blocked_index(out, 0, 5, y, x))]), 20 * seen)
          << y << " " << x;
    }
  }
}

// What sees an infinity is infinite with the sign of its weight, as direct sums are; what does not is as without it.
KERNEL_TEST(ConvF16Test, InfinityReachesNothingButTheWindowsThatSeeIt) {
  std::mt19937 random(3);
  const ConvFilter filter = {.in_channels = 19, .out_channels = 40, .kernel = {3, 3}};
  const ConvExtents extents = {1, {11, 10}, {11, 10}, {1, 1}};
  const ActivationShape in = {1, 19, extents.in}, out = {1, 40, extents.out};
  const std::vector<float> weights = noise(size_t(40 * 19 * 9), random);
  const auto packed = pack_conv_f16({.filter = filter, .weights_f32 = weights.data()});
  ASSERT_TRUE(packed.ok());
  std::vector<uint16_t> input =
      to_blocked(noise(size_t(19 * in.pixels()), random), in);  // NaN where there is no channel
  std::vector<uint16_t> finite(size_t(blocked_elements(out))), found(finite.size());
  ConvF16Args args = {&*packed, extents, input.data(), nullptr, finite.data()};
  conv_f16(args, {0, conv_f16_units(args)});
  constexpr int kY = 4, kX = 7, kChannel = 17;
  input[size_t(blocked_index(in, 0, kChannel, kY, kX))] = 0x7c00;
  args.output = found.data();
  conv_f16(args, {0, conv_f16_units(args)});
  for_each_output({"", filter, extents}, [&](int, int oc, int y, int x) {
    const auto at = size_t(blocked_index(out, 0, oc, y, x));
    const int ky = kY - y + 1, kx = kX - x + 1;
    if (ky < 0 || ky > 2 || kx < 0 || kx > 2) {
      ASSERT_NEAR(half_to_float(found[at]), half_to_float(finite[at]), 0.02) << y << " " << x;
      return;
    }
    const float weight = weights[size_t(((oc * 19 + kChannel) * 3 + ky) * 3 + kx)];
    ASSERT_EQ(found[at], weight > 0 ? 0x7c00 : 0xfc00) << weight << " " << y << " " << x;
  });
}

// One weight of +infinity over inputs of 1. (Over the border it may meet a 0.)
KERNEL_TEST(ConvF16Test, AnInfiniteWeightReachesItsChannelOnly) {
  const ConvFilter filter = {.in_channels = 16, .out_channels = 32, .kernel = {3, 3}};
  const ConvExtents extents = {1, {10, 10}, {10, 10}, {1, 1}};
  const ActivationShape shape = {1, 16, extents.in}, out = {1, 32, extents.out};
  std::vector<uint16_t> weights(size_t(16 * 32 * 9), 0x3c00);
  weights[size_t((5 * 16 + 3) * 9)] = 0x7c00;  // of the first row and column of the window
  const auto packed = pack_conv_f16({.filter = filter, .weights_f16 = weights.data()});
  ASSERT_TRUE(packed.ok());
  const std::vector<uint16_t> input(size_t(blocked_elements(shape)), 0x3c00);
  std::vector<uint16_t> output(size_t(blocked_elements(out)));
  const ConvF16Args args = {&*packed, extents, input.data(), nullptr, output.data()};
  conv_f16(args, {0, conv_f16_units(args)});
  for_each_output({"", filter, extents}, [&](int, int oc, int y, int x) {
    const int seen = (y % 9 == 0 ? 2 : 3) * (x % 9 == 0 ? 2 : 3);
    const float found = half_to_float(output[size_t(blocked_index(out, 0, oc, y, x))]);
    if (oc == 5 && (y == 0 || x == 0)) return;
    ASSERT_EQ(found, oc == 5 ? std::numeric_limits<float>::infinity() : float(16 * seen))
        << oc << " " << y << " " << x;
  });
}

KERNEL_TEST(ConvF16Test, HalfWeightsComeBackAsTheyWere) {
  std::vector<uint16_t> weights, unpacked(33 * 40);
  for (uint32_t i = 0; i < unpacked.size(); ++i)
    weights.push_back(static_cast<uint16_t>(i * 523 % 0x7c00));
  for (const int64_t pixels : {0, 1}) {
    const auto packed = pack_conv_f16({.filter = {.in_channels = 33, .out_channels = 40},
                                       .weights_f16 = weights.data(),
                                       .output_pixels = pixels});
    ASSERT_TRUE(packed.ok());
    unpacked.assign(unpacked.size(), 0);
    unpack_conv_f16(*packed, unpacked.data());
    EXPECT_EQ(unpacked, weights);
  }
}

KERNEL_TEST(ConvF16Test, WeightsThatFp16DoesNotHoldAreNotRounded) {
  const std::vector<float> weights(40 * 33, 1.0f + 0x1p-13f);
  const auto packed = pack_conv_f16({.filter = {.in_channels = 33, .out_channels = 40},
                                     .weights_f32 = weights.data(),
                                     .output_pixels = 1});
  ASSERT_TRUE(packed.ok());
  std::vector<float> unpacked(weights.size());
  unpack_conv_f16(*packed, unpacked.data());
  EXPECT_EQ(unpacked, weights);
}

KERNEL_TEST(ConvF16Test, OverflowGivesInfinity) {
  const float weight = 60000.0f;
  const auto packed = pack_conv_f16({.filter = {}, .weights_f32 = &weight});
  ASSERT_TRUE(packed.ok());
  std::vector<uint16_t> input(16, 0x4000), output(16);  // 2.0
  const ConvF16Args args = {&*packed, {}, input.data(), nullptr, output.data()};
  conv_f16(args, {0, 1});
  EXPECT_EQ(output[0], 0x7c00);
}

KERNEL_TEST(HalfLanesTest, WidenLanesEqualsTheBaseConversionForEveryPattern) {
  for (uint32_t base = 0; base < 65536; base += 16) {
    uint16_t half[16];
    float wide[16];
    for (uint32_t i = 0; i < 16; ++i) half[i] = static_cast<uint16_t>(base + i);
    widen_lanes<16>(half, wide);
    for (int i = 0; i < 16; ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), std::bit_cast<uint32_t>(half_to_float(half[i])))
          << half[i];
    }
  }
}

}  // namespace
}  // namespace rk::kernels
