// SPDX-License-Identifier: Apache-2.0
// Fused operators of ONNX Runtime: the numbers of their parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/frontends/onnx/model_builder.h"

namespace rk::frontends {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using testing::ModelWriter;
using testing::op_names;
using ::testing::Pointwise;
using testing::run_graph;

MATCHER(IsNear, "within 1e-5") { return std::fabs(std::get<0>(arg) - std::get<1>(arg)) <= 1e-5; }

onnx::NodeProto& fused(ModelWriter& m, const std::string& op,
                       const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs) {
  onnx::NodeProto& node = m.node(op, inputs, outputs, "fused");
  node.set_domain("com.microsoft");
  return node;
}

TEST(OnnxMicrosoft, GeluForms) {
  struct Form {
    const char* op;
    bool has_bias;
    float expected;  // of x = 0.5, bias 0.5
  };
  // 1 * Phi(1) = 0.841345; tanh form 0.841192; 0.5 * Phi(0.5) = 0.345731.
  for (const Form& form : {Form{"BiasGelu", true, 0.841345f}, Form{"FastGelu", true, 0.841192f},
                           Form{"Gelu", false, 0.345731f}}) {
    ModelWriter m(17);
    m.input("x", {1}).output("y");
    m.floats("b", {1}, {0.5f});
    std::vector<std::string> inputs = {"x"};
    if (form.has_bias) inputs.push_back("b");
    fused(m, form.op, inputs, {"y"});
    const auto graph = m.import();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_THAT(run_graph(*graph, {Tensor::f32({1}, {0.5f})}),
                ElementsAre(FloatNear(form.expected, 1e-5f)))
        << form.op;
  }
}

TEST(OnnxMicrosoft, QuickGeluIsSwishOfItsOwnSlope) {
  ModelWriter m(17);
  m.input("x", {1}).output("y");
  fused(m, "QuickGelu", {"x"}, {"y"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  // 1 / (1 + e^-1.702)
  EXPECT_THAT(run_graph(*graph, {Tensor::f32({1}, {1})}), ElementsAre(FloatNear(0.845796f, 1e-5f)));
}

TEST(OnnxMicrosoft, FusedConvAddsItsSumBeforeTheActivation) {
  ModelWriter m(17);
  m.input("x", {1, 1, 1, 2}).input("z", {1, 1, 1, 2}).output("y");
  m.floats("w", {1, 1, 1, 1}, {2});
  m.floats("b", {1}, {1});
  onnx::NodeProto& node = fused(m, "FusedConv", {"x", "w", "b", "z"}, {"y"});
  testing::set_text(node, "activation", "LeakyRelu");
  testing::set_floats(node, "activation_params", {0.5f});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(op_names(*graph), "Conv Add LeakyRelu");
  const Tensor x = Tensor::f32({1, 1, 1, 2}, {1, 2});
  const Tensor z = Tensor::f32({1, 1, 1, 2}, {-7, 1});
  EXPECT_THAT(run_graph(*graph, {x, z}), ElementsAre(-2, 6));
}

TEST(OnnxMicrosoft, AnActivationThatIsNotKnownIsRefused) {
  ModelWriter m(17);
  m.input("x", {1, 1, 1, 2}).output("y");
  m.floats("w", {1, 1, 1, 1}, {2});
  testing::set_text(fused(m, "FusedConv", {"x", "w"}, {"y"}), "activation", "Cosine");
  EXPECT_NE(m.failure().find("activation 'Cosine' is not supported"), std::string::npos)
      << m.failure();
}

TEST(OnnxMicrosoft, FusedMatMulTransposesAndScales) {
  ModelWriter m(17);
  m.input("a", {2, 1}).output("y");
  m.floats("b", {1, 2}, {3, 4});
  onnx::NodeProto& node = fused(m, "FusedMatMul", {"a", "b"}, {"y"});
  testing::set_int(node, "transA", 1);
  testing::set_int(node, "transB", 1);
  testing::set_float(node, "alpha", 0.5f);
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(run_graph(*graph, {Tensor::f32({2, 1}, {1, 2})}), ElementsAre(5.5f));
}

TEST(OnnxMicrosoft, SkipLayerNormalizationGivesTheSumToo) {
  ModelWriter m(17);
  m.input("x", {1, 2}).input("skip", {1, 2}).output("y").output("sum");
  m.floats("gamma", {2}, {1, 10});
  m.floats("beta", {2}, {0, 1});
  m.floats("bias", {2}, {0, 1});
  fused(m, "SkipLayerNormalization", {"x", "skip", "gamma", "beta", "bias"}, {"y", "", "", "sum"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const std::vector<Tensor> inputs = {Tensor::f32({1, 2}, {1, 2}), Tensor::f32({1, 2}, {1, 3})};
  // The sum is [2, 6]: mean 4, deviation 2.
  EXPECT_THAT(run_graph(*graph, inputs), Pointwise(IsNear(), {-1.0f, 11.0f}));
  EXPECT_THAT(run_graph(*graph, inputs, 1), ElementsAre(2, 6));
}

TEST(OnnxMicrosoft, SimplifiedLayerNormalizationDividesByTheRootMeanSquare) {
  ModelWriter m(17);
  m.input("x", {1, 2}).output("y");
  m.floats("gamma", {2}, {1, 2});
  m.node("SimplifiedLayerNormalization", {"x", "gamma"}, {"y"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  // Root mean square of [3, 4] is sqrt(12.5).
  EXPECT_THAT(run_graph(*graph, {Tensor::f32({1, 2}, {3, 4})}),
              Pointwise(IsNear(), {0.848528f, 2.262740f}));
}

}  // namespace
}  // namespace rk::frontends
