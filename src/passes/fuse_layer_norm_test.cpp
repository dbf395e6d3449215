// SPDX-License-Identifier: Apache-2.0
// Cases of fuse_layer_norm.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          const %axes: i64[1] = [-1]
          const %two: f32[] = [2]
          const %eps: f32[] = [0.001]
          input %x: f32[2,3,4]
          %m = ReduceMean(%x, %axes)
          %d = Sub(%x, %m)
          %p = Pow(%d, %two)
          %v = ReduceMean(%p, %axes)
          %e = Add(%v, %eps)
          %s = Sqrt(%e))";

}  // namespace

std::span<const PassCase> fuse_layer_norm_cases() {
  static constexpr PassCase kCases[] = {
      {"the seven nodes with scale and bias", R"(
          const %gamma: f32[4] = [1, 2, 3, 4]
          const %beta: f32[4] = [0.5, -0.5, 0, 1]
          %n = Div(%d, %s)
          %g = Mul(%n, %gamma)
          %y = Add(%g, %beta)
          output %y)",
       3, "LayerNormalization", kGiven},
      {"a rank-0 scale is a scale too", R"(
          const %gamma: f32[] = [3]
          %n = Div(%d, %s)
          %y = Mul(%gamma, %n)
          output %y)",
       2, "LayerNormalization", kGiven},
      {"a mean over another axis stays", R"(
          const %axes: i64[1] = [1]
          const %two: f32[] = [2]
          const %eps: f32[] = [0.001]
          input %x: f32[2,3,4]
          %m = ReduceMean(%x, %axes)
          %d = Sub(%x, %m)
          %p = Pow(%d, %two)
          %v = ReduceMean(%p, %axes)
          %e = Add(%v, %eps)
          %s = Sqrt(%e)
          %y = Div(%d, %s)
          output %y)",
       0, "ReduceMean Sub Pow ReduceMean Add Sqrt Div"},
      {"a scale that makes the result larger stays outside", R"(
          const %axes: i64[1] = [-1]
          const %two: f32[] = [2]
          const %eps: f32[] = [0.001]
          input %x: f32[2,3,1]
          const %gamma: f32[4] = [1, 2, 3, 4]
          %m = ReduceMean(%x, %axes)
          %d = Sub(%x, %m)
          %p = Pow(%d, %two)
          %v = ReduceMean(%p, %axes)
          %e = Add(%v, %eps)
          %s = Sqrt(%e)
          %n = Div(%d, %s)
          %y = Mul(%n, %gamma)
          output %y)",
       1, "LayerNormalization Mul"},
      {"a root that is an output stays", R"(
          %y = Div(%d, %s)
          output %y
          output %s)",
       0, "ReduceMean Sub Pow ReduceMean Add Sqrt Div", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
