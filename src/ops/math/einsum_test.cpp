// SPDX-License-Identifier: Apache-2.0
// Cases of Einsum.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> einsum_cases() {
  static constexpr OpCase kCases[] = {
      {"batched product with an ellipsis", R"(
          input %a: f32[2,1,2] = [1, 2, 3, 4]
          input %b: f32[2,2,1] = [1, 10, 100, 1000]
          %y = Einsum(%a, %b) {equation="...ij,...jk->...ik"}
          expect %y: f32[2,1,1] = [21, 4300])"},
      {"the diagonal and the trace", R"(
          input %a: f32[2,2] = [1, 2, 3, 4]
          %y = Einsum(%a) {equation="ii->i"}
          %z = Einsum(%a) {equation="ii"}
          expect %y: f32[2] = [1, 4]
          expect %z: f32[] = [5])"},
      {"three operands, output in alphabetical order", R"(
          input %a: f32[2] = [1, 2]
          input %b: f32[3] = [1, 10, 100]
          input %c: f32[] = [2]
          %y = Einsum(%a, %b, %c) {equation="b,a,"}
          expect %y: f32[3,2] = [2, 4, 20, 40, 200, 400])"},
      {"a term too few is refused", R"(
          input %a: f32[2] = [1, 2]
          %y = Einsum(%a, %a) {equation="i->i"}
          error expected one term for each of the 2 inputs)"},
      {"an index too many is refused", R"(
          input %a: f32[2] = [1, 2]
          %y = Einsum(%a) {equation="ij->i"}
          error has 2 indices for input 0, which is [2])"},
      {"an output index from nowhere is refused", R"(
          input %a: f32[2] = [1, 2]
          %y = Einsum(%a) {equation="i->j"}
          error each output index must occur once and in an input)"},
      {"extents that differ are refused", R"(
          input %a: f32[2] = [1, 2]
          input %b: f32[3] = [1, 2, 3]
          %y = Einsum(%a, %b) {equation="i,i->"}
          error input 1 has extent 3 on axis 0, expected 2)"},
      {"other characters are refused", R"(
          input %a: f32[2] = [1, 2]
          %y = Einsum(%a) {equation="+->"}
          error where letters or one '...' are expected)"},
  };
  return kCases;
}

}  // namespace rk::ops
