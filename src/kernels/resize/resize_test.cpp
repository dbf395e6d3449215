// SPDX-License-Identifier: Apache-2.0
// Resizing against loops over logical indices, and by hand.
#include "kernels/resize/resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "base/half.h"
#include "kernels/kernel_test.h"

namespace rk::kernels {
namespace {

constexpr ResizeShape kShape = {2, 19, {4, 7}, {6, 5}};
const ActivationShape kIn = {2, 19, {4, 7}};
const ActivationShape kOut = {2, 19, {6, 5}};

std::vector<LinearTap> taps(int in, int out) {
  std::vector<LinearTap> list;
  for (int o = 0; o < out; ++o) {
    const double at = std::clamp((o + 0.5) * in / out - 0.5, 0.0, in - 1.0);
    const int low = static_cast<int>(at);
    list.push_back({low, std::min(low + 1, in - 1), int(std::lround((at - low) * kLinearOne)),
                    float(at - low)});
  }
  return list;
}

std::vector<int8_t> noise(size_t count) {
  std::mt19937 random(21);
  std::vector<int8_t> values(count);
  for (int8_t& v : values) v = static_cast<int8_t>(random());
  return values;
}

template <typename F>
void for_each_output(F&& f) {
  for (int n = 0; n < kOut.batch; ++n) {
    for (int c = 0; c < kOut.channels; ++c) {
      for (int h = 0; h < kOut.extent.h; ++h) {
        for (int w = 0; w < kOut.extent.w; ++w) f(n, c, h, w);
      }
    }
  }
}

KERNEL_TEST(ResizeTest, NearestFollowsTheTablesAndTheChangeOfScale) {
  const std::vector<int32_t> ys = {0, 0, 1, 2, 3, 3}, xs = {6, 4, 3, 1, 0};
  const auto input = noise(size_t(blocked_elements(kIn)));
  std::vector<int8_t> output(size_t(blocked_elements(kOut))), table(256);
  for (int i = 0; i < 256; ++i) table[i] = static_cast<int8_t>(127 - i);
  std::vector<uint16_t> halves(input.begin(), input.end()), half_output(output.size());
  ASSERT_TRUE(check_nearest_indices(kShape, ys.data(), xs.data()).ok());
  NearestArgs<int8_t> args = {{kShape, input.data(), output.data()}, ys.data(), xs.data(), nullptr};
  const int64_t units = resize_units(kShape);
  for (const int8_t* t :
       {static_cast<const int8_t*>(nullptr), static_cast<const int8_t*>(table.data())}) {
    args.table = t;
    resize_nearest_i8(args, {0, 5});
    resize_nearest_i8(args, {5, units});
    for_each_output([&](int n, int c, int h, int w) {
      const int8_t x = input[blocked_index(kIn, n, c, ys[h], xs[w])];
      ASSERT_EQ(output[blocked_index(kOut, n, c, h, w)], t == nullptr ? x : -1 - x);
    });
  }
  resize_nearest_f16({{kShape, halves.data(), half_output.data()}, ys.data(), xs.data(), nullptr},
                     {0, units});
  for_each_output([&](int n, int c, int h, int w) {
    ASSERT_EQ(half_output[blocked_index(kOut, n, c, h, w)],
              halves[blocked_index(kIn, n, c, ys[h], xs[w])]);
  });
}

// What detectors do between their levels; widths around whole vectors.
KERNEL_TEST(ResizeTest, NearestDoublesPictures) {
  for (const int32_t width : {1, 2, 3, 4, 5, 8, 9}) {
    const ActivationShape in = {2, 20, {3, width}}, out = {2, 20, {6, 2 * width}};
    const auto input = noise(size_t(blocked_elements(in)));
    const std::vector<uint16_t> halves(input.begin(), input.end());
    std::vector<int8_t> output(size_t(blocked_elements(out)) + 1, 55);
    std::vector<uint16_t> half_output(output.size(), 55);
    std::vector<int32_t> ys, xs;
    for (int32_t y = 0; y < 6; ++y) ys.push_back(y / 2);
    for (int32_t x = 0; x < 2 * width; ++x) xs.push_back(x / 2);
    const ResizeShape shape = {2, 20, in.extent, out.extent};
    const int64_t units = resize_units(shape);
    const NearestArgs<int8_t> args = {
        {shape, input.data(), output.data()}, ys.data(), xs.data(), nullptr};
    resize_nearest_i8(args, {5, units});
    resize_nearest_i8(args, {0, 5});
    resize_nearest_f16({{shape, halves.data(), half_output.data()}, ys.data(), xs.data(), nullptr},
                       {0, units});
    for (int32_t i = 0; i < 2 * 20 * 6 * 2 * width; ++i) {
      const int32_t w = i % (2 * width), h = i / (2 * width) % 6, c = i / (12 * width) % 20;
      const int32_t n = i / (12 * width * 20);
      const int64_t from = blocked_index(in, n, c, h / 2, w / 2);
      const int64_t to = blocked_index(out, n, c, h, w);
      ASSERT_EQ(output[to], input[from]);
      ASSERT_EQ(half_output[to], halves[from]);
    }
    EXPECT_EQ(output.back(), 55);
    EXPECT_EQ(half_output.back(), 55);

    std::vector<int8_t> table;
    for (int x = -128; x < 128; ++x) table.push_back(int8_t(x * 37 + 11));
    const std::vector<int8_t> copied = output;
    NearestArgs<int8_t> changed = args;
    changed.table = table.data();
    resize_nearest_i8(changed, {0, units});
    for (size_t i = 0; i + 1 < output.size(); ++i)
      ASSERT_EQ(output[i], int8_t(copied[i] * 37 + 11)) << i;
    EXPECT_EQ(output.back(), 55);
  }
}

KERNEL_TEST(ResizeTest, LinearInt8MatchesTheFormula) {
  const auto input = noise(size_t(blocked_elements(kIn)));
  const auto ys = taps(4, 6), xs = taps(7, 5);
  std::vector<int8_t> output(size_t(blocked_elements(kOut)));
  LinearI8Args args;
  args.shape = kShape;
  args.input = input.data();
  args.output = output.data();
  args.y_taps = ys.data();
  args.x_taps = xs.data();
  for (const ScaleShift scale :
       {ScaleShift{16384, 4}, ScaleShift{23000, 5}, ScaleShift{32767, 0}}) {
    args.input_stage = {-128, scale};
    args.output_stage = {{16384, 24}, -128};
    ASSERT_TRUE(check_linear_i8(args).ok());
    const int64_t units = resize_units(kShape);
    for (int64_t unit = units; unit-- > 0;) resize_linear_i8(args, {unit, unit + 1});
    for_each_output([&](int n, int c, int h, int w) {
      long double sum = 0;
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
          const int wy = i != 0 ? ys[h].high_weight : 2048 - ys[h].high_weight;
          const int wx = j != 0 ? xs[w].high_weight : 2048 - xs[w].high_weight;
          const int8_t x = input[blocked_index(kIn, n, c, i != 0 ? ys[h].high : ys[h].low,
                                               j != 0 ? xs[w].high : xs[w].low)];
          sum += (long double)(wy)*wx * (x + 128);
        }
      }
      const long double v = std::nearbyint(std::ldexp(sum * scale.scale, -scale.shift - 22));
      const long double y = std::clamp(std::nearbyint(v / 1024) - 128, -128.0L, 127.0L);
      ASSERT_EQ(output[blocked_index(kOut, n, c, h, w)], y);
    });
  }
}

KERNEL_TEST(ResizeTest, LinearFp16StaysWithinOneUlpOfTheWeightedMean) {
  const auto bytes = noise(size_t(blocked_elements(kIn)));
  std::vector<uint16_t> input;
  for (const int8_t b : bytes) input.push_back(float_to_half(b / 128.0f));
  const auto ys = taps(4, 6), xs = taps(7, 5);
  std::vector<uint16_t> output(size_t(blocked_elements(kOut)));
  resize_linear_f16({{kShape, input.data(), output.data()}, ys.data(), xs.data()},
                    {0, resize_units(kShape)});
  for_each_output([&](int n, int c, int h, int w) {
    auto x = [&](int y, int xx) {
      return double{half_to_float(input[blocked_index(kIn, n, c, y, xx)])};
    };
    const double fy = ys[h].high_weight_f, fx = xs[w].high_weight_f;
    const double want =
        (1 - fy) * ((1 - fx) * x(ys[h].low, xs[w].low) + fx * x(ys[h].low, xs[w].high)) +
        fy * ((1 - fx) * x(ys[h].high, xs[w].low) + fx * x(ys[h].high, xs[w].high));
    ASSERT_NEAR(half_to_float(output[blocked_index(kOut, n, c, h, w)]), want, 0x1p-11);
  });
}

KERNEL_TEST(ResizeTest, RefusesTablesThatReadOutsideTheInput) {
  const std::vector<int32_t> ys = {0, 0, 1, 2, 3, 4}, xs = {6, 4, 3, 1, 0};
  EXPECT_NE(
      check_nearest_indices(kShape, ys.data(), xs.data()).message().find("row index 4 of output 5"),
      std::string::npos);
  auto y_taps = taps(4, 6), x_taps = taps(7, 5);
  x_taps[2].high_weight = 2049;
  EXPECT_NE(
      check_linear_taps(kShape, y_taps.data(), x_taps.data()).message().find("column weight 2049"),
      std::string::npos);
}

}  // namespace
}  // namespace rk::kernels
