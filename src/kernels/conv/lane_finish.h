// SPDX-License-Identifier: Apache-2.0
// What lane_tiles.h does with 16 finished sums: loops over lanes that compilers turn into vector instructions of the
// frame they stand in (RK_ISA_BEGIN). Private to kernels/conv.
//
// A newcomer's mistake: the int8 stages round by a fused multiply-add onto a magic number, which is exact only below the
// limits of exact_stages.h and only in the default rounding mode; Isa::DefaultRounding sees to the latter.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/conv/conv.h"
#include "kernels/conv/conv_f16.h"
#include "kernels/conv/lane_tiles.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

template <typename Real>
inline constexpr Real kRounding = sizeof(Real) == 4 ? Real(12582912.0) : Real(6755399441055744.0);

// The stages of conv.h in Real. kTotals: the sums end with the sum of the inputs, which meets the weight offsets.
template <typename Real, bool kTotals>
class FinishI8 {
 public:
  FinishI8(const PackedConvI8& packed, const LaneConstants& constants)
      : FinishI8(packed, packed.params, constants.totals) {}

  const int32_t* start(int64_t) const {
    alignas(64) static constexpr int32_t kZeros[2 * kLanes] = {};
    return kZeros;
  }

  void operator()(const int32_t* acc, int64_t block, const int8_t* residual, int8_t* output) const {
    const int32_t* const bias = bias_ + block * kLanes;
    const int32_t* const multiplier = multiplier_ + block * kLanes;
    int32_t sum[kLanes];
    for (int c = 0; c < kLanes; ++c) sum[c] = acc[c];
    if constexpr (kTotals) {
      // Modulo 2^32: the true sum fits.
      const auto total = static_cast<uint32_t>(acc[kLanes]);
      const int32_t* const offset = offset_ + block * kLanes;
      for (int c = 0; c < kLanes; ++c) {
        sum[c] = static_cast<int32_t>(static_cast<uint32_t>(sum[c]) +
                                      total * static_cast<uint32_t>(offset[c]));
      }
    }
    Real v[kLanes];
    for (int c = 0; c < kLanes; ++c) {
      const Real with_bias = static_cast<Real>(sum[c]) + static_cast<Real>(bias[c]);
      const Real r = round(with_bias, static_cast<Real>(multiplier[c]) * Real(0x1p-14));
      v[c] = clamp(r, low_, high_);
    }
    if (residual != nullptr) {
      int32_t e[kLanes];
      for (int c = 0; c < kLanes; ++c) e[c] = residual[c];
      for (int c = 0; c < kLanes; ++c)
        v[c] += round(static_cast<Real>(e[c]) + residual_offset_, residual_scale_);
    }
    int32_t y[kLanes];
    for (int c = 0; c < kLanes; ++c) {
      const Real r = round(v[c] < low_after_ ? low_after_ : v[c], out_scale_) + zero_point_;
      y[c] = static_cast<int32_t>(clamp(r, Real(-128), Real(127)));
    }
    for (int c = 0; c < kLanes; ++c) output[c] = static_cast<int8_t>(y[c]);
  }

 private:
  // An activation that is not there is a bound that no value reaches.
  FinishI8(const PackedConvI8& packed, const ConvI8Params& p, const int32_t* offset)
      : bias_(reinterpret_cast<const int32_t*>(packed.bias.data())),
        multiplier_(reinterpret_cast<const int32_t*>(packed.multiplier.data())),
        offset_(offset),
        low_(p.activation != Activation::kNone ? Real(0) : -kRounding<Real>),
        high_(p.activation == Activation::kClip ? static_cast<Real>(p.clip) : kRounding<Real>),
        residual_offset_(static_cast<Real>(p.residual_offset)),
        residual_scale_(exact(p.residual_scale)),
        low_after_(p.relu_after_add ? Real(0) : -kRounding<Real>),
        out_scale_(exact(p.output.scale)),
        zero_point_(static_cast<Real>(p.output.zero_point)) {}

  static Real exact(ScaleShift s) {
    return static_cast<Real>(s.scale) / static_cast<Real>(uint64_t{1} << s.shift);
  }
  static Real round(Real value, Real scale) {
    return fused(value, scale, kRounding<Real>) - kRounding<Real>;
  }
  static Real clamp(Real v, Real low, Real high) {
    v = v < low ? low : v;
    return v > high ? high : v;
  }

  const int32_t* const bias_;
  const int32_t* const multiplier_;
  const int32_t* const offset_;
  const Real low_, high_;  // before the residual
  const Real residual_offset_, residual_scale_;
  const Real low_after_;
  const Real out_scale_, zero_point_;
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

template <typename Isa, typename Real>
inline void run_lanes_i8(const ConvI8Args& args, const LaneConstants& constants, IndexRange units) {
  LaneScratch<Isa> scratch;
  const FinishI8<Real, (Isa::kRow > kLanes)> finish(*args.packed, constants);
  const auto border = static_cast<typename Isa::Lane>(args.packed->params.input_zero_point);
  LaneConv<Isa, FinishI8<Real, (Isa::kRow > kLanes)>, ConvI8Args>(args, finish, border)
      .run(units, scratch);
}

inline LaneConstants lane_constants(const ConvI8Args& args) {
  LaneConstants constants;
  std::memcpy(&constants, args.packed->constants.data(), sizeof constants);
  return constants;
}

template <typename Isa>
inline void run_lanes_i8(const ConvI8Args& args, IndexRange units) {
  const LaneConstants constants = lane_constants(args);
  const typename Isa::DefaultRounding mode;
  if (constants.float_route) {
    run_lanes_i8<Isa, float>(args, constants, units);
  } else {
    run_lanes_i8<Isa, double>(args, constants, units);
  }
}

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
