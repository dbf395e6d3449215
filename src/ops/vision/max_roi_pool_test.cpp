// SPDX-License-Identifier: Apache-2.0
// Cases of MaxRoiPool.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> max_roi_pool_cases() {
  static constexpr OpCase kCases[] = {
      {"a grid over the picture and over a part", R"(
          input %x: f32[1,1,3,4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
          input %r: f32[2,5] = [0, 0, 0, 3, 2, 0, 1, 1, 2, 1]
          %y = MaxRoiPool(%x, %r) {pooled_shape=[1,2]}
          expect %y: f32[2,1,1,2] = [10, 12, 6, 7])"},
      {"the scale, and a region outside", R"(
          input %x: f32[1,1,2,2] = [1, 2, 3, 4]
          input %r: f32[2,5] = [0, 0, 0, 2, 2, 0, 20, 20, 30, 30]
          %y = MaxRoiPool(%x, %r) {pooled_shape=[1,1], spatial_scale=0.5}
          expect %y: f32[2,1,1,1] = [4, 0])"},
      {"a picture outside the batch is an error", R"(
          input %x: f32[1,1,1,1] = [1]
          input %r: f32[1,5] = [1, 0, 0, 0, 0]
          %y = MaxRoiPool(%x, %r) {pooled_shape=[1,1]}
          error input 1 ('rois') names picture 1, expected 0 to 0)"},
      {"a region that is no number is an error", R"(
          input %x: f32[1,1,1,1] = [1]
          input %r: f32[1,5] = [0, nan, 0, 0, 0]
          %y = MaxRoiPool(%x, %r) {pooled_shape=[1,1]}
          error input 1 ('rois') holds nan)"},
      {"regions of four numbers are refused", R"(
          input %x: f32[1,1,1,1] = [1]
          input %r: f32[1,4] = [0, 0, 0, 0]
          %y = MaxRoiPool(%x, %r) {pooled_shape=[1,1]}
          error expected [regions,5])"},
      {"a grid without rows is refused", R"(
          input %x: f32[1,1,1,1] = [1]
          input %r: f32[1,5] = [0, 0, 0, 0, 0]
          %y = MaxRoiPool(%x, %r) {pooled_shape=[0,1]}
          error attribute 'pooled_shape' is [0,1])"},
  };
  return kCases;
}

}  // namespace rk::ops
