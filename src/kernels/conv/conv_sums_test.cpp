// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/conv_sums.h"

#include <gtest/gtest.h>

#include <random>

#include "kernels/layout/blocked.h"

namespace rk::kernels {
namespace {

struct Case {
  ConvFilter filter;
  ConvExtents extents;
};

// The definition: a tap without a source reads the zero point.
int64_t expected_sum(const Case& t, const std::vector<int8_t>& x, const std::vector<int8_t>& w,
                     int32_t offset, int32_t zero_point, int32_t c, int32_t oy, int32_t ox) {
  const ConvFilter& f = t.filter;
  const ConvExtents& e = t.extents;
  const int32_t group = c / f.out_per_group();
  int64_t sum = 0;
  for (int32_t i = 0; i < f.in_per_group(); ++i) {
    const int32_t in = group * f.in_per_group() + i;
    for (int32_t ky = 0; ky < f.kernel.h; ++ky) {
      for (int32_t kx = 0; kx < f.kernel.w; ++kx) {
        const int32_t iy = oy * f.stride.h - e.pad_before.h + ky * f.dilation.h;
        const int32_t ix = ox * f.stride.w - e.pad_before.w + kx * f.dilation.w;
        const bool inside = iy >= 0 && ix >= 0 && iy < e.in.h && ix < e.in.w;
        const int32_t value =
            inside ? x[static_cast<size_t>((in * e.in.h + iy) * e.in.w + ix)] : zero_point;
        const int32_t at = ((c * f.in_per_group() + i) * f.kernel.h + ky) * f.kernel.w + kx;
        sum += int64_t{value} * (w[static_cast<size_t>(at)] + offset);
      }
    }
  }
  return sum;
}

TEST(ConvSumsTest, EqualsTheDefinition) {
  std::mt19937 random(7);
  const auto any = [&] { return static_cast<int8_t>(random() % 256); };
  const Case cases[] = {
      {{20, 35, 1, {3, 3}, {1, 1}, {1, 1}, false}, {1, {5, 11}, {5, 11}, {1, 1}}},
      {{3, 17, 1, {3, 2}, {2, 2}, {1, 1}, false}, {1, {9, 8}, {4, 4}, {0, 0}}},
      {{24, 24, 24, {3, 3}, {1, 1}, {2, 2}, false}, {1, {6, 6}, {6, 6}, {2, 2}}},
      {{24, 12, 3, {1, 1}, {1, 1}, {1, 1}, false}, {1, {3, 9}, {3, 9}, {0, 0}}},
  };
  for (const Case& t : cases) {
    const ConvFilter& f = t.filter;
    const ConvExtents& e = t.extents;
    std::vector<int8_t> x(static_cast<size_t>(f.in_channels * e.in.h * e.in.w));
    std::vector<int8_t> w(
        static_cast<size_t>(f.out_channels * f.in_per_group() * f.kernel.h * f.kernel.w));
    std::vector<int16_t> offset(static_cast<size_t>(f.out_channels));
    for (int8_t& v : x) v = any();
    for (int8_t& v : w) v = any();
    for (int16_t& v : offset) v = any();
    std::vector<int8_t> blocked(static_cast<size_t>(
        blocked_elements({1, f.in_channels, {e.in.h, e.in.w}})));
    for (int32_t c = 0; c < f.in_channels; ++c) {
      for (int32_t p = 0; p < e.in.h * e.in.w; ++p) {
        blocked[static_cast<size_t>((c / kHostBlock * e.in.h * e.in.w + p) * kHostBlock +
                                    c % kHostBlock)] =
            x[static_cast<size_t>(c * e.in.h * e.in.w + p)];
      }
    }
    const auto sums = ConvSums::make(f, WeightOrder::kOihw, w.data(), offset.data(), -9);
    ASSERT_TRUE(sums.ok()) << sums.status().message();
    std::vector<int32_t> row(static_cast<size_t>(e.out.w) * kHostBlock);
    for (int32_t c = 0; c < f.out_channels; ++c) {
      for (int32_t oy = 0; oy < e.out.h; ++oy) {
        sums->row(blocked.data(), e, 0, c / kHostBlock, oy, row.data());
        for (int32_t ox = 0; ox < e.out.w; ++ox) {
          ASSERT_EQ(row[static_cast<size_t>(ox * kHostBlock + c % kHostBlock)],
                    expected_sum(t, x, w, offset[static_cast<size_t>(c)], -9, c, oy, ox))
              << c << " " << oy << " " << ox;
        }
      }
    }
  }
}

TEST(ConvSumsTest, RefusesSumsThatLeave32Bits) {
  const ConvFilter f = {1 << 12, 1, 1, {3, 3}, {1, 1}, {1, 1}, false};
  const std::vector<int8_t> w(static_cast<size_t>(f.in_channels) * 9, 127);
  const int16_t offset = 500;
  EXPECT_FALSE(ConvSums::make(f, WeightOrder::kOihw, w.data(), &offset, 0).ok());
}

}  // namespace
}  // namespace rk::kernels
