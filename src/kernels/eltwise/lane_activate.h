// SPDX-License-Identifier: Apache-2.0
// Activations of fp16, 16 at a time, over any float vector (x86_avx512_lanes.h, x86_avx2.h, arm64_neon.h). Included in the
// frame of an instruction set, after everything else. Private to kernels/eltwise.
#pragma once

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

constexpr int64_t kActivateLanes = 16;

template <typename Float, ActivationF16 kKind>
inline typename Float::Vector activated(typename Float::Vector x, float alpha, float beta) {
  if constexpr (kKind == ActivationF16::kLeakyRelu) {
    // One of the two parts is 0, so that the sum is exact.
    const auto below = Float::mul(Float::at_most(x, 0.0f), Float::all(alpha));
    return Float::add(Float::at_least(x, 0.0f), below);
  } else {
    const auto line = Float::add(Float::mul(x, Float::all(alpha)), Float::all(beta));
    const auto part = Float::at_most(Float::at_least(line, 0.0f), 1.0f);
    return kKind == ActivationF16::kHardSwish ? Float::mul(x, part) : part;
  }
}

template <typename Float, typename Half, ActivationF16 kKind>
void activate_run(const ActivateF16Args& args, IndexRange units) {
  const ElementRange range = elements_of(units, args.elements);
  const float alpha = args.alpha, beta = args.beta;
  const auto sixteen = [=](const uint16_t* from, uint16_t* to) {
    float wide[kActivateLanes];
    Half::widen(from, wide);
    for (int64_t i = 0; i < kActivateLanes; i += Float::kLanes)
      Float::store(wide + i, activated<Float, kKind>(Float::load(wide + i), alpha, beta));
    Half::narrow(wide, to);
  };
  int64_t at = range.begin;
  for (; at + kActivateLanes <= range.end; at += kActivateLanes)
    sixteen(args.input + at, args.output + at);
  if (at >= range.end) return;
  uint16_t rest[kActivateLanes] = {};
  for (int64_t e = at; e < range.end; ++e) rest[e - at] = args.input[e];
  sixteen(rest, rest);
  for (int64_t e = at; e < range.end; ++e) args.output[e] = rest[e - at];
}

template <typename Float, typename Half>
void activate_f16_lanes(const ActivateF16Args& args, IndexRange units) {
  switch (args.kind) {
    case ActivationF16::kHardSigmoid:
      return activate_run<Float, Half, ActivationF16::kHardSigmoid>(args, units);
    case ActivationF16::kHardSwish:
      return activate_run<Float, Half, ActivationF16::kHardSwish>(args, units);
    case ActivationF16::kLeakyRelu:
      return activate_run<Float, Half, ActivationF16::kLeakyRelu>(args, units);
  }
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END
