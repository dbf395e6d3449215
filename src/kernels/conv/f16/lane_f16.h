// SPDX-License-Identifier: Apache-2.0
// fp16 convolutions through lane_tiles.h, summed in float32: its Isa and what it does with finished sums, over any float vector with fused multiply-add.
// Half::widen and Half::narrow convert 16 lanes. Private to kernels/conv.
#pragma once

#include <cstdint>

#include "kernels/conv/common/bands.h"
#include "kernels/conv/common/lane_limits.h"
#include "kernels/conv/common/lane_tiles.h"
#include "kernels/conv/conv_f16.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

// Vectors whose lanes an instruction can multiply by: PixelTile loads pixels with them.
template <typename Float>
struct LoadedPixels {};
template <typename Float>
requires requires { &Float::template fused_lane<0>; }
struct LoadedPixels<Float> {
  using Loaded = typename Float::Vector;
  static constexpr int kLoaded = Float::kLanes;
  static Loaded load(const float* from) { return Float::load(from); }
};

template <typename Float, typename Half>
struct LanesF16 : Half, LoadedPixels<Float> {
  using FloatLanes = Float;
  using Stored = uint16_t;
  using Lane = float;
  using Weight = float;
  using Sum = float;
  static constexpr int kVectors = kHostBlock / Float::kLanes;
  static constexpr int kStep = 1, kTapStep = 1, kPixels = kVectors == 4 ? 5 : 6, kRow = kHostBlock;

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
    template <int kLane>
    void add_lane(typename Float::Vector x, const Weights& w) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        sum[v] = Float::template fused_lane<kLane>(w.w[v], x, sum[v]);
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

// Activation, residual, activation, one rounding. A comparison that is false for NaN, so that NaN stays.
template <typename Isa>
class FinishF16 {
 public:
  explicit FinishF16(const PackedConvF16& packed)
      : bias_(reinterpret_cast<const float*>(packed.bias.data())),
        low_(packed.params.activation != Activation::kNone ? 0.0f : -__builtin_inff()),
        high_(packed.params.activation == Activation::kClip ? packed.params.clip
                                                            : __builtin_inff()),
        low_after_(packed.params.relu_after_add ? 0.0f : -__builtin_inff()) {}

  const float* start(int64_t block) const { return bias_ + block * kLanes; }

  void operator()(const float* acc, int64_t, const uint16_t* residual, uint16_t* output) const {
    using Float = typename Isa::FloatLanes;
    alignas(64) float v[kLanes], e[kLanes];
    if (residual != nullptr) Isa::widen(residual, e);
#pragma GCC unroll 4
    for (int c = 0; c < kLanes; c += Float::kLanes) {
      auto r = Float::at_most(Float::at_least(Float::load(acc + c), low_), high_);
      if (residual != nullptr) r = Float::add(r, Float::load(e + c));
      Float::store(v + c, Float::at_least(r, low_after_));
    }
    Isa::narrow(v, output);
  }

 private:
  const float* const bias_;
  const float low_, high_;  // before the residual
  const float low_after_;
};

// Lanes of several groups in one vector would meet each other's infinities: the generic kernel keeps them apart.
inline bool lanes_f16_accept(const ConvFilter& filter) {
  return (filter.groups == 1 || filter.depthwise()) && fits_bands(filter, kLaneScratchPixels) &&
         int64_t{filter.kernel.h} * filter.kernel.w <= kMaxLaneTaps;
}

template <typename Isa>
inline void run_lanes_f16(const ConvF16Args& args, IndexRange units) {
  static_assert(kLaneTile == kConvF16Tile);
  LaneScratch<Isa> scratch;
  const FinishF16<Isa> finish(*args.packed);
  LaneConv<Isa, FinishF16<Isa>, ConvF16Args>(args, finish, 0.0f).run(units, scratch);
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END
