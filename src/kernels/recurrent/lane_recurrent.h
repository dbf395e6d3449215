// SPDX-License-Identifier: Apache-2.0
// The recurrent family over any float vector with fused multiply-add (x86_avx512_lanes.h, x86_avx2.h, arm64_neon.h).
// Included in the frame of an instruction set, after everything else. Private to kernels/recurrent.
#pragma once

#include "kernels/lane_exp.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

template <typename Float>
inline void row_product_lanes(const RowProductArgs& args) {
  constexpr int kVectors = static_cast<int>(kRecurrentColumns) / Float::kLanes;
  for (int64_t i = 0; i < args.panel_count; ++i) {
    const int64_t panel = args.backwards ? args.panel_count - 1 - i : i;
    const float* weights = args.panels + panel * args.depth * kRecurrentColumns;
    typename Float::Vector sum[kVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v)
      sum[v] = Float::load(args.start + panel * kRecurrentColumns + v * Float::kLanes);
    for (int64_t k = 0; k < args.depth; ++k, weights += kRecurrentColumns) {
      const typename Float::Vector x = Float::all(args.x[k]);
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v)
        sum[v] = Float::fused(x, Float::load(weights + v * Float::kLanes), sum[v]);
    }
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v)
      Float::store(args.y + panel * kRecurrentColumns + v * Float::kLanes, sum[v]);
  }
}

// 1 / (1 + e^-x). Beyond 88 the result is the same float.
template <typename Float>
inline typename Float::Vector sigmoid_lanes(typename Float::Vector x) {
  const auto bounded = Float::at_most(Float::at_least(x, -87.0f), 87.0f);
  const auto one = Float::all(1.0f);
  return Float::div(one, Float::add(one, exp_lanes<Float>(Float::sub(Float::all(0.0f), bounded))));
}

// E / (E + 2) with E = e^2x - 1. Beyond 10 the result is 1.
template <typename Float>
inline typename Float::Vector tanh_lanes(typename Float::Vector x) {
  const auto bounded = Float::at_most(Float::at_least(x, -10.0f), 10.0f);
  const auto e = exp_minus_one_lanes<Float>(Float::add(bounded, bounded));
  return Float::div(e, Float::add(e, Float::all(2.0f)));
}

template <typename Float>
inline void lstm_cell_lanes(const LstmCellArgs& args) {
  const float *const in = args.gates, *const out = in + args.count;
  const float *const forget = out + args.count, *const candidate = forget + args.count;
  for (int64_t i = 0; i < args.count; i += Float::kLanes) {
    const auto sigmoid_of = [&](const float* gate) {
      return sigmoid_lanes<Float>(Float::load(gate + i));
    };
    const auto kept = Float::mul(sigmoid_of(forget), Float::load(args.c + i));
    const auto made = tanh_lanes<Float>(Float::load(candidate + i));
    const auto c = Float::fused(sigmoid_of(in), made, kept);
    Float::store(args.c + i, c);
    Float::store(args.h + i, Float::mul(sigmoid_of(out), tanh_lanes<Float>(c)));
  }
}

template <typename Float>
inline void gru_cell_lanes(const GruCellArgs& args) {
  for (int64_t i = 0; i < args.count; i += Float::kLanes) {
    const auto update = sigmoid_lanes<Float>(Float::load(args.gates + i));
    auto argument = Float::load(args.from_input + i);
    if (args.from_hidden != nullptr) {
      const auto reset = sigmoid_lanes<Float>(Float::load(args.gates + args.count + i));
      argument = Float::fused(reset, Float::load(args.from_hidden + i), argument);
    }
    const auto candidate = tanh_lanes<Float>(argument);
    const auto made = Float::mul(Float::sub(Float::all(1.0f), update), candidate);
    Float::store(args.h + i, Float::fused(update, Float::load(args.h + i), made));
  }
}

template <typename Float>
inline void reset_state_lanes(const ResetStateArgs& args) {
  for (int64_t i = 0; i < args.count; i += Float::kLanes) {
    const auto gate = sigmoid_lanes<Float>(Float::load(args.gate + i));
    Float::store(args.out + i, Float::mul(gate, Float::load(args.h + i)));
  }
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END
