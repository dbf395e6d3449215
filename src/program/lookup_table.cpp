// SPDX-License-Identifier: Apache-2.0
#include "program/lookup_table.h"

#include <algorithm>
#include <cmath>

#include "base/fixed_point.h"

namespace rk::program {
namespace {

constexpr float kLargestEntry = 32767;
constexpr int32_t kIndexEnd = 16384;  // the index where a table ends
constexpr int32_t kEntryShift = 5;    // 512 steps of 32 to it

// Note: float32 and this order of operations because the vendor's compiler has them: ties would fall elsewhere.
float sigmoid(float x, float) { return static_cast<float>(1 / (1 + std::exp(-double{x}))); }
float tanh_of(float x, float) { return std::tanh(x); }
float hard_sigmoid(float x, float) { return std::clamp(x * (1 / 6.0F) + 0.5F, 0.0F, 1.0F); }
// The vendor's factor is not 1/6.
float hard_swish(float x, float) { return x * std::clamp(x * 0.1666667F + 0.5F, 0.0F, 1.0F); }
float swish(float x, float beta) { return x * (1 / (1 + std::exp(-beta * x))); }
float gelu(float x, float) {
  return x * 0.5F * (1 + std::erf(x / static_cast<float>(std::sqrt(2.0))));
}
float mish(float x, float) { return x * std::tanh(std::log(1 + std::exp(x))); }
float elu(float x, float) { return x < 0 ? std::exp(x) - 1 : x; }
float softplus(float x, float) { return std::log1p(std::exp(x)); }

constexpr float kSoftplusRise = 0.98201379F;  // sigmoid(4)

constexpr LookupFunction kFunctions[] = {
    {"Sigmoid", "Sigmoid", 6.31F, 0, 1, 0, sigmoid},
    {"Tanh", "Tanh", 3.02F, 0, 1, 0, tanh_of},
    // That of alpha 1/6 and beta 1/2; others go into the index.
    {"HardSigmoid", "HardSigmoid", 3, 0, 1, 0, hard_sigmoid},
    {"HardSwish", "HardSwish", 3, 0, 3, 1, hard_swish},
    {"exSwish", "ExSwish", 5.8F, 0, 0, 1, swish},
    {"exGelu", "ExGelu", 2.8284271F, 0, 0, 1, gelu},
    {"Gelu", "ExGelu", 2.8284271F, 0, 0, 1, gelu},
    {"exMish", "ExMish", 5, 1, 0, 1, mish},
    {"Mish", "ExMish", 5, 1, 0, 1, mish},
    {"Elu", "Elu", 5, 5, 1, 1, elu},
    {"Softplus", "Softplus", 4, 0, 0, kSoftplusRise, softplus},
};

std::vector<int16_t> entries(const LookupFunction& f, float beta, float start) {
  const float step = f.half_range / 512, unit = table_top(f, beta) / kLargestEntry;
  std::vector<int16_t> out;
  for (size_t i = 0; i < kLookupEntries; ++i) {
    const float x = start + step * static_cast<float>(i);
    const double entry = round_even(f.value(x, beta) / unit);
    out.push_back(static_cast<int16_t>(std::clamp(entry, -32768.0, 32767.0)));
  }
  return out;
}

ScaleShift slope(double rise) {
  return rise == 0 ? ScaleShift{0, 0} : to_scale_shift(rise).value();
}

// The unit of the sums as the vendor's compiler has it: what the 15 bits stand for that would bring them to the result's
// scale without a table.
double rounded_unit(double unit, float out_scale) {
  const auto scale = to_scale_shift(static_cast<float>(unit) / out_scale);
  return scale.ok() ? std::ldexp(static_cast<double>(scale->scale), -scale->shift) * out_scale
                    : unit;
}

// HardSigmoid is 0 at -beta / alpha and 1 at (1 - beta) / alpha. In float32, as above.
float ramp_center(float alpha, float beta) {
  const float steps = 1 / alpha;
  const float zero = -(beta * steps), one = (1 - beta) * steps;
  return -((zero + one) / 2);
}

}  // namespace

const LookupFunction* find_lookup_function(std::string_view op) {
  const auto* found = std::ranges::find(kFunctions, op, &LookupFunction::op);
  return found == std::end(kFunctions) ? nullptr : found;
}

const LookupFunction* lookup_function_of(std::string_view step_type) {
  for (const std::string_view prefix : {"ConvTranspose", "Conv"}) {
    if (!step_type.starts_with(prefix)) continue;
    const std::string_view name = step_type.substr(prefix.size());
    const auto* found = std::ranges::find_if(
        kFunctions, [&](const LookupFunction& f) { return f.op == name || f.suffix == name; });
    return found == std::end(kFunctions) ? nullptr : found;
  }
  return nullptr;
}

float table_top(const LookupFunction& f, float beta) {
  if (f.top != 0) return f.top;
  // Of x * sigmoid(beta * x) with another beta the vendor's compiler takes the argument for the value.
  if (beta != 1) return f.half_range - f.center;
  return f.value(f.half_range - f.center, beta);
}

Result<LookupConstants> make_lookup(const LookupSpec& spec, double unit, float out_scale,
                                    bool addend_first) {
  const LookupFunction& f = *spec.function;
  const bool ramps = f.op == "HardSigmoid";
  const float beta = f.op == "exSwish" ? spec.beta : 1;
  const double half_range = ramps ? 0.5 / spec.alpha : f.half_range;
  const float center = ramps ? ramp_center(spec.alpha, spec.beta) : f.center;
  constexpr int32_t kMostCoarser = 8;
  LookupConstants out;
  LookupStage& s = out.stage;
  const double v = rounded_unit(unit, out_scale);
  const double before = center / static_cast<float>(v);
  for (;; ++out.coarser_bits) {
    RK_ASSIGN(const ScaleShift index,
              to_scale_shift(kIndexEnd * std::ldexp(v, out.coarser_bits) / half_range));
    s.multiplier = index.scale;
    s.shift = index.shift;
    // Rounded in the finest unit first.
    const double finest = addend_first ? before : round_even(before * index.scale);
    const double addend = std::ldexp(finest, -out.coarser_bits);
    if (std::fabs(addend) <= INT32_MAX) {
      const auto rounded = static_cast<int64_t>(round_even(addend));
      s.addend = addend_first ? rounded * s.multiplier : rounded;
      break;
    }
    if (out.coarser_bits == kMostCoarser)
      return unsupported(
          str("the offset ", center, " of its table does not fit 32 bits at scale ", unit));
  }
  s.start = -kIndexEnd;
  s.end = kIndexEnd;
  s.entry_shift = kEntryShift;
  s.low = entries(f, beta, -f.half_range - f.center);
  s.high = entries(f, beta, -f.center);
  // Below its table Gelu stays at about 0.
  if (f.suffix == "ExGelu") s.low.front() = -1;
  const double top = table_top(f, beta);
  s.below = {0, 0};
  s.above = slope(2 * double{f.rise} * half_range / top);
  RK_ASSIGN(out.output, to_scale_shift(top / (double{kLargestEntry} * out_scale)));
  return out;
}

}  // namespace rk::program
