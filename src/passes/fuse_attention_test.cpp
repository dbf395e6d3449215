// SPDX-License-Identifier: Apache-2.0
// Cases of fuse_attention.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          input %q: f32[1,2,3,4]
          input %k: f32[1,2,5,4]
          input %v: f32[1,2,5,2]
          const %s: f32[] = [0.5]
          const %r: f32[] = [0.7071068])";

}  // namespace

std::span<const PassCase> fuse_attention_cases() {
  static constexpr PassCase kCases[] = {
      {"scale behind the scores", R"(
          %t = Transpose(%k) {perm=[0,1,3,2]}
          %a = MatMul(%q, %t)
          %b = Mul(%a, %s)
          %c = Softmax(%b) {axis=-1}
          %y = MatMul(%c, %v)
          output %y)",
       1, "exSDPAttention", kGiven},
      {"scale divided between q and k", R"(
          %t = Transpose(%k) {perm=[0,1,3,2]}
          %e = Mul(%q, %r)
          %f = Mul(%t, %r)
          %a = MatMul(%e, %f)
          %c = Softmax(%a) {axis=3}
          %y = MatMul(%c, %v)
          output %y)",
       1, "exSDPAttention", kGiven},
      {"a mask that broadcasts over heads and queries", R"(
          input %m: f32[1,1,1,5]
          %t = Transpose(%k) {perm=[0,1,3,2]}
          %a = MatMul(%q, %t)
          %b = Div(%a, %s)
          %d = Add(%m, %b)
          %c = Softmax(%d)
          %y = MatMul(%c, %v)
          output %y)",
       1, "exSDPAttention", kGiven},
      {"keys that come transposed are turned back", R"(
          input %q: f32[1,2,3,4]
          input %k: f32[1,2,4,5]
          input %v: f32[1,2,5,2]
          const %s: f32[] = [0.5]
          const %r: f32[] = [0.7071068]
          %a = MatMul(%q, %k)
          %c = Softmax(%a)
          %y = MatMul(%c, %v)
          output %y)",
       1, "Transpose exSDPAttention"},
      {"heads split by a Transpose keep one Transpose for k", R"(
          input %q: f32[1,2,3,4]
          input %k: f32[1,5,2,4]
          input %v: f32[1,2,5,2]
          const %s: f32[] = [0.5]
          const %r: f32[] = [0.7071068]
          %t = Transpose(%k) {perm=[0,2,3,1]}
          %a = MatMul(%q, %t)
          %c = Softmax(%a)
          %y = MatMul(%c, %v)
          output %y)",
       1, "Transpose exSDPAttention"},
      {"a mask that makes the scores larger stays", R"(
          input %q: f32[1,2,3,4]
          input %k: f32[1,2,5,4]
          input %v: f32[2,2,5,2]
          const %s: f32[] = [0.5]
          const %r: f32[] = [0.7071068]
          input %m: f32[2,1,1,5]
          %t = Transpose(%k) {perm=[0,1,3,2]}
          %a = MatMul(%q, %t)
          %d = Add(%a, %m)
          %c = Softmax(%d)
          %y = MatMul(%c, %v)
          output %y)",
       0, "Transpose MatMul Add Softmax MatMul"},
      {"a softmax over another axis stays", R"(
          %t = Transpose(%k) {perm=[0,1,3,2]}
          %a = MatMul(%q, %t)
          %c = Softmax(%a) {axis=2}
          %y = MatMul(%c, %v)
          output %y)",
       0, "Transpose MatMul Softmax MatMul", kGiven},
      {"attention weights that are an output stay", R"(
          %t = Transpose(%k) {perm=[0,1,3,2]}
          %a = MatMul(%q, %t)
          %c = Softmax(%a)
          %y = MatMul(%c, %v)
          output %y
          output %c)",
       0, "Transpose MatMul Softmax MatMul", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
