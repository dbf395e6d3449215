// SPDX-License-Identifier: Apache-2.0
// Flat fp16 conversions with AVX2 and F16C through lane_halves.h.
#if defined(__x86_64__)

#include "kernels/x86_avx2.h"
#include "kernels/layout/quantize.h"

namespace rk::kernels {

decltype(f16_to_f32) f16_to_f32__avx2;
decltype(f32_to_f16) f32_to_f16__avx2;

}  // namespace rk::kernels

#include "kernels/layout/lane_halves.h"

RK_ISA_BEGIN

namespace rk::kernels {

void f16_to_f32__avx2(const uint16_t* input, float* output, IndexRange elements) {
  f16_to_f32_lanes<Avx2Half>(input, output, elements);
}

void f32_to_f16__avx2(const float* input, uint16_t* output, IndexRange elements) {
  f32_to_f16_lanes<Avx2Half>(input, output, elements);
}

}  // namespace rk::kernels

RK_ISA_END

#endif  // x86-64
