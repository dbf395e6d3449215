// SPDX-License-Identifier: Apache-2.0
// Cases of RNN.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> rnn_cases() {
  static constexpr OpCase kCases[] = {
      {"two steps forward", R"(
          input %x: f32[2,1,1] = [1, 2]
          const %w: f32[1,1,1] = [0.5]
          const %r: f32[1,1,1] = [0.3]
          const %b: f32[1,2] = [0.04, 0.06]
          %y, %h = RNN(%x, %w, %r, %b)
          expect %y: f32[2,1,1,1] = [0.537049567, 0.851371177]
          expect %h: f32[1,1,1] = [0.851371177])"},
      {"both directions", R"(
          input %x: f32[2,1,1] = [1, 2]
          const %w: f32[2,1,1] = [0.5, 0.5]
          const %r: f32[2,1,1] = [0.3, 0.3]
          const %b: f32[2,2] = [0.1, 0, 0, 0.1]
          %y, %h = RNN(%x, %w, %r, %b) {direction="bidirectional", hidden_size=1}
          expect %y: f32[2,2,1,1] = [0.537049567, 0.685888349, 0.851371177, 0.800499022]
          expect %h: f32[2,1,1] = [0.851371177, 0.685888349])"},
      {"a shorter sequence leaves zeros, Relu, initial state", R"(
          input %x: f32[2,2,1] = [1, 10, 2, 20]
          const %w: f32[1,1,1] = [1]
          const %r: f32[1,1,1] = [0.5]
          input %l: i32[2] = [2, 1]
          input %s: f32[1,2,1] = [4, -2]
          %y, %h = RNN(%x, %w, %r, _, %l, %s) {activations=["Relu"]}
          expect %y: f32[2,1,2,1] = [3, 9, 3.5, 0]
          expect %h: f32[1,2,1] = [3.5, 9])"},
      {"batch first", R"(
          input %x: f32[1,2,1] = [1, 2]
          const %w: f32[1,1,1] = [1]
          const %r: f32[1,1,1] = [1]
          %y, %h = RNN(%x, %w, %r) {layout=1, activations=["Affine"], activation_alpha=[2],
              activation_beta=[1]}
          expect %y: f32[1,2,1,1] = [3, 11]
          expect %h: f32[1,1,1] = [11])"},
      {"the clip limits the argument", R"(
          input %x: f32[1,1,1] = [10]
          const %w: f32[1,1,1] = [1]
          const %r: f32[1,1,1] = [1]
          %y = RNN(%x, %w, %r) {clip=3, activations=["Relu"]}
          expect %y: f32[1,1,1,1] = [3])"},
      {"weights of another shape are refused", R"(
          input %x: f32[1,1,2] = [1, 2]
          const %w: f32[1,1,1] = [1]
          %y = RNN(%x, %w, %w)
          error input 1 ('w') is [1,1,1], expected [1,1,2])"},
      {"an unknown activation is refused", R"(
          input %x: f32[1,1,1] = [1]
          %y = RNN(%x, %x, %x) {activations=["Sin"]}
          error attribute 'activations' names 'Sin')"},
      {"another number of activations is refused", R"(
          input %x: f32[1,1,1] = [1]
          %y = RNN(%x, %x, %x) {activations=["Tanh","Tanh"]}
          error attribute 'activations' has 2 names, expected 1)"},
      {"another hidden_size is refused", R"(
          input %x: f32[1,1,1] = [1]
          %y = RNN(%x, %x, %x) {hidden_size=2}
          error attribute 'hidden_size' is 2, the weights have 1)"},
      {"an unknown direction is refused", R"(
          input %x: f32[1,1,1] = [1]
          %y = RNN(%x, %x, %x) {direction="both"}
          error attribute 'direction' is 'both')"},
  };
  return kCases;
}

}  // namespace rk::ops
