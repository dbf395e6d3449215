// SPDX-License-Identifier: Apache-2.0
// Cases of InstanceNormalization.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> instance_normalization_cases() {
  static constexpr OpCase kCases[] = {
      {"each plane on its own", R"(
          input %x: f32[1,2,2] = [1, 3, 10, 10]
          const %s: f32[2] = [2, 1]
          const %b: f32[2] = [1, 5]
          %y = InstanceNormalization(%x, %s, %b) {epsilon=0.0001}
          expect %y: f32[1,2,2] = [-0.99990001, 2.99990001, 5, 5])"},
      {"a matrix is refused", R"(
          input %x: f32[1,2] = [1, 2]
          const %s: f32[2] = [2, 1]
          %y = InstanceNormalization(%x, %s, %s)
          error input 0 ('x') is f32[1,2], expected rank 3 to 8)"},
      {"a scale of another length is refused", R"(
          input %x: f32[1,2,1] = [1, 2]
          const %s: f32[1] = [2]
          %y = InstanceNormalization(%x, %s, %s)
          error input 1 ('scale') is f32[1], expected shape [2])"},
  };
  return kCases;
}

}  // namespace rk::ops
