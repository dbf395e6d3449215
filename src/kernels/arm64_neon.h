// SPDX-License-Identifier: Apache-2.0
// Frame of a file with kernels for every 64-bit ARM: empty, since the compiler may assume NEON there. And float32
// vectors for the templates that several instruction sets share.
#pragma once

#if defined(__aarch64__)

#include <arm_neon.h>

#include <cstdint>

#if !defined(RK_ISA_BEGIN)
#define RK_ISA_BEGIN
#define RK_ISA_END
#endif
#define RK_VARIANT(entry) entry##__neon

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

struct NeonF32 {
  using Vector = float32x4_t;
  static constexpr int kLanes = 4;
  static Vector load(const float* from) { return vld1q_f32(from); }
  static void store(float* to, Vector v) { vst1q_f32(to, v); }
  static Vector spread(const float* from) { return vld1q_dup_f32(from); }
  static Vector add(Vector a, Vector b) { return vaddq_f32(a, b); }
  // v < bound ? bound : v, and the reverse: NaN stays.
  static Vector at_least(Vector v, float bound) {
    const Vector b = vdupq_n_f32(bound);
    return vbslq_f32(vcltq_f32(v, b), b, v);
  }
  static Vector at_most(Vector v, float bound) {
    const Vector b = vdupq_n_f32(bound);
    return vbslq_f32(vcgtq_f32(v, b), b, v);
  }
  static Vector fused(Vector a, Vector b, Vector c) { return vfmaq_f32(c, a, b); }
  // a * lane kLane of b + c.
  template <int kLane>
  static Vector fused_lane(Vector a, Vector b, Vector c) {
    return vfmaq_laneq_f32(c, a, b, kLane);
  }
  static Vector sub(Vector a, Vector b) { return vsubq_f32(a, b); }
  static Vector all(float value) { return vdupq_n_f32(value); }
  static Vector mul(Vector a, Vector b) { return vmulq_f32(a, b); }
  static Vector div(Vector a, Vector b) { return vdivq_f32(a, b); }
  // NaN where either is.
  static Vector max(Vector a, Vector b) { return vmaxq_f32(a, b); }
  static Vector load_part(const float* from, int64_t count, float fill) {
    float lanes[kLanes];
    for (int i = 0; i < kLanes; ++i) lanes[i] = fill;
    for (int i = 0; i < kLanes && i < count; ++i) lanes[i] = from[i];
    return load(lanes);
  }
  static void store_part(float* to, Vector v, int64_t count) {
    float lanes[kLanes];
    store(lanes, v);
    for (int64_t i = 0; i < count; ++i) to[i] = lanes[i];
  }
  static Vector zero_nan(Vector v) { return vbslq_f32(vceqq_f32(v, v), v, vdupq_n_f32(0)); }
  // v, but 0 where x < bound.
  static Vector zero_below(Vector v, Vector x, float bound) {
    return vbslq_f32(vcltq_f32(x, vdupq_n_f32(bound)), vdupq_n_f32(0), v);
  }
  // v * 2^n, where n are the low bits of `biased` and neither v nor the result is subnormal.
  static Vector add_exponent(Vector v, Vector biased) {
    const int32x4_t n = vshlq_n_s32(vreinterpretq_s32_f32(biased), 23);
    return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(v), n));
  }
  static float total(Vector v) { return vaddvq_f32(v); }
  static float largest(Vector v) { return vmaxvq_f32(v); }
  static Vector from(const int32_t* numbers) { return vcvtq_f32_s32(vld1q_s32(numbers)); }
  static Vector from(const int8_t* numbers) {
    int32_t four;
    __builtin_memcpy(&four, numbers, sizeof four);
    const int16x8_t wide = vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(four)));
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(wide)));
  }
  // The bits of 16 floats, less `base`, as saturated bytes.
  static void store_bits(const Vector (&v)[4], int32_t base, int8_t* to) {
    const int32x4_t less = vdupq_n_s32(base);
    const auto words = [&](Vector a, Vector b) {
      return vqmovn_high_s32(vqmovn_s32(vsubq_s32(vreinterpretq_s32_f32(a), less)),
                             vsubq_s32(vreinterpretq_s32_f32(b), less));
    };
    vst1q_s8(to, vqmovn_high_s16(vqmovn_s16(words(v[0], v[1])), words(v[2], v[3])));
  }
};

// 16 lanes of fp16 to float32 and back, rounded to nearest even.
struct NeonHalf {
  static void widen(const uint16_t* from, float* to) {
    for (int i = 0; i < 16; i += 4)
      vst1q_f32(to + i, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from + i))));
  }
  static void widen_part(const uint16_t* from, int64_t count, float* to) {
    uint16_t lanes[16] = {};
    for (int64_t i = 0; i < count; ++i) lanes[i] = from[i];
    widen(lanes, to);
  }
  static void narrow(const float* from, uint16_t* to) {
    for (int i = 0; i < 16; i += 4)
      vst1_u16(to + i, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(from + i))));
  }
};

// The default modes for a while: the host program may have changed them.
struct FpcrDefault {
  uint64_t saved;
  FpcrDefault() {
    asm volatile("mrs %0, fpcr" : "=r"(saved));
    asm volatile("msr fpcr, %0" : : "r"(uint64_t{0}) : "memory");
  }
  ~FpcrDefault() { asm volatile("msr fpcr, %0" : : "r"(saved) : "memory"); }
  FpcrDefault(const FpcrDefault&) = delete;
  FpcrDefault& operator=(const FpcrDefault&) = delete;
};

// What the templates of several instruction sets call them.
using IsaF32 = NeonF32;
using IsaHalf = NeonHalf;
using IsaRounding = FpcrDefault;

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

#endif  // 64-bit ARM
