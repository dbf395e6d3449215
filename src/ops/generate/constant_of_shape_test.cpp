// SPDX-License-Identifier: Apache-2.0
// Cases of ConstantOfShape.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> constant_of_shape_cases() {
  static constexpr OpCase kCases[] = {
      {"zeros by default", R"(
          const %s: i64[2] = [2, 1]
          %y = ConstantOfShape(%s)
          expect %y: f32[2,1] = [0, 0])"},
      {"a value fixes the dtype", R"(
          const %s: i64[1] = [3]
          %y = ConstantOfShape(%s) {value=tensor i8[1] [-7]}
          expect %y: i8[3] = [-7, -7, -7])"},
      {"a scalar", R"(
          const %s: i64[0] = []
          %y = ConstantOfShape(%s) {value=tensor i64[] [5]}
          expect %y: i64[] = [5])"},
      {"a shape known at run time only is refused", R"(
          input %s: i64[1] = [1]
          %y = ConstantOfShape(%s)
          error input 0 ('shape') is computed at run time)"},
      {"a value of two elements is refused", R"(
          const %s: i64[1] = [1]
          %y = ConstantOfShape(%s) {value=tensor f32[2] [1, 2]}
          error attribute 'value' must hold one element)"},
      {"a negative extent is refused", R"(
          const %s: i64[1] = [-1]
          %y = ConstantOfShape(%s)
          error extents must not be negative)"},
      {"a shape that is too large is refused", R"(
          const %s: i64[2] = [100000, 100000]
          %y = ConstantOfShape(%s)
          error element count at most 2^31)"},
  };
  return kCases;
}

}  // namespace rk::ops
