// SPDX-License-Identifier: Apache-2.0
// Cases of exGelu. The function is Gelu's and is tested there; here that it has both forms.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> ex_gelu_cases() {
  static constexpr OpCase kCases[] = {
      {"both forms at the same place", R"(
          input %x: f32[] = [2]
          %y = exGelu(%x)
          %z = exGelu(%x) {approximate="tanh"}
          expect %y: f32[] = [1.95449974]
          expect %z: f32[] = [1.95459769])"},
      {"another approximation is refused", R"(
          input %x: f32[1] = [0]
          %y = exGelu(%x) {approximate="fast"}
          error attribute 'approximate' is 'fast')"},
  };
  return kCases;
}

}  // namespace rk::ops
