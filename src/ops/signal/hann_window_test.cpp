// SPDX-License-Identifier: Apache-2.0
// Cases of HannWindow: quarters of the circle, where the cosines are 1, 0 and -1.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> hann_window_cases() {
  static constexpr OpCase kCases[] = {
      {"periodic: the end is the next one's start", R"(
          const %n: i64[] = [4]
          %y = HannWindow(%n)
          expect %y: f32[4] = [0, 0.5, 1, 0.5])"},
      {"symmetric, in double", R"(
          const %n: i32[1] = [5]
          %y = HannWindow(%n) {periodic=0, output_datatype=11}
          expect %y: f64[5] = [0, 0.5, 1, 0.5, 0])"},
      {"symmetric of one element is its middle", R"(
          const %n: i64[] = [1]
          %y = HannWindow(%n) {periodic=0}
          expect %y: f32[1] = [1])"},
      {"a size known only when running is refused", R"(
          input %n: i64[] = [4]
          %y = HannWindow(%n)
          error input 0 ('size') is computed at run time)"},
      {"an unknown dtype is refused", R"(
          const %n: i64[] = [4]
          %y = HannWindow(%n) {output_datatype=99}
          error attribute 'output_datatype' is 99)"},
  };
  return kCases;
}

}  // namespace rk::ops
