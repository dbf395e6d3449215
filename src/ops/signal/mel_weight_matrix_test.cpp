// SPDX-License-Identifier: Apache-2.0
// Cases of MelWeightMatrix. 0 and 6300 Hz are 0 and 2595 mel (700 * (10 - 1) = 6300), so one band
// has its corners at 865 and 1730 mel: 808.1 and 2549.1 Hz.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> mel_weight_matrix_cases() {
  static constexpr OpCase kCases[] = {
      // (7 + 1) / 4000 bins per hertz: corners in bins 0, 1 and 5.
      {"one band rises over one bin and falls over the rest", R"(
          const %m: i32[] = [1]
          const %n: i32[] = [7]
          input %r: i32[] = [4000]
          input %l: f32[] = [0]
          input %u: f32[] = [6300]
          %y = MelWeightMatrix(%m, %n, %r, %l, %u)
          expect %y: f32[4,1] = [0, 1, 0.75, 0.5])"},
      // A tenth of the bins: all corners in bin 0.
      {"bands narrower than a bin take all of it", R"(
          const %m: i64[] = [1]
          const %n: i64[] = [2]
          input %r: i64[] = [40000]
          input %l: f32[] = [0]
          input %u: f32[] = [6300]
          %y = MelWeightMatrix(%m, %n, %r, %l, %u) {output_datatype=11}
          expect %y: f64[2,1] = [1, 0])"},
      {"a rate of zero does no harm", R"(
          const %m: i64[] = [1]
          const %n: i64[] = [2]
          input %r: i64[] = [0]
          input %l: f32[] = [0]
          input %u: f32[] = [0]
          %y = MelWeightMatrix(%m, %n, %r, %l, %u)
          expect %y: f32[2,1] = [1, 0])"},
      {"no bands are refused", R"(
          const %m: i64[] = [0]
          input %r: i64[] = [1]
          input %l: f32[] = [0]
          %y = MelWeightMatrix(%m, %m, %r, %l, %l)
          error num_mel_bins 0)"},
      {"several rates are refused", R"(
          const %m: i64[] = [1]
          input %r: i64[2] = [1, 2]
          input %l: f32[] = [0]
          %y = MelWeightMatrix(%m, %m, %r, %l, %l)
          error input 2 ('sample_rate') is i64[2], expected one number)"},
  };
  return kCases;
}

}  // namespace rk::ops
