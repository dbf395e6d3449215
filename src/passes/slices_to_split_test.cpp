// SPDX-License-Identifier: Apache-2.0
// Cases of slices_to_split.
#include "passes/pass_cases.h"

namespace rk::passes {
namespace {

constexpr char kGiven[] = R"(
          input %x: f32[1,5,3,2]
          const %zero: i64[1] = [0]
          const %one: i64[1] = [1]
          const %two: i64[1] = [2]
          const %end: i64[1] = [9]
          %u = Sigmoid(%x))";

}  // namespace

std::span<const PassCase> slices_to_split_cases() {
  static constexpr PassCase kCases[] = {
      {"two parts, the second one first", R"(
          %b = Slice(%u, %two, %end, %one)
          %a = Slice(%u, %zero, %two, %one)
          output %a
          output %b)",
       1, "Sigmoid Split", kGiven},
      {"a reader of the whole beside them", R"(
          %b = Slice(%u, %two, %end, %one)
          %a = Slice(%u, %zero, %two, %one)
          %c = Relu(%a)
          output %c
          output %b
          output %u)",
       1, "Sigmoid Split Relu", kGiven},
      {"a part is left out", R"(
          %b = Slice(%u, %two, %end, %one)
          %a = Slice(%u, %zero, %one, %one)
          output %a
          output %b)",
       0, "Sigmoid Slice Slice", kGiven},
      {"parts overlap", R"(
          %b = Slice(%u, %one, %end, %one)
          %a = Slice(%u, %zero, %two, %one)
          output %a
          output %b)",
       0, "Sigmoid Slice Slice", kGiven},
      {"along different axes", R"(
          %b = Slice(%u, %two, %end, %one)
          %a = Slice(%u, %zero, %two, %two)
          output %a
          output %b)",
       0, "Sigmoid Slice Slice", kGiven},
      {"every second element", R"(
          %b = Slice(%u, %one, %end, %one, %two)
          %a = Slice(%u, %zero, %end, %one, %two)
          output %a
          output %b)",
       0, "Sigmoid Slice Slice", kGiven},
  };
  return kCases;
}

}  // namespace rk::passes
