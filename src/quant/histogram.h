// SPDX-License-Identifier: Apache-2.0
// The distribution of one value over all samples, in one pass and bounded memory.
//
// Bins are anchored at 0 and as wide as a power of two; when a value falls outside, neighboring bins are merged and
// the width doubles. The final state depends on the set of values only, neither on their order nor on how they were
// split into calls, so calibration is deterministic.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quant/observe.h"

namespace rk::quant {

class Histogram {
 public:
  static constexpr int kHalf = 4096;  // bins on each side of 0

  // NaN and infinity are left out.
  void add(std::span<const float> values, ThreadPool* pool = nullptr);
  void add(std::span<const float> values, const Extremes& seen, ThreadPool* pool);

  uint64_t total() const { return total_; }  // zeros included
  // 0 is exact in every int8 range, so zeros are counted apart and are in no bin.
  uint64_t zeros() const { return zeros_; }
  double width() const { return width_; }
  // Bin i in -kHalf .. kHalf-1 holds values in [i * width, (i + 1) * width).
  uint64_t at(int bin) const {
    return counts_.empty() ? 0 : counts_[static_cast<size_t>(bin + kHalf)];
  }
  // The bins from first() up to and without last() hold everything that is not 0.
  int first() const;
  int last() const;
  Range range() const { return range_; }  // of the finite values

 private:
  void widen();

  std::vector<uint64_t> counts_;
  double width_ = 0;  // 0: only zeros so far
  uint64_t total_ = 0;
  uint64_t zeros_ = 0;
  Range range_;
};

}  // namespace rk::quant
