// SPDX-License-Identifier: Apache-2.0
// What the packing and the running half of conv_i8__avx512vnni_6x64 agree on. They are two files because packing uses the
// standard library, and nothing of that may be compiled for a newer CPU.
//
// vpdpbusd multiplies unsigned by signed bytes, so inputs are read as x + 128 and the surplus 128 * sum w is part of
// `base`. A weight offset o adds o * sum x: where all channels share one sum (one group), the sum is taken once per pixel;
// a depthwise channel takes its own by a plane of ones; between, w + o is a sum of signed bytes, each in its plane.
#pragma once

#include <cstdint>

#include "kernels/conv/blocking.h"

namespace rk::kernels::vnni {

inline constexpr int32_t kTile = 64;    // output channels: 4 vectors of 16
inline constexpr int32_t kVector = 16;  // int32 lanes
inline constexpr int32_t kScratchBytes =
    32 * 1024;  // input rows of one band, biased, with their border
inline constexpr int32_t kScratchPixels = kScratchBytes / kHostBlock;
inline constexpr int32_t kMinBandColumns = 12;
inline constexpr int32_t kMaxPlanes = 32;  // beyond, the generic variant is no slower

// Constants of one output channel lane, in arrays of align_up(out_channels, 64).
struct Constants {
  int32_t planes = 1;                 // of weights; depthwise: 2 with the plane of ones
  bool sums = false;                  // some offset is not 0 and is applied to the sum of inputs
  bool float_route = false;           // every stage is exact in float32, else in float64
  const int32_t* base = nullptr;      // bias - 128 * sum(w + o), wrapping
  const int32_t* offset = nullptr;    // o
  const float* multiplier = nullptr;  // m / 2^14
};

// The step of the convolution over the scratch rows and the zero stuffing of its input: a transposed convolution is a
// plain one of step 1 over an input with `stuffing` - 1 border pixels between neighbours.
struct AxisPlan {
  int64_t step;
  int64_t stuffing;
  int64_t kernel;
  int64_t dilation;
  bool reversed;  // tap k lies at (kernel - 1 - k) * dilation

  int64_t reach() const { return (kernel - 1) * dilation + 1; }
  // Scratch extent for that many outputs.
  int64_t span(int64_t outputs) const { return (outputs - 1) * step + reach(); }
  int64_t tap(int64_t k) const { return (reversed ? kernel - 1 - k : k) * dilation; }
};

inline AxisPlan axis_plan(const ConvFilter& f, bool y) {
  const int64_t stride = y ? f.stride.h : f.stride.w;
  const int64_t kernel = y ? f.kernel.h : f.kernel.w;
  const int64_t dilation = y ? f.dilation.h : f.dilation.w;
  return {f.transposed ? 1 : stride, f.transposed ? stride : 1, kernel, dilation, f.transposed};
}

// Columns of four taps that one row of a depthwise kernel takes.
inline int64_t tap_groups(const ConvFilter& f) { return (axis_plan(f, false).reach() + 3) / 4; }

}  // namespace rk::kernels::vnni
