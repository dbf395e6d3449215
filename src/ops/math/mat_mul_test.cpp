// SPDX-License-Identifier: Apache-2.0
// Cases of MatMul.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> mat_mul_cases() {
  static constexpr OpCase kCases[] = {
      {"leading axes broadcast", R"(
          input %a: f32[2,1,1,2] = [1, 2, 3, 4]
          input %b: f32[2,2,1] = [1, 10, 100, 1000]
          %y = MatMul(%a, %b)
          expect %y: f32[2,2,1,1] = [21, 2100, 43, 4300])"},
      {"vectors on either side", R"(
          input %a: f32[2] = [1, 2]
          input %b: f32[2,3] = [1, 2, 3, 10, 20, 30]
          input %c: f32[3] = [1, 0, 1]
          %y = MatMul(%a, %b)
          %z = MatMul(%b, %c)
          %s = MatMul(%a, %a)
          expect %y: f32[3] = [21, 42, 63]
          expect %z: f32[2] = [4, 40]
          expect %s: f32[] = [5])"},
      {"integers wrap", R"(
          input %a: i8[1,2] = [100, 100]
          input %b: i8[2,1] = [1, 1]
          %y = MatMul(%a, %b)
          expect %y: i8[1,1] = [-56])"},
      {"an empty sum is zero", R"(
          input %a: f32[2,0] = []
          input %b: f32[0,1] = []
          %y = MatMul(%a, %b)
          expect %y: f32[2,1] = [0, 0])"},
      {"inner extents that differ are refused", R"(
          input %a: f32[1,2] = [1, 2]
          %y = MatMul(%a, %a)
          error inner extents 2 and 1 differ)"},
      {"a scalar is refused", R"(
          input %a: f32[] = [1]
          %y = MatMul(%a, %a)
          error expected rank 1 or more)"},
      {"batches that differ are refused", R"(
          input %a: f32[2,1,1] = [1, 2]
          input %b: f32[3,1,1] = [1, 2, 3]
          %y = MatMul(%a, %b)
          error do not broadcast)"},
  };
  return kCases;
}

}  // namespace rk::ops
