// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/compare.h"

#include <algorithm>
#include <cmath>

namespace rk::conformance {
namespace {

constexpr double kLargestHalf = 65504;
constexpr double kSmallestHalf = 0x1p-24;

double finite_peak(const Tensor& tensor) {
  double peak = 0;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double value = std::fabs(tensor.at_f64(i));
    if (std::isfinite(value)) peak = std::max(peak, value);
  }
  return peak;
}

Status mismatch(int64_t i, double found, double expected) {
  return invalid_model(str("element ", i, " is ", found, ", expected ", expected));
}

}  // namespace

Tolerance node_test_tolerance(DType expected) {
  Tolerance out{.relative = 1e-3, .absolute = 1e-7};
  if (expected == DType::kF16) out.relative = 2 * 0x1p-10;
  if (expected == DType::kBF16) out.relative = 2 * 0x1p-7;
  return out;
}

Tolerance layer_tolerance(double step) {
  return {.absolute = std::max(1e-5, 1.001 * step), .of_peak = 2e-4};
}

Tolerance half_tolerance() {
  return {.absolute = kSmallestHalf, .of_peak = 8 * 0x1p-11, .half_range = true};
}

Status compare_directions(const Tensor& found, const Tensor& expected) {
  if (!is_float(expected.dtype())) return compare(found, expected, {});
  double both = 0, own = 0, other = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double a = found.at_f64(i), b = expected.at_f64(i);
    both += a * b;
    own += a * a;
    other += b * b;
  }
  const double cosine = both / std::sqrt(own * other);
  const bool same = both == own && both == other;  // also where everything is zero
  if (same || cosine >= 0.9995) return ok_status();
  return invalid_model(str("cosine ", cosine, ", expected at least 0.9995"));
}

Status compare(const Tensor& found, const Tensor& expected, const Tolerance& tolerance) {
  // An .npy file cannot always tell a scalar from a list of one.
  const bool both_single = found.elements() == 1 && expected.elements() == 1;
  if (!(found.shape() == expected.shape()) && !both_single) {
    return invalid_model(
        str("shape ", to_string(found.shape()), ", expected ", to_string(expected.shape())));
  }
  const bool floats = is_float(expected.dtype());
  if (found.dtype() != expected.dtype() && !(floats && found.dtype() == DType::kF32)) {
    return invalid_model(
        str("dtype ", to_string(found.dtype()), ", expected ", to_string(expected.dtype())));
  }
  const double peak = floats ? finite_peak(expected) : 0;
  for (int64_t i = 0; i < found.elements(); ++i) {
    if (is_integer(expected.dtype())) {
      const int64_t a = found.at_i64(i), b = expected.at_i64(i);
      if (a == b || (tolerance.steps != 0 && std::abs(a - b) <= tolerance.steps)) continue;
      return mismatch(i, found.at_f64(i), expected.at_f64(i));
    }
    const double a = found.at_f64(i), b = expected.at_f64(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (tolerance.half_range && std::fabs(b) > kLargestHalf && std::isinf(a) && (a > 0) == (b > 0))
      continue;
    const double allowed =
        tolerance.absolute + tolerance.relative * std::fabs(b) + tolerance.of_peak * peak;
    if (!floats || !(std::fabs(a - b) <= allowed)) return mismatch(i, a, b);
  }
  return ok_status();
}

}  // namespace rk::conformance
