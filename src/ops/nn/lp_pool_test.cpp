// SPDX-License-Identifier: Apache-2.0
// Cases of LpPool.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> lp_pool_cases() {
  static constexpr OpCase kCases[] = {
      {"the length of neighbors, padding adds nothing", R"(
          input %x: f32[1,1,3] = [3, -4, 3]
          %y = LpPool(%x) {kernel_shape=[2], pads=[1, 0]}
          expect %y: f32[1,1,3] = [3, 5, 5])"},
      {"p 1, dilated, height and width apart", R"(
          input %x: f32[1,1,3,2] = [1, 2, 3, 4, 5, -6]
          %y = LpPool(%x) {kernel_shape=[2, 1], dilations=[2, 1], p=1}
          expect %y: f32[1,1,1,2] = [6, 8])"},
      {"p 0 is refused", R"(
          input %x: f32[1,1,1] = [1]
          %y = LpPool(%x) {kernel_shape=[1], p=0}
          error attribute 'p' is 0)"},
      {"a window larger than the picture is refused", R"(
          input %x: f32[1,1,2] = [1, 2]
          %y = LpPool(%x) {kernel_shape=[3]}
          error exceeds the padded input extent 2)"},
  };
  return kCases;
}

}  // namespace rk::ops
