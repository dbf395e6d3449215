// SPDX-License-Identifier: Apache-2.0
// What lane_tiles.h does with 16 finished int8 sums. Private to kernels/conv.
//
// Invariant: the stages round by a fused multiply-add onto a magic number, which is exact only below the
// limits of exact_stages.h and only in the default rounding mode; Isa::DefaultRounding sees to the latter.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/conv/common/lane_tiles.h"
#include "kernels/conv/conv.h"
#include "kernels/conv/i8/lane_lookup.h"
#include "kernels/conv/i8/lane_winograd.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

template <typename Real>
inline constexpr Real kRounding = sizeof(Real) == 4 ? Real(12582912.0) : Real(6755399441055744.0);

template <typename Real>
inline Real exact(ScaleShift s) {
  return static_cast<Real>(s.scale) / static_cast<Real>(uint64_t{1} << s.shift);
}

alignas(64) inline constexpr int32_t kNoSums[2 * kLanes] = {};

// o * sum x modulo 2^32, which the true sum fits.
template <bool kTotals>
inline void sums_with_offsets(const int32_t* acc, const int32_t* offset, int64_t block,
                              int32_t (&sum)[kLanes]) {
  for (int c = 0; c < kLanes; ++c) sum[c] = acc[c];
  if constexpr (kTotals) {
    const auto total = static_cast<uint32_t>(acc[kLanes]);
    for (int c = 0; c < kLanes; ++c) {
      sum[c] = static_cast<int32_t>(static_cast<uint32_t>(sum[c]) +
                                    total * static_cast<uint32_t>(offset[block * kLanes + c]));
    }
  }
}

// The stages of conv.h in doubles, lane by lane: the few layers whose sums could exceed 2^22. kTotals: the sums end with
// the sum of the inputs, which meets the weight offsets.
template <bool kTotals>
class FinishWide {
 public:
  FinishWide(const PackedConvI8& packed, const LaneConstants& constants)
      : FinishWide(packed, packed.params, constants.totals) {}

  const int32_t* start(int64_t) const { return kNoSums; }

  void operator()(const int32_t* acc, int64_t block, const int8_t* residual, int8_t* output) const {
    const int32_t* const bias = bias_ + block * kLanes;
    const int32_t* const multiplier = multiplier_ + block * kLanes;
    int32_t sum[kLanes];
    sums_with_offsets<kTotals>(acc, offset_, block, sum);
    double v[kLanes];
    for (int c = 0; c < kLanes; ++c) {
      const double with_bias = static_cast<double>(sum[c]) + bias[c];
      v[c] = clamp(round(with_bias, multiplier[c] * unit_), low_, high_);
    }
    if (residual != nullptr) {
      int32_t e[kLanes];
      for (int c = 0; c < kLanes; ++c) e[c] = residual[c];
      for (int c = 0; c < kLanes; ++c) v[c] += round(e[c] + residual_offset_, residual_scale_);
    }
    int32_t y[kLanes];
    for (int c = 0; c < kLanes; ++c) {
      const double r = round(v[c] < low_after_ ? low_after_ : v[c], out_scale_) + zero_point_;
      y[c] = static_cast<int32_t>(clamp(r, -128, 127));
    }
    for (int c = 0; c < kLanes; ++c) output[c] = static_cast<int8_t>(y[c]);
  }

  // The same for the pixels of one channel in vectors of doubles, without residual; base() is still
  // to be subtracted and the clamps to be applied. The sums have their bias where they need no
  // totals.
  template <typename Double, typename Numbers>
  Numbers by_pixels(Numbers sums, Numbers totals, int64_t channel) const {
    if constexpr (kTotals)
      sums = Double::add_product(sums, totals, offset_[channel], bias_[channel]);
    const auto magic = Double::all(kMagic);
    const auto scale = Double::all(multiplier_[channel] * unit_),
               out_scale = Double::all(out_scale_);
    const auto finished = [&](auto x) __attribute__((always_inline)) {
      const auto v = Double::sub(Double::fused(x, scale, magic), magic);
      return Double::fused(v, out_scale, magic);
    };
    return Double::low_bits(finished(Double::from_first(sums)), finished(Double::from_last(sums)));
  }
  int32_t base() const { return static_cast<int32_t>(-zero_point_); }

 private:
  static constexpr double kMagic = kRounding<double>;

  // An activation that is not there is a bound that no value reaches.
  FinishWide(const PackedConvI8& packed, const ConvI8Params& p, const int32_t* offset)
      : bias_(reinterpret_cast<const int32_t*>(packed.bias.data())),
        multiplier_(reinterpret_cast<const int32_t*>(packed.multiplier.data())),
        offset_(offset),
        unit_(exact<double>({1, p.multiplier_shift})),
        low_(p.activation != Activation::kNone ? 0 : -kMagic),
        high_(p.activation == Activation::kClip ? p.clip : kMagic),
        residual_offset_(p.residual_offset),
        residual_scale_(exact<double>(p.residual_scale)),
        low_after_(p.relu_after_add ? 0 : -kMagic),
        out_scale_(exact<double>(p.output.scale)),
        zero_point_(p.output.zero_point) {}

  static double round(double value, double scale) {
    return __builtin_fma(value, scale, kMagic) - kMagic;
  }
  static double clamp(double v, double low, double high) {
    v = v < low ? low : v;
    return v > high ? high : v;
  }

  const int32_t* const bias_;
  const int32_t* const multiplier_;
  const int32_t* const offset_;
  const double unit_;        // of the multipliers
  const double low_, high_;  // before the residual
  const double residual_offset_, residual_scale_;
  const double low_after_;
  const double out_scale_, zero_point_;
};

// The same in float vectors. The last rounding leaves the integer in the low bits.
template <typename Float, bool kTotals>
class FinishNarrow {
 public:
  FinishNarrow(const PackedConvI8& packed, const LaneConstants& constants)
      : FinishNarrow(packed, packed.params, constants) {}

  const int32_t* start(int64_t block) const { return kTotals ? kNoSums : bias_ + block * kLanes; }

  void operator()(const int32_t* acc, int64_t block, const int8_t* residual, int8_t* output) const {
    using Vector = typename Float::Vector;
    constexpr int kVectors = kLanes / Float::kLanes;
    int32_t sum[kLanes];
    if constexpr (kTotals) {
      sums_with_offsets<true>(acc, offset_, block, sum);
      for (int c = 0; c < kLanes; ++c) sum[c] += bias_[block * kLanes + c];
      acc = sum;
    }
    const Vector magic = Float::all(kMagic), out_scale = Float::all(out_scale_);
    const Vector residual_offset = Float::all(residual_offset_);
    const Vector residual_scale = Float::all(residual_scale_);
    Vector y[kVectors];
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) {
      const int c = i * Float::kLanes;
      Vector v =
          Float::fused(Float::from(acc + c), Float::load(scale_ + block * kLanes + c), magic);
      v = Float::sub(v, magic);
      v = Float::at_most(Float::at_least(v, low_), high_);
      if (residual != nullptr) {
        const Vector e = Float::add(Float::from(residual + c), residual_offset);
        v = Float::add(v, Float::sub(Float::fused(e, residual_scale, magic), magic));
        v = Float::at_least(v, low_after_);
      }
      y[i] = Float::fused(v, out_scale, magic);
    }
    Float::store_bits(y, base_, output);
  }

  // The same for the pixels of one channel, without residual; base() is still to be subtracted and
  // the clamps to be applied. The sums are floats by their start.
  template <typename Numbers>
  Numbers by_pixels(Numbers sums, Numbers totals, int64_t channel) const {
    if constexpr (kTotals)
      sums = Float::add_product(sums, totals, offset_[channel], bias_[channel] + kSumStart);
    return scaled(sums, Float::all(scale_[channel]), Float::all(addend_[channel]));
  }
  // The stages without residual.
  template <typename Numbers>
  Numbers scaled(Numbers sums, typename Float::Vector scale, typename Float::Vector addend) const {
    const auto magic = Float::all(kMagic);
    const auto v = Float::sub(Float::fused(Float::of_bits(sums), scale, addend), magic);
    return Float::bits(Float::fused(v, Float::all(out_scale_), magic));
  }
  int32_t base() const { return base_; }

 private:
  static constexpr float kMagic = kRounding<float>;

  FinishNarrow(const PackedConvI8& packed, const ConvI8Params& p, const LaneConstants& constants)
      : bias_(reinterpret_cast<const int32_t*>(packed.bias.data())),
        scale_(constants.scale),
        addend_(constants.addend),
        offset_(constants.totals),
        low_(p.activation != Activation::kNone || (p.relu_after_add && !p.has_residual) ? 0
                                                                                        : -kMagic),
        high_(p.activation == Activation::kClip ? static_cast<float>(p.clip) : kMagic),
        residual_offset_(static_cast<float>(p.residual_offset)),
        residual_scale_(exact<float>(p.residual_scale)),
        low_after_(p.relu_after_add ? 0 : -kMagic),
        out_scale_(exact<float>(p.output.scale)),
        base_(kSumStart - p.output.zero_point) {}

  const int32_t* const bias_;
  const float* const scale_;
  const float* const addend_;
  const int32_t* const offset_;
  const float low_, high_;  // before the residual
  const float residual_offset_, residual_scale_;
  const float low_after_;
  const float out_scale_;
  const int32_t base_;  // the bits of the magic number, less the zero point
};

// A lookup table in floats: as FinishNarrow up to the index, which a table of bytes ends.
template <typename Float, bool kTotals>
class FinishLookup {
 public:
  FinishLookup(const PackedConvI8& packed, const LaneConstants& constants)
      : FinishLookup(packed, constants, *constants.stages) {}

  const int32_t* start(int64_t block) const { return kTotals ? kNoSums : bias_ + block * kLanes; }

  void operator()(const int32_t* acc, int64_t block, const int8_t*, int8_t* output) const {
    using Vector = typename Float::Vector;
    constexpr int kVectors = kLanes / Float::kLanes;
    int32_t sum[kLanes];
    if constexpr (kTotals) {
      sums_with_offsets<true>(acc, offset_, block, sum);
      for (int c = 0; c < kLanes; ++c) sum[c] += bias_[block * kLanes + c];
      acc = sum;
    }
    const Vector magic = Float::all(kMagic), index_scale = Float::all(index_scale_);
    Vector t[kVectors];
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) {
      const int c = i * Float::kLanes;
      const Vector v = Float::sub(
          Float::fused(Float::from(acc + c), Float::load(scale_ + block * kLanes + c), magic),
          magic);
      t[i] =
          Float::at_most(Float::at_least(Float::fused(v, index_scale, magic), lowest_), highest_);
    }
    store_bytes_at<Float>(t, bytes_, base_, output);
  }

  // The same for the pixels of one channel; base() is still to be subtracted.
  template <typename Numbers>
  Numbers by_pixels(Numbers sums, Numbers totals, int64_t channel) const {
    if constexpr (kTotals)
      sums = Float::add_product(sums, totals, offset_[channel], bias_[channel]);
    const auto magic = Float::all(kMagic);
    const auto v =
        Float::sub(Float::fused(Float::from(sums), Float::all(scale_[channel]), magic), magic);
    const auto t = Float::fused(v, Float::all(index_scale_), magic);
    return Float::bytes_at(Float::at_most(Float::at_least(t, lowest_), highest_), bytes_, base_);
  }
  int32_t base() const { return 0; }

 private:
  static constexpr float kMagic = kRounding<float>;

  FinishLookup(const PackedConvI8& packed, const LaneConstants& constants,
               const StageConstants& stages)
      : bias_(reinterpret_cast<const int32_t*>(packed.bias.data())),
        scale_(constants.scale),
        offset_(constants.totals),
        bytes_(stages.bytes),
        index_scale_(static_cast<float>(stages.index_scale)),
        lowest_(kMagic + static_cast<float>(stages.lowest)),
        highest_(kMagic + static_cast<float>(stages.highest)),
        base_(0x4b400000 + stages.lowest) {}

  const int32_t* const bias_;
  const float* const scale_;
  const int32_t* const offset_;
  const int8_t* const bytes_;
  const float index_scale_;
  const float lowest_, highest_;  // onto the magic number
  const int32_t base_;            // the bits of the lowest
};

// Tables and slopes in doubles.
template <typename Float, bool kTotals>
class FinishStaged {
 public:
  FinishStaged(const PackedConvI8& packed, const LaneConstants& constants)
      : FinishStaged(packed, packed.params, constants, *constants.stages) {}

  const int32_t* start(int64_t) const { return kNoSums; }

  void operator()(const int32_t* acc, int64_t block, const int8_t* residual, int8_t* output) const {
    const int32_t* const bias = bias_ + block * kLanes;
    int32_t sum[kLanes];
    sums_with_offsets<kTotals>(acc, offset_, block, sum);
    double v[kLanes];
    for (int c = 0; c < kLanes; ++c) v[c] = static_cast<double>(sum[c]) + bias[c];
    finish(v, block, residual, output);
  }

  // `v` holds sums with their bias.
  void finish(double (&v)[kLanes], int64_t block, const int8_t* residual, int8_t* output) const {
    const int32_t* const multiplier = multiplier_ + block * kLanes;
    for (int c = 0; c < kLanes; ++c) v[c] *= static_cast<double>(multiplier[c]);
    if (stages_.is_lookup) {
      look_up(v);
    } else {
      const double* const below = stages_.negative_scale + block * kLanes;
      for (int c = 0; c < kLanes; ++c) {
        const double positive = round(round(v[c] < 0 ? 0 : v[c], unit_), stages_.positive_scale);
        const double negative = round(v[c] > 0 ? 0 : v[c], stages_.negative_first_scale);
        v[c] = positive + round(negative, below[c]);
      }
    }
    if (residual != nullptr) {
      int32_t e[kLanes];
      for (int c = 0; c < kLanes; ++c) e[c] = residual[c];
      for (int c = 0; c < kLanes; ++c) v[c] += round(e[c] + residual_offset_, residual_scale_);
    }
    int32_t y[kLanes];
    for (int c = 0; c < kLanes; ++c) {
      const double r = round(v[c] < low_after_ ? low_after_ : v[c], out_scale_) + zero_point_;
      y[c] = static_cast<int32_t>(r < -128 ? -128 : r > 127 ? 127 : r);
    }
    for (int c = 0; c < kLanes; ++c) output[c] = static_cast<int8_t>(y[c]);
  }

 private:
  static constexpr double kMagic = kRounding<double>;

  FinishStaged(const PackedConvI8& packed, const ConvI8Params& p, const LaneConstants& constants,
               const StageConstants& stages)
      : bias_(reinterpret_cast<const int32_t*>(packed.bias.data())),
        multiplier_(reinterpret_cast<const int32_t*>(packed.multiplier.data())),
        offset_(constants.totals),
        stages_(stages),
        unit_(exact<double>({1, p.multiplier_shift})),
        residual_offset_(p.residual_offset),
        residual_scale_(exact<double>(p.residual_scale)),
        low_after_(p.relu_after_add ? 0 : -kMagic),
        out_scale_(exact<double>(p.output.scale)),
        zero_point_(p.output.zero_point) {}

  static double round(double value, double scale) {
    return __builtin_fma(value, scale, kMagic) - kMagic;
  }

  void look_up(double (&v)[kLanes]) const {
    const double start = stages_.start, end = stages_.end;
    float inside[kLanes];
    double rest[kLanes];
    for (int c = 0; c < kLanes; ++c) {
      // The index is a whole number of 2^-shift below 2^50: exact until it is rounded.
      const double index =
          __builtin_fma(round(v[c], unit_), stages_.index_scale, stages_.index_addend);
      const double t = round(index, 1);
      const double clamped = t < start ? start : t > end ? end : t;
      inside[c] = static_cast<float>(clamped);
      rest[c] = t - clamped;
    }
    for (int c = 0; c < kLanes; c += Float::kLanes)
      Float::store(inside + c, interpolate<Float>(Float::load(inside + c), LookupTable(stages_)));
    for (int c = 0; c < kLanes; ++c) {
      const double above = round(rest[c] < 0 ? 0 : rest[c], stages_.above);
      const double below = round(rest[c] > 0 ? 0 : rest[c], stages_.below);
      v[c] = static_cast<double>(inside[c]) + above + below;
    }
  }

  const int32_t* const bias_;
  const int32_t* const multiplier_;
  const int32_t* const offset_;
  const StageConstants stages_;
  const double unit_;  // of the multipliers
  const double residual_offset_, residual_scale_;
  const double low_after_;
  const double out_scale_;
  const int32_t zero_point_;
};

// A slope in floats, from sums to bytes in one step; again in doubles where that could end on the wrong side of a half.
template <typename Float, bool kTotals>
class FinishSlope {
 public:
  FinishSlope(const PackedConvI8& packed, const LaneConstants& constants)
      : exact_(packed, constants),
        bias_(reinterpret_cast<const int32_t*>(packed.bias.data())),
        offset_(constants.totals),
        positive_(constants.stages->positive),
        negative_(constants.stages->negative),
        near_(constants.stages->near),
        base_(0x4b400000 - packed.params.output.zero_point) {}

  const int32_t* start(int64_t block) const { return kTotals ? kNoSums : bias_ + block * kLanes; }

  void operator()(const int32_t* acc, int64_t block, const int8_t*, int8_t* output) const {
    using Vector = typename Float::Vector;
    constexpr int kVectors = kLanes / Float::kLanes;
    const int32_t* const given = acc;
    int32_t sum[kLanes];
    if constexpr (kTotals) {
      sums_with_offsets<true>(acc, offset_, block, sum);
      for (int c = 0; c < kLanes; ++c) sum[c] += bias_[block * kLanes + c];
      acc = sum;
    }
    const Vector magic = Float::all(kRounding<float>), zero = Float::all(0);
    Vector y[kVectors], distance = zero;
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) {
      const int c = i * Float::kLanes;
      const Vector x = Float::from(acc + c);
      const Vector above = Float::at_least(x, 0), below = Float::at_most(x, 0);
      const Vector by = Float::load(positive_ + block * kLanes + c);
      const Vector by_below = Float::load(negative_ + block * kLanes + c);
      // One of the two products is 0.
      y[i] = Float::fused(below, by_below, Float::fused(above, by, magic));
      const Vector whole = Float::sub(magic, y[i]);
      const Vector rest = Float::fused(below, by_below, Float::fused(above, by, whole));
      distance = Float::max(distance, Float::max(rest, Float::sub(zero, rest)));
    }
    if (Float::largest(distance) < near_) {
      Float::store_bits(y, base_, output);
    } else {
      again(given, block, output);
    }
  }

 private:
  __attribute__((noinline)) void again(const int32_t* acc, int64_t block, int8_t* output) const {
    if constexpr (kTotals) {
      exact_(acc, block, nullptr, output);
    } else {
      double v[kLanes];
      for (int c = 0; c < kLanes; ++c) v[c] = acc[c];
      exact_.finish(v, block, nullptr, output);
    }
  }

  const FinishStaged<Float, kTotals> exact_;
  const int32_t* const bias_;
  const int32_t* const offset_;
  const float *const positive_, *const negative_;
  const float near_;
  const int32_t base_;  // the bits of the magic number, less the zero point
};

// Calls body(finish) with what finishes the sums of this layer.
template <typename Float, bool kTotals, typename Body>
inline void with_finish(const PackedConvI8& packed, const LaneConstants& constants,
                        const Body& body) {
  if (constants.stages != nullptr) {
    if (!constants.float_route) {
      body(FinishStaged<Float, kTotals>(packed, constants));
    } else if (constants.stages->is_lookup) {
      body(FinishLookup<Float, kTotals>(packed, constants));
    } else {
      body(FinishSlope<Float, kTotals>(packed, constants));
    }
  } else if (constants.float_route) {
    body(FinishNarrow<Float, kTotals>(packed, constants));
  } else {
    body(FinishWide<kTotals>(packed, constants));
  }
}

template <typename Isa, typename Finish>
inline void run_lanes_i8(const ConvI8Args& args, const LaneConstants& constants,
                         const Finish& finish, IndexRange units) {
  const auto border = static_cast<typename Isa::Lane>(args.packed->params.input_zero_point);
  const LaneConv<Isa, Finish, ConvI8Args> conv(args, finish, border);
  if constexpr (sizeof(typename Isa::Weight) == 2) {
    using Winograd = LaneWinograd<Isa, Finish>;
    if (constants.winograd && Winograd::pays(args.packed->params.filter, args.extents)) {
      const ThreadScratch scratch;
      Winograd(conv, finish)
          .run(args.extents, units, *static_cast<typename Winograd::Work*>(scratch.data()));
      return;
    }
  }
  LaneScratch<Isa> scratch;
  conv.run(units, scratch);
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
  constexpr bool kTotals = Isa::kRow > kLanes;
  with_finish<typename Isa::FloatLanes, kTotals>(*args.packed, constants, [&](const auto& finish) {
    run_lanes_i8<Isa>(args, constants, finish, units);
  });
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END
