// SPDX-License-Identifier: Apache-2.0
// Cases of fuse_clip.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          const %lo: f32[] = [0]
          const %hi: f32[] = [2])";

}  // namespace

std::span<const PassCase> fuse_clip_cases() {
  static constexpr PassCase kCases[] = {
      {"Max then Min", R"(
          input %x: f32[2,3]
          %a = Max(%x, %lo)
          %y = Min(%hi, %a)
          output %y)",
       1, "Clip", kGiven},
      {"Min then Max", R"(
          input %x: f32[2,3]
          %a = Min(%x, %hi)
          %y = Max(%a, %lo)
          output %y)",
       1, "Clip", kGiven},
      {"crossed bounds stay", R"(
          const %lo: f32[] = [2]
          const %hi: f32[] = [1]
          input %x: f32[2,3]
          %a = Min(%x, %hi)
          %y = Max(%a, %lo)
          output %y)",
       0, "Min Max"},
      {"a bound that makes the result larger stays", R"(
          const %w: f32[1,1,1] = [2]
          input %x: f32[2,3]
          %a = Max(%x, %lo)
          %y = Min(%a, %w)
          output %y)",
       0, "Max Min", kGiven},
      {"an inner value that is an output stays", R"(
          input %x: f32[2,3]
          %a = Max(%x, %lo)
          %y = Min(%a, %hi)
          output %y
          output %a)",
       0, "Max Min", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
