// SPDX-License-Identifier: Apache-2.0
// Winograd's F(2x2, 3x3) in float32: a 3x3 convolution of stride 1 with 16 products for four results instead of 36. Shared
// by the fp16 kernels that use it; private to kernels/conv.
//
// Along one axis four inputs d become B d, three weights g become G g, and two results y follow from the four products m
// of both; the plane is both axes after one another, 16 points in all:
//   B d:  d0 - d2, d1 + d2, d2 - d1, d1 - d3        G g:  g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2
//   y0 = m0 + m1 + m2                               y1 = m1 - m2 - m3
// Each result is made of nothing but the inputs that it sees: y0 of d0..d2, y1 of d1..d3. So a large number beside them
// takes no digits from it, and with sums of a ninth of the length the bound of conv_f16.h holds: the products of a result
// are at most about 64 times mean |x| |w| a channel, their rounding errors grow with the channels, and K is 9 times those.
// (F(4x4, 3x3) has neither property.) What is infinite, or no number, would meet its own negative, so patches that see such
// an input are summed directly.
//
// Patches lie at even rows and columns of the output, whatever part of it is asked for: neither threads nor batches change
// a result.
#pragma once

#include <cstdint>

#include "kernels/conv/common/blocking.h"
#include "kernels/conv/conv_f16.h"

namespace rk::kernels::winograd_f16 {

inline constexpr int kSide = 2;   // outputs of a patch along one axis
inline constexpr int kPatch = 4;  // inputs
inline constexpr int kPoints = kPatch * kPatch;
inline constexpr int kTaps = 9;
inline constexpr int kStartPoint = kPatch + 1;  // a number there is added to all four results

// Scratch of a kernel, in floats. Transformed inputs of a band are [point][input block][patch][16 channels].
inline constexpr int64_t kInputs = 198 << 10;
inline constexpr int64_t kWeights = 32 << 10;
inline constexpr int64_t kMaxPatches = 128;

inline int64_t patches_along(int64_t outputs) { return (outputs + kSide - 1) / kSide; }

// Floats from one point to the next: an odd number of cache lines, or all points of a patch would lie in one set.
inline constexpr int64_t point_step(int64_t floats) {
  return (floats / kHostBlock | 1) * kHostBlock;
}

inline int64_t patches_of_band(const ConvFilter& f) {
  const int64_t fit =
      (kInputs / kPoints - kHostBlock) / (channel_blocks(f.in_channels) * kHostBlock);
  return fit < kMaxPatches ? fit : kMaxPatches;
}

// Whether it takes less time than direct sums, counted in products of a block by a block: transformations of inputs, of
// results and, once per band, of weights, as measured with AVX2.
inline bool pays(const ConvFilter& f, const ConvExtents& e) {
  const auto is = [](Extent2 extent, int32_t value) {
    return extent.h == value && extent.w == value;
  };
  if (f.groups != 1 || f.transposed || !is(f.kernel, 3) || !is(f.stride, 1) || !is(f.dilation, 1) ||
      f.in_channels < kHostBlock || f.out_channels < kHostBlock) {
    return false;
  }
  const int64_t most = patches_of_band(f);
  const int64_t patches = patches_along(e.out.h) * patches_along(e.out.w);
  if (most < 8 || patches < 8) return false;
  const auto together = static_cast<double>(patches < most ? patches : most);
  const double cost =
      static_cast<double>(patches) * (kPoints + 2.5 / channel_blocks(f.out_channels) +
                                      3.5 / channel_blocks(f.in_channels) + 35.0 / together);
  return cost < 0.9 * kTaps * e.out.h * e.out.w;
}

}  // namespace rk::kernels::winograd_f16
