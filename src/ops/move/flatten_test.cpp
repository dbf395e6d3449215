// SPDX-License-Identifier: Apache-2.0
// Cases of Flatten.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> flatten_cases() {
  static constexpr OpCase kCases[] = {
      {"before axis two", R"(
          input %x: i8[2,1,3] = [1, 2, 3, 4, 5, 6]
          %y = Flatten(%x) {axis=2}
          %z = Flatten(%x) {axis=-3}
          %r = Flatten(%x) {axis=3}
          expect %y: i8[2,3] = [1, 2, 3, 4, 5, 6]
          expect %z: i8[1,6] = [1, 2, 3, 4, 5, 6]
          expect %r: i8[6,1] = [1, 2, 3, 4, 5, 6])"},
      {"a scalar becomes one by one", R"(
          input %x: f32[] = [5]
          %y = Flatten(%x) {axis=0}
          expect %y: f32[1,1] = [5])"},
      {"an axis beyond the rank is refused", R"(
          input %x: f32[2] = [1, 2]
          %y = Flatten(%x) {axis=2}
          error attribute 'axis' is 2, expected -1 to 1)"},
  };
  return kCases;
}

}  // namespace rk::ops
