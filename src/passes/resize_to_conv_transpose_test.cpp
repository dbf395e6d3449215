// SPDX-License-Identifier: Apache-2.0
// Cases of resize_to_conv_transpose. rk3588 takes strides 1, 2, 4 and 8.
#include "passes/pass_cases.h"

namespace rk::passes {

std::span<const PassCase> resize_to_conv_transpose_cases() {
  static constexpr PassCase kCases[] = {
      {"twice as large, nearest", R"(
          input %x: f32[1,3,2,4]
          const %f: f32[4] = [1, 1, 2, 2]
          %y = Resize(%x, _, %f) {mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"}
          output %y)",
       1, "ConvTranspose"},
      {"half_pixel shows the same pixels, factors differ", R"(
          input %x: f32[1,3,2,4]
          const %f: f32[4] = [1, 1, 2, 4]
          %y = Resize(%x, _, %f) {mode="nearest"}
          output %y)",
       1, "ConvTranspose"},
      {"by sizes", R"(
          input %x: f32[1,3,2,4]
          const %s: i64[4] = [1, 3, 4, 8]
          %y = Resize(%x, _, _, %s) {mode="nearest"}
          output %y)",
       1, "ConvTranspose"},
      {"three times stays: no such stride", R"(
          input %x: f32[1,3,2,4]
          const %f: f32[4] = [1, 1, 3, 3]
          %y = Resize(%x, _, %f) {mode="nearest"}
          output %y)",
       0, "Resize"},
      {"linear stays", R"(
          input %x: f32[1,3,2,4]
          const %f: f32[4] = [1, 1, 2, 2]
          %y = Resize(%x, _, %f) {mode="linear"}
          output %y)",
       0, "Resize"},
      {"rounding up shows other pixels", R"(
          input %x: f32[1,3,2,4]
          const %f: f32[4] = [1, 1, 2, 2]
          %y = Resize(%x, _, %f) {mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="ceil"}
          output %y)",
       0, "Resize"},
      {"smaller stays", R"(
          input %x: f32[1,3,2,4]
          const %f: f32[4] = [1, 1, 0.5, 0.5]
          %y = Resize(%x, _, %f) {mode="nearest"}
          output %y)",
       0, "Resize"},
  };
  return kCases;
}

}  // namespace rk::passes
