// SPDX-License-Identifier: Apache-2.0
// Against the sum itself, for lengths that are halved often, never, and in between.
#include "ops/shared/fourier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace rk::ops {
namespace {

TEST(Fourier, AgreesWithTheSumForAnyLength) {
  for (const size_t count : {1, 2, 3, 12, 16, 17, 30}) {
    std::vector<std::complex<double>> values(count);
    for (size_t n = 0; n < count; ++n) {
      values[n] = {std::sin(static_cast<double>(n * n)), static_cast<double>(n % 5) - 1};
    }
    for (const auto sign : {FourierSign::kForward, FourierSign::kInverse}) {
      auto found = values;
      fourier(found, sign);
      for (size_t k = 0; k < count; ++k) {
        std::complex<double> sum = 0;
        for (size_t n = 0; n < count; ++n) {
          const double turn =
              2 * std::numbers::pi * static_cast<double>(k * n) / static_cast<double>(count);
          sum += values[n] * std::polar(1.0, sign == FourierSign::kForward ? -turn : turn);
        }
        EXPECT_NEAR(std::abs(found[k] - sum), 0, 1e-10) << count << " at " << k;
      }
    }
  }
}

TEST(Fourier, OfNothingIsNothing) {
  std::vector<std::complex<double>> none;
  fourier(none, FourierSign::kForward);
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace rk::ops
