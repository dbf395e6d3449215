// SPDX-License-Identifier: Apache-2.0
// Cases of fold_focus.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          input %x: f32[1,2,4,6]
          const %w: f32[2,8,1,1] = [1, 2, 3, 4, 5, 6, 7, 8, -1, -2, 3, 0.5, 1, 2, -3, 4]
          const %b: f32[2] = [0.5, -1]
          const %s0: i64[1] = [0]
          const %s1: i64[1] = [1]
          const %big: i64[1] = [9223372036854775807]
          const %h: i64[1] = [2]
          const %v: i64[1] = [3]
          const %two: i64[1] = [2]
          %r0 = Slice(%x, %s0, %big, %h, %two)
          %r1 = Slice(%x, %s1, %big, %h, %two)
          %a = Slice(%r0, %s0, %big, %v, %two)
          %c = Slice(%r1, %s0, %big, %v, %two)
          %d = Slice(%r0, %s1, %big, %v, %two)
          %e = Slice(%r1, %s1, %big, %v, %two)
          %f = Concat(%a, %c, %d, %e) {axis=1}
          %y = Conv(%f, %w, %b))";

}  // namespace

std::span<const PassCase> fold_focus_cases() {
  static constexpr PassCase kCases[] = {
      {"four strided slices and a 1x1 convolution", R"(
          output %y)",
       1, "Conv", kGiven},
      {"SpaceToDepth and a padded 3x3 convolution of stride 2", R"(
          input %x: f32[1,1,8,6]
          const %w: f32[1,4,3,3] = [-2.5, 1.0, -1.0, 2.5, 0.5, -1.5, 2.0, 0.0, -2.0, 1.5, -0.5, -2.5,
              1.0, -1.0, 2.5, 0.5, -1.5, 2.0, 0.0, -2.0, 1.5, -0.5, -2.5, 1.0,
              -1.0, 2.5, 0.5, -1.5, 2.0, 0.0, -2.0, 1.5, -0.5, -2.5, 1.0, -1.0]
          %f = SpaceToDepth(%x) {blocksize=2}
          %y = Conv(%f, %w) {pads=[1,0,1,1], strides=[2,1]}
          output %y)",
       1, "Conv"},
      {"a stack that is an output stays", R"(
          output %y
          output %f)",
       0, "Slice Slice Slice Slice Slice Slice Concat Conv", kGiven},
      {"a dilated convolution stays", R"(
          input %x: f32[1,1,8,8]
          const %w: f32[1,4,3,3] = [-2.5, 1.0, -1.0, 2.5, 0.5, -1.5, 2.0, 0.0, -2.0, 1.5, -0.5, -2.5,
              1.0, -1.0, 2.5, 0.5, -1.5, 2.0, 0.0, -2.0, 1.5, -0.5, -2.5, 1.0,
              -1.0, 2.5, 0.5, -1.5, 2.0, 0.0, -2.0, 1.5, -0.5, -2.5, 1.0, -1.0]
          %f = SpaceToDepth(%x) {blocksize=2}
          %y = Conv(%f, %w) {dilations=[1,2], pads=[1,2,1,2]}
          output %y)",
       0, "SpaceToDepth Conv"},
      {"an odd extent that loses a row stays", R"(
          input %x: f32[1,2,3,6]
          const %w: f32[2,8,1,1] = [1, 2, 3, 4, 5, 6, 7, 8, -1, -2, 3, 0.5, 1, 2, -3, 4]
          const %b: f32[2] = [0.5, -1]
          const %s0: i64[1] = [0]
          const %s1: i64[1] = [1]
          const %big: i64[1] = [9223372036854775807]
          const %h: i64[1] = [2]
          const %v: i64[1] = [3]
          const %two: i64[1] = [2]
          %r0 = Slice(%x, %s0, %big, %h, %two)
          %r1 = Slice(%x, %s0, %big, %h, %two)
          %a = Slice(%r0, %s0, %big, %v, %two)
          %c = Slice(%r1, %s0, %big, %v, %two)
          %d = Slice(%r0, %s1, %big, %v, %two)
          %e = Slice(%r1, %s1, %big, %v, %two)
          %f = Concat(%a, %c, %d, %e) {axis=1}
          %y = Conv(%f, %w, %b)
          output %y)",
       0, "Slice Slice Slice Slice Slice Slice Concat Conv"},
  };
  return kCases;
}

}  // namespace rk::passes
