// SPDX-License-Identifier: Apache-2.0
// One model per change of an operator; expectations follow the operator's version history in the ONNX documents.
#include <gtest/gtest.h>
#include <cmath>

#include "tests/frontends/onnx/model_builder.h"

namespace rk::frontends {
namespace {

using testing::constant_ints;
using testing::kInt64;
using testing::ModelWriter;
using testing::op_names;
using Ints = std::vector<int64_t>;

// One operator from x to y; `edit` sets its attributes.
template <typename Edit>
Result<Graph> import_one(int64_t opset, const std::string& op, Ints dims, Edit edit) {
  ModelWriter m(opset);
  m.input("x", dims).output("y");
  edit(m.node(op, {"x"}, {"y"}, "n"));
  return m.import();
}

const Node& only_node(const Result<Graph>& graph) { return *graph.value().nodes().at(0); }

TEST(OpsetConversion, ClipBoundsBecomeInputs) {
  const auto graph =
      import_one(6, "Clip", {2}, [](onnx::NodeProto& n) { testing::set_float(n, "max", 6.0f); });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Node& clip = only_node(graph);
  EXPECT_FALSE(clip.has_input(1));
  EXPECT_EQ(clip.input(2).constant().to_f32(), std::vector<float>{6.0f});
}

TEST(OpsetConversion, AxesOfSqueezeUnsqueezeAndReductionsBecomeInputs) {
  for (const auto& [op, opset, dims, axes, expected] :
       std::vector<std::tuple<std::string, int, Ints, Ints, Shape>>{
           {"Squeeze", 11, {1, 3, 1}, {0}, {3, 1}},
           {"Unsqueeze", 11, {3}, {0, 2}, {1, 3, 1}},
           {"ReduceSum", 11, {2, 3}, {1}, {2, 1}},
           {"ReduceMean", 13, {2, 3}, {-2}, {1, 3}},
           {"ReduceMax", 17, {2, 3}, {0, 1}, {1, 1}}}) {
    const auto graph = import_one(opset, op, dims,
                                  [&](onnx::NodeProto& n) { testing::set_ints(n, "axes", axes); });
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_EQ(constant_ints(only_node(graph), 1), axes) << op;
    EXPECT_EQ(graph->outputs()[0]->shape(), expected) << op;
  }
}

TEST(OpsetConversion, SliceOneTakesItsRangesFromAttributes) {
  const auto graph = import_one(9, "Slice", {4, 5}, [](onnx::NodeProto& n) {
    testing::set_ints(n, "starts", {1});
    testing::set_ints(n, "ends", {-1});
    testing::set_ints(n, "axes", {1});
  });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->outputs()[0]->shape(), Shape({4, 3}));
}

TEST(OpsetConversion, SplitWithoutSizesSplitsEvenly) {
  ModelWriter m(11);
  m.input("x", {6}).output("a").output("b").output("c");
  m.node("Split", {"x"}, {"a", "b", "c"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->outputs()[2]->shape(), Shape({2}));
}

TEST(OpsetConversion, SplitSizesBecomeAnInput) {
  ModelWriter m(11);
  m.input("x", {2, 6}).output("a").output("b");
  onnx::NodeProto& split = m.node("Split", {"x"}, {"a", "b"});
  testing::set_int(split, "axis", 1);
  testing::set_ints(split, "split", {5, 1});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->outputs()[0]->shape(), Shape({2, 5}));
}

TEST(OpsetConversion, PadTwoHasPadsAndValueAsAttributes) {
  const auto graph = import_one(2, "Pad", {2, 3}, [](onnx::NodeProto& n) {
    testing::set_ints(n, "pads", {0, 1, 0, 2});
    testing::set_float(n, "value", -1.0f);
  });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->outputs()[0]->shape(), Shape({2, 6}));
  EXPECT_EQ(only_node(graph).input(2).constant().to_f32(), std::vector<float>{-1.0f});
}

TEST(OpsetConversion, TopKOneHasKAsAttribute) {
  ModelWriter m(9);
  m.input("x", {2, 7}).output("v");
  onnx::NodeProto& top = m.node("TopK", {"x"}, {"v", "i"});
  testing::set_int(top, "k", 3);
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->outputs()[0]->shape(), Shape({2, 3}));
}

TEST(OpsetConversion, DftTakesItsAxisFromAnAttributeWhoseDefaultIsOne) {
  for (const auto& [opset, given, axis] :
       std::vector<std::tuple<int, std::optional<int64_t>, int64_t>>{{17, std::nullopt, 1},
                                                                     {19, 2, 2}}) {
    const auto graph = import_one(opset, "DFT", {1, 4, 6, 1}, [&](onnx::NodeProto& n) {
      if (given) testing::set_int(n, "axis", *given);
      testing::set_int(n, "onesided", 1);
    });
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_EQ(constant_ints(only_node(graph), 2), Ints{axis});
    EXPECT_EQ(graph->outputs()[0]->shape(), axis == 1 ? Shape({1, 3, 6, 2}) : Shape({1, 4, 4, 2}));
  }
}

TEST(OpsetConversion, SwishBecomesTheChipsOwn) {
  const auto graph = import_one(24, "Swish", {2},
                                [](onnx::NodeProto& n) { testing::set_float(n, "alpha", 1.5f); });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(only_node(graph).op(), "exSwish");
  EXPECT_EQ(only_node(graph).f32("beta"), 1.5f);
}

TEST(OpsetConversion, BinarizerComparesWithItsThreshold) {
  ModelWriter m(18);
  m.input("x", {2, 3}).output("y");
  onnx::NodeProto& node = m.node("Binarizer", {"x"}, {"y"});
  node.set_domain("ai.onnx.ml");
  testing::set_float(node, "threshold", 1.5f);
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Node& greater = *graph->nodes().at(0);
  EXPECT_EQ(greater.op(), "Greater");
  EXPECT_EQ(greater.input(1).constant().to_f32(), std::vector<float>{1.5f});
  EXPECT_EQ(graph->outputs()[0]->dtype(), DType::kF32);
}

TEST(OpsetConversion, ArrayFeatureExtractorPicksFromTheLastAxis) {
  ModelWriter m(18);
  m.input("x", {4}).output("y");
  m.ints("i", {1, 2}, {3, 0});
  m.node("ArrayFeatureExtractor", {"x", "i"}, {"y"}).set_domain("ai.onnx.ml");
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->outputs()[0]->shape(), Shape({1, 2}));
}

TEST(OpsetConversion, NumbersDrawnInEveryRunAreRefused) {
  const auto graph = import_one(15, "Bernoulli", {2}, [](onnx::NodeProto&) {});
  EXPECT_EQ(graph.status().code(), Code::kUnsupported);
  EXPECT_NE(graph.status().message().find("draws other numbers in every run"), std::string::npos)
      << graph.status().message();
}

TEST(OpsetConversion, OldSoftmaxJoinsAllAxesFromItsOwnOn) {
  const auto nothing = [](onnx::NodeProto&) {};
  const auto joined = import_one(11, "Softmax", {2, 3, 4}, nothing);
  ASSERT_TRUE(joined.ok()) << joined.status().message();
  EXPECT_EQ(op_names(*joined), "Reshape Softmax Reshape");
  EXPECT_EQ(joined->nodes()[1]->input(0).shape(), Shape({2, 12}));
  EXPECT_EQ(joined->outputs()[0]->shape(), Shape({2, 3, 4}));
  EXPECT_EQ(joined->outputs()[0]->name(), "y");

  // Where only one axis counts, none is joined.
  const auto direct = import_one(11, "Softmax", {2, 3, 1, 1}, nothing);
  ASSERT_TRUE(direct.ok()) << direct.status().message();
  EXPECT_EQ(op_names(*direct), "Softmax");
  EXPECT_EQ(only_node(direct).i64("axis"), 1);

  const auto newer = import_one(13, "Softmax", {2, 3, 4}, nothing);
  ASSERT_TRUE(newer.ok()) << newer.status().message();
  EXPECT_EQ(op_names(*newer), "Softmax");
  EXPECT_EQ(only_node(newer).i64("axis"), 2);
}

TEST(OpsetConversion, UpsampleBecomesAsymmetricResize) {
  const auto seven = import_one(7, "Upsample", {1, 1, 2, 3}, [](onnx::NodeProto& n) {
    testing::set_floats(n, "scales", {1, 1, 2, 3});
  });
  ASSERT_TRUE(seven.ok()) << seven.status().message();
  EXPECT_EQ(seven->outputs()[0]->shape(), Shape({1, 1, 4, 9}));

  ModelWriter m(9);
  m.input("x", {1, 1, 2, 3}).output("y");
  m.floats("scales", {4}, {1, 1, 2, 2});
  testing::set_text(m.node("Upsample", {"x", "scales"}, {"y"}), "mode", "nearest");
  const auto nine = m.import();
  ASSERT_TRUE(nine.ok()) << nine.status().message();
  const Node& resize = only_node(nine);
  EXPECT_EQ(resize.op(), "Resize");
  EXPECT_EQ(resize.text("coordinate_transformation_mode"), "asymmetric");
  EXPECT_EQ(resize.text("nearest_mode"), "floor");
  EXPECT_FALSE(resize.has_input(1));
  EXPECT_EQ(nine->outputs()[0]->shape(), Shape({1, 1, 4, 6}));
}

TEST(OpsetConversion, ResizeElevenMayHaveEmptyRoiAndScales) {
  ModelWriter m(11);
  m.input("x", {1, 1, 2, 3}).output("y");
  m.floats("empty", {0}, {});
  m.ints("sizes", {4}, {1, 1, 5, 7});
  m.node("Resize", {"x", "empty", "empty", "sizes"}, {"y"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->outputs()[0]->shape(), Shape({1, 1, 5, 7}));
}

TEST(OpsetConversion, OldBroadcastIsAlignedAtItsAxis) {
  ModelWriter m(6);
  m.input("x", {2, 3, 4}).output("y");
  m.floats("b", {3}, {1, 2, 3});
  onnx::NodeProto& add = m.node("Add", {"x", "b"}, {"y"});
  testing::set_int(add, "broadcast", 1);
  testing::set_int(add, "axis", 1);
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(only_node(graph).input(1).shape(), Shape({3, 1}));
}

TEST(OpsetConversion, DropoutPassesItsInputOnAndDropsNothing) {
  ModelWriter m(12);
  m.input("x", {2}).output("y").output("mask");
  m.floats("ratio", {}, {0.5f});
  m.node("Dropout", {"x", "ratio"}, {"y", "mask"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(op_names(*graph), "Identity");
  EXPECT_EQ(graph->find("mask")->constant().to_i64(), (Ints{1, 1}));
}

ModelWriter batch_norm(int64_t opset) {
  ModelWriter m(opset);
  m.input("x", {1, 2, 3, 3}).output("y");
  for (const char* name : {"scale", "bias", "mean", "var"}) m.floats(name, {2}, {1, 1});
  m.node("BatchNormalization", {"x", "scale", "bias", "mean", "var"}, {"y"}, "bn");
  return m;
}

TEST(OpsetConversion, BatchNormalizationDropsWhatOnlyTrainingNeeds) {
  ModelWriter m = batch_norm(9);
  onnx::NodeProto& node = *m.model->mutable_graph()->mutable_node(0);
  testing::set_float(node, "momentum", 0.9f);
  for (const char* name : {"m", "v", "sm", "sv"}) node.add_output(name);
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(only_node(graph).output_count(), 1u);
}

TEST(OpsetConversion, BatchNormalizationInTrainingModeIsRefused) {
  ModelWriter m = batch_norm(15);
  testing::set_int(*m.model->mutable_graph()->mutable_node(0), "training_mode", 1);
  EXPECT_EQ(
      m.failure(),
      "node 'bn' (BatchNormalization, opset 15): training_mode=1 is not supported; export the "
      "model in evaluation mode (model.eval())");
}

// What torch writes for weights that are standardised: mean 2 and variance 2/3 of 1, 2, 3 for each channel.
TEST(OpsetConversion, BatchNormalizationInTrainingModeStandardisesWeights) {
  ModelWriter m(15);
  m.input("x", {1, 2, 3}).output("y");
  m.floats("w", {1, 2, 3}, {1, 2, 3, 1, 2, 3});
  m.floats("scale", {2}, {1, 2});
  m.floats("bias", {2}, {0, 5});
  onnx::NodeProto& bn = m.node("BatchNormalization", {"w", "scale", "bias", "bias", "scale"},
                               {"flat", "mean", "var"}, "bn");
  testing::set_int(bn, "training_mode", 1);
  testing::set_float(bn, "epsilon", 0.0f);
  testing::set_float(bn, "momentum", 0.1f);
  m.node("Add", {"x", "flat"}, {"y"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(op_names(*graph), "Add");
  const Tensor& flat = graph->nodes()[0]->input(1).constant();
  const float edge = std::sqrt(1.5f);
  const std::vector<float> expected = {-edge, 0, edge, 5 - 2 * edge, 5, 5 + 2 * edge};
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(flat.span<float>()[i], expected[i], 1e-6) << i;
}

TEST(OpsetConversion, SlopeOfAnOldPReluBelongsToTheChannels) {
  ModelWriter m(6);
  m.input("x", {1, 3, 2, 2}).output("y");
  m.floats("slope", {3}, {0.1f, 0.2f, 0.3f});
  m.node("PRelu", {"x", "slope"}, {"y"}, "n");
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(only_node(graph).input(1).shape(), Shape({3, 1, 1}));
}

TEST(OpsetConversion, ConcatOneJoinsChannels) {
  ModelWriter m(1);
  m.input("a", {1, 3, 2}).input("b", {1, 5, 2}).output("y");
  m.node("Concat", {"a", "b"}, {"y"}, "n");
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->outputs()[0]->shape(), Shape({1, 8, 2}));
}

TEST(OpsetConversion, GroupNormalizationEighteenHasScalesPerGroup) {
  const auto with = [](int64_t groups) {
    ModelWriter m(18);
    m.input("x", {1, 4, 2, 2}).output("y");
    m.floats("scale", {groups}, std::vector<float>(static_cast<size_t>(groups), 2.0f));
    m.floats("bias", {2}, {5, 6});
    testing::set_int(m.node("GroupNormalization", {"x", "scale", "bias"}, {"y"}, "n"), "num_groups",
                     2);
    return m.import();
  };
  const auto graph = with(2);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(only_node(graph).input(2).constant().to_f32(), (std::vector<float>{5, 5, 6, 6}));
  EXPECT_NE(with(3).status().message().find("does not divide 4 channels"), std::string::npos);
}

TEST(OpsetConversion, CastOfOpsetOneNamesItsType) {
  const auto graph =
      import_one(1, "Cast", {2}, [](onnx::NodeProto& n) { testing::set_text(n, "to", "INT32"); });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->outputs()[0]->dtype(), DType::kI32);
}

TEST(OpsetConversion, CastToDoubleStaysInFloat32) {
  const auto graph =
      import_one(13, "Cast", {2}, [](onnx::NodeProto& n) { testing::set_int(n, "to", 11); });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->outputs()[0]->dtype(), DType::kF32);
}

TEST(OpsetConversion, QLinearMatMulBecomesDequantizeMatMulQuantize) {
  ModelWriter m(13);
  m.input("a", {2, 3}, 2).output("y");
  m.floats("s", {}, {0.5f});
  for (const char* name : {"z", "b"}) {
    onnx::TensorProto& tensor = *m.model->mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(2);
    const bool is_matrix = *name == 'b';
    if (is_matrix) tensor.add_dims(3), tensor.add_dims(1);
    tensor.set_raw_data(std::string(is_matrix ? 3 : 1, '\1'));
  }
  m.node("QLinearMatMul", {"a", "s", "z", "b", "s", "z", "s", "z"}, {"y"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(op_names(*graph), "DequantizeLinear DequantizeLinear MatMul QuantizeLinear");
  EXPECT_EQ(graph->outputs()[0]->type(), (TensorType{DType::kU8, {2, 1}}));
}

}  // namespace
}  // namespace rk::frontends
