// SPDX-License-Identifier: Apache-2.0
// Element-wise kernels in portable loops.
#include <cstring>

#include "kernels/eltwise/eltwise.h"
#include "kernels/half_lanes.h"

namespace rk::kernels {
namespace {

struct Run {
  int64_t begin;
  int64_t end;
};

Run run_of(IndexRange units, int64_t elements) {
  const int64_t end = units.end * kEltwiseRun;
  return {units.begin * kEltwiseRun, end < elements ? end : elements};
}

constexpr int64_t kStrip = 64;  // elements whose sums stay in the first-level cache

}  // namespace

void sum_i8__generic(const SumI8Args& args, IndexRange units) {
  const Run run = run_of(units, args.elements);
  for (int64_t strip = run.begin; strip < run.end; strip += kStrip) {
    const int64_t count = run.end - strip < kStrip ? run.end - strip : kStrip;
    int64_t sums[kStrip] = {};
    for (int32_t i = 0; i < args.input_count; ++i) {
      const InputStage stage = args.inputs[i].stage;
      const int8_t* const x = args.inputs[i].data + strip;
      for (int64_t e = 0; e < count; ++e) sums[e] += to_inner(x[e], stage);
    }
    for (int64_t e = 0; e < count; ++e) {
      const int64_t v = args.relu && sums[e] < 0 ? 0 : sums[e];
      args.output[strip + e] = to_output(v, args.output_stage);
    }
  }
}

void table_i8__generic(const TableI8Args& args, IndexRange units) {
  const Run run = run_of(units, args.elements);
  for (int64_t e = run.begin; e < run.end; ++e) args.output[e] = args.table[args.input[e] + 128];
}

void table_f16__generic(const TableF16Args& args, IndexRange units) {
  const Run run = run_of(units, args.elements);
  for (int64_t e = run.begin; e < run.end; ++e) args.output[e] = args.table[args.input[e]];
}

void sum_f16__generic(const SumF16Args& args, IndexRange units) {
  constexpr int kLanes = 16;
  const Run run = run_of(units, args.elements);
  for (int64_t e = run.begin; e < run.end; e += kLanes) {
    const int64_t count = run.end - e < kLanes ? run.end - e : kLanes;
    const size_t bytes = static_cast<size_t>(count) * sizeof(uint16_t);
    uint16_t half[kLanes] = {};
    float a[kLanes];
    std::memcpy(half, args.a + e, bytes);
    widen_lanes<kLanes>(half, a);
    if (args.b != nullptr) {
      float b[kLanes];
      std::memcpy(half, args.b + e, bytes);
      widen_lanes<kLanes>(half, b);
      for (int i = 0; i < kLanes; ++i) a[i] += b[i];
    }
    if (args.relu) {
      for (int i = 0; i < kLanes; ++i) a[i] = a[i] < 0.0f ? 0.0f : a[i];
    }
    narrow_lanes<kLanes>(a, half);
    std::memcpy(args.output + e, half, bytes);
  }
}

namespace {

float activate(const ActivateF16Args& args, float x) {
  if (args.kind == ActivationF16::kLeakyRelu) return x >= 0 ? x : args.alpha * x;
  const float line = args.alpha * x + args.beta;
  const float part = line < 0 ? 0.0f : line > 1 ? 1.0f : line;
  return args.kind == ActivationF16::kHardSwish ? x * part : part;
}

}  // namespace

void activate_f16__generic(const ActivateF16Args& args, IndexRange units) {
  const Run run = run_of(units, args.elements);
  for (int64_t e = run.begin; e < run.end; ++e)
    args.output[e] = float_to_half(activate(args, half_to_float(args.input[e])));
}

namespace {

using Floats = float __attribute__((vector_size(16)));
using Ints = int32_t __attribute__((vector_size(16)));

// Clamps values, four vectors at a time, and keeps their extremes if wanted.
template <bool kExtremes>
class Clamping {
 public:
  static constexpr int kVectors = 4;
  static constexpr int64_t kStrip = kVectors * sizeof(Floats) / sizeof(float);

  explicit Clamping(const ClampF32Args& args)
      : before_low_(Floats{} + args.before.low),
        before_high_(Floats{} + args.before.high),
        after_low_(Floats{} + args.after.low),
        after_high_(Floats{} + args.after.high) {
    for (int v = 0; v < kVectors; ++v) {
      low_[v] = Floats{} + __builtin_inff();
      high_[v] = Floats{} - __builtin_inff();
    }
  }

  // A strip; `addend` may be null.
  void take(float* values, const float* addend) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      Floats y, more = {};
      std::memcpy(&y, values + v * 4, sizeof y);
      if (addend != nullptr) std::memcpy(&more, addend + v * 4, sizeof more);
      y = at_most(at_least(y, before_low_), before_high_) + more;
      y = at_most(at_least(y, after_low_), after_high_);
      std::memcpy(values + v * 4, &y, sizeof y);
      if constexpr (kExtremes) {
        low_[v] = y < low_[v] ? y : low_[v];
        high_[v] = y > high_[v] ? y : high_[v];
        nan_[v] |= ~((y <= 0.0f) | (y >= 0.0f));  // in neither half
      }
    }
  }

  ClampF32Args::Bounds extremes() const {
    ClampF32Args::Bounds out = {low_[0][0], high_[0][0]};
    for (int i = 0; i < kStrip; ++i) {
      const int v = i / 4, lane = i % 4;
      if (nan_[v][lane] != 0) return {__builtin_nanf(""), __builtin_nanf("")};
      out.low = low_[v][lane] < out.low ? low_[v][lane] : out.low;
      out.high = high_[v][lane] > out.high ? high_[v][lane] : out.high;
    }
    return out;
  }

 private:
  static Floats at_least(Floats v, Floats bound) { return v < bound ? bound : v; }
  static Floats at_most(Floats v, Floats bound) { return v > bound ? bound : v; }

  const Floats before_low_, before_high_, after_low_, after_high_;
  Floats low_[kVectors], high_[kVectors];
  Ints nan_[kVectors] = {};
};

template <bool kExtremes>
ClampF32Args::Bounds clamp(const ClampF32Args& args, Run run) {
  Clamping<kExtremes> clamping(args);
  constexpr int64_t kStrip = Clamping<kExtremes>::kStrip;
  int64_t e = run.begin;
  for (; e + kStrip <= run.end; e += kStrip)
    clamping.take(args.values + e, args.addend != nullptr ? args.addend + e : nullptr);
  if (e < run.end) {
    // What does not exist repeats the last value: it changes no extreme.
    float values[kStrip], addend[kStrip] = {};
    for (int64_t i = 0; i < kStrip; ++i) {
      const int64_t at = e + i < run.end ? e + i : run.end - 1;
      values[i] = args.values[at];
      if (args.addend != nullptr) addend[i] = args.addend[at];
    }
    clamping.take(values, addend);
    std::memcpy(args.values + e, values, static_cast<size_t>(run.end - e) * sizeof(float));
  }
  return clamping.extremes();
}

}  // namespace

ClampF32Args::Bounds clamp_f32(const ClampF32Args& args, IndexRange units) {
  const Run run = run_of(units, args.elements);
  return args.extremes ? clamp<true>(args, run) : clamp<false>(args, run);
}

}  // namespace rk::kernels
