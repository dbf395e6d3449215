// SPDX-License-Identifier: Apache-2.0
// Sequences and optionals leave nothing behind but the operators on their elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/frontends/onnx/model_builder.h"

namespace rk::frontends {
namespace {

using ::testing::ElementsAre;
using testing::GraphWriter;
using testing::ModelWriter;
using testing::op_names;
using testing::run_graph;

const Tensor kX = Tensor::f32({4}, {1, 2, 3, 4});

TEST(OnnxSequences, PiecesAreChosenInsertedErasedAndJoinedAgain) {
  ModelWriter m(17);
  m.input("x", {4}).output("y");
  m.ints("three", {}, {3});
  m.ints("first", {}, {0});
  m.ints("last", {}, {-1});
  m.node("SplitToSequence", {"x", "three"}, {"pieces"});         // [1,2,3], [4]
  m.node("SequenceAt", {"pieces", "last"}, {"tail"});            // [4]
  m.node("SequenceInsert", {"pieces", "tail", "first"}, {"s"});  // [4], [1,2,3], [4]
  m.node("SequenceErase", {"s"}, {"shorter"});                   // [4], [1,2,3]
  m.node("ConcatFromSequence", {"shorter"}, {"y"});
  testing::set_int(*m.model->mutable_graph()->mutable_node(4), "axis", 0);
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(op_names(*graph), "Split Concat");
  EXPECT_THAT(run_graph(*graph, {kX}), ElementsAre(4, 1, 2, 3));
}

TEST(OnnxSequences, TheLengthIsAConstant) {
  ModelWriter m(17);
  m.input("x", {4}).output("y");
  m.node("SequenceConstruct", {"x", "x", "x"}, {"s"});
  m.node("SequenceLength", {"s"}, {"y"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(graph->outputs()[0]->constant().to_i64(), ElementsAre(3));
}

TEST(OnnxSequences, NewAxisStacksAndMissingKeepdimsSqueezes) {
  ModelWriter m(17);
  m.input("x", {2, 2}).output("y");
  onnx::NodeProto& split = m.node("SplitToSequence", {"x"}, {"rows"});
  testing::set_int(split, "keepdims", 0);
  onnx::NodeProto& join = m.node("ConcatFromSequence", {"rows"}, {"y"});
  testing::set_int(join, "axis", -1);
  testing::set_int(join, "new_axis", 1);
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(run_graph(*graph, {Tensor::f32({2, 2}, {1, 2, 3, 4})}), ElementsAre(1, 3, 2, 4));
}

TEST(OnnxSequences, SequenceMapRunsItsBodyPerElement) {
  ModelWriter m(17);
  m.input("x", {4}).output("y");
  m.ints("two", {}, {2});
  m.node("SplitToSequence", {"x", "two"}, {"pieces"});
  onnx::NodeProto& map = m.node("SequenceMap", {"pieces", "x"}, {"mapped"}, "map");
  GraphWriter body(testing::set_graph(map, "body"));
  body.input("piece", {2}).input("all", {4}).output("out");
  body.node("ReduceSum", {"all"}, {"sum"});
  body.node("Mul", {"piece", "sum"}, {"out"});
  onnx::NodeProto& join = m.node("ConcatFromSequence", {"mapped"}, {"y"});
  testing::set_int(join, "axis", 0);
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(run_graph(*graph, {kX}), ElementsAre(10, 20, 30, 40));
}

TEST(OnnxSequences, ASequenceOutputIsOneOutputPerElement) {
  ModelWriter m(17);
  m.input("x", {4}).output("s");
  m.ints("two", {}, {2});
  m.node("SplitToSequence", {"x", "two"}, {"s"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->outputs().size(), 2u);
  EXPECT_EQ(graph->outputs()[1]->name(), "s_1");
  EXPECT_THAT(run_graph(*graph, {kX}, 1), ElementsAre(3, 4));
}

TEST(OnnxSequences, AnInputSequenceHasTheElementsItIsToldToHave) {
  ModelWriter m(17);
  onnx::ValueInfoProto& input = *m.model->mutable_graph()->add_input();
  input.set_name("s");
  input.mutable_type()->mutable_sequence_type();
  m.output("y");
  onnx::NodeProto& join = m.node("ConcatFromSequence", {"s"}, {"y"});
  testing::set_int(join, "axis", 0);
  EXPECT_EQ(m.failure(), "input 's': it is a sequence; how many elements it holds is not known");
  ImportOptions options;
  options.container_inputs["s"] = {{DType::kF32, {1}}, {DType::kF32, {2}}};
  const auto graph = m.import(options);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->inputs()[1]->name(), "s_1");
  EXPECT_THAT(run_graph(*graph, {Tensor::f32({1}, {7}), Tensor::f32({2}, {8, 9})}),
              ElementsAre(7, 8, 9));
}

TEST(OnnxSequences, OptionalsAreWhatTheyHold) {
  ModelWriter m(17);
  m.input("x", {4}).output("y").output("has").output("has_not");
  m.node("Optional", {"x"}, {"o"});
  m.node("OptionalHasElement", {"o"}, {"has"});
  m.node("OptionalGetElement", {"o"}, {"e"});
  m.node("Neg", {"e"}, {"y"});
  m.node("Optional", {}, {"empty"});
  m.node("OptionalHasElement", {"empty"}, {"has_not"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(op_names(*graph), "Neg");
  EXPECT_THAT(graph->find("has")->constant().to_i64(), ElementsAre(1));
  EXPECT_THAT(graph->find("has_not")->constant().to_i64(), ElementsAre(0));
}

TEST(OnnxSequences, APositionOutsideIsRefused) {
  ModelWriter m(17);
  m.input("x", {4}).output("y");
  m.ints("two", {}, {2});
  m.node("SequenceConstruct", {"x", "x"}, {"s"});
  m.node("SequenceAt", {"s", "two"}, {"y"}, "at");
  EXPECT_EQ(m.failure(), "node 'at' (SequenceAt): position 2 in a sequence of 2 elements");
}

TEST(OnnxSequences, OperatorsOnTensorsRefuseASequence) {
  ModelWriter m(17);
  m.input("x", {4}).output("y");
  m.node("SequenceConstruct", {"x"}, {"s"});
  m.node("Neg", {"s"}, {"y"}, "neg");
  EXPECT_EQ(m.failure(), "node 'neg' (Neg, opset 17): its input 's' is a sequence");
}

}  // namespace
}  // namespace rk::frontends
