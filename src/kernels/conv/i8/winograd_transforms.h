// SPDX-License-Identifier: Apache-2.0
// The transformations of winograd_form.h along one axis, on any vector of unsigned integers: sums wrap. Private to
// kernels/conv.
//
// Note: the including file defines RK_ISA_BEGIN and RK_ISA_END, the frame of its CPU, because the
// compiler takes vectors apart for the CPU that is set where the template stands.
#pragma once

#include "kernels/conv/i8/winograd_form.h"

#define RK_WINOGRAD_INLINE inline __attribute__((always_inline))

RK_ISA_BEGIN

namespace rk::kernels::winograd {
namespace {

// B d in place of d; of a half with points 0, 1, 2, 5 alone, from d0..d3.
template <bool kHalf = false, typename V>
RK_WINOGRAD_INLINE void transform_input(V (&d)[kPatch]) {
  if constexpr (kHalf) {
    const V sum = d[1] + d[2], difference = d[1] - d[2];
    d[5] = d[1] - d[3];
    d[0] = d[0] - d[2];
    d[1] = -3 * sum;
    d[2] = 3 * difference;
    return;
  }
  const V even = d[4] - 4 * d[2], odd = d[3] - 4 * d[1];
  const V near = d[4] - d[2], far = 2 * (d[3] - d[1]);
  const V first = 4 * (d[0] - d[2]) + near, last = d[5] - d[3] - 2 * far;
  d[0] = first;
  d[1] = even + odd;
  d[2] = even - odd;
  d[3] = near + far;
  d[4] = near - far;
  d[5] = last;
}

// G g.
template <typename V>
RK_WINOGRAD_INLINE void transform_weight(const V& g0, const V& g1, const V& g2, V (&u)[kPatch]) {
  const V outer = g0 + g2, wide = g0 + 4 * g2, twice = 2 * g1;
  u[0] = 6 * g0;
  u[1] = outer + g1;
  u[2] = outer - g1;
  u[3] = wide + twice;
  u[4] = wide - twice;
  u[5] = 6 * g2;
}

// Both axes: nine taps to 36 points, store(point, vector).
template <typename V, typename Store>
RK_WINOGRAD_INLINE void transform_kernel(const V (&g)[kTaps], const Store& store) {
  V columns[3][kPatch], u[kPatch];
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) transform_weight(g[i], g[3 + i], g[6 + i], columns[i]);
#pragma GCC unroll 6
  for (int i = 0; i < kPatch; ++i) {
    transform_weight(columns[0][i], columns[1][i], columns[2][i], u);
#pragma GCC unroll 6
    for (int j = 0; j < kPatch; ++j) store(i * kPatch + j, u[j]);
  }
}

// The results of the products, still scaled.
template <bool kHalf = false, typename V>
RK_WINOGRAD_INLINE void transform_back(const V (&m)[kPatch], V (&y)[kSide]) {
  const V a = m[1] + m[2], b = m[1] - m[2];
  if constexpr (kHalf) {
    y[0] = m[0] - a;
    y[1] = m[2] - m[1] - m[5];
    return;
  }
  const V c = m[3] + m[4], d = m[3] - m[4];
  y[0] = m[0] + c - 4 * a;
  y[1] = d - 2 * b;
  y[2] = c - a;
  y[3] = m[5] + 2 * d - b;
}

}  // namespace
}  // namespace rk::kernels::winograd

RK_ISA_END
