// SPDX-License-Identifier: Apache-2.0
// Broadcasts and per-channel scales on every 64-bit ARM through lane_broadcast.h.
#if defined(__aarch64__)

#include "kernels/arm64_neon.h"
#include "kernels/eltwise/runs.h"
#include "kernels/float_stages.h"
#include "kernels/layout/quantize_lane.h"

namespace rk::kernels {

decltype(binary_f16) binary_f16__neon;
decltype(binary_i8) binary_i8__neon;
decltype(affine_f16) affine_f16__neon;
decltype(affine_i8) affine_i8__neon;

}  // namespace rk::kernels

#include "kernels/eltwise/lane_broadcast.h"

RK_ISA_BEGIN

namespace rk::kernels {

void binary_f16__neon(const BinaryArgs<uint16_t>& args, IndexRange units) {
  binary_f16_lanes<NeonF32, NeonHalf>(args, units);
}

void binary_i8__neon(const BinaryI8Args& args, IndexRange units) {
  binary_i8_lanes<NeonF32>(args, units);
}

void affine_f16__neon(const AffineArgs<uint16_t>& args, IndexRange planes) {
  affine_f16_lanes<NeonF32, NeonHalf>(args, planes);
}

void affine_i8__neon(const AffineArgs<int8_t>& args, IndexRange planes) {
  affine_i8_lanes<NeonF32>(args, planes);
}

}  // namespace rk::kernels

RK_ISA_END

#endif  // 64-bit ARM
