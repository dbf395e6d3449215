// SPDX-License-Identifier: Apache-2.0
// Frame of a file with kernels for ARM's products of byte matrices (FEAT_I8MM): two rows of eight bytes by two of eight.
#pragma once

#if defined(__aarch64__)

#include "kernels/target_frame.h"
#if defined(__clang__)
#define RK_ISA_BEGIN RK_TARGET_BEGIN("dotprod,i8mm")
#else
#define RK_ISA_BEGIN RK_TARGET_BEGIN("arch=armv8.2-a+dotprod+i8mm")
#endif
#define RK_ISA_END RK_TARGET_END

#include "kernels/arm64_neon.h"

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

// Sums of two rows and two columns lie in one vector, [r0c0, r0c1, r1c0, r1c1]. Loading the first row fills both, so that
// a row without a partner stands for its own.
inline void load_row(int32x4_t& sums, bool second, const int32_t* from) {
  const int32x2_t two = vld1_s32(from);
  sums = vcombine_s32(second ? vget_low_s32(sums) : two, two);
}
inline void store_row(int32x4_t sums, bool second, int32_t* to) {
  vst1_s32(to, second ? vget_high_s32(sums) : vget_low_s32(sums));
}
inline int8x16_t two_rows(const int8_t* first, const int8_t* second) {
  return vcombine_s8(vld1_s8(first), vld1_s8(second));
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END

#endif  // 64-bit ARM
