// SPDX-License-Identifier: Apache-2.0
// Cases of exDataConvert.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> ex_data_convert_cases() {
  static constexpr OpCase kCases[] = {
      {"the identity unless told otherwise", R"(
          input %x: f32[2] = [1.0001, -2]
          %y = exDataConvert(%x)
          %h = exDataConvert(%x) {to=10}
          expect %y: f32[2] = [1.0001, -2]
          expect %h: f16[2] = [1, -2])"},
      {"an unknown dtype is refused", R"(
          input %x: f32[1] = [1]
          %y = exDataConvert(%x) {to=99}
          error attribute 'to' is 99, expected a supported dtype)"},
  };
  return kCases;
}

}  // namespace rk::ops
