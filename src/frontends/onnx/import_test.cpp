// SPDX-License-Identifier: Apache-2.0
// Inputs, outputs, cutting, folding and the report about operators that are not there.
#include <gtest/gtest.h>

#include "base/log.h"
#include "ir/text.h"
#include "tests/frontends/onnx/model_builder.h"

namespace rk::frontends {
namespace {

using testing::kInt64;
using testing::kUnknown;
using testing::ModelWriter;
using testing::op_names;

// x -> Relu -> a -> Neg -> b -> Abs -> y
ModelWriter chain(std::vector<int64_t> dims = {1, 3}) {
  ModelWriter m;
  m.input("x", dims).output("y");
  m.node("Relu", {"x"}, {"a"}, "relu");
  m.node("Neg", {"a"}, {"b"}, "neg");
  m.node("Abs", {"b"}, {"y"}, "abs");
  return m;
}

TEST(OnnxImport, GivesTheSameGraphAsItsText) {
  ModelWriter m;
  m.input("x", {2, 3}).output("y");
  m.floats("bias", {3}, {1, 2, 3});
  m.node("Add", {"x", "bias"}, {"sum"}, "add");
  testing::set_float(m.node("LeakyRelu", {"sum"}, {"y"}, "act"), "alpha", 0.5f);
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto expected = parse_graph(R"(graph "" {
    input %x: f32[2,3]
    const %bias: f32[3] = [1, 2, 3]
    %sum: f32[2,3] = Add(%x, %bias) @"add"
    %y: f32[2,3] = LeakyRelu(%sum) {alpha=0.5} @"act"
    output %y
  })",
                                    ops::registry());
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  EXPECT_EQ(to_text(*graph), to_text(*expected));
}

TEST(OnnxImport, SortsNodesThatStandInTheWrongOrder) {
  ModelWriter m;
  m.input("x", {2}).output("y");
  m.node("Abs", {"a"}, {"y"});
  m.node("Neg", {"x"}, {"a"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(op_names(*graph), "Neg Abs");
}

TEST(OnnxImport, TakesConstantsThatAreAlsoListedAsInputs) {
  ModelWriter m;
  m.input("x", {2}).input("w", {2}).output("y");
  m.floats("w", {2}, {1, 2});
  m.node("Mul", {"x", "w"}, {"y"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->inputs().size(), 1u);
  EXPECT_TRUE(graph->nodes()[0]->input(1).is_constant());
}

TEST(OnnxImport, FoldsShapeArithmeticIntoAStaticReshape) {
  ModelWriter m;
  m.input("x", {2, 3, 4, 5}).output("y");
  m.ints("zero", {}, {0});
  m.ints("minus_one", {1}, {-1});
  m.ints("axes", {1}, {0});
  m.node("Shape", {"x"}, {"shape"});
  m.node("Gather", {"shape", "zero"}, {"batch"});
  m.node("Unsqueeze", {"batch", "axes"}, {"batch1"});
  testing::set_int(m.node("Concat", {"batch1", "minus_one"}, {"target"}), "axis", 0);
  m.node("Reshape", {"x", "target"}, {"y"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(op_names(*graph), "Reshape");
  EXPECT_EQ(graph->outputs()[0]->shape(), Shape({2, 60}));
}

TEST(OnnxImport, KeepsIntegerWeightsOfQuantisedModels) {
  ModelWriter m;
  m.input("x", {2}).output("y");
  m.floats("scale", {}, {0.5f});
  onnx::TensorProto& weight = *m.model->mutable_graph()->add_initializer();
  weight.set_name("w");
  weight.set_data_type(3);
  weight.add_dims(2);
  weight.set_raw_data("\x01\xff");
  m.node("DequantizeLinear", {"w", "scale"}, {"wf"});
  m.node("Add", {"x", "wf"}, {"y"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(op_names(*graph), "DequantizeLinear Add");
  EXPECT_EQ(graph->find("w")->constant().to_i64(), (std::vector<int64_t>{1, -1}));
}

TEST(OnnxImport, ComputesInFloat32WhatTheFileStoresAsFloat16) {
  ModelWriter m;
  m.input("x", {2}, 10).output("y");
  onnx::TensorProto& weight = *m.model->mutable_graph()->add_initializer();
  weight.set_name("w");
  weight.set_data_type(10);
  weight.add_dims(2);
  weight.add_int32_data(0x3c00);  // 1
  weight.add_int32_data(0xc000);  // -2
  m.node("Mul", {"x", "w"}, {"y"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->outputs()[0]->dtype(), DType::kF32);
  EXPECT_EQ(graph->nodes()[0]->input(1).constant().to_f32(), (std::vector<float>{1, -2}));
}

TEST(OnnxImport, OpenShapesAreAskedForByName) {
  EXPECT_EQ(chain({kUnknown, 3}).failure(),
            "input 'x': its shape is not fixed in the model ([n,3]); pass it in input_size_list, "
            "for example input_size_list=[[1,3]]");
  ImportOptions options;
  options.input_shapes = {{4, 3}};
  const auto graph = chain({kUnknown, 3}).import(options);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->outputs()[0]->shape(), Shape({4, 3}));
}

TEST(OnnxImport, GivenShapesReplaceTheModelsButNotItsRank) {
  ImportOptions options;
  options.input_shapes = {{7, 9}};
  const auto graph = chain().import(options);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->outputs()[0]->shape(), Shape({7, 9}));
  options.input_shapes = {{7}};
  EXPECT_EQ(chain().failure(options),
            "input 'x': input_size_list gives 1 extents, the model says 2");
  options.input_shapes = {{7, 9}, {1}};
  EXPECT_EQ(chain().failure(options), "input_size_list has 2 entries, but there are 1 inputs: 'x'");
}

TEST(OnnxImport, CutsAtBothEnds) {
  ImportOptions options;
  options.inputs = {"a"};
  options.outputs = {"b"};
  const auto graph = chain().import(options);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(op_names(*graph), "Neg");
  // The file does not describe 'a'; its type was inferred.
  EXPECT_EQ(graph->inputs()[0]->type(), (TensorType{DType::kF32, {1, 3}}));
  EXPECT_EQ(graph->outputs()[0]->name(), "b");
}

TEST(OnnxImport, CuttingAwayAnInputForgetsItsOpenShape) {
  ModelWriter m = chain();
  m.input("z", {kUnknown}).output("w");
  m.node("Neg", {"z"}, {"w"});
  ImportOptions options;
  options.outputs = {"y"};
  const auto graph = m.import(options);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->inputs().size(), 1u);
}

TEST(OnnxImport, UnknownNamesComeWithCloseOnes) {
  ModelWriter m;
  m.input("images", {1}).output("output0");
  m.node("Neg", {"images"}, {"output0"}, "last");
  ImportOptions options;
  options.outputs = {"outputO"};
  EXPECT_EQ(m.failure(options),
            "'outputs' names 'outputO', but the model has no such tensor; close names: 'output0'");
  options.outputs = {"last"};
  EXPECT_EQ(m.failure(options),
            "'outputs' names 'last', but the model has no such tensor; a node has this name, its "
            "output is 'output0'");
  options.outputs = {"q"};
  EXPECT_EQ(m.failure(options),
            "'outputs' names 'q', but the model has no such tensor; its outputs are 'output0'");
  options = {};
  options.inputs = {"q"};
  EXPECT_EQ(m.failure(options),
            "'inputs' names 'q', but the model has no such tensor; its inputs are 'images'");
}

TEST(OnnxImport, AnInputThatIsStillNeededMustBeListed) {
  ModelWriter m;
  m.input("x", {1}).input("z", {1}).output("y");
  m.node("Add", {"x", "z"}, {"y"}, "add");
  ImportOptions options;
  options.inputs = {"x"};
  EXPECT_EQ(m.failure(options),
            "node 'add' (Add): needs the model's input 'z', which 'inputs' does not list; add it "
            "or cut behind it");
}

TEST(OnnxImport, InitialValuesTurnInputsIntoConstants) {
  ModelWriter m;
  m.input("x", {2}).input("shape", {1}, kInt64).output("y");
  m.node("Reshape", {"x", "shape"}, {"y"});
  ImportOptions options;
  // int32 where the model wants int64: converted.
  options.input_initial_values = {std::nullopt, Tensor::of<int32_t>(DType::kI32, {1}, {-1})};
  const auto graph = m.import(options);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->inputs().size(), 1u);
  // A number where the model wants one element.
  options.input_initial_values = {std::nullopt, Tensor::i64({}, {2})};
  EXPECT_TRUE(m.import(options).ok());
  options.input_initial_values = {std::nullopt, Tensor::i64({2}, {1, 2})};
  EXPECT_EQ(m.failure(options),
            "input_initial_val of input 'shape' is i64[2], the input is i64[1]");
}

TEST(OnnxImport, NamesAllUnsupportedOperatorsAtOnce) {
  ModelWriter m;
  m.input("x", {2}).output("y");
  m.node("Neg", {"x"}, {"a"});
  m.node("NoSuchOp", {"a"}, {"b"}, "first");
  m.node("Abs", {"b"}, {"c"}, "fine");
  onnx::NodeProto& custom = m.node("Fancy", {"c"}, {"y"}, "second");
  custom.set_domain("com.acme");
  EXPECT_EQ(m.failure(),
            "2 nodes cannot be imported:\n"
            "  node 'first' (NoSuchOp, opset 17): not supported; cut the graph before it with "
            "outputs=['a']\n"
            "  node 'second' (Fancy, domain 'com.acme', opset 1): not supported");
  ImportOptions options;
  options.outputs = {"a"};
  EXPECT_TRUE(m.import(options).ok());
}

TEST(OnnxImport, RegisteredCustomOperatorsAreFoundInAnyDomain) {
  std::vector<OpDef> defs;
  for (const auto& def : ops::registry().all()) defs.push_back(*def);
  OpDef custom = *ops::registry().find("Neg");
  custom.name = "cstNeg";
  defs.push_back(custom);
  const OpRegistry registry(std::move(defs));

  ModelWriter m;
  m.input("x", {2}).output("y");
  onnx::NodeProto& node = m.node("cstNeg", {"x"}, {"y"}, "custom");
  node.set_domain("rknn_cst");
  const auto graph = m.import({}, "", registry);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(op_names(*graph), "cstNeg");

  // A standard name in a foreign domain is not the standard operator.
  node.set_op_type("Neg");
  EXPECT_EQ(m.failure(), "node 'custom' (Neg, domain 'rknn_cst', opset 1): not supported");
}

TEST(OnnxImport, AShapeWithoutExtentsMayBeReplacedByAnyShape) {
  ImportOptions options;
  options.input_shapes = {{4, 5}};
  const auto graph = chain({}).import(options);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->outputs()[0]->shape(), Shape({4, 5}));
  const auto scalar = chain({}).import();
  ASSERT_TRUE(scalar.ok()) << scalar.status().message();
  EXPECT_EQ(scalar->outputs()[0]->shape(), Shape());
}

TEST(OnnxImport, RemarksThatContradictInferenceAreIgnoredWithOneWarning) {
  ModelWriter m = chain();
  m.value_info("a", {1, 4}).value_info("b", {1, 3});
  std::vector<std::string> lines;
  set_log_sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  const bool ok = m.import().ok();
  set_log_sink({});
  EXPECT_TRUE(ok);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("the model says that 'a' is f32[1,4], but it is f32[1,3]"),
            std::string::npos)
      << lines[0];
}

TEST(OnnxImport, TheVerboseLogNamesNodesThatBecomeConstants) {
  ModelWriter m;
  m.input("x", {2}).output("y");
  m.floats("k", {2}, {1, 2});
  m.node("Neg", {"k"}, {"minus"}).set_name("negate");
  m.node("Add", {"x", "minus"}, {"y"}).set_name("sum");
  std::vector<std::string> lines;
  const int level = log_level();
  set_log_level(static_cast<int>(LogLevel::kDebug));
  set_log_sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  const bool ok = m.import().ok();
  set_log_sink({});
  set_log_level(level);
  EXPECT_TRUE(ok);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("node 'negate' (Neg) is folded to a constant"), std::string::npos)
      << lines[0];
}

TEST(OnnxImport, AttributesThatSayTheDefaultOfNewerVersionsAreTaken) {
  const auto with = [](int64_t keepdims) {
    ModelWriter m;
    m.input("x", {2}).output("y");
    testing::set_int(m.node("Neg", {"x"}, {"y"}), "keepdims", keepdims);
    return m.failure();
  };
  EXPECT_EQ(with(1), "no failure");
  EXPECT_NE(with(0).find("keepdims"), std::string::npos) << with(0);
}

TEST(OnnxImport, AnOutputThatIsListedForTwoNamesKeepsBoth) {
  ModelWriter m;
  m.input("x", {2}).output("y").output("z");
  m.node("Neg", {"x"}, {"y"});
  m.node("Dropout", {"y"}, {"z"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(op_names(*graph), "Neg Identity");
  EXPECT_EQ(graph->outputs()[1]->name(), "z");
}

onnx::SparseTensorProto& sparse_weights(ModelWriter& m) {
  onnx::SparseTensorProto& sparse = *m.model->mutable_graph()->add_sparse_initializer();
  sparse.add_dims(2);
  sparse.add_dims(3);
  sparse.mutable_values()->set_name("w");
  sparse.mutable_values()->set_data_type(testing::kFloat);
  sparse.mutable_values()->add_dims(2);
  for (const float value : {5.0f, 7.0f}) sparse.mutable_values()->add_float_data(value);
  sparse.mutable_indices()->set_data_type(testing::kInt64);
  sparse.mutable_indices()->add_dims(2);
  sparse.mutable_indices()->add_dims(2);
  for (const int64_t index : {0, 2, 1, 0}) sparse.mutable_indices()->add_int64_data(index);
  return sparse;
}

TEST(OnnxImport, SparseConstantsBecomeDense) {
  ModelWriter m;
  m.input("x", {2, 3}).output("y");
  m.node("Add", {"x", "w"}, {"y"}, "add");
  onnx::SparseTensorProto& sparse = sparse_weights(m);
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->find("w")->constant().to_f32(), (std::vector<float>{0, 0, 5, 7, 0, 0}));
  sparse.mutable_indices()->set_int64_data(1, 3);
  EXPECT_EQ(m.failure(), "constant 'w': index 0 lies outside [2,3]");
}

}  // namespace
}  // namespace rk::frontends
