// SPDX-License-Identifier: Apache-2.0
// exp(x) of float vectors (wide_lanes.h). A softmax through it is tested to 4 units in the last place. Included in the
// frame of an instruction set, after everything else.
#pragma once

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

// Below the smallest normal number the result is 0; x may be at most 88. NaN stays.
template <typename Float>
inline typename Float::Vector exp_lanes(typename Float::Vector x) {
  using Vector = typename Float::Vector;
  constexpr float kLeast = -87.3365478515625f;  // 2^-126
  const Vector bounded = Float::at_least(x, kLeast);
  // x = n * ln 2 + r; adding 1.5 * 2^23 leaves n in the low bits. ln 2 has two parts, so that n times the first is exact.
  const Vector magic = Float::all(12582912.0f);
  const Vector biased = Float::fused(bounded, Float::all(1.44269504088896341f), magic);
  const Vector n = Float::sub(biased, magic);
  Vector r = Float::fused(n, Float::all(-0.693359375f), bounded);
  r = Float::fused(n, Float::all(2.12194440e-4f), r);
  // (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2, interpolated at the six Chebyshev points: within 2^-30 of e^r.
  Vector p = Float::all(1.98910304e-4f);
  p = Float::fused(p, r, Float::all(1.39336858e-3f));
  p = Float::fused(p, r, Float::all(8.33331048e-3f));
  p = Float::fused(p, r, Float::all(4.16664630e-2f));
  p = Float::fused(p, r, Float::all(1.66666672e-1f));
  p = Float::fused(p, r, Float::all(5.0e-1f));
  const Vector y = Float::add(Float::fused(p, Float::mul(r, r), r), Float::all(1.0f));
  return Float::zero_below(Float::add_exponent(y, biased), x, kLeast);
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END
