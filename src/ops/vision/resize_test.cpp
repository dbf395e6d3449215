// SPDX-License-Identifier: Apache-2.0
// Cases of Resize.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> resize_cases() {
  static constexpr OpCase kCases[] = {
      {"nearest, factor two, moves any dtype", R"(
          input %x: i8[1,1,1,2] = [1, 2]
          const %s: f32[4] = [1, 1, 2, 2]
          %y = Resize(%x, _, %s)
          expect %y: i8[1,1,2,4] = [1, 1, 2, 2, 1, 1, 2, 2])"},
      {"the rounding of nearest", R"(
          input %x: f32[4] = [0, 1, 2, 3]
          const %s: i64[1] = [2]
          %a = Resize(%x, _, _, %s) {coordinate_transformation_mode="half_pixel",
              nearest_mode="round_prefer_floor"}
          %b = Resize(%x, _, _, %s) {nearest_mode="round_prefer_ceil"}
          %c = Resize(%x, _, _, %s) {nearest_mode="floor"}
          %d = Resize(%x, _, _, %s) {nearest_mode="ceil"}
          %e = Resize(%x, _, _, %s) {coordinate_transformation_mode="asymmetric"}
          expect %a: f32[2] = [0, 2]
          expect %b: f32[2] = [1, 3]
          expect %c: f32[2] = [0, 2]
          expect %d: f32[2] = [1, 3]
          expect %e: f32[2] = [0, 2])"},
      {"linear at half pixels and with aligned corners", R"(
          input %x: f32[1,1,1,2] = [0, 4]
          const %s: i64[4] = [1, 1, 1, 4]
          %a = Resize(%x, _, _, %s) {mode="linear"}
          %b = Resize(%x, _, _, %s) {mode="linear", coordinate_transformation_mode="align_corners"}
          %c = Resize(%x, _, _, %s) {mode="linear", coordinate_transformation_mode="asymmetric"}
          expect %a: f32[1,1,1,4] = [0, 1, 3, 4]
          expect %b: f32[1,1,1,4] = [0, 1.33333333, 2.66666667, 4]
          expect %c: f32[1,1,1,4] = [0, 2, 4, 4])"},
      {"linear in two axes is the product", R"(
          input %x: f32[2,2] = [0, 2, 4, 6]
          const %s: i64[2] = [3, 3]
          %y = Resize(%x, _, _, %s) {mode="linear", coordinate_transformation_mode="align_corners"}
          expect %y: f32[3,3] = [0, 1, 2, 2, 3, 4, 4, 5, 6])"},
      {"only the axes given", R"(
          input %x: f32[2,2] = [0, 2, 4, 6]
          const %s: f32[1] = [2]
          %y = Resize(%x, _, %s) {axes=[-2]}
          expect %y: f32[4,2] = [0, 2, 0, 2, 4, 6, 4, 6])"},
      {"pytorch_half_pixel of one output takes the first", R"(
          input %x: f32[3] = [1, 2, 3]
          const %s: i64[1] = [1]
          %y = Resize(%x, _, _, %s) {mode="linear",
              coordinate_transformation_mode="pytorch_half_pixel"}
          expect %y: f32[1] = [1])"},
      {"half_pixel_symmetric centers what is left over", R"(
          input %x: f32[5] = [0, 1, 2, 3, 4]
          const %s: f32[1] = [0.5]
          %y = Resize(%x, _, %s) {mode="linear",
              coordinate_transformation_mode="half_pixel_symmetric"}
          expect %y: f32[2] = [1, 3])"},
      {"cubic between four points", R"(
          input %x: f32[4] = [0, 0, 16, 0]
          const %s: f32[1] = [2]
          %y = Resize(%x, _, %s) {mode="cubic", coordinate_transformation_mode="asymmetric",
              cubic_coeff_a=-0.5}
          expect %y: f32[8] = [0, -1, 0, 9, 16, 9, 0, -1])"},
      {"exclude_outside makes up for the taps left out", R"(
          input %x: f32[2] = [4, 8]
          const %s: f32[1] = [2]
          %y = Resize(%x, _, %s) {mode="linear", exclude_outside=1}
          expect %y: f32[4] = [4, 5, 7, 8])"},
      {"antialias averages when shrinking", R"(
          input %x: f32[4] = [0, 0, 8, 8]
          const %s: f32[1] = [0.5]
          %y = Resize(%x, _, %s) {mode="linear", antialias=1}
          expect %y: f32[2] = [1, 7])"},
      {"the aspect ratio is kept", R"(
          input %x: f32[2,4] = [1, 2, 3, 4, 5, 6, 7, 8]
          const %s: i64[2] = [1, 1]
          %y = Resize(%x, _, _, %s) {keep_aspect_ratio_policy="not_smaller",
              coordinate_transformation_mode="asymmetric"}
          expect %y: f32[1,2] = [1, 3])"},
      {"crop and resize extrapolates", R"(
          input %x: f32[3] = [10, 20, 30]
          const %r: f32[2] = [0.5, 1.5]
          const %s: i64[1] = [3]
          %y = Resize(%x, %r, _, %s) {mode="linear",
              coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=-1}
          %n = Resize(%x, %r, _, %s) {coordinate_transformation_mode="tf_crop_and_resize",
              extrapolation_value=-1}
          expect %y: f32[3] = [20, 30, -1]
          expect %n: f32[3] = [20, 30, -1])"},
      {"integers round to nearest", R"(
          input %x: u8[2] = [0, 255]
          const %s: i64[1] = [3]
          %y = Resize(%x, _, _, %s) {mode="linear", coordinate_transformation_mode="align_corners"}
          expect %y: u8[3] = [0, 128, 255])"},
      {"an empty axis stays empty", R"(
          input %x: f32[0,1] = []
          const %s: f32[2] = [1, 2]
          %y = Resize(%x, _, %s)
          expect %y: f32[0,2] = [])"},
      {"neither scales nor sizes is refused", R"(
          input %x: f32[1] = [1]
          %y = Resize(%x)
          error neither of 'scales' and 'sizes' given)"},
      {"both are refused", R"(
          input %x: f32[1] = [1]
          const %s: f32[1] = [1]
          const %z: i64[1] = [1]
          %y = Resize(%x, _, %s, %z)
          error both of 'scales' and 'sizes' given)"},
      {"a scale of zero is refused", R"(
          input %x: f32[1] = [1]
          const %s: f32[1] = [0]
          %y = Resize(%x, _, %s)
          error input 2 ('scales') holds 0)"},
      {"an endless scale is refused", R"(
          input %x: f32[1] = [1]
          const %s: f32[1] = [inf]
          %y = Resize(%x, _, %s)
          error input 2 ('scales') holds inf)"},
      {"another number of scales is refused", R"(
          input %x: f32[1] = [1]
          const %s: f32[2] = [1, 1]
          %y = Resize(%x, _, %s)
          error input 'scales' has 2 values, expected 1)"},
      {"a size of zero is refused", R"(
          input %x: f32[1] = [1]
          const %s: i64[1] = [0]
          %y = Resize(%x, _, _, %s)
          error input 3 ('sizes') asks for extent 0)"},
      {"sizes known at run time only are refused", R"(
          input %x: f32[1] = [1]
          input %s: i64[1] = [1]
          %y = Resize(%x, _, _, %s)
          error input 3 ('sizes') is computed at run time)"},
      {"an unknown mode is refused", R"(
          input %x: f32[1] = [1]
          const %s: f32[1] = [1]
          %y = Resize(%x, _, %s) {mode="bilinear"}
          error attribute 'mode' is 'bilinear')"},
      {"crop and resize without roi is refused", R"(
          input %x: f32[1] = [1]
          const %s: f32[1] = [1]
          %y = Resize(%x, _, %s) {coordinate_transformation_mode="tf_crop_and_resize"}
          error input 1 ('roi') is missing)"},
  };
  return kCases;
}

}  // namespace rk::ops
