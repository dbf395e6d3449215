// SPDX-License-Identifier: Apache-2.0
#include "passes/prune_channels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evaluator/evaluate.h"
#include "ir/text.h"
#include "ops/registry.h"

namespace rk::passes {
namespace {

using ::testing::HasSubstr;

Graph graph_of(std::string_view text) {
  auto graph = parse_graph(text, ops::registry());
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(graph).value();
}

std::vector<float> result(const Graph& graph) {
  std::vector<float> values;
  for (int i = 0; i < 18; ++i) values.push_back(static_cast<float>(i % 7) - 3);
  const std::vector<Tensor> inputs = {Tensor::f32({1, 2, 3, 3}, values)};
  const auto outputs = evaluator::evaluate(graph, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return outputs.ok() ? (*outputs)[0].to_f32() : std::vector<float>{};
}

// Channel 1 of %a is always 0, channel 2 is read by nobody; a depthwise layer lies between.
TEST(PruneChannels, TakesOutDeadAndUnreadChannelsWithTheSameResult) {
  Graph graph = graph_of(R"(graph "g" {
    input %x: f32[1,2,3,3]
    const %wa: f32[4,2,1,1] = [1, 2, 0, 0, 5, 6, -1, 1]
    const %ba: f32[4] = [1, 0, 3, 0]
    const %wd: f32[4,1,1,1] = [2, 3, 4, 5]
    const %wb: f32[2,4,1,1] = [1, 7, 0, 2, 3, 8, 0, 4]
    %a = Conv(%x, %wa, %ba)
    %r = Relu(%a)
    %d = Conv(%r, %wd) {group=4}
    %b = Conv(%d, %wb)
    output %b
  })");
  const std::vector<float> before = result(graph);
  const auto report = prune_channels(graph);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->channels, 2u);
  EXPECT_EQ(graph.find("d")->shape(), (Shape{1, 2, 3, 3}));
  EXPECT_EQ(result(graph), before);
  // 8 + 4 + 4 + 8 numbers became 4 + 2 + 2 + 4.
  EXPECT_NEAR(report->weight_mb_before, 96e-6, 1e-9);
  EXPECT_NEAR(report->weight_mb_after, 48e-6, 1e-9);
  EXPECT_THAT(to_text(*report), HasSubstr("Weight: -0.00005 MB (-50.0%)"));
  EXPECT_THAT(to_text(*report), HasSubstr("GFLOPs: "));
}

TEST(PruneChannels, KeepsWhatMayMatter) {
  // A bias makes the empty channel 3, Sigmoid makes it 0.5, an output shows it, an Add mixes it.
  for (const std::string_view body :
       {"%a = Conv(%x, %wa, %ba) %r = Relu(%a) %b = Conv(%r, %wb) output %b",
        "%a = Conv(%x, %wa) %r = Sigmoid(%a) %b = Conv(%r, %wb) output %b",
        "%a = Conv(%x, %wa) %b = Conv(%a, %wb) output %b output %a",
        "%a = Conv(%x, %wa) %s = Add(%a, %x) %b = Conv(%s, %wb) output %b"}) {
    Graph graph = graph_of(str(R"(graph "g" { input %x: f32[1,2,3,3]
      const %wa: f32[2,2,1,1] = [1, 2, 0, 0]
      const %ba: f32[2] = [1, 3]
      const %wb: f32[1,2,1,1] = [1, 7] )",
                               body, " }"));
    const auto report = prune_channels(graph);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->channels, 0u) << body;
    EXPECT_EQ(to_text(*report), "");
  }
}

}  // namespace
}  // namespace rk::passes
