// SPDX-License-Identifier: Apache-2.0
// Winograd's F(4x4, 3x3) in integers: a 3x3 convolution of stride 1 with a quarter of the products, exact to the last
// bit. Shared by the kernels that use it; private to kernels/conv.
//
// Along one axis six inputs d become B d, three weights g become G g, and four results y follow from the six products m
// of both; the plane is both axes after one another, 36 points in all. With rows scaled to integers,
//   B d:  4 (d0 - d2) + (d4 - d2), (d4 - 4 d2) + (d3 - 4 d1), (d4 - 4 d2) - (d3 - 4 d1),
//         (d4 - d2) + 2 (d3 - d1), (d4 - d2) - 2 (d3 - d1), 4 (d1 - d3) + (d5 - d3)
//   G g:  6 g0, g0 + g1 + g2, g0 - g1 + g2, g0 + 2 g1 + 4 g2, g0 - 2 g1 + 4 g2, 6 g2
//   24 y0 = m0 - 4 (m1 + m2) + (m3 + m4)       12 y1 = (m3 - m4) - 2 (m1 - m2)
//    6 y2 = (m3 + m4) - (m1 + m2)               6 y3 = m5 + 2 (m3 - m4) - (m1 - m2)
// Where the last patch of an axis has at most two outputs it can be a half, F(2, 3), which takes points 0, 1, 2, 5 only:
//   B d:  d0 - d2, -3 (d1 + d2), 3 (d1 - d2), d1 - d3       6 y0 = m0 - m1 - m2       6 y1 = m2 - m1 - m5
// Bytes give 16-bit factors: |B d| <= 100 * 255, |G g| <= 49 * 383. Everything after that is integer arithmetic modulo
// 2^32, where sums may wrap: the last step divides by 9 * 2^k, k <= 6, which is exact (a product with the inverse of 9,
// then an arithmetic shift) as soon as the true result is below 2^25.
#pragma once

#include <cstdint>

#include "kernels/conv/conv.h"

namespace rk::kernels::winograd {

inline constexpr int32_t kSide = 4;   // outputs of a patch along one axis
inline constexpr int32_t kPatch = 6;  // inputs
inline constexpr int32_t kPoints = kPatch * kPatch;
inline constexpr int32_t kTaps = 9;
inline constexpr int64_t kMaxSum = int64_t{1} << 25;  // |acc + bias| is below it
inline constexpr int32_t kMaxOffset = 255;            // |o|
inline constexpr uint32_t kInverseOf9 = 0x38e38e39;   // modulo 2^32
inline constexpr int32_t kStartPoint = kPatch + 1;    // 36 there adds 1 to all sixteen results
inline constexpr uint32_t kStartFactor = 36;
// Results along one axis are this power of two, times three, too large.
inline constexpr int kShift[kSide] = {3, 2, 1, 1};
inline constexpr int kHalfShift[kSide] = {1, 1, 0, 0};

inline int64_t patches_along(int64_t outputs) { return (outputs + kSide - 1) / kSide; }
// The last patch can be a half.
inline bool ends_in_half(int64_t outputs) { return outputs % kSide == 1 || outputs % kSide == 2; }
inline constexpr bool in_half(int point) { return point < 3 || point == 5; }

// The filter has this form, and the weights prove the bound.
inline bool accepts(const PackedConvI8& packed) {
  const ConvFilter& f = packed.params.filter;
  const auto is = [](Extent2 extent, int32_t value) {
    return extent.h == value && extent.w == value;
  };
  return f.groups == 1 && !f.transposed && is(f.kernel, 3) && is(f.stride, 1) &&
         is(f.dilation, 1) && !packed.wide && packed.acc_bound < kMaxSum;
}
inline bool accepts_offset(int32_t offset) { return offset <= kMaxOffset && offset >= -kMaxOffset; }

}  // namespace rk::kernels::winograd
