// SPDX-License-Identifier: Apache-2.0
// One transformer block written against the matmul interface as LLM back ends do: projections, attention and FFN are
// float16 products, what lies between is plain C++. The same block in double is the judge. Attention's contexts live in one
// IOMMU domain, the weights' in another.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "base/half.h"
#include "rknn_matmul_api.h"
#include "tests/e2e/figure.h"

namespace rk {
namespace {

constexpr int kTokens = 24, kModel = 64, kHeads = 2, kHead = kModel / kHeads, kHidden = 192;
// Products need K and N in multiples of 32 (16): 24 tokens are padded to 32 where they are K or N.
constexpr int kPadded = 32;

using Matrix = std::vector<double>;  // row-major

Matrix random_matrix(int rows, int columns, double scale, std::mt19937& random) {
  std::normal_distribution<double> draw(0, scale);
  Matrix out(static_cast<size_t>(rows) * columns);
  // What float16 holds, so that both sides start from the same numbers.
  for (double& v : out) v = half_to_float(float_to_half(static_cast<float>(draw(random))));
  return out;
}

struct Weights {
  Matrix q, k, v, o, up, down;
};

void softmax(double* row, int count, int padded) {
  const double largest = *std::max_element(row, row + count);
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += row[i] = std::exp(row[i] - largest);
  for (int i = 0; i < padded; ++i) row[i] = i < count ? row[i] / sum : 0;
}

void normalize(Matrix& x) {  // RMS norm per token
  for (int t = 0; t < kTokens; ++t) {
    double square = 0;
    for (int i = 0; i < kModel; ++i) square += x[t * kModel + i] * x[t * kModel + i];
    for (int i = 0; i < kModel; ++i) x[t * kModel + i] /= std::sqrt(square / kModel + 1e-6);
  }
}

// The block over any product of [m, k] by [k, n].
template <typename Product>
Matrix block(const Matrix& x, const Weights& w, const Product& product) {
  Matrix normal = x;
  normalize(normal);
  const Matrix q = product("q", normal, w.q, kTokens, kModel, kModel);
  const Matrix k = product("k", normal, w.k, kTokens, kModel, kModel);
  const Matrix v = product("v", normal, w.v, kTokens, kModel, kModel);
  Matrix joined(kTokens * kModel);
  for (int h = 0; h < kHeads; ++h) {
    Matrix qh(kTokens * kHead), kt(kHead * kPadded), vh(kPadded * kHead);
    for (int t = 0; t < kTokens; ++t) {
      for (int i = 0; i < kHead; ++i) {
        qh[t * kHead + i] = q[t * kModel + h * kHead + i] / std::sqrt(double{kHead});
        kt[i * kPadded + t] = k[t * kModel + h * kHead + i];
        vh[t * kHead + i] = v[t * kModel + h * kHead + i];
      }
    }
    Matrix scores = product("scores", qh, kt, kTokens, kHead, kPadded);
    for (int t = 0; t < kTokens; ++t) softmax(&scores[t * kPadded], t + 1, kPadded);
    const Matrix out = product("mix", scores, vh, kTokens, kPadded, kHead);
    for (int t = 0; t < kTokens; ++t)
      std::copy_n(&out[t * kHead], kHead, &joined[t * kModel + h * kHead]);
  }
  const Matrix attention = product("o", joined, w.o, kTokens, kModel, kModel);
  Matrix y = x;
  for (size_t i = 0; i < y.size(); ++i) y[i] += attention[i];
  normal = y;
  normalize(normal);
  Matrix hidden = product("up", normal, w.up, kTokens, kModel, kHidden);
  for (double& h : hidden) h = h / (1 + std::exp(-h));
  const Matrix down = product("down", hidden, w.down, kTokens, kHidden, kModel);
  for (size_t i = 0; i < y.size(); ++i) y[i] += down[i];
  return y;
}

Matrix in_double(const Matrix& a, const Matrix& b, int m, int k, int n) {
  Matrix c(static_cast<size_t>(m) * n);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int e = 0; e < k; ++e) c[i * n + j] += a[i * k + e] * b[e * n + j];
    }
  }
  return c;
}

void write_half(const Matrix& from, void* to) {
  auto* const half = static_cast<uint16_t*>(to);
  for (size_t i = 0; i < from.size(); ++i) half[i] = float_to_half(static_cast<float>(from[i]));
}

Matrix by_interface(const std::string& what, const Matrix& a, const Matrix& b, int m, int k,
                    int n) {
  rknn_matmul_info info{};
  info.M = m;
  info.K = k;
  info.N = n;
  info.type = RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32;
  info.B_layout = RKNN_MM_LAYOUT_NATIVE;
  info.iommu_domain_id = what == "scores" || what == "mix" ? 1 : 2;
  rknn_matmul_ctx ctx = 0;
  rknn_matmul_io_attr io{};
  EXPECT_EQ(rknn_matmul_create(&ctx, &info, &io), 0);
  rknn_tensor_mem* const mem[] = {rknn_create_mem(ctx, io.A.size), rknn_create_mem(ctx, io.B.size),
                                  rknn_create_mem(ctx, io.C.size)};
  write_half(a, mem[0]->virt_addr);
  std::vector<uint16_t> normal(b.size());
  write_half(b, normal.data());
  EXPECT_EQ(rknn_B_normal_layout_to_native_layout(normal.data(), mem[1]->virt_addr, k, n, &info),
            0);
  EXPECT_EQ(rknn_matmul_set_io_mem(ctx, mem[0], &io.A), 0);
  EXPECT_EQ(rknn_matmul_set_io_mem(ctx, mem[1], &io.B), 0);
  EXPECT_EQ(rknn_matmul_set_io_mem(ctx, mem[2], &io.C), 0);
  EXPECT_EQ(rknn_matmul_run(ctx), 0);
  const auto* const c = static_cast<const float*>(mem[2]->virt_addr);
  Matrix out(c, c + static_cast<size_t>(m) * n);
  for (rknn_tensor_mem* one : mem) EXPECT_EQ(rknn_destroy_mem(ctx, one), 0);
  EXPECT_EQ(rknn_matmul_destroy(ctx), 0);
  return out;
}

TEST(Matmul, ATransformerBlockAgreesWithDoublesOnOneAndFourThreadsInTwoDomains) {
  setenv("RKNN_TARGET", "rk3588", 1);
  std::mt19937 random(2026);
  const Weights w = {
      random_matrix(kModel, kModel, 0.12, random),  random_matrix(kModel, kModel, 0.12, random),
      random_matrix(kModel, kModel, 0.12, random),  random_matrix(kModel, kModel, 0.12, random),
      random_matrix(kModel, kHidden, 0.12, random), random_matrix(kHidden, kModel, 0.07, random)};
  const Matrix x = random_matrix(kTokens, kModel, 1.0, random);
  const Matrix expected =
      block(x, w, [](const char*, const Matrix& a, const Matrix& b, int m, int k, int n) {
        return in_double(a, b, m, k, n);
      });
  double largest = 0;
  for (const double v : expected) largest = std::max(largest, std::fabs(v));
  Matrix first;
  for (const char* threads : {"1", "4"}) {
    setenv("RKNN_NUM_THREADS", threads, 1);
    const Matrix got = block(x, w, by_interface);
    double worst = 0;
    for (size_t i = 0; i < got.size(); ++i)
      worst = std::max(worst, std::fabs(got[i] - expected[i]));
    // Activations are rounded to float16 between products: a few units of 2^-11 of the largest value.
    e2e::figure_at_most(std::string("transformer block, largest error over largest value, ") +
                            threads + " thread(s)",
                        worst / largest, 0.002);
    if (first.empty()) first = got;
    EXPECT_EQ(first, got) << "results depend on the number of threads";
  }
  unsetenv("RKNN_NUM_THREADS");
}

}  // namespace
}  // namespace rk
