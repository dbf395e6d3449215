// SPDX-License-Identifier: Apache-2.0
// Cases of picture_moves.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          input %x: f32[1,6,2,4]
          const %rows: i64[3] = [3,2,8]
          const %wide: i64[5] = [2,1,3,2,4]
          const %zero: i64[1] = [0]
          const %one: i64[1] = [1]
          const %two: i64[1] = [2])";

}  // namespace

std::span<const PassCase> picture_moves_cases() {
  static constexpr PassCase kCases[] = {
      {"the halves of a channel shuffle", R"(
          %r = Reshape(%x, %rows)
          %t = Transpose(%r) {perm=[1,0,2]}
          %w = Reshape(%t, %wide)
          %a = Slice(%w, %zero, %one, %zero)
          %b = Slice(%w, %one, %two, %zero)
          output %a
          output %b)",
       3, "Reshape Transpose Slice Reshape Slice Reshape", kGiven},
      {"another order of axes stays", R"(
          %r = Reshape(%x, %rows)
          %t = Transpose(%r) {perm=[0,2,1]}
          %y = Reshape(%t, %wide)
          output %y)",
       0, "Reshape Transpose Reshape", kGiven},
      {"a part of another axis stays", R"(
          const %w0: i64[5] = [1,3,2,2,4]
          %w = Reshape(%x, %w0)
          %y = Slice(%w, %zero, %one, %one)
          output %y)",
       0, "Reshape Slice", kGiven},
      {"planes that were cut stay", R"(
          const %cut: i64[3] = [6,4,2]
          %r = Reshape(%x, %cut)
          %t = Transpose(%r) {perm=[1,0,2]}
          %y = Reshape(%t, %wide)
          output %y)",
       0, "Reshape Transpose Reshape", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
