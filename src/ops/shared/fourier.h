// SPDX-License-Identifier: Apache-2.0
// The discrete Fourier transform behind DFT and STFT, in double.
#pragma once

#include <complex>
#include <vector>

namespace rk::ops {

enum class FourierSign { kForward, kInverse };

// values[k] = sum over n of values[n] * exp(-2 pi i k n / N); the sign of the exponent is turned
// for kInverse, and nothing is divided. Even lengths are halved as often as possible, what remains
// is summed directly: N log N for powers of two, N * (odd factor) otherwise.
void fourier(std::vector<std::complex<double>>& values, FourierSign sign);

}  // namespace rk::ops
