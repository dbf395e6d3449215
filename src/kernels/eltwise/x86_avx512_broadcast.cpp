// SPDX-License-Identifier: Apache-2.0
// Broadcasts and per-channel scales with AVX-512 through lane_broadcast.h.
#if defined(__x86_64__)

#include "kernels/eltwise/runs.h"
#include "kernels/float_stages.h"
#include "kernels/layout/quantize_lane.h"
#include "kernels/x86_avx512_lanes.h"

namespace rk::kernels {

decltype(binary_f16) binary_f16__avx512;
decltype(binary_i8) binary_i8__avx512;
decltype(affine_f16) affine_f16__avx512;
decltype(affine_i8) affine_i8__avx512;

}  // namespace rk::kernels

#include "kernels/eltwise/lane_broadcast.h"

RK_ISA_BEGIN

namespace rk::kernels {

void binary_f16__avx512(const BinaryArgs<uint16_t>& args, IndexRange units) {
  binary_f16_lanes<Avx512F32, Avx512Half>(args, units);
}

void binary_i8__avx512(const BinaryI8Args& args, IndexRange units) {
  binary_i8_lanes<Avx512F32>(args, units);
}

void affine_f16__avx512(const AffineArgs<uint16_t>& args, IndexRange planes) {
  affine_f16_lanes<Avx512F32, Avx512Half>(args, planes);
}

void affine_i8__avx512(const AffineArgs<int8_t>& args, IndexRange planes) {
  affine_i8_lanes<Avx512F32>(args, planes);
}

}  // namespace rk::kernels

RK_ISA_END

#endif  // x86-64
