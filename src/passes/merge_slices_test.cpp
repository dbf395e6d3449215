// SPDX-License-Identifier: Apache-2.0
// Cases of merge_slices.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          input %x: f32[3,10]
          const %a0: i64[1] = [0]
          const %a1: i64[1] = [1]
          const %s: i64[1] = [2]
          const %e: i64[1] = [9]
          const %two: i64[1] = [2]
          const %minus: i64[1] = [-1])";

}  // namespace

std::span<const PassCase> merge_slices_cases() {
  static constexpr PassCase kCases[] = {
      {"steps multiply", R"(
          %a = Slice(%x, %a1, %e, %a1, %two)
          %y = Slice(%a, %a1, %e, %a1, %two)
          output %y)",
       1, "Slice", kGiven},
      {"different axes", R"(
          %a = Slice(%x, %a1, %e, %a0)
          const %from: i64[1] = [-4]
          %y = Slice(%a, %from, %e, %a1)
          output %y)",
       1, "Slice", kGiven},
      {"a slice that runs backwards stays", R"(
          const %neg: i64[1] = [-20]
          %a = Slice(%x, %minus, %neg, %a1, %minus)
          %y = Slice(%a, %a1, %e, %a1)
          output %y)",
       0, "Slice Slice", kGiven},
      {"an operand of a Concat", R"(
          input %z: f32[3,2]
          %j = Concat(%x, %z) {axis=-1}
          const %ten: i64[1] = [10]
          const %end: i64[1] = [99]
          %a = Slice(%j, %ten, %end, %a1)
          %y = Relu(%a)
          output %y
          output %j)",
       1, "Concat Relu", kGiven},
      {"a part of an operand stays", R"(
          input %z: f32[3,2]
          %j = Concat(%x, %z) {axis=1}
          %a = Slice(%j, %a0, %e, %a1)
          %y = Relu(%a)
          output %y)",
       0, "Concat Slice Relu", kGiven},
      {"a slice that is an output stays", R"(
          %a = Slice(%x, %a1, %e, %a1, %two)
          %y = Slice(%a, %a1, %e, %a1, %two)
          output %y
          output %a)",
       0, "Slice Slice", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
