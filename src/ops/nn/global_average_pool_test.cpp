// SPDX-License-Identifier: Apache-2.0
// Cases of GlobalAveragePool.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> global_average_pool_cases() {
  static constexpr OpCase kCases[] = {
      {"the mean of each plane", R"(
          input %x: f32[1,2,1,3] = [1, 2, 6, -1, 0, 1]
          %y = GlobalAveragePool(%x)
          expect %y: f32[1,2,1,1] = [3, 0])"},
      {"without spatial axes it is the identity", R"(
          input %x: f32[1,2] = [4, 5]
          %y = GlobalAveragePool(%x)
          expect %y: f32[1,2] = [4, 5])"},
      {"empty planes are refused", R"(
          input %x: f32[1,2,0] = []
          %y = GlobalAveragePool(%x)
          error expected spatial extents above 0)"},
      {"a vector is refused", R"(
          input %x: f32[2] = [1, 2]
          %y = GlobalAveragePool(%x)
          error input 0 ('x') is f32[2], expected rank 2 to 8)"},
  };
  return kCases;
}

}  // namespace rk::ops
