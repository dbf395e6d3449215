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
      : p_(packed.params),
        bias_(reinterpret_cast<const int32_t*>(packed.bias.data())),
        multiplier_(reinterpret_cast<const int32_t*>(packed.multiplier.data())),
        offset_(constants.totals),
        residual_scale_(exact(p_.residual_scale)),
        out_scale_(exact(p_.output.scale)) {}

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
      v[c] = round(with_bias, static_cast<Real>(multiplier[c]) * Real(0x1p-14));
    }
    if (p_.activation != Activation::kNone) relu(v);
    if (p_.activation == Activation::kClip) {
      const Real clip = static_cast<Real>(p_.clip);
      for (int c = 0; c < kLanes; ++c) v[c] = v[c] > clip ? clip : v[c];
    }
    if (residual != nullptr) {
      const Real offset = static_cast<Real>(p_.residual_offset);
      for (int c = 0; c < kLanes; ++c)
        v[c] += round(static_cast<Real>(int32_t{residual[c]}) + offset, residual_scale_);
    }
    if (p_.relu_after_add) relu(v);
    const Real zero_point = static_cast<Real>(p_.output.zero_point);
    int32_t y[kLanes];
    for (int c = 0; c < kLanes; ++c) {
      Real r = round(v[c], out_scale_) + zero_point;
      r = r < Real(-128) ? Real(-128) : r;
      r = r > Real(127) ? Real(127) : r;
      y[c] = static_cast<int32_t>(r);
    }
    for (int c = 0; c < kLanes; ++c) output[c] = static_cast<int8_t>(y[c]);
  }

 private:
  static Real exact(ScaleShift s) {
    return static_cast<Real>(s.scale) / static_cast<Real>(uint64_t{1} << s.shift);
  }
  static Real round(Real value, Real scale) {
    return fused(value, scale, kRounding<Real>) - kRounding<Real>;
  }
  static void relu(Real* v) {
    for (int c = 0; c < kLanes; ++c) v[c] = v[c] < Real(0) ? Real(0) : v[c];
  }

  const ConvI8Params p_;
  const int32_t* const bias_;
  const int32_t* const multiplier_;
  const int32_t* const offset_;
  const Real residual_scale_, out_scale_;
};

// Activation, residual, activation, one rounding. A comparison that is false for NaN, so that NaN stays.
template <typename Isa>
class FinishF16 {
 public:
  explicit FinishF16(const PackedConvF16& packed)
      : p_(packed.params), bias_(reinterpret_cast<const float*>(packed.bias.data())) {}

  const float* start(int64_t block) const { return bias_ + block * kLanes; }

  void operator()(const float* acc, int64_t, const uint16_t* residual, uint16_t* output) const {
    alignas(64) float v[kLanes];
    const bool activated = p_.activation != Activation::kNone;
    for (int c = 0; c < kLanes; ++c) v[c] = activated && acc[c] < 0.0f ? 0.0f : acc[c];
    if (p_.activation == Activation::kClip) {
      for (int c = 0; c < kLanes; ++c) v[c] = v[c] > p_.clip ? p_.clip : v[c];
    }
    if (residual != nullptr) {
      alignas(64) float e[kLanes];
      Isa::widen(residual, e);
      for (int c = 0; c < kLanes; ++c) v[c] += e[c];
    }
    if (p_.relu_after_add) {
      for (int c = 0; c < kLanes; ++c) v[c] = v[c] < 0.0f ? 0.0f : v[c];
    }
    Isa::narrow(v, output);
  }

 private:
  const ConvF16Params p_;
  const float* const bias_;
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
