// SPDX-License-Identifier: Apache-2.0
// Cases of RoiAlign.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> roi_align_cases() {
  static constexpr OpCase kCases[] = {
      {"one sample between four pixels", R"(
          input %x: f32[1,1,2,2] = [0, 4, 8, 12]
          input %r: f32[1,4] = [0, 0, 2, 2]
          input %b: i64[1] = [0]
          %y = RoiAlign(%x, %r, %b) {sampling_ratio=1}
          expect %y: f32[1,1,1,1] = [6])"},
      {"without the half pixel", R"(
          input %x: f32[1,1,1,4] = [0, 10, 20, 30]
          input %r: f32[1,4] = [0, 0, 2, 0]
          input %b: i64[1] = [0]
          %y = RoiAlign(%x, %r, %b) {sampling_ratio=1, output_width=2,
              coordinate_transformation_mode="output_half_pixel"}
          expect %y: f32[1,1,1,2] = [5, 15])"},
      {"far outside counts as zero", R"(
          input %x: f32[1,1,1,1] = [8]
          input %r: f32[1,4] = [10, 10, 11, 11]
          input %b: i64[1] = [0]
          %y = RoiAlign(%x, %r, %b)
          %m = RoiAlign(%x, %r, %b) {mode="max"}
          expect %y: f32[1,1,1,1] = [0]
          expect %m: f32[1,1,1,1] = [0])"},
      {"a picture outside the batch is an error", R"(
          input %x: f32[1,1,1,1] = [8]
          input %r: f32[1,4] = [0, 0, 1, 1]
          input %b: i64[1] = [1]
          %y = RoiAlign(%x, %r, %b)
          error input 2 ('batch_indices') holds 1, expected 0 to 0)"},
      {"regions that are no numbers do no harm", R"(
          input %x: f32[1,1,1,1] = [8]
          input %r: f32[1,4] = [nan, nan, inf, inf]
          input %b: i64[1] = [0]
          %y = RoiAlign(%x, %r, %b)
          expect %y: f32[1,1,1,1] = [0])"},
      {"an unknown mode is refused", R"(
          input %x: f32[1,1,1,1] = [8]
          input %r: f32[1,4] = [0, 0, 1, 1]
          input %b: i64[1] = [0]
          %y = RoiAlign(%x, %r, %b) {mode="min"}
          error attribute 'mode' is 'min')"},
      {"another number of pictures is refused", R"(
          input %x: f32[1,1,1,1] = [8]
          input %r: f32[1,4] = [0, 0, 1, 1]
          input %b: i64[2] = [0, 0]
          %y = RoiAlign(%x, %r, %b)
          error input 2 ('batch_indices') is i64[2], expected shape [1])"},
      {"a negative sampling_ratio is refused", R"(
          input %x: f32[1,1,1,1] = [8]
          input %r: f32[1,4] = [0, 0, 1, 1]
          input %b: i64[1] = [0]
          %y = RoiAlign(%x, %r, %b) {sampling_ratio=-1}
          error attribute 'sampling_ratio' is -1)"},
  };
  return kCases;
}

}  // namespace rk::ops
