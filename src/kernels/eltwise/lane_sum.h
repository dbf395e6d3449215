// SPDX-License-Identifier: Apache-2.0
// Element-wise sums 16 at a time over any float vector with fused multiply-add (x86_avx2.h, arm64_neon.h). Included in the
// frame of an instruction set, after everything else. Private to kernels/eltwise.
#pragma once

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

constexpr int64_t kSumLanes = 16;

constexpr int32_t kMaxSumInputs = 8;

template <typename Float>
class SumI8Lanes {
 public:
  explicit SumI8Lanes(const SumI8Args& args)
      : count_(args.input_count),
        out_scale_(float_scale(args.output_stage.scale)),
        base_(kFloatMagicBits - args.output_stage.zero_point),
        low_(lower_bound(args)) {
    for (int32_t i = 0; i < count_; ++i) {
      data_[i] = args.inputs[i].data;
      zero_point_[i] = static_cast<float>(args.inputs[i].stage.zero_point);
      scale_[i] = float_scale(args.inputs[i].stage.scale);
    }
  }

  // 16 elements from `at` on.
  void sum(int64_t at, int8_t* output) const {
    using Vector = typename Float::Vector;
    constexpr int kVectors = kSumLanes / Float::kLanes;
    const Vector magic = Float::all(kFloatMagic);
    Vector sum[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[v] = Float::all(0);
    for (int32_t i = 0; i < count_; ++i) {
      const Vector zero_point = Float::all(zero_point_[i]), scale = Float::all(scale_[i]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const Vector x = Float::sub(Float::from(data_[i] + at + v * Float::kLanes), zero_point);
        sum[v] = Float::add(sum[v], Float::sub(Float::fused(x, scale, magic), magic));
      }
    }
    const Vector scale = Float::all(out_scale_);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[v] = Float::fused(sum[v], scale, magic);
    Float::store_bits(sum, base_, output);
    for (int64_t c = 0; c < kSumLanes; ++c) output[c] = output[c] < low_ ? low_ : output[c];
  }

  // Fewer than 16, through copies.
  void sum_rest(int64_t at, int64_t rest, int8_t* output) {
    int8_t copies[kMaxSumInputs][kSumLanes] = {}, all[kSumLanes];
    for (int32_t i = 0; i < count_; ++i) {
      for (int64_t e = 0; e < rest; ++e) copies[i][e] = data_[i][at + e];
      data_[i] = copies[i];
    }
    sum(0, all);
    for (int64_t e = 0; e < rest; ++e) output[e] = all[e];
  }

 private:
  int32_t count_;
  float out_scale_;
  int32_t base_;  // the bits of the magic number, less the zero point
  int8_t low_;
  const int8_t* data_[kMaxSumInputs];
  float zero_point_[kMaxSumInputs], scale_[kMaxSumInputs];
};

template <typename Float>
void sum_i8_lanes(const SumI8Args& args, IndexRange units) {
  if (args.input_count > kMaxSumInputs || !sum_fits_float(args))
    return sum_i8__generic(args, units);
  SumI8Lanes<Float> lanes(args);
  const ElementRange range = elements_of(units, args.elements);
  int64_t at = range.begin;
  for (; at + kSumLanes <= range.end; at += kSumLanes) lanes.sum(at, args.output + at);
  if (at < range.end) lanes.sum_rest(at, range.end - at, args.output + at);
}

// Half::widen and Half::narrow convert 16 lanes.
template <typename Float, typename Half>
inline void sum_16(const uint16_t* a, const uint16_t* b, bool relu, uint16_t* output) {
  float x[kSumLanes], y[kSumLanes];
  Half::widen(a, x);
  if (b != nullptr) Half::widen(b, y);
  for (int64_t c = 0; c < kSumLanes; c += Float::kLanes) {
    typename Float::Vector v = Float::load(x + c);
    if (b != nullptr) v = Float::add(v, Float::load(y + c));
    if (relu) v = Float::at_least(v, 0.0f);
    Float::store(x + c, v);
  }
  Half::narrow(x, output);
}

template <typename Float, typename Half>
void sum_f16_lanes(const SumF16Args& args, IndexRange units) {
  const ElementRange range = elements_of(units, args.elements);
  const bool two = args.b != nullptr;
  int64_t at = range.begin;
  for (; at + kSumLanes <= range.end; at += kSumLanes)
    sum_16<Float, Half>(args.a + at, two ? args.b + at : nullptr, args.relu, args.output + at);
  const int64_t rest = range.end - at;
  if (rest <= 0) return;
  uint16_t a[kSumLanes] = {}, b[kSumLanes] = {};
  for (int64_t e = 0; e < rest; ++e) a[e] = args.a[at + e];
  for (int64_t e = 0; two && e < rest; ++e) b[e] = args.b[at + e];
  sum_16<Float, Half>(a, two ? b : nullptr, args.relu, a);
  for (int64_t e = 0; e < rest; ++e) args.output[at + e] = a[e];
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END
