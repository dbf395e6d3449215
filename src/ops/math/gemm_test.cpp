// SPDX-License-Identifier: Apache-2.0
// Cases of Gemm.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> gemm_cases() {
  static constexpr OpCase kCases[] = {
      {"alpha and beta, a row added to each", R"(
          input %a: f32[2,3] = [1, 2, 3, 4, 5, 6]
          const %b: f32[3,2] = [1, 0, 0, 1, 1, 1]
          const %c: f32[2] = [10, 20]
          %y = Gemm(%a, %b, %c) {alpha=2, beta=0.5}
          expect %y: f32[2,2] = [13, 20, 25, 32])"},
      {"both transposed, no addend", R"(
          input %a: f32[3,2] = [1, 4, 2, 5, 3, 6]
          const %b: f32[2,3] = [1, 0, 1, 0, 1, 1]
          %y = Gemm(%a, %b) {transA=1, transB=1}
          expect %y: f32[2,2] = [4, 5, 10, 11])"},
      {"integers are exact", R"(
          input %a: i64[1,2] = [4503599627370497, 1]
          const %b: i64[2,1] = [3, 5]
          const %c: i64[] = [1]
          %y = Gemm(%a, %b, %c)
          expect %y: i64[1,1] = [13510798882111497])"},
      {"no inner extent sums to nothing", R"(
          input %a: f32[1,0] = []
          const %b: f32[0,2] = []
          const %c: f32[2] = [1, 2]
          %y = Gemm(%a, %b, %c)
          expect %y: f32[1,2] = [1, 2])"},
      {"inner extents that differ are refused", R"(
          input %a: f32[1,2] = [1, 2]
          %y = Gemm(%a, %a)
          error inputs [1,2] and [1,2] do not fit: inner extents 2 and 1 differ)"},
      {"an addend that is too large is refused", R"(
          input %a: f32[1,1] = [1]
          const %c: f32[2,1] = [1, 2]
          %y = Gemm(%a, %a, %c)
          error input 2 ('c') is [2,1], expected a shape that broadcasts to [1,1])"},
      {"transA of two is refused", R"(
          input %a: f32[1,1] = [1]
          %y = Gemm(%a, %a) {transA=2}
          error attribute 'transA' is 2)"},
      {"a vector is refused", R"(
          input %a: f32[1] = [1]
          %y = Gemm(%a, %a)
          error input 0 ('a') is f32[1], expected rank 2)"},
  };
  return kCases;
}

}  // namespace rk::ops
