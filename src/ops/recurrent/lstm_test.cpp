// SPDX-License-Identifier: Apache-2.0
// Cases of LSTM.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> lstm_cases() {
  static constexpr OpCase kCases[] = {
      {"gates in the order input, output, forget, cell", R"(
          input %x: f32[1,1,1] = [1]
          const %w: f32[1,4,1] = [0.5, 0.25, -0.5, 1]
          const %r: f32[1,4,1] = [0.1, 0.2, 0.3, 0.4]
          input %h: f32[1,1,1] = [0.5]
          input %c: f32[1,1,1] = [2]
          const %p: f32[1,3] = [0.1, 0.2, 0.3]
          %y, %yh, %yc = LSTM(%x, %w, %r, _, _, %h, %c)
          %z, %zh, %zc = LSTM(%x, %w, %r, _, _, %h, %c, %p)
          %f, %fh, %fc = LSTM(%x, %w, %r, _, _, %h, %c) {input_forget=1}
          expect %y: f32[1,1,1,1] = [0.513481231]
          expect %yh: f32[1,1,1] = [0.513481231]
          expect %yc: f32[1,1,1] = [1.3554149]
          expect %z: f32[1,1,1,1] = [0.621765307]
          expect %zc: f32[1,1,1] = [1.69055345]
          expect %f: f32[1,1,1,1] = [0.499310421])"},
      {"two steps, biases add up", R"(
          input %x: f32[2,1,1] = [0, -2]
          const %w: f32[1,4,1] = [0.5, 0.25, -0.5, 1]
          const %r: f32[1,4,1] = [0.1, 0.2, 0.3, 0.4]
          const %b: f32[1,8] = [0.25, 0.25, -0.25, 0.5, 0.25, 0, -0.25, 0.5]
          %y, %yh, %yc = LSTM(%x, %w, %r, %b)
          expect %y: f32[2,1,1,1] = [0.248186867, 0.0128429845]
          expect %yc: f32[1,1,1] = [0.0285428794])"},
      {"peepholes of another shape are refused", R"(
          input %x: f32[1,1,1] = [1]
          const %w: f32[1,4,1] = [0, 0, 0, 0]
          const %p: f32[1,4] = [0, 0, 0, 0]
          %y = LSTM(%x, %w, %w, _, _, _, _, %p)
          error input 7 ('p') is f32[1,4], expected shape [1,3])"},
      {"a cell state of another shape is refused", R"(
          input %x: f32[1,1,1] = [1]
          const %w: f32[1,4,1] = [0, 0, 0, 0]
          const %c: f32[1,1] = [0]
          %y = LSTM(%x, %w, %w, _, _, _, %c)
          error input 6 ('initial_c') is f32[1,1], expected shape [1,1,1])"},
      {"another input_forget is refused", R"(
          input %x: f32[1,1,1] = [1]
          const %w: f32[1,4,1] = [0, 0, 0, 0]
          %y = LSTM(%x, %w, %w) {input_forget=2}
          error attribute 'input_forget' is 2)"},
  };
  return kCases;
}

}  // namespace rk::ops
