// SPDX-License-Identifier: Apache-2.0
// Recurrent kernels against formulas in double. Tolerances: a few units in the last place of float32 for sigmoid and
// tanh, relative to the result, so that small ones are tested too; sums by the length of the sum.
#include "kernels/recurrent/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/kernel_test.h"

namespace rk::kernels {
namespace {

constexpr double kUlp = 0x1p-23;
constexpr int64_t kCount = 2 * kRecurrentColumns;

std::vector<float> noise(int64_t count, float spread, unsigned seed = 5) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, spread);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = normal(random);
  return values;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

KERNEL_TEST(RecurrentTest, ProductsInEitherOrderMatchTheFormula) {
  for (const int64_t depth : {1, 7, 64, 300}) {
    for (const int64_t panels : {1, 3}) {
      const auto x = noise(depth, 1), start = noise(panels * kRecurrentColumns, 1, 6),
                 matrix = noise(panels * depth * kRecurrentColumns, 1, 7);
      for (const bool backwards : {false, true}) {
        std::vector<float> y(start.size() + 1, 9.0f);
        row_product_f32(
            {x.data(), depth, matrix.data(), panels, start.data(), y.data(), backwards});
        for (size_t i = 0; i < start.size(); ++i) {
          const int64_t column = static_cast<int64_t>(i);
          double sum = start[i], size = std::fabs(sum);
          for (int64_t k = 0; k < depth; ++k) {
            const auto at = (column / kRecurrentColumns * depth + k) * kRecurrentColumns +
                            column % kRecurrentColumns;
            const double product =
                double{x[static_cast<size_t>(k)]} * matrix[static_cast<size_t>(at)];
            sum += product;
            size += std::fabs(product);
          }
          ASSERT_NEAR(y[i], sum, kUlp * static_cast<double>(depth + 1) * size) << i;
        }
        EXPECT_EQ(y.back(), 9.0f);
      }
    }
  }
}

// With the other gates at 1 the cell is c + tanh(g), and the state tanh of it.
KERNEL_TEST(RecurrentTest, TanhAndSigmoidAreGoodToSixUnitsOverTheirRange) {
  std::vector<float> arguments;
  for (float size = 1e-30f; size < 1e3f; size *= 1.01f) {
    arguments.push_back(size);
    arguments.push_back(-size);
  }
  while (arguments.size() % kRecurrentColumns != 0) arguments.push_back(0.0f);
  const size_t count = arguments.size();
  std::vector<float> gates(4 * count, 100.0f), c(count, 0.0f), h(count, 5.0f);
  std::copy(arguments.begin(), arguments.end(),
            gates.begin() + static_cast<std::ptrdiff_t>(3 * count));
  lstm_cell_f32({gates.data(), c.data(), h.data(), static_cast<int64_t>(count)});
  std::vector<float> ones(count, 1.0f), sigmoids(count);
  reset_state_f32({arguments.data(), ones.data(), sigmoids.data(), static_cast<int64_t>(count)});
  for (size_t i = 0; i < count; ++i) {
    const double t = std::tanh(double{arguments[i]}), again = std::tanh(double{c[i]});
    ASSERT_NEAR(c[i], t, 6 * kUlp * std::fabs(t)) << arguments[i];
    ASSERT_NEAR(h[i], again, 6 * kUlp * std::fabs(again)) << arguments[i];
    // Below -87 the formula's result stays at that of -87.
    const double s = sigmoid(std::max(double{arguments[i]}, -87.0));
    ASSERT_NEAR(sigmoids[i], s, 6 * kUlp * s + 1e-37) << arguments[i];
  }
}

KERNEL_TEST(RecurrentTest, CellsMatchTheirFormulas) {
  const auto gates = noise(4 * kCount, 2), before = noise(kCount, 1, 8);
  const auto at = [&](int64_t gate, size_t i) {
    return double{gates[static_cast<size_t>(gate * kCount) + i]};
  };
  std::vector<float> c = before, h(before.size());
  lstm_cell_f32({gates.data(), c.data(), h.data(), kCount});
  for (size_t i = 0; i < c.size(); ++i) {
    const double cell = sigmoid(at(2, i)) * before[i] + sigmoid(at(0, i)) * std::tanh(at(3, i));
    EXPECT_NEAR(c[i], cell, 1e-6) << i;
    EXPECT_NEAR(h[i], sigmoid(at(1, i)) * std::tanh(cell), 1e-6) << i;
  }
  for (const bool after : {false, true}) {
    const float *const from_input = gates.data() + 2 * kCount, *const from_hidden =
                                                                   gates.data() + 3 * kCount;
    h = before;
    gru_cell_f32({gates.data(), from_input, after ? from_hidden : nullptr, h.data(), kCount});
    for (size_t i = 0; i < h.size(); ++i) {
      const double z = sigmoid(at(0, i)), r = sigmoid(at(1, i));
      const double candidate = std::tanh(at(2, i) + (after ? r * at(3, i) : 0));
      EXPECT_NEAR(h[i], (1 - z) * candidate + z * before[i], 1e-6) << i;
    }
  }
}

KERNEL_TEST(RecurrentTest, NotANumberStays) {
  std::vector<float> gates(4 * kCount, 1.0f), c(kCount, 1.0f), h(kCount, 1.0f);
  for (size_t gate = 0; gate < 4; ++gate)
    gates[gate * kCount + gate] = std::numeric_limits<float>::quiet_NaN();
  lstm_cell_f32({gates.data(), c.data(), h.data(), kCount});
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(std::isnan(h[i]), i < 4) << i;
}

}  // namespace
}  // namespace rk::kernels
