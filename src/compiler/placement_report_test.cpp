// SPDX-License-Identifier: Apache-2.0
#include "compiler/placement_report.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/registry.h"

namespace rk::compiler {
namespace {

constexpr std::string_view kGraph = R"(graph "g" {
  input %x: f32[1,3,8,8]
  const %w: f32[4,3,3,3] = [)";

Graph graph_with_three_fates() {
  std::string text(kGraph);
  for (int i = 0; i < 108; ++i) text += i == 0 ? "1" : ", 1";
  text += R"(]
  %c = Conv(%x, %w) @"conv"
  %s = Sqrt(%c) @"root"
  %y = Softsign(%s) @"a<b"
  output %y
})";
  auto graph = parse_graph(text, ops::registry());
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(graph).value();
}

TEST(PlacementReport, NamesTheRowThatTookANodeAndTheReasonWhereNoneDid) {
  const Graph graph = graph_with_three_fates();
  const auto report = report_placement(graph, {.target = "rk3588"});
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(report->rows.size(), 3u);
  const Placement& conv = report->rows[0].placement;
  EXPECT_EQ(conv.where, Placement::Where::kNpu);
  EXPECT_TRUE(conv.row.starts_with("Conv i8 f16: kernel and stride 1..31, ")) << conv.row;
  EXPECT_EQ(report->rows[0].dtype, "f16");
  EXPECT_EQ(report->rows[0].output, "[1,4,6,6]");
  const Placement& root = report->rows[1].placement;
  EXPECT_EQ(root.where, Placement::Where::kCpu);
  EXPECT_EQ(root.row, "CPU operators of rk3588");
  EXPECT_EQ(root.reason, "rk3588's NPU has no Sqrt");
  const Placement& last = report->rows[2].placement;
  EXPECT_EQ(last.where, Placement::Where::kUnsupported);
  EXPECT_EQ(last.row, "none: rk3588's CPU has no Softsign");
  EXPECT_EQ(last.processor(), program::Processor::kCpu);
}

TEST(PlacementReport, TextEndsWithCountsAndThePageEscapesNames) {
  const auto report = report_placement(graph_with_three_fates(), {.target = "rk3588"});
  ASSERT_TRUE(report.ok());
  const std::string text = to_text(*report);
  EXPECT_NE(text.find("3 operators on rk3588: 1 on the NPU, 1 on the CPU, 1 unsupported\n"),
            std::string::npos)
      << text;
  const std::string page = to_html(*report);
  EXPECT_NE(page.find("<td>a&lt;b<td>"), std::string::npos);
  EXPECT_NE(page.find("<tr class=\"unsupported\">"), std::string::npos);
}

TEST(PlacementReport, ObeysOpTarget) {
  const auto report = report_placement(graph_with_three_fates(),
                                       {.target = "rk3588", .op_target = {{"Conv", "cpu"}}});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->rows[0].placement.where, Placement::Where::kCpu);
  EXPECT_EQ(report->rows[0].placement.reason, "op_target says so");
}

}  // namespace
}  // namespace rk::compiler
