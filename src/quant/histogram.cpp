// SPDX-License-Identifier: Apache-2.0
#include "quant/histogram.h"

#include <algorithm>
#include <cmath>

namespace rk::quant {

void Histogram::add(std::span<const float> values) {
  float low = INFINITY, high = -INFINITY;
  for (const float x : values) {
    if (!std::isfinite(x)) continue;
    low = x < low ? x : low;
    high = x > high ? x : high;
  }
  if (low > high) return;
  range_ =
      total_ == 0 ? Range{low, high} : Range{std::min(range_.min, low), std::max(range_.max, high)};
  const double reach = std::max(std::fabs(double{low}), std::fabs(double{high}));
  if (reach > 0 && width_ == 0) {
    counts_.assign(2 * kHalf, 0);
    // The smallest power of two whose bins reach strictly beyond `reach`.
    width_ = std::exp2(std::floor(std::log2(reach)) + 1) / kHalf;
  }
  while (reach >= width_ * kHalf && width_ > 0) widen();
  const double per_bin = width_ > 0 ? 1 / width_ : 0;
  for (const float x : values) {
    if (!std::isfinite(x)) continue;
    ++total_;
    if (x == 0) {
      ++zeros_;
      continue;
    }
    ++counts_[static_cast<size_t>(static_cast<int>(std::floor(x * per_bin)) + kHalf)];
  }
}

void Histogram::widen() {
  std::vector<uint64_t> merged(2 * kHalf, 0);
  for (int bin = -kHalf; bin < kHalf; ++bin) {
    const int to = bin >= 0 ? bin / 2 : -((1 - bin) / 2);  // floor(bin / 2)
    merged[static_cast<size_t>(to + kHalf)] += counts_[static_cast<size_t>(bin + kHalf)];
  }
  counts_ = std::move(merged);
  width_ *= 2;
}

}  // namespace rk::quant
