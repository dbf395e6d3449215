// SPDX-License-Identifier: Apache-2.0
// The stages from the sum to the addition of an int8 convolution where they are not the usual ones: a lookup table, a
// slope below zero, multipliers of another unit. The integer reference, its bounds and the constants of vector kernels.
// Private to kernels/conv.
#pragma once

#include <cstdint>

#include "kernels/conv/conv.h"

namespace rk::kernels {

// Tables are whole, shifts in their range, at most one activation.
Status check_stages(const ConvI8Params& params);

// The largest |v| before the addition where |acc + bias| <= bound; negative when 64 bits do not hold some stage.
int64_t stages_bound(const ConvI8Params& params, int64_t bound, int32_t multiplier);

// Likewise of the numbers on the way there, as vector kernels go it.
int64_t inner_bound(const ConvI8Params& params, int64_t bound, int32_t multiplier);

int64_t look_up(const ConvLookup& lookup, int64_t v);

// v before the addition, of p = (acc + bias[c]) * m[c] of one channel.
inline int64_t first_stages(const ConvI8Params& params, int64_t p, int32_t channel) {
  if (params.slope && p < 0) {
    const ConvSlope& s = *params.slope;
    const auto c = static_cast<size_t>(channel);
    // Lanes beyond the last channel have no factor, and nobody reads them.
    const int16_t factor = s.factor[s.factor.size() == 1 || c >= s.factor.size() ? 0 : c];
    return scale_round(scale_round(p, 1, s.negative_multiplier_shift), factor, s.negative_shift);
  }
  const int64_t v = scale_round(p, 1, params.multiplier_shift);
  if (params.slope) return scale_round(v, 1, params.slope->positive_shift);
  return params.lookup ? look_up(*params.lookup, v) : v;
}

inline constexpr size_t kLookupPairs = 2 * kLookupEntries - 1;

// What vector kernels want of a lookup or a slope, at the head of PackedConvI8::stages.
struct StageConstants {
  // Without residual and further activation: of a lookup without addend the index t is exact in float32, and a table
  // `bytes` holds what becomes of each; of a slope floats give the result but near halves, where it is made again in
  // doubles.
  bool float_route = false;
  bool double_route = false;  // exact in float64
  bool is_lookup = false;
  int32_t start = 0, end = 0, entry_shift = 0;  // of the table
  int32_t lowest = 0, highest = 0;  // there both lines have left int8; `bytes` goes no further
  double index_scale = 1, index_addend = 0;
  double below = 0, above = 0;
  double positive_scale = 1, negative_first_scale = 1;
  // Entry k: the table at start + (k << entry_shift) in the low half, the way to the next entry in the high half.
  const int32_t* pairs = nullptr;
  const int8_t* bytes = nullptr;           // of t = lowest and on; 3 more may be read
  const double* negative_scale = nullptr;  // factor / 2^negative_shift per output channel
  // From sums to the output's unit, per output channel, and how close to a whole number the result must be.
  const float *positive = nullptr, *negative = nullptr;
  float near = 0;
};

// Fills packed.stages; bounds, bias and multipliers are set already. Nothing to do for usual stages.
Status pack_stages(PackedConvI8& packed);

inline const StageConstants* stage_constants(const PackedConvI8& packed) {
  return packed.stages.size() == 0 ? nullptr
                                   : reinterpret_cast<const StageConstants*>(packed.stages.data());
}

}  // namespace rk::kernels
