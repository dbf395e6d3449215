// SPDX-License-Identifier: Apache-2.0
// FlexAttention, whose sub-graphs become part of the graph, and plain Attention are taken apart.
#include <gtest/gtest.h>

#include "tests/frontends/onnx/model_builder.h"

namespace rk::frontends {
namespace {

using testing::GraphWriter;
using testing::ModelWriter;

// One sub-graph that doubles what it gets.
void add_doubling(onnx::NodeProto& node, const std::string& attr) {
  GraphWriter body(testing::set_graph(node, attr));
  body.input("in", {}).output("out");
  body.node("Add", {"in", "in"}, {"out"});
}

std::vector<std::string> ops_of(const Graph& graph) {
  std::vector<std::string> out;
  for (const Node* node : graph.nodes()) out.emplace_back(node->op());
  return out;
}

TEST(FlexAttention, ItsSubGraphsSurroundTheSoftmax) {
  ModelWriter m(26);
  m.input("q", {1, 2, 3, 4}).input("k", {1, 2, 5, 4}).input("v", {1, 2, 5, 6}).output("y");
  onnx::NodeProto& node = m.node("FlexAttention", {"q", "k", "v"}, {"y"});
  node.set_domain("ai.onnx.preview");
  add_doubling(node, "score_mod");
  add_doubling(node, "prob_mod");
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(ops_of(*graph), (std::vector<std::string>{"Transpose", "MatMul", "Mul", "Add",
                                                      "Softmax", "Add", "MatMul"}));
  EXPECT_EQ(graph->outputs()[0]->shape(), Shape({1, 2, 3, 6}));
  EXPECT_EQ(graph->nodes()[2]->input(1).constant().to_f32(), std::vector<float>{0.5f});
}

TEST(FlexAttention, FewerKeyHeadsAreRepeated) {
  ModelWriter m(26);
  m.input("q", {1, 4, 3, 4}).input("k", {1, 2, 5, 4}).input("v", {1, 1, 5, 6}).output("y");
  m.node("FlexAttention", {"q", "k", "v"}, {"y"}).set_domain("ai.onnx.preview");
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->outputs()[0]->shape(), Shape({1, 4, 3, 6}));
}

TEST(FlexAttention, HeadsThatDoNotDivideAreRefused) {
  ModelWriter m(26);
  m.input("q", {1, 3, 3, 4}).input("k", {1, 2, 5, 4}).input("v", {1, 2, 5, 6}).output("y");
  m.node("FlexAttention", {"q", "k", "v"}, {"y"}).set_domain("ai.onnx.preview");
  const auto graph = m.import();
  EXPECT_NE(graph.status().message().find("3 query heads are no multiple of the 2 of input 1"),
            std::string::npos)
      << graph.status().message();
}

TEST(PlainAttention, BecomesWhatTheChipHas) {
  ModelWriter m(23);
  m.input("q", {1, 3, 8}).input("k", {1, 5, 4}).input("v", {1, 5, 4}).output("y");
  onnx::NodeProto& node = m.node("Attention", {"q", "k", "v"}, {"y"});
  testing::set_int(node, "q_num_heads", 4);
  testing::set_int(node, "kv_num_heads", 2);
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  for (const Node* part : graph->nodes()) EXPECT_NE(part->op(), "Attention");
  EXPECT_EQ(graph->outputs()[0]->shape(), Shape({1, 3, 8}));
}

TEST(PlainAttention, WithAMaskOrCausalItStaysOneOperator) {
  ModelWriter m(23);
  m.input("q", {1, 1, 3, 4}).input("mask", {3, 3}).output("y");
  m.node("Attention", {"q", "q", "q", "mask"}, {"y"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(ops_of(*graph), std::vector<std::string>{"Attention"});
}

TEST(PlainAttention, HeadsThatDoNotFitAreTheOperatorsToRefuse) {
  ModelWriter m(23);
  m.input("q", {1, 3, 8}).output("y");
  m.node("Attention", {"q", "q", "q"}, {"y"});
  const auto graph = m.import();
  EXPECT_NE(graph.status().message().find("attribute 'q_num_heads' is 0"), std::string::npos)
      << graph.status().message();
}

}  // namespace
}  // namespace rk::frontends
