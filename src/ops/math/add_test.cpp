// SPDX-License-Identifier: Apache-2.0
// Cases of Add.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> add_cases() {
  static constexpr OpCase kCases[] = {
      {"shapes broadcast both ways", R"(
          input %a: f32[2,1] = [1, 2]
          input %b: f32[3] = [10, 20, 30]
          %y = Add(%a, %b)
          expect %y: f32[2,3] = [11, 21, 31, 12, 22, 32])"},
      {"i64 is exact beyond 2^53", R"(
          input %a: i64[2] = [9007199254740993, 9223372036854775807]
          input %b: i64[1] = [2]
          %y = Add(%a, %b)
          expect %y: i64[2] = [9007199254740995, -9223372036854775807])"},
      {"small integers wrap", R"(
          input %a: i8[2] = [127, -128]
          input %b: i8[2] = [1, -1]
          %y = Add(%a, %b)
          expect %y: i8[2] = [-128, 127])"},
      {"half floats are summed in f32", R"(
          input %a: f16[1] = [2048]
          input %b: f16[1] = [1]
          %y = Add(%a, %b)
          expect %y: f16[1] = [2048])"},
      {"a scalar meets an empty tensor", R"(
          input %a: f64[0] = []
          input %b: f64[] = [1]
          %y = Add(%a, %b)
          expect %y: f64[0] = [])"},
      {"extents that differ are refused", R"(
          input %a: f32[2] = [1, 2]
          input %b: f32[3] = [1, 2, 3]
          %y = Add(%a, %b)
          error shapes [2] and [3] do not broadcast)"},
      {"dtypes that differ are refused", R"(
          input %a: f32[1] = [1]
          input %b: i32[1] = [1]
          %y = Add(%a, %b)
          error inputs 0 ('a') and 1 ('b') have dtypes f32 and i32; they must be the same)"},
      {"bool is refused", R"(
          input %a: bool[1] = [1]
          %y = Add(%a, %a)
          error expected a number dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
