// SPDX-License-Identifier: Apache-2.0
// The Isa of lane_tiles.h for fp16 convolutions summed in float32, over any float vector with fused multiply-add.
// Half::widen and Half::narrow convert 16 lanes. Private to kernels/conv.
#pragma once

#include <cstdint>

#include "kernels/conv/blocking.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

template <typename Float, typename Half>
struct LanesF16 : Half {
  using FloatLanes = Float;
  using Stored = uint16_t;
  using Lane = float;
  using Weight = float;
  using Sum = float;
  static constexpr int kStep = 1, kTapStep = 1, kPixels = 6, kRow = kHostBlock;
  static constexpr int kVectors = kHostBlock / Float::kLanes;

  struct Weights {
    typename Float::Vector w[kVectors];
    explicit Weights(const float* from) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) w[v] = Float::load(from + v * Float::kLanes);
    }
  };
  using TapWeights = Weights;

  struct Sums {
    typename Float::Vector sum[kVectors];
    void load(const float* from) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[v] = Float::load(from + v * Float::kLanes);
    }
    void store(float* to) const {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) Float::store(to + v * Float::kLanes, sum[v]);
    }
    void add(const float* x, const Weights& w) {
      const typename Float::Vector spread = Float::spread(x);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[v] = Float::fused(spread, w.w[v], sum[v]);
    }
    void add_taps(const float* x, const int32_t* tap, const Weights& w) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        sum[v] = Float::fused(Float::load(x + *tap + v * Float::kLanes), w.w[v], sum[v]);
    }
    void load_taps(const float* from) { load(from); }
    void store_taps(float* to) const { store(to); }
  };
};

}  // namespace
}  // namespace rk::kernels

RK_ISA_END
