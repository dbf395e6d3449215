// SPDX-License-Identifier: Apache-2.0
// Cases of exGlu.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> ex_glu_cases() {
  static constexpr OpCase kCases[] = {
      {"channels are gated by the channels behind them", R"(
          input %x: f32[1,2,3] = [1, 2, 3, -1, 0, 2]
          %y = exGlu(%x)
          expect %y: f32[1,1,3] = [0.268941421, 1, 2.64239123])"},
      {"the last axis is halved row by row", R"(
          input %x: f32[2,4] = [1, -2, 0.5, 3, 4, 1, -1, 0]
          %y = exGlu(%x) {axis=-1}
          expect %y: f32[2,2] = [0.622459331, -1.90514825, 1.07576569, 0.5])"},
      {"an odd extent is refused", R"(
          input %x: f32[1,3] = [1, 2, 3]
          %y = exGlu(%x)
          error axis 1 has 3 elements, expected an even number)"},
      {"an empty tensor stays empty", R"(
          input %x: f32[0,4] = []
          %y = exGlu(%x)
          expect %y: f32[0,2] = [])"},
  };
  return kCases;
}

}  // namespace rk::ops
