// SPDX-License-Identifier: Apache-2.0
// Cases of BatchNormalization.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> batch_normalization_cases() {
  static constexpr OpCase kCases[] = {
      {"per channel", R"(
          input %x: f32[1,2,1,2] = [1, 3, 10, 20]
          const %s: f32[2] = [2, 1]
          const %b: f32[2] = [0, 5]
          const %m: f32[2] = [2, 10]
          const %v: f32[2] = [4, 25]
          %y = BatchNormalization(%x, %s, %b, %m, %v) {epsilon=0}
          expect %y: f32[1,2,1,2] = [-1, 1, 5, 7])"},
      {"epsilon is added to the variance", R"(
          input %x: f32[1,1] = [3]
          const %o: f32[1] = [1]
          const %z: f32[1] = [0]
          %y = BatchNormalization(%x, %o, %z, %o, %z) {epsilon=0.25}
          expect %y: f32[1,1] = [4])"},
      {"parameters of another length are refused", R"(
          input %x: f32[1,2] = [1, 2]
          const %o: f32[1] = [1]
          %y = BatchNormalization(%x, %o, %o, %o, %o)
          error input 1 ('scale') is f32[1], expected shape [2])"},
      {"training is refused", R"(
          input %x: f32[1,1] = [1]
          const %o: f32[1] = [1]
          %y = BatchNormalization(%x, %o, %o, %o, %o) {training_mode=1}
          error only inference is supported)"},
  };
  return kCases;
}

}  // namespace rk::ops
