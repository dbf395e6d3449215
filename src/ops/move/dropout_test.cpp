// SPDX-License-Identifier: Apache-2.0
// Cases of Dropout.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> dropout_cases() {
  static constexpr OpCase kCases[] = {
      {"nothing is dropped", R"(
          input %x: f32[3] = [1, -2, 3]
          const %r: f32[] = [0.5]
          %y, %m = Dropout(%x, %r)
          expect %y: f32[3] = [1, -2, 3]
          expect %m: bool[3] = [1, 1, 1])"},
      {"training is refused", R"(
          input %x: f32[1] = [1]
          const %r: f32[] = [0.5]
          const %t: bool[] = [1]
          %y = Dropout(%x, %r, %t)
          error input 2 ('training_mode') is true; only inference is supported)"},
  };
  return kCases;
}

}  // namespace rk::ops
