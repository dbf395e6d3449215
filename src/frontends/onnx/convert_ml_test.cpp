// SPDX-License-Identifier: Apache-2.0
// Models of ai.onnx.ml: numbers by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/frontends/onnx/model_builder.h"

namespace rk::frontends {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using testing::ModelWriter;
using testing::run_graph;

onnx::NodeProto& ml_node(ModelWriter& m, const std::string& op,
                         const std::vector<std::string>& outputs) {
  onnx::NodeProto& node = m.node(op, {"x"}, outputs);
  node.set_domain("ai.onnx.ml");
  return node;
}

void strings(onnx::NodeProto& node, const std::string& name,
             const std::vector<std::string>& values) {
  onnx::AttributeProto& attr = testing::add_attr(node, name, 8);
  for (const std::string& value : values) attr.add_strings(value);
}

std::string refusal(const ModelWriter& m) {
  const auto graph = m.import();
  return graph.ok() ? "" : graph.status().message();
}

#define ASSERT_IMPORTS(graph) ASSERT_TRUE(graph.ok()) << graph.status().message()

TEST(MlImport, ScalerShiftsAndScalesColumns) {
  ModelWriter m(18);
  m.input("x", {2, 2}).output("y");
  auto& node = ml_node(m, "Scaler", {"y"});
  testing::set_floats(node, "offset", {1, 10});
  testing::set_floats(node, "scale", {2, 0.5f});
  const auto graph = m.import();
  ASSERT_IMPORTS(graph);
  EXPECT_THAT(run_graph(*graph, {Tensor::f32({2, 2}, {1, 10, 3, 14})}), ElementsAre(0, 0, 4, 2));
}

TEST(MlImport, NormalizerLeavesRowsOfZeros) {
  ModelWriter m(18);
  m.input("x", {2, 2}).output("y");
  testing::set_text(ml_node(m, "Normalizer", {"y"}), "norm", "L2");
  const auto graph = m.import();
  ASSERT_IMPORTS(graph);
  EXPECT_THAT(run_graph(*graph, {Tensor::f32({2, 2}, {3, -4, 0, 0})}),
              ElementsAre(FloatNear(0.6f, 1e-6f), FloatNear(-0.8f, 1e-6f), 0, 0));
}

TEST(MlImport, NormalizerTakesThreeNorms) {
  for (const auto& [norm, divisor] : {std::pair("MAX", 3.0f), std::pair("L1", 4.0f)}) {
    ModelWriter m(18);
    m.input("x", {1, 2}).output("y");
    testing::set_text(ml_node(m, "Normalizer", {"y"}), "norm", norm);
    const auto graph = m.import();
    ASSERT_IMPORTS(graph);
    EXPECT_THAT(run_graph(*graph, {Tensor::f32({1, 2}, {3, 1})}),
                ElementsAre(FloatNear(3 / divisor, 1e-6f), FloatNear(1 / divisor, 1e-6f)))
        << norm;
  }
  ModelWriter m(18);
  m.input("x", {1, 2}).output("y");
  testing::set_text(ml_node(m, "Normalizer", {"y"}), "norm", "L3");
  EXPECT_THAT(refusal(m), HasSubstr("norm 'L3', expected MAX, L1 or L2"));
}

TEST(MlImport, CountsThatDoNotFitTheColumnsAreNamed) {
  ModelWriter scaler(18);
  scaler.input("x", {1, 2}).output("y");
  testing::set_floats(ml_node(scaler, "Scaler", {"y"}), "offset", {1, 2, 3});
  EXPECT_THAT(refusal(scaler), HasSubstr("3 offsets or scales for 2 columns"));
  const auto linear = [](const std::vector<float>& weights, const std::vector<float>& intercepts) {
    ModelWriter m(18);
    m.input("x", {1, 2}).output("y");
    auto& node = ml_node(m, "LinearRegressor", {"y"});
    testing::set_floats(node, "coefficients", weights);
    testing::set_floats(node, "intercepts", intercepts);
    return refusal(m);
  };
  EXPECT_THAT(linear({1, 2, 3}, {0}), HasSubstr("3 coefficients for 2 columns"));
  EXPECT_THAT(linear({1, 2}, {0, 1, 2}), HasSubstr("3 intercepts for 1 results"));
  EXPECT_THAT(linear({1, 2, 3, 4}, {0, 1}), HasSubstr("coefficients of 2 targets, expected 1"));
}

TEST(MlImport, LinearRegressorIsAMatrixProduct) {
  ModelWriter m(18);
  m.input("x", {1, 2}).output("y");
  auto& node = ml_node(m, "LinearRegressor", {"y"});
  testing::set_floats(node, "coefficients", {1, 2, 3, 4});
  testing::set_floats(node, "intercepts", {0.5f, -1});
  testing::set_int(node, "targets", 2);
  const auto graph = m.import();
  ASSERT_IMPORTS(graph);
  EXPECT_THAT(run_graph(*graph, {Tensor::f32({1, 2}, {1, 10})}), ElementsAre(21.5f, 42));
}

TEST(MlImport, LinearClassifierGivesLabelsAndProbabilities) {
  ModelWriter m(18);
  m.input("x", {2, 2}).output("label").output("scores");
  auto& node = ml_node(m, "LinearClassifier", {"label", "scores"});
  testing::set_floats(node, "coefficients", {1, 0, 0, 1, -1, -1});
  testing::set_floats(node, "intercepts", {0, 0, 0.5f});
  testing::set_ints(node, "classlabels_ints", {7, 8, 9});
  testing::set_text(node, "post_transform", "SOFTMAX");
  const auto graph = m.import();
  ASSERT_IMPORTS(graph);
  const Tensor x = Tensor::f32({2, 2}, {2, 1, -1, -1});
  EXPECT_THAT(run_graph(*graph, {x}), ElementsAre(7, 9));
  const float sum = std::exp(2.0f) + std::exp(1.0f) + std::exp(-2.5f);
  EXPECT_NEAR(run_graph(*graph, {x}, 1)[0], std::exp(2.0f) / sum, 1e-6f);
}

TEST(MlImport, SvmRegressorSumsKernels) {
  ModelWriter m(18);
  m.input("x", {1, 2}).output("y");
  auto& node = ml_node(m, "SVMRegressor", {"y"});
  testing::set_floats(node, "coefficients", {2, -1});
  testing::set_floats(node, "support_vectors", {0, 0, 1, 1});
  testing::set_floats(node, "kernel_params", {0.5f, 0, 3});
  testing::set_floats(node, "rho", {0.25f});
  testing::set_int(node, "n_supports", 2);
  testing::set_text(node, "kernel_type", "RBF");
  const auto graph = m.import();
  ASSERT_IMPORTS(graph);
  // Distances of (1, 0): 1 and 1.
  EXPECT_NEAR(run_graph(*graph, {Tensor::f32({1, 2}, {1, 0})})[0],
              2 * std::exp(-0.5f) - std::exp(-0.5f) + 0.25f, 1e-6f);
}

TEST(MlImport, SvmClassifierCountsVotesOfPairs) {
  ModelWriter m(18);
  m.input("x", {3, 1}).output("label").output("scores");
  auto& node = ml_node(m, "SVMClassifier", {"label", "scores"});
  // One support vector per class at 0, 1 and 2, linear: pair (i, j) decides for i where its sum is above 0.
  testing::set_ints(node, "vectors_per_class", {1, 1, 1});
  testing::set_floats(node, "support_vectors", {0, 1, 2});
  testing::set_floats(node, "coefficients", {1, -1, -1, 1, 1, -1});
  testing::set_floats(node, "rho", {0.5f, 1, 1.5f});
  testing::set_floats(node, "kernel_params", {1, 0, 0});
  testing::set_ints(node, "classlabels_ints", {10, 20, 30});
  testing::set_text(node, "kernel_type", "LINEAR");
  const auto graph = m.import();
  ASSERT_IMPORTS(graph);
  const Tensor x = Tensor::f32({3, 1}, {0, 1, 3});
  // Kernels are x * (0, 1, 2). (0,1): -x + 0.5; (0,2): -2x + 1; (1,2): x - 2x + 1.5 = -x + 1.5.
  EXPECT_THAT(run_graph(*graph, {x}, 1),
              ElementsAre(0.5f, 1, 1.5f, -0.5f, -1, 0.5f, -2.5f, -5, -1.5f));
  EXPECT_THAT(run_graph(*graph, {x}), ElementsAre(10, 20, 30));
}

// x0 <= 1 ? node 1 : node 2; node 1: x1 < 5 ? 3 : 4.
onnx::NodeProto& trees(ModelWriter& m, const std::string& op, const std::string& prefix,
                       const std::vector<std::string>& outputs) {
  auto& node = ml_node(m, op, outputs);
  testing::set_ints(node, "nodes_treeids", {0, 0, 0, 0, 0});
  testing::set_ints(node, "nodes_nodeids", {0, 1, 2, 3, 4});
  testing::set_ints(node, "nodes_featureids", {0, 1, 0, 0, 0});
  testing::set_ints(node, "nodes_truenodeids", {1, 3, 0, 0, 0});
  testing::set_ints(node, "nodes_falsenodeids", {2, 4, 0, 0, 0});
  testing::set_floats(node, "nodes_values", {1, 5, 0, 0, 0});
  strings(node, "nodes_modes", {"BRANCH_LEQ", "BRANCH_LT", "LEAF", "LEAF", "LEAF"});
  testing::set_ints(node, prefix + "_treeids", {0, 0, 0});
  testing::set_ints(node, prefix + "_nodeids", {2, 3, 4});
  return node;
}

const Tensor kRows = Tensor::f32({3, 2}, {2, 0, 1, 4, 0, 5});

TEST(MlImport, TreeRegressorAddsBaseValues) {
  ModelWriter m(18);
  m.input("x", {3, 2}).output("y");
  auto& node = trees(m, "TreeEnsembleRegressor", "target", {"y"});
  testing::set_ints(node, "target_ids", {0, 0, 0});
  testing::set_floats(node, "target_weights", {10, 20, 30});
  testing::set_floats(node, "base_values", {0.5f});
  testing::set_int(node, "n_targets", 1);
  const auto graph = m.import();
  ASSERT_IMPORTS(graph);
  EXPECT_THAT(run_graph(*graph, {kRows}), ElementsAre(10.5f, 20.5f, 30.5f));
}

TEST(MlImport, TreeClassifierOfOneScoreForTwoClasses) {
  ModelWriter m(18);
  m.input("x", {3, 2}).output("label").output("scores");
  auto& node = trees(m, "TreeEnsembleClassifier", "class", {"label", "scores"});
  testing::set_ints(node, "class_ids", {1, 1, 1});
  testing::set_floats(node, "class_weights", {0.25f, 0.75f, 1});
  testing::set_ints(node, "classlabels_int64s", {0, 1});
  const auto graph = m.import();
  ASSERT_IMPORTS(graph);
  EXPECT_THAT(run_graph(*graph, {kRows}), ElementsAre(0, 1, 1));
  EXPECT_THAT(run_graph(*graph, {kRows}, 1), ElementsAre(0.75f, 0.25f, 0.25f, 0.75f, 0, 1));
}

TEST(MlImport, ZipMapIsLeftOut) {
  ModelWriter m(18);
  m.input("x", {3, 2}).output("maps");
  auto& node = trees(m, "TreeEnsembleClassifier", "class", {"label", "scores"});
  testing::set_ints(node, "class_ids", {0, 1, 2});
  testing::set_floats(node, "class_weights", {1, 2, 3});
  strings(node, "classlabels_strings", {"a", "b", "c"});
  auto& map = m.node("ZipMap", {"scores"}, {"maps"});
  map.set_domain("ai.onnx.ml");
  strings(map, "classlabels_strings", {"a", "b", "c"});
  const auto graph = m.import();
  ASSERT_IMPORTS(graph);
  EXPECT_THAT(run_graph(*graph, {kRows}), ElementsAre(1, 0, 0, 0, 2, 0, 0, 0, 3));
}

TEST(MlImport, TreesThatLeadNowhereOrBackAreRefused) {
  ModelWriter nowhere(18);
  nowhere.input("x", {3, 2}).output("y");
  auto& node = trees(nowhere, "TreeEnsembleRegressor", "target", {"y"});
  testing::set_ints(node, "target_ids", {0, 0, 0});
  testing::set_floats(node, "target_weights", {10, 20, 30});
  node.mutable_attribute(3)->set_ints(1, 99);  // nodes_truenodeids
  EXPECT_THAT(refusal(nowhere), HasSubstr("leads to node 99, which is not there"));
  node.mutable_attribute(3)->set_ints(1, 0);
  EXPECT_THAT(refusal(nowhere), HasSubstr("is reached twice"));
}

TEST(MlImport, LabelEncoderLooksUpNumbers) {
  ModelWriter m(18);
  m.input("x", {4}, testing::kInt64).output("y");
  auto& node = ml_node(m, "LabelEncoder", {"y"});
  testing::set_ints(node, "keys_int64s", {3, 5});
  testing::set_floats(node, "values_floats", {0.5f, 7});
  testing::set_float(node, "default_float", -2);
  const auto graph = m.import();
  ASSERT_IMPORTS(graph);
  EXPECT_THAT(run_graph(*graph, {Tensor::i64({4}, {5, 3, 4, 5})}), ElementsAre(7, 0.5f, -2, 7));
}

TEST(MlImport, ImputerReplacesNan) {
  ModelWriter m(18);
  m.input("x", {2, 2}).output("y");
  auto& node = ml_node(m, "Imputer", {"y"});
  testing::set_floats(node, "imputed_value_floats", {5, 6});
  testing::set_float(node, "replaced_value_float", NAN);
  const auto graph = m.import();
  ASSERT_IMPORTS(graph);
  EXPECT_THAT(run_graph(*graph, {Tensor::f32({2, 2}, {1, NAN, NAN, 2})}), ElementsAre(1, 6, 5, 2));
}

}  // namespace
}  // namespace rk::frontends
