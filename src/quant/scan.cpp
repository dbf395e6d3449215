// SPDX-License-Identifier: Apache-2.0
#include "quant/scan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>

namespace rk::quant {
namespace {

using Floats = float __attribute__((vector_size(16)));
using Ints = int32_t __attribute__((vector_size(16)));

constexpr size_t kLanes = 16;
constexpr int64_t kGrain = 1 << 15;  // values worth a hand-over to another thread
constexpr int32_t kExponent = 0x7f800000;

bool is_other(float x) { return (std::bit_cast<int32_t>(x) & kExponent) == kExponent; }

// Wherever a NaN or infinity occurs, one value at a time.
Extremes extremes_with_others(std::span<const float> values) {
  Extremes out{INFINITY, -INFINITY, false, false};
  for (const float x : values) {
    if (is_other(x)) {
      out.any_other = true;
      continue;
    }
    out.any_finite = true;
    out.low = x < out.low ? x : out.low;
    out.high = x > out.high ? x : out.high;
  }
  return out;
}

// In vectors, four at a time so that a comparison need not wait for the one before. An infinity becomes an extreme, a NaN
// is the one number that differs from itself.
Extremes extremes_of(std::span<const float> values) {
  constexpr size_t kVectors = kLanes / (sizeof(Floats) / sizeof(float));
  Floats low[kVectors], high[kVectors];
  Ints nan[kVectors] = {};
  std::ranges::fill(low, Floats{} + INFINITY);
  std::ranges::fill(high, Floats{} - INFINITY);
  const size_t whole = values.size() / kLanes * kLanes;
  for (size_t i = 0; i < whole; i += kLanes) {
    for (size_t v = 0; v < kVectors; ++v) {
      Floats x;
      std::memcpy(&x, values.data() + i + v * (kLanes / kVectors), sizeof x);
      low[v] = x < low[v] ? x : low[v];
      high[v] = x > high[v] ? x : high[v];
      nan[v] |= x != x;
    }
  }
  Extremes out = extremes_with_others(values.subspan(whole));
  if (whole == 0) return out;
  for (size_t v = 0; v < kVectors; ++v) {
    for (size_t lane = 0; lane < kLanes / kVectors; ++lane) {
      if (nan[v][lane] != 0 || std::isinf(low[v][lane]) || std::isinf(high[v][lane]))
        return extremes_with_others(values);
      out.low = std::min(out.low, low[v][lane]);
      out.high = std::max(out.high, high[v][lane]);
    }
  }
  out.any_finite = true;
  return out;
}

void merge(const Extremes& from, Extremes& to) {
  to.any_other |= from.any_other;
  if (!from.any_finite) return;
  to.low = to.any_finite ? std::min(to.low, from.low) : from.low;
  to.high = to.any_finite ? std::max(to.high, from.high) : from.high;
  to.any_finite = true;
}

void for_ranges(size_t count, ThreadPool* pool, const std::function<void(IndexRange)>& work) {
  const auto all = static_cast<int64_t>(count);
  if (pool == nullptr || all < 2 * kGrain) return work({0, all});
  pool->parallel_for(all, kGrain, work);
}

std::span<const float> part(std::span<const float> values, IndexRange range) {
  return values.subspan(static_cast<size_t>(range.begin),
                        static_cast<size_t>(range.end - range.begin));
}

constexpr size_t kBlock = 256;
// Zeros are common and come in rows; counting them in turn in several places keeps one increment from waiting for the
// one before.
constexpr int32_t kZeroSlots = 4;

// The slot of each value: its bin, then kZeroSlots for 0, then one for what is not finite.
void find_slots(const float* x, size_t size, float per_bin, int32_t half, int32_t* slots) {
  const int32_t zeros = 2 * half, others = zeros + kZeroSlots;
  for (size_t i = 0; i < size; ++i) {
    const bool other = is_other(x[i]);
    const float scaled = other ? 0.0f : x[i] * per_bin;
    int32_t bin = static_cast<int32_t>(scaled);  // floor() by truncation and a correction
    bin += half - (scaled < static_cast<float>(bin) ? 1 : 0);
    bin = x[i] == 0 ? zeros + (static_cast<int32_t>(i) & (kZeroSlots - 1)) : bin;
    slots[i] = other ? others : bin;
  }
}

// The same of kBlock finite values, in vectors: a comparison is -1 where it holds.
void find_finite_slots(const float* x, float per_bin, int32_t half, int32_t* slots) {
  static_assert(sizeof(Ints) == kZeroSlots * sizeof(int32_t));
  const Ints zeros = Ints{0, 1, 2, 3} + 2 * half;
  for (size_t i = 0; i < kBlock; i += kZeroSlots) {
    Floats values;
    std::memcpy(&values, x + i, sizeof values);
    const Floats scaled = values * per_bin;
    const Ints cut = __builtin_convertvector(scaled, Ints);
    const Ints bins = cut + half + (scaled < __builtin_convertvector(cut, Floats));
    const Ints is_zero = values == 0.0f;
    const Ints found = (is_zero & zeros) | (~is_zero & bins);
    std::memcpy(slots + i, &found, sizeof found);
  }
}

template <bool kAllFinite>
void count_part(std::span<const float> values, float per_bin, int32_t half, uint32_t* counts) {
  int32_t slots[kBlock];
  size_t begin = 0;
  for (; begin + kBlock <= values.size(); begin += kBlock) {
    if constexpr (kAllFinite) {
      find_finite_slots(values.data() + begin, per_bin, half, slots);
    } else {
      find_slots(values.data() + begin, kBlock, per_bin, half, slots);
    }
    for (size_t i = 0; i < kBlock; ++i) ++counts[slots[i]];
  }
  const size_t rest = values.size() - begin;
  find_slots(values.data() + begin, rest, per_bin, half, slots);
  for (size_t i = 0; i < rest; ++i) ++counts[slots[i]];
}

}  // namespace

Extremes find_extremes(std::span<const float> values, ThreadPool* pool) {
  Extremes out;
  std::mutex mutex;
  for_ranges(values.size(), pool, [&](IndexRange range) {
    const Extremes found = extremes_of(part(values, range));
    const std::lock_guard lock(mutex);
    merge(found, out);
  });
  return out;
}

void count_bins(std::span<const float> values, const Binning& how, BinCounts& out,
                ThreadPool* pool) {
  std::mutex mutex;
  for_ranges(values.size(), pool, [&](IndexRange range) {
    // 32 bits halve the memory that the counting touches; a part is never longer than that.
    const auto bins = static_cast<size_t>(2 * out.half);
    std::vector<uint32_t> counts(bins + kZeroSlots + 1);
    const auto count = how.all_finite ? count_part<true> : count_part<false>;
    count(part(values, range), how.per_bin, out.half, counts.data());
    const std::lock_guard lock(mutex);
    for (size_t i = 0; i < bins; ++i) out.counts[i] += counts[i];
    for (size_t i = 0; i < kZeroSlots; ++i) out.zeros() += counts[bins + i];
    out.others() += counts.back();
  });
}

}  // namespace rk::quant
