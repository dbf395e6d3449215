// SPDX-License-Identifier: Apache-2.0
// Cases of fuse_rms_norm.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          const %axes: i64[1] = [-1]
          const %two: f32[] = [2]
          const %eps: f32[] = [0.001]
          input %x: f32[2,3,4]
          const %w: f32[4] = [1, 2, 3, 4]
          const %one: f32[] = [1]
          const %power: f32[] = [-0.5])";

}  // namespace

std::span<const PassCase> fuse_rms_norm_cases() {
  static constexpr PassCase kCases[] = {
      {"times the reciprocal root, then the scale", R"(
          %p = Pow(%x, %two)
          %v = ReduceMean(%p, %axes)
          %e = Add(%v, %eps)
          %s = Sqrt(%e)
          %r = Reciprocal(%s)
          %n = Mul(%x, %r)
          %y = Mul(%w, %n)
          output %y)",
       2, "RMSNormalization", kGiven},
      {"one divided by the root", R"(
          %p = Pow(%x, %two)
          %v = ReduceMean(%p, %axes)
          %e = Add(%v, %eps)
          %s = Sqrt(%e)
          %r = Div(%one, %s)
          %y = Mul(%r, %x)
          output %y)",
       1, "RMSNormalization", kGiven},
      {"the power of a half, negative", R"(
          %p = Mul(%x, %x)
          %v = ReduceMean(%p, %axes)
          %e = Add(%eps, %v)
          %r = Pow(%e, %power)
          %y = Mul(%x, %r)
          output %y)",
       1, "RMSNormalization", kGiven},
      {"x divided by the root, a rank-0 scale", R"(
          const %k: f32[] = [2]
          %p = Pow(%x, %two)
          %v = ReduceMean(%p, %axes)
          %e = Add(%v, %eps)
          %s = Sqrt(%e)
          %n = Div(%x, %s)
          %y = Mul(%n, %k)
          output %y)",
       2, "RMSNormalization", kGiven},
      {"another value divided by the root stays", R"(
          input %z: f32[2,3,4]
          %p = Pow(%x, %two)
          %v = ReduceMean(%p, %axes)
          %e = Add(%v, %eps)
          %s = Sqrt(%e)
          %y = Div(%z, %s)
          output %y)",
       0, "Pow ReduceMean Add Sqrt Div", kGiven},
      {"a scale that makes the result larger stays outside", R"(
          const %k: f32[2,1,1,1] = [2, 3]
          %p = Pow(%x, %two)
          %v = ReduceMean(%p, %axes)
          %e = Add(%v, %eps)
          %s = Sqrt(%e)
          %n = Div(%x, %s)
          %y = Mul(%n, %k)
          output %y)",
       1, "RMSNormalization Mul", kGiven},
      {"a mean that is an output stays", R"(
          %p = Pow(%x, %two)
          %v = ReduceMean(%p, %axes)
          %e = Add(%v, %eps)
          %s = Sqrt(%e)
          %y = Div(%x, %s)
          output %y
          output %v)",
       0, "Pow ReduceMean Add Sqrt Div", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
