// SPDX-License-Identifier: Apache-2.0
// When the stages after an int8 convolution's sum may run in floating point: rounding to nearest even is then a fused
// multiply-add onto 1.5 * 2^23 (float) or 1.5 * 2^52 (double), exact as long as every value stays below these limits.
// Private to kernels/conv.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/conv/common/lane_limits.h"
#include "kernels/conv/conv.h"
#include "kernels/conv/i8/stages.h"

namespace rk::kernels {

struct StageLimits {
  int64_t stage;
  int64_t result;
};
inline constexpr StageLimits kFloatLimits = {int64_t{1} << 22, int64_t{1} << 22};
inline constexpr StageLimits kDoubleLimits = {int64_t{1} << 50, INT32_MAX};

inline int64_t magnitude(int64_t value) { return value < 0 ? -value : value; }

// Every value of every stage stays below the limit, for any input.
inline bool stages_below(const PackedConvI8& packed, const int32_t* multiplier,
                         StageLimits limits) {
  const ConvI8Params& p = packed.params;
  if (packed.acc_bound >= limits.stage) return false;
  int64_t v = 0;
  for (int32_t c = 0; c < p.filter.out_channels; ++c) {
    const int64_t inner = inner_bound(p, packed.acc_bound, multiplier[c]);
    if (inner < 0 || inner >= limits.stage) return false;
    v = std::max(v, stages_bound(p, packed.acc_bound, multiplier[c]));
  }
  if (v >= limits.stage) return false;
  if (p.activation == Activation::kClip && magnitude(p.clip) >= limits.stage) return false;
  if (p.has_residual) {
    const int64_t residual = scaled_bound(input_bound(p.residual_offset), p.residual_scale);
    if (input_bound(p.residual_offset) >= limits.stage || residual >= limits.stage) return false;
    if (magnitude(p.residual_scale.scale) >= 1 << 24) return false;
    v += residual;
  }
  if (magnitude(p.output.scale.scale) >= 1 << 24) return false;
  const int64_t last = scaled_bound(v, p.output.scale);
  return v < limits.stage && last >= 0 && last < limits.result;
}

// The stages of this layer, the unusual ones too.
struct ExactRoutes {
  bool in_double = false, in_float = false;
};
inline ExactRoutes exact_routes(const PackedConvI8& packed) {
  if (const StageConstants* const stages = stage_constants(packed))
    return {stages->double_route, stages->float_route};
  const auto* const multiplier = reinterpret_cast<const int32_t*>(packed.multiplier.data());
  return {stages_below(packed, multiplier, kDoubleLimits),
          stages_below(packed, multiplier, kFloatLimits)};
}

// Rounding is monotone: an activation that is the last thing before the output stage is a clamp of
// the result. Only where the output scale is not negative.
inline ByteClamps byte_clamps(const ConvI8Params& p) {
  ByteClamps clamps;
  if (!p.has_residual && p.activation != Activation::kNone) clamps.low = to_output(0, p.output);
  if (!p.has_residual && p.activation == Activation::kClip)
    clamps.high = to_output(p.clip, p.output);
  if (!p.relu_after_add) return clamps;
  clamps.low = to_output(0, p.output);
  clamps.high = std::max(clamps.high, clamps.low);
  return clamps;
}

// With sums that start at kSumStart: (1.5 * 2^23 + sum) * m + addend is exactly 1.5 * 2^23 + sum *
// m before it is rounded. False where a float does not hold the addend.
inline bool start_addend(double m, float& addend) {
  constexpr double kStart = 12582912;
  addend = static_cast<float>(kStart - kStart * m);
  return static_cast<double>(addend) == kStart - kStart * m;
}

}  // namespace rk::kernels
