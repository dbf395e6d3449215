// SPDX-License-Identifier: Apache-2.0
// Frame of a file with kernels for every 64-bit ARM: empty, since the compiler may assume NEON there. And float32
// vectors for the templates that several instruction sets share.
#pragma once

#if defined(__aarch64__)

#include <arm_neon.h>

#if !defined(RK_ISA_BEGIN)
#define RK_ISA_BEGIN
#define RK_ISA_END
#endif

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
};

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

#endif  // 64-bit ARM
