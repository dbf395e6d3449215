// SPDX-License-Identifier: Apache-2.0
// Cases of Squeeze.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> squeeze_cases() {
  static constexpr OpCase kCases[] = {
      {"all axes of one, or those given", R"(
          input %x: f32[1,2,1] = [1, 2]
          const %a: i64[1] = [-1]
          %y = Squeeze(%x)
          %z = Squeeze(%x, %a)
          expect %y: f32[2] = [1, 2]
          expect %z: f32[1,2] = [1, 2])"},
      {"an axis of two is refused", R"(
          input %x: f32[1,2] = [1, 2]
          const %a: i64[1] = [1]
          %y = Squeeze(%x, %a)
          error input 1 ('axes') names axis 1 of [1,2], expected extent 1)"},
      {"axes known at run time only are refused", R"(
          input %x: f32[1] = [1]
          input %a: i64[1] = [0]
          %y = Squeeze(%x, %a)
          error input 1 ('axes') is computed at run time)"},
  };
  return kCases;
}

}  // namespace rk::ops
