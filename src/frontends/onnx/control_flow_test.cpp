// SPDX-License-Identifier: Apache-2.0
// If, Loop and functions are gone from the imported graph.
#include <gtest/gtest.h>

#include "tests/frontends/onnx/model_builder.h"

namespace rk::frontends {
namespace {

using testing::GraphWriter;
using testing::ModelWriter;
using testing::op_names;

// y = If(rank-dependent condition): then Neg(x) else Abs(x); x is captured.
ModelWriter branch(bool condition) {
  ModelWriter m;
  m.input("x", {2}).output("y");
  m.ints("one", {}, {condition ? 2 : 3});
  m.ints("index", {}, {0});
  m.node("Shape", {"x"}, {"shape"});
  m.node("Gather", {"shape", "index"}, {"extent"});
  m.node("Equal", {"extent", "one"}, {"condition"});
  onnx::NodeProto& node = m.node("If", {"condition"}, {"y"}, "choose");
  GraphWriter then_branch(testing::set_graph(node, "then_branch"));
  then_branch.output("then_y");
  then_branch.node("Neg", {"x"}, {"then_y"});
  GraphWriter else_branch(testing::set_graph(node, "else_branch"));
  else_branch.output("else_y");
  else_branch.node("Abs", {"x"}, {"t"});
  else_branch.node("NoSuchOp", {"t"}, {"else_y"}, "strange");
  return m;
}

TEST(OnnxControlFlow, TakesTheBranchOfAConstantCondition) {
  const auto graph = branch(true).import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(op_names(*graph), "Neg");
  EXPECT_EQ(graph->outputs()[0]->name(), "y");
}

TEST(OnnxControlFlow, ReportsUnsupportedOperatorsOfTheTakenBranchOnly) {
  EXPECT_EQ(branch(false).failure(), "node 'choose/strange' (NoSuchOp, opset 17): not supported");
}

TEST(OnnxControlFlow, RefusesAConditionThatDependsOnTheInput) {
  ModelWriter m;
  m.input("x", {1}).output("y");
  m.node("Greater", {"x", "x"}, {"condition"});
  onnx::NodeProto& node = m.node("If", {"condition"}, {"y"}, "choose");
  for (const char* name : {"then_branch", "else_branch"}) {
    GraphWriter(testing::set_graph(node, name)).output("x");
  }
  EXPECT_EQ(m.failure(),
            "node 'choose' (If, opset 17): its condition 'condition' is computed from the model's "
            "inputs; only conditions that are known at conversion are supported. If it depends on "
            "one input only, give that input a fixed value (input_initial_val); cut the graph "
            "before it with outputs=['condition']");
}

ModelWriter loop(int64_t trips) {
  ModelWriter m;
  m.input("x", {2}).output("last").output("all");
  m.ints("trips", {}, {trips});
  onnx::NodeProto& node = m.node("Loop", {"trips", "", "x"}, {"last", "all"}, "loop");
  GraphWriter body(testing::set_graph(node, "body"));
  body.input("i", {}, testing::kInt64).input("go", {}, 9).input("v", {2});
  body.output("go").output("next").output("row");
  body.node("Add", {"v", "x"}, {"next"});
  body.node("Neg", {"next"}, {"row"});
  return m;
}

TEST(OnnxControlFlow, UnrollsALoopAndStacksItsScanOutputs) {
  const auto graph = loop(3).import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(op_names(*graph), "Add Neg Add Neg Add Neg Unsqueeze Unsqueeze Unsqueeze Concat");
  EXPECT_EQ(graph->outputs()[0]->name(), "last");
  EXPECT_EQ(graph->outputs()[1]->shape(), Shape({3, 2}));
}

TEST(OnnxControlFlow, RefusesEndlessLoops) {
  EXPECT_EQ(loop(1000000).failure(), "node 'loop' (Loop, opset 17): runs more than 1024 times");
}

TEST(OnnxControlFlow, ExpandsFunctionsWithTheirAttributes) {
  ModelWriter m;
  m.input("x", {2}).output("y");
  onnx::NodeProto& call = m.node("Shifted", {"x"}, {"y"}, "call");
  call.set_domain("acme");
  testing::set_float(call, "slope", 0.25f);
  onnx::FunctionProto& function = *m.model->add_functions();
  function.set_domain("acme");
  function.set_name("Shifted");
  function.add_input("in");
  function.add_output("out");
  function.add_opset_import()->set_version(17);
  onnx::NodeProto& neg = *function.add_node();
  neg.set_op_type("Neg");
  neg.add_input("in");
  neg.add_output("t");
  onnx::NodeProto& leaky = *function.add_node();
  leaky.set_op_type("LeakyRelu");
  leaky.add_input("t");
  leaky.add_output("out");
  testing::add_attr(leaky, "alpha", 1).set_ref_attr_name("slope");
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(op_names(*graph), "Neg LeakyRelu");
  EXPECT_EQ(graph->nodes()[1]->f32("alpha"), 0.25f);
  EXPECT_EQ(graph->nodes()[0]->output().name(), "call/t");
  EXPECT_EQ(graph->outputs()[0]->name(), "y");
}

TEST(OnnxControlFlow, RefusesFunctionsThatCallThemselves) {
  ModelWriter m;
  m.input("x", {2}).output("y");
  m.node("Self", {"x"}, {"y"}, "call").set_domain("acme");
  onnx::FunctionProto& function = *m.model->add_functions();
  function.set_domain("acme");
  function.set_name("Self");
  function.add_input("in");
  function.add_output("out");
  onnx::NodeProto& inner = *function.add_node();
  inner.set_op_type("Self");
  inner.set_domain("acme");
  inner.add_input("in");
  inner.add_output("out");
  EXPECT_NE(m.failure().find("must not be recursive"), std::string::npos) << m.failure();
}

}  // namespace
}  // namespace rk::frontends
