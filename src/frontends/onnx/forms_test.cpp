// SPDX-License-Identifier: Apache-2.0
// Forms of nodes that few models have: numbers by hand, and what is wrong with them by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "frontends/onnx/export.h"
#include "ir/text.h"
#include "tests/frontends/onnx/model_builder.h"

namespace rk::frontends {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ModelWriter;
using testing::run_graph;

constexpr int kU8 = 2, kI8 = 3, kI32 = 6;

void small(ModelWriter& m, const std::string& name, const std::vector<int64_t>& dims, int type,
           const std::vector<int>& values) {
  onnx::TensorProto& tensor = m.floats(name, dims, {});
  tensor.set_data_type(type);
  for (const int value : values) tensor.add_int32_data(value);
}

Tensor bytes_of(const Shape& shape, const std::vector<uint8_t>& values) {
  return Tensor::from_bytes({DType::kU8, shape}, values).value();
}

std::vector<float> numbers(const ModelWriter& m, const std::vector<Tensor>& inputs,
                           size_t output = 0) {
  const auto graph = m.import();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? run_graph(*graph, inputs, output) : std::vector<float>();
}

onnx::NodeProto& node_of(ModelWriter& m, const std::string& domain, const std::string& op,
                         const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs) {
  onnx::NodeProto& node = m.node(op, inputs, outputs, "n");
  node.set_domain(domain);
  return node;
}

constexpr const char* kMl = "ai.onnx.ml";

TEST(OnnxForms, OneHotEncoderMarksTheCategory) {
  ModelWriter m(18);
  m.input("x", {2}).output("y");
  auto& node = node_of(m, kMl, "OneHotEncoder", {"x"}, {"y"});
  testing::set_ints(node, "cats_int64s", {3, 5, 7});
  EXPECT_THAT(numbers(m, {Tensor::f32({2}, {5, 4})}), ElementsAre(0, 1, 0, 0, 0, 0));
  testing::set_int(node, "zeros", 0);
  EXPECT_THAT(m.failure(), HasSubstr("that fails on an unknown category (zeros=0) is not taken"));
  ModelWriter texts(18);
  texts.input("x", {2}).output("y");
  auto& named = node_of(texts, kMl, "OneHotEncoder", {"x"}, {"y"});
  testing::add_attr(named, "cats_strings", 8).add_strings("a");
  EXPECT_THAT(texts.failure(), HasSubstr("of texts is not taken"));
}

TEST(OnnxForms, FeatureVectorizerJoinsColumns) {
  ModelWriter m(18);
  m.input("x", {2}).input("z", {1, 1}).output("y");
  testing::set_ints(node_of(m, kMl, "FeatureVectorizer", {"x", "z"}, {"y"}), "inputdimensions",
                    {2, 1});
  EXPECT_THAT(numbers(m, {Tensor::f32({2}, {5, 4}), Tensor::f32({1, 1}, {7})}),
              ElementsAre(5, 4, 7));
}

TEST(OnnxForms, ImputerReplacesAWholeNumber) {
  ModelWriter m(18);
  m.input("x", {2, 2}).output("y");
  auto& node = node_of(m, kMl, "Imputer", {"x"}, {"y"});
  testing::set_ints(node, "imputed_value_int64s", {7, 8});
  testing::set_int(node, "replaced_value_int64", -1);
  EXPECT_THAT(numbers(m, {Tensor::f32({2, 2}, {-1, 1, 2, -1})}), ElementsAre(7, 1, 2, 8));
}

ModelWriter regressor(const std::string& kernel, int64_t vectors, int64_t one_class = 0) {
  ModelWriter m(18);
  m.input("x", {1, 2}).output("y");
  auto& node = node_of(m, kMl, "SVMRegressor", {"x"}, {"y"});
  testing::set_floats(node, "coefficients",
                      vectors == 0 ? std::vector<float>{1, -2} : std::vector<float>{3});
  if (vectors != 0) testing::set_floats(node, "support_vectors", {1, 2});
  testing::set_floats(node, "kernel_params", {0.5f, 1, 2});
  testing::set_floats(node, "rho", {-1});
  testing::set_int(node, "n_supports", vectors);
  testing::set_int(node, "one_class", one_class);
  testing::set_text(node, "kernel_type", kernel);
  return m;
}

// x (2, 1) with the vector (1, 2): 0.5 * 4 + 1 = 3.
TEST(OnnxForms, KernelsOfSupportVectors) {
  const std::vector<Tensor> x = {Tensor::f32({1, 2}, {2, 1})};
  EXPECT_THAT(numbers(regressor("POLY", 1), x), ElementsAre(3 * 9 - 1));
  EXPECT_NEAR(numbers(regressor("SIGMOID", 1), x).at(0), 3 * std::tanh(3.0f) - 1, 1e-6f);
  EXPECT_THAT(numbers(regressor("LINEAR", 0), x), ElementsAre(2 - 2 - 1));
  EXPECT_THAT(numbers(regressor("LINEAR", 0, 1), x), ElementsAre(-1));
  EXPECT_THAT(numbers(regressor("POLY", 1, 1), x), ElementsAre(1));
  EXPECT_THAT(regressor("COSINE", 1).failure(), HasSubstr("kernel_type 'COSINE'"));
  EXPECT_THAT(regressor("POLY", 2).failure(),
              HasSubstr("2 numbers for 2 support vectors of 2 columns"));
}

TEST(OnnxForms, AClassifierWithoutVectorsIsLinear) {
  ModelWriter m(18);
  m.input("x", {2, 2}).output("label").output("scores");
  auto& node = node_of(m, kMl, "SVMClassifier", {"x"}, {"label", "scores"});
  testing::set_floats(node, "coefficients", {1, -1});
  testing::set_floats(node, "rho", {0, 0});
  testing::set_ints(node, "classlabels_ints", {10, 20});
  EXPECT_THAT(numbers(m, {Tensor::f32({2, 2}, {3, 1, 1, 3})}), ElementsAre(20, 10));
  ModelWriter three(18);
  three.input("x", {1, 2}).output("label").output("scores");
  auto& more = node_of(three, kMl, "SVMClassifier", {"x"}, {"label", "scores"});
  testing::set_floats(more, "coefficients", {1, 0, 0, 1, 1, 1});
  testing::set_ints(more, "classlabels_ints", {1, 2, 3});
  EXPECT_THAT(numbers(three, {Tensor::f32({1, 2}, {-1, 4})}), ElementsAre(2));
  EXPECT_THAT(numbers(three, {Tensor::f32({1, 2}, {-1, 4})}, 1), ElementsAre(-1, 4, 3));
}

ModelWriter classifier(const std::vector<int64_t>& per_class) {
  ModelWriter m(18);
  m.input("x", {1, 1}).output("label").output("scores");
  auto& node = node_of(m, kMl, "SVMClassifier", {"x"}, {"label", "scores"});
  const size_t classes = per_class.size();
  testing::set_ints(node, "vectors_per_class", per_class);
  testing::set_floats(node, "support_vectors",
                      classes == 2 ? std::vector<float>{0, 1} : std::vector<float>{0, 1, 2});
  testing::set_floats(
      node, "coefficients",
      classes == 2 ? std::vector<float>{1, -1} : std::vector<float>{1, -1, -1, 1, 1, -1});
  testing::set_floats(node, "rho",
                      classes == 2 ? std::vector<float>{0.5f} : std::vector<float>{0.5f, 1, 1.5f});
  testing::set_floats(node, "prob_a", {-2});
  testing::set_floats(node, "prob_b", {0.25f});
  testing::set_ints(node, "classlabels_ints",
                    classes == 2 ? std::vector<int64_t>{10, 20} : std::vector<int64_t>{1, 2, 3});
  testing::set_text(node, "kernel_type", "LINEAR");
  return m;
}

// Decision of x = 3: 0 * 1 + 3 * -1 + 0.5 = -2.5; Platt: 1 / (1 + exp(-2 * -2.5 + 0.25)).
TEST(OnnxForms, ProbabilitiesOfTwoClassesAreThoseOfPlatt) {
  const std::vector<Tensor> x = {Tensor::f32({1, 1}, {3})};
  const float first = 1 / (1 + std::exp(5.25f));
  const std::vector<float> both = numbers(classifier({1, 1}), x, 1);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_NEAR(both[0], first, 1e-6f);
  EXPECT_NEAR(both[1], 1 - first, 1e-6f);
  EXPECT_THAT(numbers(classifier({1, 1}), x), ElementsAre(20));
  EXPECT_THAT(classifier({1, 1, 1}).failure(),
              HasSubstr("gives probabilities of more than two classes"));
  EXPECT_THAT(classifier({1, 2}).failure(),
              HasSubstr("2 coefficients and 1 rho for 2 classes with 3 support vectors"));
  EXPECT_THAT(classifier({1, -1}).failure(), HasSubstr("vectors_per_class holds -1"));
}

TEST(OnnxForms, ReshapeOneHasItsShapeAsAttribute) {
  ModelWriter m(4);
  m.input("x", {2, 3}).output("y");
  testing::set_ints(m.node("Reshape", {"x"}, {"y"}), "shape", {3, -1});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->outputs()[0]->shape(), (Shape{3, 2}));
}

TEST(OnnxForms, TileOneRepeatsAlongOneAxis) {
  const auto tile = [](const std::vector<int64_t>& times, int64_t axis) {
    ModelWriter m(5);
    m.input("x", {1, 2}).output("y");
    m.ints("times", {static_cast<int64_t>(times.size())}, times);
    m.ints("axis", {1}, {axis});
    m.node("Tile", {"x", "times", "axis"}, {"y"}, "t");
    return m;
  };
  EXPECT_THAT(numbers(tile({3}, 0), {Tensor::f32({1, 2}, {4, 5})}), ElementsAre(4, 5, 4, 5, 4, 5));
  EXPECT_THAT(tile({3}, 2).failure(), HasSubstr("axis 2 of a tensor of rank 2"));
  EXPECT_THAT(tile({3, 1}, 0).failure(), HasSubstr("input 1 must be a constant number"));
  ModelWriter less(5);
  less.input("x", {1, 2}).output("y");
  less.node("Tile", {"x"}, {"y"}, "t");
  EXPECT_THAT(less.failure(), HasSubstr("three inputs expected"));
}

TEST(OnnxForms, AttributesThatOldOperatorsNeedAreNamed) {
  ModelWriter slice(9);
  slice.input("x", {2, 3}).output("y");
  slice.node("Slice", {"x"}, {"y"}, "s");
  EXPECT_THAT(slice.failure(), HasSubstr("attributes 'starts' and 'ends' expected"));
  ModelWriter pad(2);
  pad.input("x", {2, 3}).output("y");
  pad.node("Pad", {"x"}, {"y"}, "p");
  EXPECT_THAT(pad.failure(), HasSubstr("attribute 'pads' is missing"));
}

// (130 - 128) * 0.5 = 1 times 4 * 0.25 = 1, plus 16 * 0.5 * 0.25 = 2, is 3: stored as 3 / 1 + 10.
ModelWriter quantized_conv(bool channels_last) {
  ModelWriter m(18);
  m.input("x", {1, 1, 1, 1}, kU8).output("y");
  m.floats("xs", {}, {0.5f});
  m.floats("ws", {}, {0.25f});
  m.floats("ys", {}, {1});
  small(m, "xz", {}, kU8, {128});
  small(m, "w", {1, 1, 1, 1}, kI8, {4});
  small(m, "wz", {}, kI8, {0});
  small(m, "yz", {}, kU8, {10});
  small(m, "b", {1}, kI32, {16});
  auto& node = node_of(m, channels_last ? "com.microsoft" : "", "QLinearConv",
                       {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"}, {"y"});
  if (channels_last) testing::set_int(node, "channels_last", 1);
  return m;
}

TEST(OnnxForms, TheBiasOfAQuantizedConvolutionHasTheScaleOfTheProducts) {
  EXPECT_THAT(numbers(quantized_conv(false), {bytes_of({1, 1, 1, 1}, {130})}), ElementsAre(13));
  EXPECT_THAT(quantized_conv(true).failure(), HasSubstr("channels_last=1 is not supported"));
}

TEST(OnnxForms, AQuantizedProductWithoutAScaleOfItsResultIsReal) {
  ModelWriter m(18);
  m.input("x", {1, 1}, kU8).output("y");
  m.floats("xs", {}, {0.5f});
  m.floats("ws", {}, {0.25f});
  small(m, "xz", {}, kU8, {128});
  small(m, "w", {1, 1}, kI8, {6});
  small(m, "wz", {}, kI8, {0});
  small(m, "b", {1}, kI32, {16});
  node_of(m, "com.microsoft", "QGemm", {"x", "xs", "xz", "w", "ws", "wz", "b"}, {"y"});
  EXPECT_THAT(numbers(m, {bytes_of({1, 1}, {130})}), ElementsAre(1.5f + 2));
  ModelWriter less(18);
  less.input("x", {1, 1}, kU8).output("y");
  node_of(less, "com.microsoft", "QGemm", {"x"}, {"y"});
  EXPECT_THAT(less.failure(), HasSubstr("input 0 or its scale is missing"));
}

TEST(OnnxForms, ZeroPointsOfRowsBelongToTheirRows) {
  ModelWriter m(18);
  m.input("x", {2, 1}, kU8).output("y");
  small(m, "b", {1, 1}, kI8, {3});
  small(m, "az", {2}, kU8, {1, 2});
  m.node("MatMulInteger", {"x", "b", "az"}, {"y"});
  EXPECT_THAT(numbers(m, {bytes_of({2, 1}, {5, 7})}), ElementsAre(12, 15));
}

TEST(OnnxForms, FusedGemmIsAProductAndItsActivation) {
  ModelWriter m(18);
  m.input("x", {1, 2}).output("y");
  m.floats("w", {2, 2}, {1, 0, 0, 1});
  auto& node = node_of(m, "com.microsoft", "FusedGemm", {"x", "w"}, {"y"});
  testing::set_text(node, "activation", "LeakyRelu");
  testing::set_float(node, "activation_alpha", 0.5f);
  EXPECT_THAT(numbers(m, {Tensor::f32({1, 2}, {-4, 3})}), ElementsAre(-2, 3));
}

TEST(OnnxForms, AnAttributeWithoutAKindIsWhatItHolds) {
  ModelWriter m(18);
  m.input("x", {1, 1, 3, 3}).output("y");
  m.floats("w", {1, 1, 1, 1}, {2});
  auto& conv = m.node("Conv", {"x", "w"}, {"c"}, "c");
  onnx::AttributeProto& strides = testing::add_attr(conv, "strides", 0);
  strides.add_ints(2);
  strides.add_ints(2);
  testing::add_attr(conv, "group", 0).set_i(1);
  testing::add_attr(conv, "auto_pad", 0).set_s("VALID");
  testing::add_attr(m.node("LeakyRelu", {"c"}, {"y"}, "l"), "alpha", 0).set_f(0.5f);
  std::vector<float> x = {-1, 9, 2, 9, 9, 9, 3, 9, -4};
  EXPECT_THAT(numbers(m, {Tensor::f32({1, 1, 3, 3}, x)}), ElementsAre(-1, 4, 6, -4));
}

TEST(OnnxForms, AttributesWithoutAValueOrTwiceAreRefused) {
  const auto refusal = [](auto change) {
    ModelWriter m(18);
    m.input("x", {2}).output("y");
    change(m.node("LeakyRelu", {"x"}, {"y"}, "l"));
    return m.failure();
  };
  EXPECT_THAT(refusal([](auto& node) { testing::add_attr(node, "alpha", 0); }),
              HasSubstr("has neither kind nor value"));
  EXPECT_THAT(
      refusal([](auto& node) { testing::add_attr(node, "alpha", 9); }),
      HasSubstr("is of kind 9 (type or list of tensors or graphs), which is not supported"));
  EXPECT_THAT(refusal([](auto& node) {
                testing::set_float(node, "alpha", 0.5f);
                testing::set_float(node, "alpha", 0.25f);
              }),
              HasSubstr("is given twice"));
}

// Written and read back: attributes that are tensors, texts and numbers, and elements of four bits.
TEST(OnnxForms, EveryKindOfAttributeComesBackFromAnExport) {
  constexpr std::string_view kText = R"(graph "net" {
    input %x: f32[2,1,1]
    const %w: f32[1,1,1] = [0.5]
    const %r: f32[1,1,1] = [0.25]
    %y, %h = RNN(%x, %w, %r) {activation_alpha=[0.5], activations=["LeakyRelu"], hidden_size=1}
    output %y
  })";
  const auto graph = parse_graph(kText, ops::registry());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto bytes = export_onnx_model(*graph);
  ASSERT_TRUE(bytes.ok());
  const auto again = import_onnx_bytes(*bytes, "", {}, ops::registry());
  ASSERT_TRUE(again.ok()) << again.status().message();
  const std::vector<Tensor> x = {Tensor::f32({2, 1, 1}, {-4, 2})};
  // LeakyRelu(-4 * 0.5) = -1, LeakyRelu(2 * 0.5 + -1 * 0.25) = 0.75.
  EXPECT_THAT(run_graph(*again, x), ElementsAre(-1, 0.75f));
}

}  // namespace
}  // namespace rk::frontends
