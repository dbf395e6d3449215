// SPDX-License-Identifier: Apache-2.0
// Cases of gemm_to_conv.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          input %x: f32[1,3,1,1]
          const %s: i64[2] = [1, 3]
          const %w: f32[2,3] = [1, -2, 3, 4, 5, -6]
          %r = Reshape(%x, %s))";

}  // namespace

std::span<const PassCase> gemm_to_conv_cases() {
  static constexpr PassCase kCases[] = {
      {"a classifier", R"(
          const %b: f32[2] = [3, -4]
          %y = Gemm(%r, %w, %b) {transB=1}
          output %y)",
       1, "Conv Reshape", kGiven},
      {"factors, the matrix the other way round, one addend", R"(
          const %v: f32[3,2] = [1, 2, -3, 4, 5, 6]
          const %b: f32[] = [3]
          %y = Gemm(%r, %v, %b) {alpha=0.5, beta=2.0}
          output %y)",
       1, "Conv Reshape", kGiven},
      {"the Reshape is read elsewhere, too", R"(
          %y = Gemm(%r, %w) {transB=1}
          output %y
          output %r)",
       1, "Reshape Conv Reshape", kGiven},
      {"one behind another", R"(
          const %v: f32[2,2] = [1, 2, 3, -4]
          %g = Gemm(%r, %w) {transB=1}
          %y = Gemm(%g, %v)
          output %y)",
       2, "Conv Conv Reshape", kGiven},
      {"a matrix from elsewhere stays", R"(
          input %m: f32[3,2]
          %y = Gemm(%r, %m)
          output %y)",
       0, "Reshape Gemm", kGiven},
      {"more than one pixel stays", R"(
          input %x: f32[1,3,1,2]
          const %s: i64[2] = [1, 6]
          const %w: f32[6,1] = [1, 2, 3, 4, 5, 6]
          %r = Reshape(%x, %s)
          %y = Gemm(%r, %w)
          output %y)",
       0, "Reshape Gemm"},
      {"samples in a batch stay", R"(
          input %x: f32[2,3,1,1]
          const %s: i64[2] = [2, 3]
          const %w: f32[3,1] = [1, 2, 3]
          %r = Reshape(%x, %s)
          %y = Gemm(%r, %w)
          output %y)",
       0, "Reshape Gemm"},
  };
  return kCases;
}

}  // namespace rk::passes
