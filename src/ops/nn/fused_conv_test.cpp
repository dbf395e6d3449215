// SPDX-License-Identifier: Apache-2.0
// Cases of FusedConv.
#include "tests/ops/cases.h"

namespace rk::ops {

std::span<const OpCase> fused_conv_cases() {
  static constexpr OpCase kCases[] = {
      {"the addend joins after the first activation", R"(
          input %x: f32[1,1,1,3] = [-2, 1, 3]
          const %w: f32[1,1,1,1] = [2]
          const %b: f32[1] = [1]
          input %a: f32[1,1,1,3] = [-1, -5, 10]
          %y = FusedConv(%x, %w, %b, %a) {activation="Relu"}
          expect %y: f32[1,1,1,3] = [-1, -2, 17])"},
      {"a second activation after the addend", R"(
          input %x: f32[1,1,1,3] = [-2, 1, 3]
          const %w: f32[1,1,1,1] = [2]
          const %b: f32[1] = [1]
          input %a: f32[1,1,1,3] = [-1, -5, 10]
          %y = FusedConv(%x, %w, %b, %a) {activation="Relu", post_activation="Relu"}
          expect %y: f32[1,1,1,3] = [0, 0, 17])"},
      {"Clip takes its bounds, LeakyRelu its alpha", R"(
          input %x: f32[1,1,1,3] = [-2, 1, 30]
          const %w: f32[1,1,1,1] = [1]
          %y = FusedConv(%x, %w) {activation="Clip", clip_min=0, clip_max=6}
          %z = FusedConv(%x, %w) {activation="LeakyRelu", alpha=0.5}
          %l = FusedConv(%x, %w) {activation="LeakyRelu"}
          expect %y: f32[1,1,1,3] = [0, 1, 6]
          expect %z: f32[1,1,1,3] = [-1, 1, 30]
          expect %l: f32[1,1,1,3] = [-0.02, 1, 30])"},
      {"every activation has its operator's values", R"(
          input %x: f32[1,1,1,2] = [-1, 2]
          const %w: f32[1,1,1,1] = [1]
          %a = FusedConv(%x, %w) {activation="Sigmoid"}
          %b = FusedConv(%x, %w) {activation="Tanh"}
          %c = FusedConv(%x, %w) {activation="HardSigmoid"}
          %d = FusedConv(%x, %w) {activation="HardSwish"}
          %e = FusedConv(%x, %w) {activation="Elu"}
          %f = FusedConv(%x, %w) {activation="Softplus"}
          %g = FusedConv(%x, %w) {activation="exSwish"}
          %h = FusedConv(%x, %w) {activation="exMish"}
          %i = FusedConv(%x, %w) {activation="exGelu"}
          expect %a: f32[1,1,1,2] = [0.268941421, 0.880797078]
          expect %b: f32[1,1,1,2] = [-0.761594156, 0.964027580]
          expect %c: f32[1,1,1,2] = [0.3, 0.9]
          expect %d: f32[1,1,1,2] = [-0.333333333, 1.66666667]
          expect %e: f32[1,1,1,2] = [-0.632120559, 2]
          expect %f: f32[1,1,1,2] = [0.313261688, 2.12692801]
          expect %g: f32[1,1,1,2] = [-0.268941421, 1.76159416]
          expect %h: f32[1,1,1,2] = [-0.303401461, 1.94395896]
          expect %i: f32[1,1,1,2] = [-0.158655254, 1.95449974])"},
      {"an addend of another shape is refused", R"(
          input %x: f32[1,1,1,3] = [-2, 1, 3]
          const %w: f32[1,1,1,1] = [2]
          input %a: f32[1,1,1,1] = [1]
          %y = FusedConv(%x, %w, _, %a)
          error input 3 ('addend') is f32[1,1,1,1], expected shape [1,1,1,3])"},
      {"an unknown activation is refused", R"(
          input %x: f32[1,1,1,1] = [1]
          %y = FusedConv(%x, %x) {activation="Swish"}
          error attribute 'activation' is 'Swish', expected '' or one of Relu, Clip)"},
      {"an unknown second activation is refused", R"(
          input %x: f32[1,1,1,1] = [1]
          %y = FusedConv(%x, %x) {post_activation="relu"}
          error attribute 'post_activation' is 'relu')"},
  };
  return kCases;
}

}  // namespace rk::ops
