// SPDX-License-Identifier: Apache-2.0
// One tensor, read once while it is still in the cache: its extremes, and how many values fall into each bin. These
// loops decide what calibration costs on top of the forward passes.
//
// Note: std::min, std::floor and std::isfinite in such a loop each keep a baseline x86-64 compiler from
// using vectors. The comparisons here are written so that they are one vector instruction each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"

namespace rk::quant {

struct Extremes {
  float low = 0, high = 0;  // of the finite values; only where any_finite
  bool any_finite = false;
  bool any_other = false;  // NaN or infinite
};

// The pool may be null; the result does not depend on it.
Extremes find_extremes(std::span<const float> values, ThreadPool* pool);

// Counts per bin of width 2^n around 0, see Histogram. Two more slots follow the bins.
struct BinCounts {
  explicit BinCounts(int bins) : half(bins), counts(static_cast<size_t>(2 * bins + 2)) {}
  uint64_t& zeros() { return counts[static_cast<size_t>(2 * half)]; }
  uint64_t& others() { return counts[static_cast<size_t>(2 * half) + 1]; }  // NaN or infinite

  int half;  // bins on each side of 0
  std::vector<uint64_t> counts;
};

struct Binning {
  float per_bin = 1;        // 1 / width, a power of two, so scaling is exact
  bool all_finite = false;  // known: saves a test per value
};

// Every finite value must lie within half bins of 0.
void count_bins(std::span<const float> values, const Binning& how, BinCounts& out,
                ThreadPool* pool);

}  // namespace rk::quant
