// SPDX-License-Identifier: Apache-2.0
// Cases of resize_to_conv_transpose. rk3588 takes strides 1, 2, 4 and 8.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          input %x: f32[1,3,2,4])";

}  // namespace

std::span<const PassCase> resize_to_conv_transpose_cases() {
  static constexpr PassCase kCases[] = {
      {"twice as large, nearest", R"(
          const %f: f32[4] = [1, 1, 2, 2]
          %y = Resize(%x, _, %f) {mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"}
          output %y)",
       1, "ConvTranspose", kGiven},
      {"half_pixel shows the same pixels, factors differ", R"(
          const %f: f32[4] = [1, 1, 2, 4]
          %y = Resize(%x, _, %f) {mode="nearest"}
          output %y)",
       1, "ConvTranspose", kGiven},
      {"by sizes", R"(
          const %s: i64[4] = [1, 3, 4, 8]
          %y = Resize(%x, _, _, %s) {mode="nearest"}
          output %y)",
       1, "ConvTranspose", kGiven},
      {"three times stays: no such stride", R"(
          const %f: f32[4] = [1, 1, 3, 3]
          %y = Resize(%x, _, %f) {mode="nearest"}
          output %y)",
       0, "Resize", kGiven},
      {"linear stays", R"(
          const %f: f32[4] = [1, 1, 2, 2]
          %y = Resize(%x, _, %f) {mode="linear"}
          output %y)",
       0, "Resize", kGiven},
      {"rounding up shows other pixels", R"(
          const %f: f32[4] = [1, 1, 2, 2]
          %y = Resize(%x, _, %f) {mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="ceil"}
          output %y)",
       0, "Resize", kGiven},
      {"smaller stays", R"(
          const %f: f32[4] = [1, 1, 0.5, 0.5]
          %y = Resize(%x, _, %f) {mode="nearest"}
          output %y)",
       0, "Resize", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
