// SPDX-License-Identifier: Apache-2.0
// Cases of TensorScatter.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> tensor_scatter_cases() {
  static constexpr OpCase kCases[] = {
      {"each batch from its own index on", R"(
          input %c: f32[2,3,1] = [1, 2, 3, 4, 5, 6]
          input %u: f32[2,2,1] = [70, 80, 90, 100]
          input %i: i64[2] = [1, 0]
          %y = TensorScatter(%c, %u, %i)
          expect %y: f32[2,3,1] = [1, 70, 80, 90, 100, 6])"},
      {"without indices from the start; any dtype and axis", R"(
          input %c: i8[1,2,3] = [1, 2, 3, 4, 5, 6]
          input %u: i8[1,2,1] = [7, 8]
          %y = TensorScatter(%c, %u) {axis=2}
          expect %y: i8[1,2,3] = [7, 2, 3, 8, 5, 6])"},
      {"circular goes on at the start", R"(
          input %c: f16[1,3,2] = [1, 2, 3, 4, 5, 6]
          input %u: f16[1,2,2] = [7, 8, 9, 10]
          input %i: i64[1] = [2]
          %y = TensorScatter(%c, %u, %i) {mode="circular"}
          expect %y: f16[1,3,2] = [9, 10, 3, 4, 7, 8])"},
      {"linear past the end is an error", R"(
          input %c: f32[1,3,1] = [1, 2, 3]
          input %u: f32[1,2,1] = [7, 8]
          input %i: i64[1] = [2]
          %y = TensorScatter(%c, %u, %i)
          error input 2 ('write_indices') holds 2, expected 0 to 1)"},
      {"an update longer than the cache is refused", R"(
          input %c: f32[1,1,1] = [1]
          input %u: f32[1,2,1] = [7, 8]
          %y = TensorScatter(%c, %u)
          error input 1 ('update') is f32[1,2,1], expected shape [1,1,1])"},
      {"the batch axis is refused", R"(
          input %c: f32[2,2] = [1, 2, 3, 4]
          %y = TensorScatter(%c, %c)
          error names the batch axis)"},
  };
  return kCases;
}

}  // namespace rk::ops
