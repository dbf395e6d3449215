// SPDX-License-Identifier: Apache-2.0
// Cases of fuse_instance_norm.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          const %axes: i64[2] = [2, 3]
          const %two: f32[] = [2]
          const %eps: f32[] = [0.001]
          input %x: f32[2,3,2,5]
          %m = ReduceMean(%x, %axes)
          %d = Sub(%x, %m)
          %p = Pow(%d, %two)
          %v = ReduceMean(%p, %axes)
          %e = Add(%v, %eps)
          %s = Sqrt(%e))";

}  // namespace

std::span<const PassCase> fuse_instance_norm_cases() {
  static constexpr PassCase kCases[] = {
      {"parts with scale and bias per channel", R"(
          const %g: f32[3,1,1] = [1, 2, 3]
          const %b: f32[1,3,1,1] = [3, -2, 1]
          %n = Div(%d, %s)
          %t = Mul(%n, %g)
          %y = Add(%b, %t)
          output %y)",
       3, "InstanceNormalization", kGiven},
      {"a rank-0 scale serves all channels", R"(
          const %g: f32[] = [2]
          %n = Div(%d, %s)
          %y = Mul(%g, %n)
          output %y)",
       2, "InstanceNormalization", kGiven},
      {"a scale that varies over pixels stays outside", R"(
          const %g: f32[5] = [1, 2, 3, 4, 5]
          %n = Div(%d, %s)
          %y = Mul(%g, %n)
          output %y)",
       1, "InstanceNormalization Mul", kGiven},
      {"a scale that makes the result larger stays outside", R"(
          const %g: f32[2,1,1,1,1] = [2, 3]
          %n = Div(%d, %s)
          %y = Mul(%n, %g)
          output %y)",
       1, "InstanceNormalization Mul", kGiven},
      {"a difference that is an output stays", R"(
          %y = Div(%d, %s)
          output %y
          output %d)",
       0, "ReduceMean Sub Pow ReduceMean Add Sqrt Div", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
