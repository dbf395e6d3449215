// SPDX-License-Identifier: Apache-2.0
// Cases of matmul_to_gemm.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          input %x: f32[3,2]
          const %w: f32[2,2] = [1, -2, 3, 4]
          %m = MatMul(%x, %w))";

}  // namespace

std::span<const PassCase> matmul_to_gemm_cases() {
  static constexpr PassCase kCases[] = {
      {"a rank-0 bias", R"(
          const %b: f32[] = [3]
          %y = Add(%b, %m)
          output %y)",
       1, "Gemm", kGiven},
      {"a bias that makes the result larger stays outside", R"(
          const %b: f32[1,1,1] = [3]
          %y = Add(%m, %b)
          output %y)",
       1, "Gemm Add", kGiven},
      {"a bias that varies over rows stays outside", R"(
          const %b: f32[3,1] = [1, 2, 3]
          %y = Add(%m, %b)
          output %y)",
       1, "Gemm Add", kGiven},
      {"a product that is an output keeps its Add", R"(
          const %b: f32[2] = [1, 2]
          %y = Add(%m, %b)
          output %y
          output %m)",
       1, "Gemm Add", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
