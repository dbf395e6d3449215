// SPDX-License-Identifier: Apache-2.0
#include "quant/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "quant/quantize.h"

namespace rk::quant {
namespace {

// Evenly spread over [-reach, reach].
std::vector<float> even(int count, float reach) {
  std::vector<float> out;
  for (int i = 0; i < count; ++i) {
    out.push_back(reach * (2 * (static_cast<float>(i) + 0.5f) / static_cast<float>(count) - 1));
  }
  return out;
}

TEST(HistogramTest, DoesNotDependOnTheOrderOrTheSplitOfValues) {
  const std::vector<float> values = {0.001f, -3, 700, 0, -0.25f, 12};
  Histogram at_once, one_by_one;
  at_once.add(values);
  for (size_t i = values.size(); i-- > 0;) one_by_one.add({&values[i], 1});
  EXPECT_EQ(at_once.width(), one_by_one.width());
  for (int bin = -Histogram::kHalf; bin < Histogram::kHalf; ++bin)
    ASSERT_EQ(at_once.at(bin), one_by_one.at(bin)) << bin;
  EXPECT_EQ(at_once.zeros(), 1u);
  EXPECT_EQ(at_once.total(), 6u);
  EXPECT_EQ(one_by_one.range().min, -3);
  EXPECT_EQ(one_by_one.range().max, 700);
}

TEST(HistogramTest, LeavesOutWhatIsNotFinite) {
  Histogram h;
  h.add(std::vector<float>{NAN, INFINITY, 1, -INFINITY});
  EXPECT_EQ(h.total(), 1u);
  EXPECT_EQ(h.range().max, 1);
}

TEST(ChooseRange, KeepsAnEvenDistributionWhole) {
  // Nothing can be clipped from an even distribution without losing more than the finer steps give.
  Histogram h;
  h.add(even(100000, 2));
  for (const Algorithm a : {Algorithm::kNormal, Algorithm::kKlDivergence, Algorithm::kMmse}) {
    const Range range = choose_range(h, a);
    EXPECT_NEAR(range.max, 2, 0.05) << to_string(a);
    EXPECT_NEAR(range.min, -2, 0.05) << to_string(a);
  }
}

TEST(ChooseRange, MmseFindsTheHandComputedOptimumForOutliers) {
  // n values evenly in [-1, 1] and m at 30. The outermost n / 100,000 do not count, so k = m - 20 remain. With the
  // range [-1, t] the error is n * s^2 / 12 + k * (30 - t)^2 where s = (1 + t) / 255. Setting the derivative to 0:
  // n * (1 + t) / (6 * 255^2) = 2 * k * (30 - t).
  constexpr double n = 2e6, k = 1;
  Histogram h;
  h.add(even(static_cast<int>(n), 1));
  h.add(std::vector<float>(21, 30.0f));
  const double slope = n / (6 * 255.0 * 255.0);
  const double optimum = (60 * k - slope) / (2 * k + slope);
  ASSERT_GT(optimum, 1);
  const Range range = choose_range(h, Algorithm::kMmse);
  EXPECT_NEAR(range.max, optimum, 0.12 * optimum);
  EXPECT_NEAR(range.min, -1, 0.05);
  EXPECT_LE(quantization_error(h, range),
            1.02 * quantization_error(h, {-1, static_cast<float>(optimum)}));
}

TEST(ChooseRange, OneOutlierInAHundredThousandDoesNotWidenMmse) {
  Histogram h;
  h.add(even(99999, 1));
  h.add(std::vector<float>{100});
  EXPECT_LT(choose_range(h, Algorithm::kMmse).max, 1.5);
}

TEST(ChooseRange, KlFindsTheHandComputedOptimum) {
  // 256 values, one per level of the range [0, 256), in turn 3000 and 1000 times, and a single one far away. With that
  // range every level holds one value, so nothing but the far one is lost; a wider one puts unequal neighbors into one
  // level, a narrower one merges values at its end.
  Histogram h;
  std::vector<float> values;
  for (int i = 0; i < 256; ++i)
    values.insert(values.end(), i % 2 == 0 ? 3000 : 1000, static_cast<float>(i) + 0.5f);
  values.push_back(4000);
  h.add(values);
  const Range range = choose_range(h, Algorithm::kKlDivergence);
  EXPECT_NEAR(range.max, 256, 8);
  EXPECT_LT(information_loss(h, {0, 256}), information_loss(h, {0, 400}));
  EXPECT_LT(information_loss(h, {0, 256}), information_loss(h, {0, 4000}));
  EXPECT_LT(information_loss(h, {0, 256}), information_loss(h, {0, 150}));
}

TEST(ChooseRange, KlAndMmseAndPercentileClipRareOutliers) {
  // 100,000 values in [-1, 1] and five at 100.
  Histogram h;
  h.add(even(100000, 1));
  h.add(std::vector<float>(5, 100.0f));
  EXPECT_EQ(choose_range(h, Algorithm::kNormal).max, 100);
  EXPECT_LT(choose_range(h, Algorithm::kKlDivergence).max, 20);
  EXPECT_LT(choose_range(h, Algorithm::kPercentile).max, 1.1);
  EXPECT_LE(quantization_error(h, choose_range(h, Algorithm::kMmse)),
            quantization_error(h, choose_range(h, Algorithm::kNormal)));
}

TEST(ChooseRange, HoldsZeroAndIsNeverWiderThanSeen) {
  Histogram positive, zeros;
  positive.add(std::vector<float>{2, 3, 5});
  zeros.add(std::vector<float>(10, 0.0f));
  for (const Algorithm a :
       {Algorithm::kNormal, Algorithm::kPercentile, Algorithm::kKlDivergence, Algorithm::kMmse}) {
    const Range range = choose_range(positive, a);
    EXPECT_EQ(range.min, 0) << to_string(a);
    EXPECT_LE(range.max, 5) << to_string(a);
    EXPECT_GT(range.max, 1) << to_string(a);
    EXPECT_EQ(choose_range(zeros, a).max, 0) << to_string(a);
  }
}

TEST(QuantizationError, IsBoundedByHalfAStepInsideTheRange) {
  for (const Range range : {Range{-1, 2}, Range{0, 6}, Range{-0.3f, 0}}) {
    const QuantParams q = activation_params(range);
    for (int i = 0; i <= 1000; ++i) {
      const double x = range.min + (double{range.max} - range.min) * i / 1000;
      const double level =
          std::clamp(std::nearbyint(x / q.scale[0]) + q.zero_point[0], -128.0, 127.0);
      // The zero point is rounded, so the range itself may shift by up to half a step.
      EXPECT_LE(std::fabs((level - q.zero_point[0]) * q.scale[0] - x), q.scale[0] * 1.0001);
    }
  }
}

}  // namespace
}  // namespace rk::quant
