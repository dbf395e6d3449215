// SPDX-License-Identifier: Apache-2.0
// Every variant of matrix_i8 and matrix_f16 against sums written out: int64 and double.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "base/half.h"
#include "kernels/gemm/matrix_f16.h"
#include "kernels/gemm/matrix_i8.h"

namespace rk::kernels {
namespace {

struct Size {
  int m, k, n;
};
constexpr Size kSizes[] = {{1, 1, 1},    {1, 33, 16},   {2, 64, 17},  {3, 515, 130},  {5, 7, 31},
                           {11, 96, 48}, {12, 513, 64}, {97, 66, 20}, {100, 1030, 40}};

TEST(MatrixI8Test, EveryVariantAndThreadCountGivesTheSumsWrittenOut) {
  std::mt19937 random(11);
  for (const MatrixI8Kernel* kernel : matrix_i8_kernels()) {
    for (const Size& s : kSizes) {
      std::vector<int8_t> a(s.m * s.k), b(s.k * s.n);
      for (int8_t& v : a) v = static_cast<int8_t>(random());
      for (int8_t& v : b) v = static_cast<int8_t>(random());
      a[0] = b[0] = -128;
      std::vector<int32_t> expected(s.m * s.n);
      for (int i = 0; i < s.m; ++i) {
        for (int j = 0; j < s.n; ++j) {
          int64_t sum = 0;
          for (int k = 0; k < s.k; ++k) sum += int64_t{a[i * s.k + k]} * b[k * s.n + j];
          expected[i * s.n + j] = static_cast<int32_t>(sum);
        }
      }
      for (const int threads : {1, 3}) {
        ThreadPool pool(threads);
        const auto packed = pack_i8(
            s.k, s.n, [&](int64_t k, int8_t* to) { std::memcpy(to, &b[k * s.n], s.n); }, &pool,
            *kernel);
        ASSERT_TRUE(packed.ok());
        RowsI8 rows;
        ASSERT_TRUE(load_rows_i8(
                        s.m, s.k, [&](int64_t m, int8_t* to) { std::memcpy(to, &a[m * s.k], s.k); },
                        &pool, rows, *kernel)
                        .ok());
        std::vector<int32_t> c(expected.size());
        matrix_i8(rows, *packed, &pool, [&](const MatrixTile<int32_t>& tile) {
          for (int64_t r = 0; r < tile.rows; ++r)
            std::memcpy(&c[(tile.row + r) * s.n + tile.column], tile.sums + r * kPanelColumns,
                        tile.columns * 4);
        });
        EXPECT_EQ(c, expected) << kernel->name << " " << s.m << "x" << s.k << "x" << s.n;
      }
    }
  }
}

TEST(MatrixF16Test, EveryVariantStaysWithinTheBoundOfItsSum) {
  std::mt19937 random(12);
  std::uniform_real_distribution<float> draw(-1, 1);
  for (const MatrixF16Kernel* kernel : matrix_f16_kernels()) {
    for (const Size& s : kSizes) {
      const int groups = s.k % 3 == 0 ? 3 : 1;
      std::vector<uint16_t> a(s.m * s.k), b(s.k * s.n);
      std::vector<float> scale(s.n * groups);
      for (uint16_t& v : a) v = float_to_half(draw(random));
      for (uint16_t& v : b) v = float_to_half(draw(random));
      for (float& v : scale) v = draw(random);
      const auto packed = pack_f16(
          s.k, s.n, [&](int64_t k, uint16_t* to) { std::memcpy(to, &b[k * s.n], s.n * 2); },
          nullptr, *kernel);
      ASSERT_TRUE(packed.ok());
      RowsF32 rows;
      ASSERT_TRUE(load_rows_f16(
                      s.m, s.k,
                      [&](int64_t m, uint16_t* to) { std::memcpy(to, &a[m * s.k], s.k * 2); },
                      nullptr, rows)
                      .ok());
      for (const bool grouped : {false, true}) {
        std::vector<float> c(s.m * s.n), again(c.size());
        const GroupScales scales{grouped ? s.k / groups : 0, grouped ? scale.data() : nullptr};
        for (const int threads : {1, 3}) {
          ThreadPool pool(threads);
          matrix_f16(rows, *packed, scales, &pool, [&](const MatrixTile<float>& tile) {
            for (int64_t r = 0; r < tile.rows; ++r)
              std::memcpy(&(threads == 1 ? c : again)[(tile.row + r) * s.n + tile.column],
                          tile.sums + r * kPanelColumns, tile.columns * 4);
          });
        }
        EXPECT_EQ(c, again) << kernel->name;
        for (int i = 0; i < s.m; ++i) {
          for (int j = 0; j < s.n; ++j) {
            double sum = 0, magnitude = 0;
            for (int k = 0; k < s.k; ++k) {
              double product =
                  double{half_to_float(a[i * s.k + k])} * half_to_float(b[k * s.n + j]);
              if (grouped) product *= double{scale[j * groups + k / (s.k / groups)]};
              sum += product;
              magnitude += std::fabs(product);
            }
            ASSERT_NEAR(c[i * s.n + j], sum, (s.k + groups) * 0x1p-24 * magnitude)
                << kernel->name << " " << s.m << "x" << s.k << "x" << s.n;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace rk::kernels
