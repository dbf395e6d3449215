// SPDX-License-Identifier: Apache-2.0
// exp(x) of float vectors (wide_lanes.h). A softmax through it is tested to 4 units in the last place. Included in the
// frame of an instruction set, after everything else.
#pragma once

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

// e^x = 2^n * (1 + rest).
template <typename Float>
struct ExpParts {
  typename Float::Vector biased;  // n is in the low bits
  typename Float::Vector rest;    // e^r - 1 of the rest of x, at most ln 2 / 2 either way
};

template <typename Float>
inline __attribute__((always_inline)) ExpParts<Float> exp_parts(typename Float::Vector x) {
  using Vector = typename Float::Vector;
  // x = n * ln 2 + r; adding 1.5 * 2^23 leaves n in the low bits. ln 2 has two parts, so that n times the first is exact.
  const Vector magic = Float::all(12582912.0f);
  const Vector biased = Float::fused(x, Float::all(1.44269504088896341f), magic);
  const Vector n = Float::sub(biased, magic);
  Vector r = Float::fused(n, Float::all(-0.693359375f), x);
  r = Float::fused(n, Float::all(2.12194440e-4f), r);
  // (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2, interpolated at the six Chebyshev points: within 2^-30 of e^r.
  Vector p = Float::all(1.98910304e-4f);
  p = Float::fused(p, r, Float::all(1.39336858e-3f));
  p = Float::fused(p, r, Float::all(8.33331048e-3f));
  p = Float::fused(p, r, Float::all(4.16664630e-2f));
  p = Float::fused(p, r, Float::all(1.66666672e-1f));
  p = Float::fused(p, r, Float::all(5.0e-1f));
  return {biased, Float::fused(p, Float::mul(r, r), r)};
}

// Below the smallest normal number the result is 0; x may be at most 88. NaN stays.
template <typename Float>
inline __attribute__((always_inline)) typename Float::Vector exp_lanes(typename Float::Vector x) {
  constexpr float kLeast = -87.3365478515625f;  // 2^-126
  const ExpParts<Float> parts = exp_parts<Float>(Float::at_least(x, kLeast));
  const auto y = Float::add(parts.rest, Float::all(1.0f));
  return Float::zero_below(Float::add_exponent(y, parts.biased), x, kLeast);
}

// e^x - 1 without losing digits where x is small, for |x| up to 80. NaN stays.
template <typename Float>
inline __attribute__((always_inline)) typename Float::Vector exp_minus_one_lanes(
    typename Float::Vector x) {
  const ExpParts<Float> parts = exp_parts<Float>(x);
  const auto power = Float::add_exponent(Float::all(1.0f), parts.biased);
  return Float::fused(power, parts.rest, Float::sub(power, Float::all(1.0f)));
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END
