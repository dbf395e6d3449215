// SPDX-License-Identifier: Apache-2.0
// Cases of Unsqueeze.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> unsqueeze_cases() {
  static constexpr OpCase kCases[] = {
      {"axes count in the output", R"(
          input %x: i8[2] = [1, 2]
          const %a: i64[2] = [0, -1]
          %y = Unsqueeze(%x, %a)
          expect %y: i8[1,2,1] = [1, 2])"},
      {"a scalar", R"(
          input %x: f32[] = [3]
          const %a: i64[] = [0]
          %y = Unsqueeze(%x, %a)
          expect %y: f32[1] = [3])"},
      {"an axis outside is refused", R"(
          input %x: f32[2] = [1, 2]
          const %a: i64[1] = [2]
          %y = Unsqueeze(%x, %a)
          error axis 2 is outside rank 2)"},
      {"an axis twice is refused", R"(
          input %x: f32[2] = [1, 2]
          const %a: i64[2] = [0, -3]
          %y = Unsqueeze(%x, %a)
          error is given twice)"},
      {"too many axes are refused", R"(
          input %x: f32[1] = [1]
          const %a: i64[9] = [0, 1, 2, 3, 4, 5, 6, 7, 8]
          %y = Unsqueeze(%x, %a)
          error tensors have at most 8)"},
  };
  return kCases;
}

}  // namespace rk::ops
