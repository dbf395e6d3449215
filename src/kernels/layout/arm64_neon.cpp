// SPDX-License-Identifier: Apache-2.0
// Flat fp16 conversions on every 64-bit ARM through lane_halves.h.
#if defined(__aarch64__)

#include "kernels/arm64_neon.h"
#include "kernels/layout/quantize.h"

namespace rk::kernels {

decltype(f16_to_f32) f16_to_f32__neon;
decltype(f32_to_f16) f32_to_f16__neon;

}  // namespace rk::kernels

#include "kernels/layout/lane_halves.h"

namespace rk::kernels {

void f16_to_f32__neon(const uint16_t* input, float* output, IndexRange elements) {
  f16_to_f32_lanes<NeonHalf>(input, output, elements);
}

void f32_to_f16__neon(const float* input, uint16_t* output, IndexRange elements) {
  f32_to_f16_lanes<NeonHalf>(input, output, elements);
}

}  // namespace rk::kernels

#endif  // 64-bit ARM
