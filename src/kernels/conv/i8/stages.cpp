// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/i8/stages.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/checked_math.h"
#include "kernels/conv/common/lane_limits.h"
#include "kernels/conv/i8/exact_stages.h"

namespace rk::kernels {
namespace {

constexpr int64_t kMaxStart = 1 << 26;  // of a table's range
constexpr int32_t kMaxEntryShift = 16;
constexpr int64_t kMost = int64_t{1} << 62;

Status check_shift(const char* what, int32_t shift, int32_t most = 62) {
  if (shift >= 0 && shift <= most) return ok_status();
  return invalid_argument(str("convolution: ", what, " ", shift, " is not in 0..", most));
}

int64_t sum_of(int64_t a, int64_t b) { return a < 0 || b < 0 || a > kMost - b ? -1 : a + b; }

// Of v * multiplier + addend.
int64_t index_bound(const ConvLookup& s, int64_t v) {
  return sum_of(scaled_bound(v, {static_cast<int32_t>(s.multiplier), 0}), magnitude(s.addend));
}

int64_t lookup_bound(const ConvLookup& s, int64_t v) {
  const int64_t product = index_bound(s, v);
  if (product < 0) return -1;
  const int64_t index = (product >> s.shift) + 1 + kMaxStart;
  return sum_of(sum_of(scaled_bound(index, s.below), scaled_bound(index, s.above)), 1 << 17);
}

// The line that goes on from `last` reaches the end of int8 at some distance, from which on nothing changes: the first
// such distance, or a negative number when there is none below `most`.
int64_t saturates_at(int64_t last, ScaleShift slope, bool downwards, const OutputStage& output,
                     int64_t most) {
  const auto byte_at = [&](int64_t distance) {
    return to_output(last + scale_round(downwards ? -distance : distance, slope.scale, slope.shift),
                     output);
  };
  if (slope.scale == 0 || output.scale.scale == 0) return 0;
  const bool rises = (slope.scale > 0) == (output.scale.scale > 0);
  const int8_t end = rises != downwards ? 127 : -128;
  if (byte_at(most) != end) return -1;
  int64_t low = 0, high = most;  // the byte at `high` is the end
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    (byte_at(middle) == end ? high : low) = byte_at(middle) == end ? middle : middle + 1;
  }
  return low;
}

// The table as vector kernels read it: whole, and its steps fit 16 bits.
bool make_pairs(const ConvLookup& s, int32_t* pairs) {
  const int64_t half = static_cast<int64_t>(kLookupEntries - 1) << s.entry_shift;
  if (s.start != -half || s.end != half) return false;
  for (size_t k = 0; k < kLookupPairs; ++k) {
    const bool low = k + 1 < kLookupEntries;
    const std::vector<int16_t>& table = low ? s.low : s.high;
    const size_t at = low ? k : k + 1 - kLookupEntries;
    const int32_t base = table[at];
    const int32_t step = at + 1 < kLookupEntries ? table[at + 1] - base : 0;
    if (step != static_cast<int16_t>(step)) return false;
    pairs[k] =
        static_cast<int32_t>(static_cast<uint32_t>(step) << 16 | static_cast<uint16_t>(base));
  }
  return true;
}

constexpr int64_t kMostBytes = int64_t{1} << 18;  // of a table of bytes; usual are 2^15 to 2^17

// What becomes of every index, in pieces that lie on one straight line: where both ends of a piece give one byte, so does
// all between them.
void fill_bytes(const ConvLookup& s, const OutputStage& output, const StageConstants& c,
                int8_t* bytes) {
  ConvLookup at_index = s;  // v is the index
  at_index.multiplier = 1, at_index.addend = 0, at_index.shift = 0;
  const auto byte_at = [&](int64_t t) { return to_output(look_up(at_index, t), output); };
  const int64_t piece = int64_t{1} << s.entry_shift;
  for (int64_t t = c.lowest; t <= c.highest;) {
    // Lines end at every multiple of a piece, counted from 0.
    const int64_t last = std::min<int64_t>(c.highest, (t >> s.entry_shift) * piece + piece - 1);
    const int8_t first_byte = byte_at(t), last_byte = byte_at(last);
    for (; t <= last; ++t) bytes[t - c.lowest] = first_byte == last_byte ? first_byte : byte_at(t);
  }
}

// The float route rounds exactly below 2^22 and keeps order beyond, so values whose byte is the end of int8 anyway need
// not be exact.
bool lookup_holds(const PackedConvI8& packed, const ConvLookup& s, StageConstants& c) {
  constexpr int64_t kExact = int64_t{1} << 22, kExactSum = int64_t{1} << 24;
  const ConvI8Params& p = packed.params;
  if (packed.acc_bound >= kExactSum || p.has_residual || p.relu_after_add || s.addend != 0 ||
      s.entry_shift > 8 || s.multiplier <= 0) {
    return false;
  }
  const int64_t most = kExact / 2;
  const int64_t above = saturates_at(s.high.back(), s.above, false, p.output, most);
  const int64_t below = saturates_at(s.low.front(), s.below, true, p.output, most);
  if (above < 0 || below < 0) return false;
  c.highest = static_cast<int32_t>(s.end + above);
  c.lowest = static_cast<int32_t>(s.start - below);
  // Every v beyond 2^22 lies beyond both ends of t.
  const auto* const multiplier = reinterpret_cast<const int32_t*>(packed.multiplier.data());
  const int32_t largest =
      *std::max_element(multiplier, multiplier + p.filter.out_channels,
                        [](int32_t a, int32_t b) { return magnitude(a) < magnitude(b); });
  const int64_t v = scaled_bound(packed.acc_bound, {largest, p.multiplier_shift});
  const int64_t reached = scale_round(kExact - 1, s.multiplier, s.shift);
  if (v >= kExact && (reached < c.highest || -reached > c.lowest)) return false;
  return int64_t{c.highest} - c.lowest < kMostBytes;
}

// Factors from sums to the output's unit in one step. The stages round twice on the way, which moves the result by at
// most `moved`, and floats less than 2^-14 of where int8 does not end yet.
bool slope_holds(const PackedConvI8& packed, float* positive, float* negative, StageConstants& c) {
  constexpr int64_t kExactSum = int64_t{1} << 24;
  constexpr double kExact = int64_t{1} << 22;
  const ConvI8Params& p = packed.params;
  if (packed.acc_bound >= kExactSum || p.has_residual || p.relu_after_add) return false;
  const auto* const multiplier = reinterpret_cast<const int32_t*>(packed.multiplier.data());
  const double unit = std::ldexp(p.output.scale.scale, -p.output.scale.shift);
  const auto moved_by = [&](double factor) {
    return (0.5 * std::abs(factor) + 0.5) * std::abs(unit);
  };
  double moved = moved_by(c.positive_scale), largest = 0;
  for (int32_t i = 0; i < p.filter.out_channels; ++i) {
    if (multiplier[i] < 0) return false;
    const double m = multiplier[i] * unit;
    positive[i] = static_cast<float>(m * std::ldexp(c.positive_scale, -p.multiplier_shift));
    negative[i] = static_cast<float>(m * c.negative_first_scale * c.negative_scale[i]);
    moved = std::max(moved, moved_by(c.negative_scale[i]));
    largest = std::max<double>({largest, std::abs(positive[i]), std::abs(negative[i])});
  }
  c.positive = positive, c.negative = negative;
  c.near = static_cast<float>(0.5 - moved - 0x1p-14);
  return c.near > 0.4f && largest * static_cast<double>(packed.acc_bound) < kExact;
}

}  // namespace

Status check_stages(const ConvI8Params& p) {
  RK_TRY(check_shift("multiplier shift", p.multiplier_shift));
  if ((p.lookup && p.slope) || ((p.lookup || p.slope) && p.activation != Activation::kNone)) {
    return invalid_argument("convolution: two activations before the addition");
  }
  if (p.lookup) {
    const ConvLookup& s = *p.lookup;
    if (s.low.size() != kLookupEntries || s.high.size() != kLookupEntries) {
      return invalid_argument(str("convolution: lookup tables of ", s.low.size(), " and ",
                                  s.high.size(), " entries, expected ", kLookupEntries));
    }
    RK_TRY(check_shift("lookup shift", s.shift));
    RK_TRY(check_shift("lookup entry shift", s.entry_shift, kMaxEntryShift));
    if (s.start > 0 || s.start < -kMaxStart || s.end < 0 || s.end > kMaxStart ||
        magnitude(s.multiplier) > 1 << 16 || magnitude(s.addend) >= kMost) {
      return invalid_argument(str("convolution: a lookup from ", s.start, " to ", s.end,
                                  " with multiplier ", s.multiplier, " is outside what it may be"));
    }
  }
  if (p.slope) {
    const ConvSlope& s = *p.slope;
    RK_TRY(check_shift("shift of negative sums", s.negative_multiplier_shift));
    RK_TRY(check_shift("positive shift", s.positive_shift));
    RK_TRY(check_shift("negative shift", s.negative_shift));
    if (s.factor.size() != 1 && std::ssize(s.factor) != p.filter.out_channels) {
      return invalid_argument(str("convolution: ", s.factor.size(), " slopes for ",
                                  p.filter.out_channels, " channels"));
    }
  }
  return ok_status();
}

int64_t stages_bound(const ConvI8Params& params, int64_t bound, int32_t multiplier) {
  const int64_t v = scaled_bound(bound, {multiplier, params.multiplier_shift});
  if (params.lookup) return lookup_bound(*params.lookup, v);
  if (!params.slope) return v;
  const ConvSlope& s = *params.slope;
  const int64_t below = scaled_bound(scaled_bound(bound, {multiplier, s.negative_multiplier_shift}),
                                     {32768, s.negative_shift});
  return v < 0 || below < 0 ? -1 : std::max(v, below);
}

int64_t inner_bound(const ConvI8Params& params, int64_t bound, int32_t multiplier) {
  if (params.slope) return scaled_bound(bound, {multiplier, 0});
  const int64_t v = scaled_bound(bound, {multiplier, params.multiplier_shift});
  return params.lookup ? index_bound(*params.lookup, v) : v;
}

int64_t look_up(const ConvLookup& s, int64_t v) {
  const int64_t t = scale_round(v * s.multiplier + s.addend, 1, s.shift);
  if (t < s.start) return s.low.front() + scale_round(t - s.start, s.below.scale, s.below.shift);
  if (t > s.end) return s.high.back() + scale_round(t - s.end, s.above.scale, s.above.shift);
  const std::vector<int16_t>& table = t < 0 ? s.low : s.high;
  const int64_t distance = t < 0 ? t - s.start : t;
  const auto entry = static_cast<size_t>(distance >> s.entry_shift);
  if (entry + 1 >= table.size()) return table.back();
  const int64_t rest = distance & ((int64_t{1} << s.entry_shift) - 1);
  return table[entry] + scale_round(int64_t{table[entry + 1]} - table[entry], rest, s.entry_shift);
}

Status pack_stages(PackedConvI8& packed) {
  const ConvI8Params& p = packed.params;
  if (!p.lookup && !p.slope) return ok_status();
  constexpr uint64_t kHeader = 192;
  static_assert(sizeof(StageConstants) <= kHeader);
  const auto channels = static_cast<uint64_t>(align_up(p.filter.out_channels, kLaneTile));
  StageConstants c;
  const auto* const multiplier = reinterpret_cast<const int32_t*>(packed.multiplier.data());
  c.double_route = stages_below(packed, multiplier, kDoubleLimits);
  c.float_route = p.lookup && c.double_route && lookup_holds(packed, *p.lookup, c);
  constexpr uint64_t kPairBytes = kLookupPairs * sizeof(int32_t), kReadBeyond = 3;
  const uint64_t table =
      c.float_route ? static_cast<uint64_t>(c.highest - c.lowest) + 1 + kReadBeyond : 0;
  const uint64_t bytes =
      kHeader + (p.lookup ? kPairBytes + table : channels * (sizeof(double) + 2 * sizeof(float)));
  RK_ASSIGN(packed.stages, Buffer::try_make(bytes, kMaxObjectBytes));
  if (p.lookup) {
    const ConvLookup& s = *p.lookup;
    auto* const pairs = reinterpret_cast<int32_t*>(packed.stages.data() + kHeader);
    c.is_lookup = true;
    c.start = s.start, c.end = s.end, c.entry_shift = s.entry_shift;
    c.index_scale = std::ldexp(static_cast<double>(s.multiplier), -s.shift);
    c.index_addend = std::ldexp(static_cast<double>(s.addend), -s.shift);
    c.below = std::ldexp(s.below.scale, -s.below.shift);
    c.above = std::ldexp(s.above.scale, -s.above.shift);
    c.pairs = pairs;
    c.double_route = c.double_route && s.entry_shift <= 8 && make_pairs(s, pairs);
    c.float_route = c.float_route && c.double_route;
    if (c.float_route) {
      auto* const of_indices =
          reinterpret_cast<int8_t*>(packed.stages.data() + kHeader + kPairBytes);
      fill_bytes(s, p.output, c, of_indices);
      c.bytes = of_indices;
    }
  } else {
    const ConvSlope& s = *p.slope;
    auto* const factors = reinterpret_cast<double*>(packed.stages.data() + kHeader);
    c.positive_scale = std::ldexp(1.0, -s.positive_shift);
    c.negative_first_scale = std::ldexp(1.0, -s.negative_multiplier_shift);
    for (int32_t i = 0; i < p.filter.out_channels; ++i) {
      const auto at = static_cast<size_t>(i);
      factors[at] = std::ldexp(s.factor[s.factor.size() == 1 ? 0 : at], -s.negative_shift);
    }
    c.negative_scale = factors;
    auto* const positive = reinterpret_cast<float*>(factors + channels);
    c.float_route = c.double_route && slope_holds(packed, positive, positive + channels, c);
  }
  std::memcpy(packed.stages.data(), &c, sizeof c);
  return ok_status();
}

}  // namespace rk::kernels
