// SPDX-License-Identifier: Apache-2.0
// Cases of Range.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> range_cases() {
  static constexpr OpCase kCases[] = {
      {"up, down and nothing", R"(
          const %a: i64[] = [1]
          const %b: i64[] = [8]
          const %c: i64[] = [3]
          const %d: i64[] = [-3]
          %y = Range(%a, %b, %c)
          %z = Range(%b, %a, %d)
          %e = Range(%a, %b, %d)
          expect %y: i64[3] = [1, 4, 7]
          expect %z: i64[3] = [8, 5, 2]
          expect %e: i64[0] = [])"},
      {"floats do not drift", R"(
          const %a: f32[] = [0]
          const %b: f32[] = [1]
          const %c: f32[] = [0.25]
          %y = Range(%a, %b, %c)
          expect %y: f32[4] = [0, 0.25, 0.5, 0.75])"},
      {"the ends of i64", R"(
          const %a: i64[] = [-9223372036854775808]
          const %b: i64[] = [9223372036854775807]
          const %c: i64[] = [9223372036854775807]
          %y = Range(%a, %b, %c)
          expect %y: i64[3] = [-9223372036854775808, -1, 9223372036854775806])"},
      {"a step of zero is refused", R"(
          const %a: i64[] = [0]
          %y = Range(%a, %a, %a)
          error input 2 ('delta') is 0)"},
      {"an endless range is refused", R"(
          const %a: f32[] = [0]
          const %b: f32[] = [inf]
          const %c: f32[] = [1]
          %y = Range(%a, %b, %c)
          error give no finite range)"},
      {"a range that is too long is refused", R"(
          const %a: i64[] = [0]
          const %b: i64[] = [9223372036854775807]
          const %c: i64[] = [1]
          %y = Range(%a, %b, %c)
          error element count at most 2^31)"},
      {"a limit known at run time only is refused", R"(
          const %a: i64[] = [0]
          input %b: i64[] = [1]
          %y = Range(%a, %b, %a)
          error input 1 ('limit') is computed at run time)"},
  };
  return kCases;
}

}  // namespace rk::ops
