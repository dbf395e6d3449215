// SPDX-License-Identifier: Apache-2.0
// Cases of GRU.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> gru_cases() {
  static constexpr OpCase kCases[] = {
      {"the reset gate before and after the product", R"(
          input %x: f32[1,1,1] = [1]
          const %w: f32[1,3,1] = [0.5, 0.25, 1]
          const %r: f32[1,3,1] = [0.1, 0.2, 0.3]
          const %b: f32[1,6] = [0, 0, 0, 0, 0, 0.5]
          input %s: f32[1,1,1] = [2]
          %y, %h = GRU(%x, %w, %r, %b, _, %s)
          %z = GRU(%x, %w, %r, %b, _, %s) {linear_before_reset=1}
          expect %y: f32[1,1,1,1] = [1.65350133]
          expect %h: f32[1,1,1] = [1.65350133]
          expect %z: f32[1,1,1,1] = [1.64767803])"},
      {"backwards the last step comes first", R"(
          input %x: f32[2,1,1] = [0, 1]
          const %w: f32[1,3,1] = [0, 0, 1]
          const %r: f32[1,3,1] = [0, 0, 0]
          %y, %h = GRU(%x, %w, %r) {direction="reverse"}
          expect %y: f32[2,1,1,1] = [0.190398539, 0.380797078]
          expect %h: f32[1,1,1] = [0.190398539])"},
      {"an initial state of another shape is refused", R"(
          input %x: f32[1,1,1] = [1]
          const %w: f32[1,3,1] = [0, 0, 1]
          const %s: f32[1,1,2] = [1, 2]
          %y = GRU(%x, %w, %w, _, _, %s)
          error input 5 ('initial_h') is [1,1,2], expected [1,1,1])"},
      {"another linear_before_reset is refused", R"(
          input %x: f32[1,1,1] = [1]
          const %w: f32[1,3,1] = [0, 0, 1]
          %y = GRU(%x, %w, %w) {linear_before_reset=2}
          error attribute 'linear_before_reset' is 2)"},
  };
  return kCases;
}

}  // namespace rk::ops
