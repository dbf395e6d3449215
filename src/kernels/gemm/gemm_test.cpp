// SPDX-License-Identifier: Apache-2.0
// gemm_f32 against sums in double over every stride combination, and by hand.
#include "kernels/gemm/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/kernel_test.h"

namespace rk::kernels {
namespace {

KERNEL_TEST(GemmTest, TwoByTwoWithABiasPerColumn) {
  const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, bias[] = {100, 1000};
  float c[4];
  const GemmF32Args args = {.m = 2,
                            .n = 2,
                            .k = 2,
                            .a = a,
                            .b = b,
                            .c = c,
                            .a_row_stride = 2,
                            .b_row_stride = 2,
                            .c_row_stride = 2,
                            .bias = bias};
  gemm_f32(args, {0, gemm_f32_units(args)});
  EXPECT_EQ(std::vector<float>(c, c + 4), (std::vector<float>{119, 1022, 143, 1050}));
}

KERNEL_TEST(GemmTest, EmptySumIsTheBias) {
  const float bias = 3;
  float c[6] = {};
  const GemmF32Args args = {
      .m = 2, .n = 3, .c = c, .c_row_stride = 3, .bias = &bias, .bias_col_stride = 0};
  gemm_f32(args, {0, gemm_f32_units(args)});
  EXPECT_EQ(std::vector<float>(c, c + 6), std::vector<float>(6, 3.0f));
}

KERNEL_TEST(GemmTest, EveryTranspositionAndCutGivesTheSameNumbers) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> draw(-1, 1);
  for (const auto& [m, n, k] : {std::tuple{1, 1, 1},
                                {1, 100, 300},
                                {3, 33, 17},
                                {65, 31, 129},
                                {130, 70, 5},
                                {67, 1, 260}}) {
    std::vector<float> a(m * k), b(k * n), at(a.size()), bt(b.size()), bias(m);
    for (float& v : a) v = draw(random);
    for (float& v : b) v = draw(random);
    for (float& v : bias) v = draw(random);
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < k; ++j) at[j * m + i] = a[i * k + j];
    }
    for (int i = 0; i < k; ++i) {
      for (int j = 0; j < n; ++j) bt[j * k + i] = b[i * n + j];
    }
    std::vector<float> c(m * n), other(m * n);
    GemmF32Args args = {.m = m,
                        .n = n,
                        .k = k,
                        .a = a.data(),
                        .b = b.data(),
                        .c = c.data(),
                        .a_row_stride = k,
                        .b_row_stride = n,
                        .c_row_stride = n,
                        .bias = bias.data(),
                        .bias_row_stride = 1,
                        .bias_col_stride = 0};
    gemm_f32(args, {0, gemm_f32_units(args)});
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        double want = bias[i], magnitude = std::abs(want);
        for (int x = 0; x < k; ++x) {
          want += double{a[i * k + x]} * b[x * n + j];
          magnitude += std::abs(double{a[i * k + x]} * b[x * n + j]);
        }
        ASSERT_NEAR(c[i * n + j], want, (k + 1) * 0x1p-24 * magnitude);
      }
    }
    GemmF32Args turned = args;
    turned.a = at.data();
    turned.a_row_stride = 1;
    turned.a_col_stride = m;
    turned.b = bt.data();
    turned.b_row_stride = 1;
    turned.b_col_stride = k;
    turned.c = other.data();
    for (int64_t unit = gemm_f32_units(args); unit-- > 0;) gemm_f32(turned, {unit, unit + 1});
    EXPECT_EQ(other, c);
  }
}

}  // namespace
}  // namespace rk::kernels
