// SPDX-License-Identifier: Apache-2.0
// Cases of STFT.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> stft_cases() {
  static constexpr OpCase kCases[] = {
      // Of two numbers: sum and difference.
      {"frames of two, one apart", R"(
          input %s: f32[1,3,1] = [1, 2, 5]
          const %step: i64[] = [1]
          const %n: i64[] = [2]
          %y = STFT(%s, %step, _, %n)
          expect %y: f32[1,2,2,2] = [3, 0, -1, 0, 7, 0, -3, 0])"},
      {"the window gives the length and weighs; a rest is left out", R"(
          input %s: f32[1,5] = [1, 2, 3, 4, 5]
          input %w: f32[2] = [1, 0.5]
          const %step: i32[] = [2]
          %y = STFT(%s, %step, %w)
          expect %y: f32[1,2,2,2] = [2, 0, 0, 0, 5, 0, 1, 0])"},
      {"complex signals have the whole spectrum", R"(
          input %s: f32[1,2,2] = [1, 1, 0, 2]
          const %step: i64[] = [1]
          const %n: i64[] = [2]
          %y = STFT(%s, %step, _, %n) {onesided=0}
          expect %y: f32[1,1,2,2] = [1, 3, 1, -1])"},
      {"a complex signal has no half spectrum", R"(
          input %s: f32[1,2,2] = [1, 1, 0, 2]
          const %step: i64[] = [1]
          const %n: i64[] = [2]
          %y = STFT(%s, %step, _, %n)
          error expected a real signal)"},
      {"frames longer than the signal are refused", R"(
          input %s: f32[1,2] = [1, 1]
          const %step: i64[] = [1]
          const %n: i64[] = [3]
          %y = STFT(%s, %step, _, %n)
          error frames of 3 elements every 1)"},
      {"frames of unknown length are refused", R"(
          input %s: f32[1,2] = [1, 1]
          const %step: i64[] = [1]
          %y = STFT(%s, %step)
          error neither frame_length nor a window is given)"},
  };
  return kCases;
}

}  // namespace rk::ops
