// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/fourier.h"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace rk::ops {
namespace {

using Complex = std::complex<double>;

// exp of 0, 1, ... N-1 parts of the circle.
std::vector<Complex> unit_roots(size_t count, FourierSign sign) {
  const double turn = (sign == FourierSign::kForward ? -2 : 2) * std::numbers::pi;
  std::vector<Complex> out(count);
  for (size_t i = 0; i < count; ++i) {
    out[i] = std::polar(1.0, turn * static_cast<double>(i) / static_cast<double>(count));
  }
  return out;
}

// `from` at every `step`-th element, `count` of them; roots are those of count * step.
void transform(const Complex* from, size_t step, size_t count, const std::vector<Complex>& roots,
               Complex* to) {
  if (count % 2 != 0) {
    for (size_t k = 0; k < count; ++k) {
      Complex sum = 0;
      for (size_t n = 0; n < count; ++n) sum += from[n * step] * roots[k * n % count * step];
      to[k] = sum;
    }
    return;
  }
  const size_t half = count / 2;
  transform(from, 2 * step, half, roots, to);
  transform(from + step, 2 * step, half, roots, to + half);
  for (size_t k = 0; k < half; ++k) {
    const Complex even = to[k];
    const Complex odd = to[k + half] * roots[k * step];
    to[k] = even + odd;
    to[k + half] = even - odd;
  }
}

}  // namespace

void fourier(std::vector<Complex>& values, FourierSign sign) {
  if (values.empty()) return;
  std::vector<Complex> out(values.size());
  transform(values.data(), 1, values.size(), unit_roots(values.size(), sign), out.data());
  values = std::move(out);
}

}  // namespace rk::ops
