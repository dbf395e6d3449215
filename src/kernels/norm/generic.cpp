// SPDX-License-Identifier: Apache-2.0
// Softmax, normalization and sums through lane_norm.h, one float at a time: the same steps in the same order as the
// vector variants, so the same bytes.
#include <bit>
#include <cmath>

#include "kernels/norm/rows.h"

#define RK_ISA_BEGIN
#define RK_ISA_END

#include "kernels/norm/lane_norm.h"

namespace rk::kernels {
namespace {

// One float as the vectors of x86_avx2.h and its like have several.
struct SingleF32 {
  using Vector = float;
  static constexpr int kLanes = 1;
  static Vector load(const float* from) { return *from; }
  static void store(float* to, Vector v) { *to = v; }
  static Vector all(float value) { return value; }
  static Vector add(Vector a, Vector b) { return a + b; }
  static Vector sub(Vector a, Vector b) { return a - b; }
  static Vector mul(Vector a, Vector b) { return a * b; }
  static Vector div(Vector a, Vector b) { return a / b; }
  static Vector fused(Vector a, Vector b, Vector c) { return std::fma(a, b, c); }
  static Vector max(Vector a, Vector b) { return a > b ? a : b; }
  static Vector at_least(Vector v, float bound) { return v < bound ? bound : v; }
  static Vector zero_below(Vector v, Vector x, float bound) { return x < bound ? 0.0f : v; }
  static Vector add_exponent(Vector v, Vector biased) {
    return std::bit_cast<float>(std::bit_cast<uint32_t>(v) +
                                (std::bit_cast<uint32_t>(biased) << 23));
  }
  static Vector load_part(const float* from, int64_t count, float fill) {
    return count > 0 ? *from : fill;
  }
  static void store_part(float* to, Vector v, int64_t count) {
    if (count > 0) *to = v;
  }
};

}  // namespace

void softmax_f32__generic(const SoftmaxArgs& args, IndexRange units) {
  softmax_lanes<WideLanes<SingleF32>>(args, units);
}

void softmax_part_f32__generic(const SoftmaxPartArgs& args, IndexRange rows) {
  softmax_part_lanes<WideLanes<SingleF32>>(args, rows);
}

void normalize_rows_f32__generic(const NormalizeArgs& args, IndexRange rows) {
  normalize_rows_lanes<WideLanes<SingleF32>>(args, rows);
}

void sum_rows_f32__generic(const RowSumArgs& args, IndexRange rows) {
  sum_rows_lanes<WideLanes<SingleF32>>(args, rows);
}

}  // namespace rk::kernels
