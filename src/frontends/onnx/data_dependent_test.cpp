// SPDX-License-Identifier: Apache-2.0
// Results whose size depends on data: folded where they are known, padded with a count where they have a bound, refused
// with advice where they have none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/frontends/onnx/model_builder.h"

namespace rk::frontends {
namespace {

using ::testing::ElementsAre;
using testing::ModelWriter;
using testing::op_names;
using testing::run_graph;

TEST(OnnxDataDependent, ConstantsFoldToTheirExactSize) {
  ModelWriter m(17);
  m.input("x", {3}).output("y");
  m.ints("mask", {3}, {1, 0, 2});
  m.node("NonZero", {"mask"}, {"found"});  // [[0, 2]]
  m.node("Gather", {"x", "found"}, {"y"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(op_names(*graph), "Gather");
  EXPECT_EQ(graph->outputs().size(), 1u);
  EXPECT_THAT(run_graph(*graph, {Tensor::f32({3}, {5, 6, 7})}), ElementsAre(5, 7));
}

TEST(OnnxDataDependent, BoundedResultsArePaddedAndCounted) {
  ModelWriter m(17);
  m.input("x", {4}).output("y");
  m.node("NonZero", {"x"}, {"y"}, "nz");
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->outputs().size(), 2u);
  EXPECT_EQ(graph->outputs()[0]->shape(), Shape({1, 4}));
  EXPECT_EQ(graph->outputs()[1]->name(), "y/count");
  const Tensor x = Tensor::f32({4}, {0, 3, 0, 4});
  EXPECT_THAT(run_graph(*graph, {x}), ElementsAre(1, 3, -1, -1));
  EXPECT_THAT(run_graph(*graph, {x}, 1), ElementsAre(2));
}

TEST(OnnxDataDependent, KOfRunTimeIsBoundByTheAxis) {
  ModelWriter m(17);
  m.input("x", {3}).input("k", {1}, testing::kInt64).output("v").output("i");
  m.node("TopK", {"x", "k"}, {"v", "i"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->outputs().size(), 3u);
  EXPECT_THAT(run_graph(*graph, {Tensor::f32({3}, {1, 9, 5}), Tensor::i64({1}, {1})}),
              ElementsAre(9, 0, 0));
}

TEST(OnnxDataDependent, ConstantKHasAnExactSizeAndNothingToCount) {
  ModelWriter m(17);
  m.input("x", {3}).output("v").output("i");
  m.ints("k", {1}, {2});
  m.node("TopK", {"x", "k"}, {"v", "i"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->outputs().size(), 2u);
  EXPECT_THAT(run_graph(*graph, {Tensor::f32({3}, {1, 9, 5})}), ElementsAre(9, 5));
  EXPECT_THAT(run_graph(*graph, {Tensor::f32({3}, {1, 9, 5})}, 1), ElementsAre(1, 2));
}

TEST(OnnxDataDependent, KOfAnAttributeHasAnExactSizeToo) {
  ModelWriter m(9);
  m.input("x", {3}).output("v").output("i");
  testing::set_int(m.node("TopK", {"x"}, {"v", "i"}), "k", 1);
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->outputs().size(), 2u);
  EXPECT_THAT(run_graph(*graph, {Tensor::f32({3}, {1, 9, 5})}), ElementsAre(9));
}

TEST(OnnxDataDependent, ConstantConditionHasAnExactSize) {
  ModelWriter m(17);
  m.input("x", {3}).output("y");
  m.ints("mask", {3}, {1, 0, 2});
  testing::set_int(m.node("Cast", {"mask"}, {"keep"}), "to", 9);
  m.node("Compress", {"x", "keep"}, {"y"});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->outputs().size(), 1u);
  EXPECT_THAT(run_graph(*graph, {Tensor::f32({3}, {5, 6, 7})}), ElementsAre(5, 7));
}

TEST(OnnxDataDependent, UnboundedSizesAreRefusedWithAPlaceToCut) {
  ModelWriter m(17);
  m.input("x", {4}).input("n", {1}, testing::kInt64).output("y");
  m.node("Neg", {"x"}, {"minus"});
  m.node("Abs", {"n"}, {"shape"});
  m.node("Reshape", {"minus", "shape"}, {"y"}, "fit");
  EXPECT_EQ(m.failure(),
            "node 'fit' (Reshape, opset 17): input 1 ('shape') is computed at run time; it must be "
            "a constant because the output shape depends on it. Fix the model's input shapes or "
            "fold it; cut the graph before it with outputs=['minus', 'shape']");
}

}  // namespace
}  // namespace rk::frontends
