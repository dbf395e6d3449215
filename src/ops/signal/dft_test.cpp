// SPDX-License-Identifier: Apache-2.0
// Cases of DFT.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> dft_cases() {
  static constexpr OpCase kCases[] = {
      // Sums of 1, 2, 3, 4 turned by quarters.
      {"four real numbers", R"(
          input %x: f32[1,4,1] = [1, 2, 3, 4]
          %y = DFT(%x)
          expect %y: f32[1,4,2] = [10, 0, -2, 2, -2, 0, -2, -2])"},
      {"half the spectrum of a real signal, and back", R"(
          input %x: f32[4,1] = [1, 2, 3, 4]
          const %axis: i64[] = [0]
          %y = DFT(%x, _, %axis) {onesided=1}
          %z = DFT(%y, _, %axis) {onesided=1, inverse=1}
          expect %y: f32[3,2] = [10, 0, -2, 2, -2, 0]
          expect %z: f32[4,1] = [1, 2, 3, 4])"},
      {"three complex numbers, inverse: the mean and two turns by thirds", R"(
          input %x: f64[1,3,2] = [3, 0, 3, 0, 0, 3]
          %y = DFT(%x) {inverse=1}
          expect %y: f64[1,3,2] = [2, 1, 1.36602540, 0.366025404, -0.366025404, -1.36602540])"},
      {"a longer transform pads with zeros, a shorter one cuts", R"(
          input %x: f32[1,2,1] = [1, 2]
          const %four: i64[] = [4]
          const %one: i64[] = [1]
          %y = DFT(%x, %four)
          %z = DFT(%x, %one)
          expect %y: f32[1,4,2] = [3, 0, 1, -2, -1, 0, 1, 2]
          expect %z: f32[1,1,2] = [1, 0])"},
      {"another axis leaves the rows apart", R"(
          input %x: f32[2,2,1] = [1, 2, 3, 5]
          const %axis: i64[] = [0]
          %y = DFT(%x, _, %axis)
          expect %y: f32[2,2,2] = [4, 0, 7, 0, -2, 0, -3, 0])"},
      {"the axis of the parts is refused", R"(
          input %x: f32[2,2] = [1, 2, 3, 4]
          const %axis: i64[] = [-1]
          %y = DFT(%x, _, %axis)
          error axis 1 holds the complex parts)"},
      {"three parts are refused", R"(
          input %x: f32[1,3] = [1, 2, 3]
          %y = DFT(%x)
          error expected a last axis of 1 or 2)"},
      {"a length of nothing is refused", R"(
          input %x: f32[1,1] = [1]
          const %n: i64[] = [0]
          %y = DFT(%x, %n)
          error the transform has 0 elements)"},
  };
  return kCases;
}

}  // namespace rk::ops
