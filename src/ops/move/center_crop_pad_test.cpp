// SPDX-License-Identifier: Apache-2.0
// Cases of CenterCropPad.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> center_crop_pad_cases() {
  static constexpr OpCase kCases[] = {
      {"one axis is cropped, the other padded; the odd one is at the end", R"(
          input %x: f32[4,1] = [1, 2, 3, 4]
          const %s: i64[2] = [1, 4]
          %y = CenterCropPad(%x, %s)
          expect %y: f32[1,4] = [0, 2, 0, 0])"},
      {"only the named axes", R"(
          input %x: i8[2,3] = [1, 2, 3, 4, 5, 6]
          const %s: i64[1] = [1]
          %y = CenterCropPad(%x, %s) {axes=[-1]}
          expect %y: i8[2,1] = [2, 5])"},
      {"extents without axes to go with are refused", R"(
          input %x: f32[2,2] = [1, 2, 3, 4]
          const %s: i64[1] = [1]
          %y = CenterCropPad(%x, %s)
          error input 1 ('shape') is [1], expected 2 extents)"},
      {"an axis outside is refused", R"(
          input %x: f32[2] = [1, 2]
          const %s: i64[1] = [1]
          %y = CenterCropPad(%x, %s) {axes=[1]}
          error axis 1 is outside rank 1)"},
  };
  return kCases;
}

}  // namespace rk::ops
