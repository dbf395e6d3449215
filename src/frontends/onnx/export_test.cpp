// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/export.h"

#include <gtest/gtest.h>

#include "frontends/frontend.h"
#include "ir/text.h"
#include "ops/registry.h"

namespace rk::frontends {
namespace {

// Written, read back, printed.
std::string round_trip(std::string_view text) {
  auto graph = parse_graph(text, ops::registry());
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  const auto bytes = export_onnx_model(*graph);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  const auto again = import_onnx_bytes(*bytes, "", {}, ops::registry());
  EXPECT_TRUE(again.ok()) << again.status().message();
  return again.ok() ? to_text(*again) : "";
}

std::string printed(std::string_view text) {
  return to_text(parse_graph(text, ops::registry()).value());
}

TEST(ExportOnnx, NamesTypesAttributesAndConstantsComeBack) {
  constexpr std::string_view kText = R"(graph "net" {
    input %x: f32[1,2,4,4]
    const %w: f32[2,2,1,1] = [1, -2, 0.5, 3]
    const %b: f32[2] = [0.25, -1]
    %c = Conv(%x, %w, %b) {strides=[2,2]} @"conv/1"
    %"r:0" = LeakyRelu(%c) {alpha=0.25} @"r"
    output %"r:0"
  })";
  EXPECT_EQ(round_trip(kText), printed(kText));
}

TEST(ExportOnnx, OperatorsOfOursComeBack) {
  constexpr std::string_view kText = R"(graph "net" {
    input %x: f32[1,2,4,4]
    const %w: f32[2,2,1,1] = [1, -2, 0.5, 3]
    %c = FusedConv(%x, %w, _, %x) {activation="Relu"} @"c"
    %y = exSwish(%c) @"s"
    output %y
  })";
  EXPECT_EQ(round_trip(kText), printed(kText));
}

TEST(ExportOnnx, IntegerConstantsAndSeveralOutputsOfOneNodeComeBack) {
  constexpr std::string_view kText = R"(graph "net" {
    input %x: f32[2,6]
    const %k: i64[2] = [2, 4]
    %v, %i = Split(%x, %k) {axis=1} @"t"
    output %v
    output %i
  })";
  EXPECT_EQ(round_trip(kText), printed(kText));
}

}  // namespace
}  // namespace rk::frontends
