// SPDX-License-Identifier: Apache-2.0
// Softmax, normalization and sums against formulas in double. Tolerances: a few units in the last place of float32 for
// results that are sums of numbers of one sign, and of the row's largest number otherwise.
#include "kernels/norm/norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/kernel_test.h"

namespace rk::kernels {

decltype(softmax_f32) softmax_f32__generic;
decltype(normalize_rows_f32) normalize_rows_f32__generic;
decltype(sum_rows_f32) sum_rows_f32__generic;

namespace {

constexpr double kUlp = 0x1p-23;

std::vector<float> noise(int64_t count, float spread) {
  std::mt19937 random(11);
  std::normal_distribution<float> normal(0.3f, spread);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = normal(random);
  return values;
}

// Every exponent from 0 down to where results are subnormal, by a row of pairs (0, x): y = e^x / (1 + e^x).
KERNEL_TEST(SoftmaxTest, ExponentialIsGoodToFourUnitsOverItsRange) {
  for (int i = 0; i < 8700; ++i) {
    const float x = -0.01f * static_cast<float>(i);
    const float row[2] = {0.0f, x};
    float y[2];
    softmax_f32({row, y, 1, 2, 1}, {0, 1});
    const double e = std::exp(static_cast<double>(x));
    ASSERT_NEAR(y[1], e / (1 + e), 4 * kUlp * e / (1 + e)) << x;
  }
}

// Parts of a row, put together as attention does, are the row's softmax; a hidden row has a sum of 0.
KERNEL_TEST(SoftmaxTest, PartsOfARowMakeItsSoftmax) {
  constexpr int64_t kLengths[] = {5, 33, 1, 400};
  const float hidden = -std::numeric_limits<float>::infinity();
  float largest[3] = {hidden, hidden, hidden}, sum[3] = {}, factor[3] = {};
  std::vector<double> all[3], made[3];
  for (size_t part = 0; part < 4; ++part) {
    const auto length = static_cast<size_t>(kLengths[part]);
    std::vector<float> scores = noise(3 * kLengths[part], 4.0f * static_cast<float>(part + 1));
    for (size_t i = 0; i < length; ++i) {
      scores[length + i] = hidden;  // row 1 as a whole, row 2 in the first part
      if (part == 0) scores[2 * length + i] = hidden;
    }
    for (size_t row = 0; row < 3; ++row)
      all[row].insert(all[row].end(), scores.begin() + static_cast<std::ptrdiff_t>(row * length),
                      scores.begin() + static_cast<std::ptrdiff_t>((row + 1) * length));
    softmax_part_f32({scores.data(), kLengths[part], largest, sum, factor}, {0, 3});
    for (size_t row = 0; row < 3; ++row) {
      for (double& earlier : made[row]) earlier *= factor[row];
      for (size_t i = 0; i < length; ++i) made[row].push_back(scores[row * length + i]);
    }
  }
  EXPECT_EQ(sum[1], 0.0f);
  for (const size_t row : {0, 2}) {
    double total = 0;
    for (const double x : all[row]) total += std::exp(x - largest[row]);
    EXPECT_NEAR(sum[row], total, 8 * kUlp * total);
    for (size_t i = 0; i < all[row].size(); ++i) {
      // Each difference of scores is rounded: to as many units as it is large.
      const double distance = largest[row] - all[row][i], want = std::exp(-distance);
      const double units = 16 + 2 * std::min(distance, 100.0);
      ASSERT_NEAR(made[row][i], want, units * kUlp * want + 1e-37) << row << " " << i;
    }
  }
  for (const double x : made[1]) ASSERT_EQ(x, 0.0);
}

KERNEL_TEST(SoftmaxTest, RowsAndColumnsOfEveryLengthMatchTheFormula) {
  for (const int64_t length : {1, 2, 7, 15, 16, 17, 31, 33, 49, 64, 1000, 2500}) {
    for (const int64_t inner : {1, 3, 16, 21}) {
      const SoftmaxArgs shape = {nullptr, nullptr, 3, length, inner};
      const auto x = noise(3 * length * inner, 4.0f);
      std::vector<float> y(x.size() + 1, 7.0f);
      SoftmaxArgs args = shape;
      args.input = x.data(), args.output = y.data();
      const int64_t units = softmax_units(args);
      for (int64_t unit = units; unit-- > 0;) softmax_f32(args, {unit, unit + 1});
      for (int64_t row = 0; row < 3 * inner; ++row) {
        const size_t start = static_cast<size_t>(row / inner * length * inner + row % inner);
        const auto at = [&](int64_t k) { return start + static_cast<size_t>(k * inner); };
        double sum = 0;
        for (int64_t k = 0; k < length; ++k) sum += std::exp(static_cast<double>(x[at(k)]));
        for (int64_t k = 0; k < length; ++k) {
          const double want = std::exp(static_cast<double>(x[at(k)])) / sum;
          // The shift by the maximum rounds once, up to 32 in size here; columns add in float32.
          ASSERT_NEAR(y[at(k)], want, 32 * kUlp * want) << length << " " << inner;
        }
      }
      EXPECT_EQ(y.back(), 7.0f);
    }
  }
}

// Integers of a network pass through these functions: they must not depend on the CPU.
KERNEL_TEST(NormBytesTest, EveryVariantGivesTheSameBits) {
  for (const int64_t length : {1, 3, 16, 17, 49, 100, 1500}) {
    for (const int64_t inner : {1, 5, 20}) {
      const auto x = noise(2 * length * inner, 9.0f);
      std::vector<float> fast(x.size()), slow(x.size());
      const SoftmaxArgs a = {x.data(), fast.data(), 2, length, inner};
      SoftmaxArgs b = a;
      b.output = slow.data();
      softmax_f32(a, {0, softmax_units(a)});
      softmax_f32__generic(b, {0, softmax_units(b)});
      EXPECT_EQ(fast, slow) << length << " " << inner;
    }
    const auto x = noise(3 * length, 4.0f), scale = noise(length, 1.0f);
    std::vector<float> fast(x.size()), slow(x.size());
    NormalizeArgs a;
    a.input = x.data(), a.output = fast.data(), a.length = length, a.scale = scale.data();
    a.epsilon = 1e-5f;
    NormalizeArgs b = a;
    b.output = slow.data();
    normalize_rows_f32(a, {0, 3});
    normalize_rows_f32__generic(b, {0, 3});
    EXPECT_EQ(fast, slow) << length;
    for (const RowSum kind : {RowSum::kMean, RowSum::kRootOfSquares}) {
      sum_rows_f32({x.data(), fast.data(), length, kind}, {0, 3});
      sum_rows_f32__generic({x.data(), slow.data(), length, kind}, {0, 3});
      EXPECT_EQ(fast, slow) << length;
    }
  }
}

KERNEL_TEST(SoftmaxTest, ExtremesGiveZerosOnesAndNaNWithoutOverflow) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {-1, 0, 1000, -infinity};
  std::vector<float> y(4);
  softmax_f32({x.data(), y.data(), 1, 4, 1}, {0, 1});
  EXPECT_EQ(y, (std::vector<float>{0, 0, 1, 0}));
  const std::vector<float> bad = {1, std::numeric_limits<float>::quiet_NaN(), 2, 3};
  softmax_f32({bad.data(), y.data(), 1, 4, 1}, {0, 1});
  for (const float v : y) EXPECT_TRUE(std::isnan(v));
}

struct NormalizeCase {
  int64_t rows, length, groups, run;
  bool centered;
};

KERNEL_TEST(NormalizeTest, LayersInstancesGroupsAndRootMeanSquareMatchTheFormula) {
  const NormalizeCase cases[] = {{5, 96, 1, 1, true},  {3, 17, 1, 1, true},  {2, 2500, 1, 1, true},
                                 {6, 35, 3, 35, true}, {4, 60, 2, 20, true}, {3, 768, 1, 1, false},
                                 {6, 49, 3, 49, true}};
  for (const NormalizeCase& c : cases) {
    const auto x = noise(c.rows * c.length, 2.0f);
    const auto scale = noise(c.groups * c.length / c.run, 1.0f);
    const auto bias = noise(c.groups * c.length / c.run, 3.0f);
    std::vector<float> y(x.size() + 1, 7.0f), means(static_cast<size_t>(c.rows)), factors(means);
    for (const bool has_bias : {true, false}) {
      NormalizeArgs args;
      args.input = x.data(), args.output = y.data();
      args.length = c.length, args.groups = c.groups, args.run = c.run;
      args.scale = scale.data(), args.bias = has_bias ? bias.data() : nullptr;
      args.epsilon = 1e-3f, args.centered = c.centered;
      args.mean = means.data(), args.inverse_deviation = factors.data();
      normalize_rows_f32(args, {1, c.rows});
      normalize_rows_f32(args, {0, 1});
      for (int64_t r = 0; r < c.rows; ++r) {
        const float* const row = x.data() + r * c.length;
        double mean = 0, squares = 0;
        for (int64_t i = 0; i < c.length && c.centered; ++i) mean += row[i] / double(c.length);
        for (int64_t i = 0; i < c.length; ++i) squares += (row[i] - mean) * (row[i] - mean);
        const double factor = 1 / std::sqrt(squares / double(c.length) + 1e-3);
        EXPECT_NEAR(means[size_t(r)], mean, 1e-6);
        EXPECT_NEAR(factors[size_t(r)], factor, 1e-6);
        for (int64_t i = 0; i < c.length; ++i) {
          const size_t p = size_t(r % c.groups * (c.length / c.run) + i / c.run);
          const double want = (row[i] - mean) * factor * scale[p] + (has_bias ? bias[p] : 0.0f);
          ASSERT_NEAR(y[size_t(r * c.length + i)], want, 16 * kUlp * (1 + std::fabs(want)));
        }
      }
      EXPECT_EQ(y.back(), 7.0f);
    }
  }
}

KERNEL_TEST(RowSumTest, SumsMeansAndNormsOfEveryLength) {
  for (const int64_t length : {1, 5, 16, 32, 47, 49, 3000}) {
    const auto x = noise(4 * length, 1.0f);
    for (const RowSum kind :
         {RowSum::kSum, RowSum::kMean, RowSum::kSquares, RowSum::kRootOfSquares}) {
      std::vector<float> y(5, 7.0f);
      sum_rows_f32({x.data(), y.data(), length, kind}, {0, 4});
      for (int64_t r = 0; r < 4; ++r) {
        double sum = 0, squares = 0, size = 0;
        for (int64_t i = 0; i < length; ++i) {
          const double v = x[size_t(r * length + i)];
          sum += v, squares += v * v, size += std::fabs(v);
        }
        const double want = kind == RowSum::kSum       ? sum
                            : kind == RowSum::kMean    ? sum / double(length)
                            : kind == RowSum::kSquares ? squares
                                                       : std::sqrt(squares);
        ASSERT_NEAR(y[size_t(r)], want, 16 * kUlp * (size + squares)) << length;
      }
      EXPECT_EQ(y[4], 7.0f);
    }
  }
}

}  // namespace
}  // namespace rk::kernels
