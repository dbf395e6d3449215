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

// Simple enough that portable loops reach the speed of memory.
void clamp_f32(const ClampF32Args& args, IndexRange units) {
  const Run run = run_of(units, args.elements);
  // Copies: what is stored could alias the arguments.
  const ClampF32Args::Bounds before = args.before, after = args.after;
  float* const y = args.values;
  const float* const addend = args.addend;
  const auto clamp = [](float v, ClampF32Args::Bounds bounds) {
    v = v < bounds.low ? bounds.low : v;
    return v > bounds.high ? bounds.high : v;
  };
  if (addend == nullptr) {
    for (int64_t e = run.begin; e < run.end; ++e) y[e] = clamp(clamp(y[e], before) + 0.0f, after);
    return;
  }
  for (int64_t e = run.begin; e < run.end; ++e)
    y[e] = clamp(clamp(y[e], before) + addend[e], after);
}

}  // namespace rk::kernels
