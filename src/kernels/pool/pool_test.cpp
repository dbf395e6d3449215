// SPDX-License-Identifier: Apache-2.0
// Pooling against loops over logical indices that ask for every tap whether it exists.
#include "kernels/pool/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "base/half.h"
#include "kernels/kernel_test.h"

namespace rk::kernels {
namespace {

struct Window {
  std::vector<float> taps;  // inside the input
  int64_t counted = 0;
};

struct Plain {
  ActivationShape shape;
  std::vector<float> values;  // NCHW
  float at(int n, int c, int h, int w) const {
    return values[((int64_t{n} * shape.channels + c) * shape.extent.h + h) * shape.extent.w + w];
  }
};

Window window_at(const PoolShape& s, const Plain& x, int n, int c, int oy, int ox) {
  Window window;
  for (int ky = 0; ky < s.kernel.h; ++ky) {
    for (int kx = 0; kx < s.kernel.w; ++kx) {
      const int y = oy * s.stride.h - s.pad_before.h + ky * s.dilation.h;
      const int xx = ox * s.stride.w - s.pad_before.w + kx * s.dilation.w;
      const bool inside = y >= 0 && xx >= 0 && y < s.in.h && xx < s.in.w;
      const bool padded = y < s.in.h + s.pad_after.h && xx < s.in.w + s.pad_after.w;
      if (inside) window.taps.push_back(x.at(n, c, y, xx));
      window.counted += s.count_include_pad ? padded : inside;
    }
  }
  return window;
}

std::vector<PoolShape> shapes() {
  return {
      {.channels = 3, .in = {5, 7}, .out = {2, 3}, .kernel = {2, 3}, .stride = {2, 2}},
      {.batch = 2,
       .channels = 17,
       .in = {7, 9},
       .out = {4, 5},
       .kernel = {3, 3},
       .stride = {2, 2},
       .pad_before = {1, 1},
       .pad_after = {1, 1}},
      {.channels = 33,
       .in = {6, 5},
       .out = {6, 5},
       .kernel = {5, 5},
       .pad_before = {2, 2},
       .pad_after = {2, 2},
       .count_include_pad = true},
      {.channels = 16,
       .in = {8, 9},
       .out = {4, 6},
       .kernel = {3, 2},
       .stride = {2, 1},
       .dilation = {1, 3},
       .pad_before = {1, 0}},
      // Ceil mode: the last window hangs over the padding.
      {.channels = 1,
       .in = {5, 6},
       .out = {3, 4},
       .kernel = {3, 3},
       .stride = {2, 2},
       .pad_before = {1, 1},
       .pad_after = {1, 1},
       .count_include_pad = true},
      {.channels = 20, .in = {7, 6}, .out = {1, 1}, .kernel = {7, 6}},
      // Rows of several vectors, with and without a rest; a stride of three; a row that is longer than any scratch.
      {.channels = 18,
       .in = {5, 37},
       .out = {3, 19},
       .kernel = {3, 3},
       .stride = {2, 2},
       .pad_before = {1, 1},
       .pad_after = {1, 1}},
      {.channels = 5,
       .in = {4, 32},
       .out = {4, 32},
       .kernel = {5, 5},
       .pad_before = {2, 2},
       .pad_after = {2, 2}},
      {.channels = 3, .in = {4, 20}, .out = {2, 6}, .kernel = {2, 4}, .stride = {2, 3}},
      {.channels = 2, .in = {2, 1500}, .out = {1, 750}, .kernel = {2, 2}, .stride = {2, 2}},
  };
}

Plain noise(const PoolShape& s, bool integers) {
  std::mt19937 random(11);
  Plain plain = {{s.batch, s.channels, s.in}, {}};
  plain.values.resize(size_t(s.batch) * s.channels * s.in.h * s.in.w);
  for (float& v : plain.values) {
    v = integers ? float(int(random() % 256) - 128)
                 : half_to_float(float_to_half(float(random() % 4001) / 1000.0f - 2.0f));
  }
  return plain;
}

template <typename T>
std::vector<T> to_blocked(const Plain& plain, const std::function<T(float)>& convert, T padding) {
  std::vector<T> blocked(size_t(blocked_elements(plain.shape)), padding);
  const ActivationShape& s = plain.shape;
  for (int n = 0; n < s.batch; ++n) {
    for (int c = 0; c < s.channels; ++c) {
      for (int h = 0; h < s.extent.h; ++h) {
        for (int w = 0; w < s.extent.w; ++w) {
          blocked[size_t(blocked_index(s, n, c, h, w))] = convert(plain.at(n, c, h, w));
        }
      }
    }
  }
  return blocked;
}

template <typename F>
void for_each_output(const PoolShape& s, F&& f) {
  for (int n = 0; n < s.batch; ++n) {
    for (int c = 0; c < s.channels; ++c) {
      for (int y = 0; y < s.out.h; ++y) {
        for (int x = 0; x < s.out.w; ++x) f(n, c, y, x);
      }
    }
  }
}

std::vector<int8_t> bytes_of(const Plain& plain) {
  return to_blocked<int8_t>(
      plain, [](float v) { return static_cast<int8_t>(v); }, 127);
}

KERNEL_TEST(PoolTest, MaxOfInt8IgnoresPadding) {
  for (const PoolShape& s : shapes()) {
    ASSERT_TRUE(check_pool_shape(s).ok());
    const Plain x = noise(s, true);
    const auto input = bytes_of(x);
    const ActivationShape out = {s.batch, s.channels, s.out};
    std::vector<int8_t> output(size_t(blocked_elements(out)));
    const PoolArgs<int8_t> args = {s, input.data(), output.data()};
    const int64_t units = pool_units_blocked(s);
    max_pool_i8(args, {0, units / 2});
    max_pool_i8(args, {units / 2, units});
    for_each_output(s, [&](int n, int c, int y, int xx) {
      const Window w = window_at(s, x, n, c, y, xx);
      ASSERT_EQ(output[blocked_index(out, n, c, y, xx)],
                *std::max_element(w.taps.begin(), w.taps.end()));
    });
  }
}

KERNEL_TEST(PoolTest, AverageOfInt8RoundsTwiceToEven) {
  for (const PoolShape& s : shapes()) {
    const Plain x = noise(s, true);
    const auto input = bytes_of(x);
    const ActivationShape out = {s.batch, s.channels, s.out};
    std::vector<int8_t> output(size_t(blocked_elements(out)));
    // s_in / s_out = 1.7, in a unit 2^10 finer.
    std::vector<ScaleShift> scales(size_t(s.kernel.h) * s.kernel.w + 1);
    for (size_t i = 1; i < scales.size(); ++i) scales[i] = *to_scale_shift(1.7 * 1024 / double(i));
    AveragePoolI8Args args;
    args.shape = s;
    args.input = input.data();
    args.output = output.data();
    args.input_zero_point = 5;
    args.scale_by_count = scales.data();
    args.output_stage = {{16384, 24}, -3};
    ASSERT_TRUE(check_average_pool_i8(args).ok());
    const int64_t units = pool_units_blocked(s);
    for (int64_t unit = units; unit-- > 0;) average_pool_i8(args, {unit, unit + 1});
    for_each_output(s, [&](int n, int c, int y, int xx) {
      const Window w = window_at(s, x, n, c, y, xx);
      double sum = 0;
      for (const float v : w.taps) sum += v - 5;
      const ScaleShift scale = scales[size_t(w.counted)];
      const double v =
          std::nearbyint(std::ldexp(sum * scale.scale, -scale.shift));  // exact in double
      const double want = std::clamp(std::nearbyint(v / 1024) - 3, -128.0, 127.0);
      ASSERT_EQ(output[blocked_index(out, n, c, y, xx)], want);
    });
  }
}

KERNEL_TEST(PoolTest, Fp16MaxIsExactAndAverageRoundsOnce) {
  for (const PoolShape& s : shapes()) {
    const Plain x = noise(s, false);
    const auto input = to_blocked<uint16_t>(x, float_to_half, 0x7e00);
    const ActivationShape out = {s.batch, s.channels, s.out};
    std::vector<uint16_t> largest(size_t(blocked_elements(out))), average(largest.size());
    const int64_t units = pool_units_blocked(s);
    max_pool_f16({s, input.data(), largest.data()}, {0, units});
    average_pool_f16({s, input.data(), average.data()}, {0, units});
    for_each_output(s, [&](int n, int c, int y, int xx) {
      const Window w = window_at(s, x, n, c, y, xx);
      const int64_t at = blocked_index(out, n, c, y, xx);
      ASSERT_EQ(half_to_float(largest[at]), *std::max_element(w.taps.begin(), w.taps.end()));
      double sum = 0;
      for (const float v : w.taps) sum += v;
      ASSERT_NEAR(half_to_float(average[at]), sum / double(w.counted), 0.001);
    });
  }
}

KERNEL_TEST(PoolTest, PlainFloatMatchesTheWindows) {
  for (const PoolShape& s : shapes()) {
    const Plain x = noise(s, false);
    std::vector<float> largest(size_t(s.batch) * s.channels * s.out.h * s.out.w),
        average(largest.size());
    const int64_t units = pool_units_plain(s);
    max_pool_f32({s, x.values.data(), largest.data()}, {0, units});
    average_pool_f32({s, x.values.data(), average.data()}, {0, units / 3});
    average_pool_f32({s, x.values.data(), average.data()}, {units / 3, units});
    size_t at = 0;
    for_each_output(s, [&](int n, int c, int y, int xx) {
      const Window w = window_at(s, x, n, c, y, xx);
      ASSERT_EQ(largest[at], *std::max_element(w.taps.begin(), w.taps.end()));
      double sum = 0;
      for (const float v : w.taps) sum += v;
      ASSERT_NEAR(average[at], sum / double(w.counted), 1e-5);
      ++at;
    });
  }
}

KERNEL_TEST(PoolTest, Fp16MaxKeepsNaNsOfBothSignsAndOrdersInfinities) {
  const uint16_t rows[][3] = {
      {0xfc00, 0x7c00, 0x7c00},  // -inf, inf
      {0xfc00, 0xfbff, 0xfbff},  // -inf, -65504
      {0x8001, 0x8002, 0x8001},  // the smaller of two negative subnormals
  };
  for (const auto& row : rows) {
    for (const bool turned : {false, true}) {
      std::vector<uint16_t> x(2 * kHostBlock, row[turned ? 1 : 0]), y(kHostBlock);
      std::fill(x.begin() + kHostBlock, x.end(), row[turned ? 0 : 1]);
      max_pool_f16(
          {{.channels = 16, .in = {1, 2}, .out = {1, 1}, .kernel = {1, 2}}, x.data(), y.data()},
          {0, 1});
      EXPECT_EQ(y, std::vector<uint16_t>(kHostBlock, row[2]));
    }
  }
  for (const uint16_t nan : {uint16_t{0x7e00}, uint16_t{0xfe01}, uint16_t{0xffff}}) {
    std::vector<uint16_t> x(3 * kHostBlock, 0x7c00), y(kHostBlock);
    std::fill(x.begin() + kHostBlock, x.begin() + 2 * kHostBlock, nan);
    max_pool_f16(
        {{.channels = 16, .in = {1, 3}, .out = {1, 1}, .kernel = {1, 3}}, x.data(), y.data()},
        {0, 1});
    for (const uint16_t v : y) EXPECT_TRUE(std::isnan(half_to_float(v)));
  }
}

KERNEL_TEST(PoolTest, MaxKeepsNaN) {
  const float x[] = {1, NAN, 3, 2};
  float y = 0;
  const PoolShape s = {.in = {2, 2}, .out = {1, 1}, .kernel = {2, 2}};
  max_pool_f32({s, x, &y}, {0, 1});
  EXPECT_TRUE(std::isnan(y));
}

KERNEL_TEST(PoolTest, RefusesAWindowThatLiesInThePadding) {
  const PoolShape s = {.in = {4, 4},
                       .out = {1, 3},
                       .kernel = {2, 2},
                       .stride = {2, 2},
                       .pad_before = {0, 2},
                       .pad_after = {0, 2}};
  EXPECT_NE(check_pool_shape(s).message().find("lies wholly in the padding"), std::string::npos);
}

KERNEL_TEST(PoolTest, RefusesScalesBeyond64Bits) {
  const std::vector<ScaleShift> scales(5, {INT32_MAX, 63});
  AveragePoolI8Args args;
  args.shape = {.in = {2, 2}, .out = {1, 1}, .kernel = {2, 2}};
  args.scale_by_count = scales.data();
  EXPECT_EQ(check_average_pool_i8(args).code(), Code::kUnsupported);
}

}  // namespace
}  // namespace rk::kernels
