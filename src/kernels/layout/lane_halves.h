// SPDX-License-Identifier: Apache-2.0
// Flat fp16 to float32 and back, 16 at a time, over the conversions of an instruction set (x86_avx2.h, arm64_neon.h).
// Included in its frame, after everything else. Private to kernels/layout.
#pragma once

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

constexpr int64_t kHalfLanes = 16;

template <typename Half>
void f16_to_f32_lanes(const uint16_t* input, float* output, IndexRange elements) {
  int64_t e = elements.begin;
  for (; e + kHalfLanes <= elements.end; e += kHalfLanes) Half::widen(input + e, output + e);
  if (e >= elements.end) return;
  uint16_t half[kHalfLanes] = {};
  float wide[kHalfLanes];
  for (int64_t i = e; i < elements.end; ++i) half[i - e] = input[i];
  Half::widen(half, wide);
  for (int64_t i = e; i < elements.end; ++i) output[i] = wide[i - e];
}

template <typename Half>
void f32_to_f16_lanes(const float* input, uint16_t* output, IndexRange elements) {
  int64_t e = elements.begin;
  for (; e + kHalfLanes <= elements.end; e += kHalfLanes) Half::narrow(input + e, output + e);
  if (e >= elements.end) return;
  uint16_t half[kHalfLanes];
  float wide[kHalfLanes] = {};
  for (int64_t i = e; i < elements.end; ++i) wide[i - e] = input[i];
  Half::narrow(wide, half);
  for (int64_t i = e; i < elements.end; ++i) output[i] = half[i - e];
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END
