// SPDX-License-Identifier: Apache-2.0
#include "quant/histogram.h"

#include <algorithm>
#include <cmath>

#include "quant/scan.h"

namespace rk::quant {
namespace {

// Below the smallest normal number scaling by 1 / width would not be exact.
constexpr double kLeastWidth = 0x1p-126;

}  // namespace

void Histogram::add(std::span<const float> values, ThreadPool* pool) {
  add(values, find_extremes(values, pool), pool);
}

void Histogram::add(std::span<const float> values, const Extremes& seen, ThreadPool* pool) {
  if (!seen.any_finite) return;
  range_ = total_ == 0 ? Range{seen.low, seen.high}
                       : Range{std::min(range_.min, seen.low), std::max(range_.max, seen.high)};
  const double reach = std::max(std::fabs(double{seen.low}), std::fabs(double{seen.high}));
  if (reach > 0 && width_ == 0) {
    counts_.assign(2 * kHalf, 0);
    // The smallest power of two whose bins reach strictly beyond `reach`.
    width_ = std::max(std::exp2(std::floor(std::log2(reach)) + 1) / kHalf, kLeastWidth);
  }
  while (reach >= width_ * kHalf && width_ > 0) widen();
  BinCounts found(kHalf);
  count_bins(values, {width_ > 0 ? static_cast<float>(1 / width_) : 0.0f, !seen.any_other}, found,
             pool);
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += found.counts[i];
  zeros_ += found.zeros();
  total_ += values.size() - found.others();
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

int Histogram::first() const {
  const auto it = std::ranges::find_if(counts_, [](uint64_t count) { return count > 0; });
  return static_cast<int>(it - counts_.begin()) - kHalf;
}

int Histogram::last() const {
  const auto it =
      std::find_if(counts_.rbegin(), counts_.rend(), [](uint64_t count) { return count > 0; });
  return static_cast<int>(counts_.rend() - it) - kHalf;
}

}  // namespace rk::quant
