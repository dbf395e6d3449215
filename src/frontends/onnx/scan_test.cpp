// SPDX-License-Identifier: Apache-2.0
// Scan: a running sum whose steps are collected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/frontends/onnx/model_builder.h"

namespace rk::frontends {
namespace {

using ::testing::ElementsAre;
using testing::GraphWriter;
using testing::ModelWriter;
using testing::run_graph;

void write_body(onnx::NodeProto& scan) {
  GraphWriter body(testing::set_graph(scan, "body"));
  body.input("sum", {2}).input("row", {2}).output("next").output("step");
  body.node("Add", {"sum", "row"}, {"next"});
  body.node("Identity", {"next"}, {"step"});
  testing::set_int(scan, "num_scan_inputs", 1);
}

ModelWriter running_sum() {
  ModelWriter m(11);
  m.input("x", {3, 2}).output("total").output("steps");
  m.floats("zero", {2}, {0, 0});
  write_body(m.node("Scan", {"zero", "x"}, {"total", "steps"}, "scan"));
  return m;
}

const Tensor kX = Tensor::f32({3, 2}, {1, 2, 3, 4, 5, 6});

TEST(OnnxScan, CarriesStatesAndCollectsSteps) {
  const auto graph = running_sum().import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(run_graph(*graph, {kX}), ElementsAre(9, 12));
  EXPECT_THAT(run_graph(*graph, {kX}, 1), ElementsAre(1, 2, 4, 6, 9, 12));
}

TEST(OnnxScan, AxesAndDirectionsAreFollowed) {
  ModelWriter m = running_sum();
  onnx::NodeProto& scan = *m.model->mutable_graph()->mutable_node(0);
  testing::set_ints(scan, "scan_input_directions", {1});
  testing::set_ints(scan, "scan_output_axes", {-1});
  testing::set_ints(scan, "scan_output_directions", {1});
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  // Sums of the rows from the last on are [5,6], [8,10], [9,12]; collected backwards, as columns.
  EXPECT_THAT(run_graph(*graph, {kX}, 1), ElementsAre(9, 8, 5, 12, 10, 6));
}

TEST(OnnxScan, TheOldFormHasABatch) {
  ModelWriter m(8);
  m.input("x", {2, 2, 2}).output("total").output("steps");
  m.floats("zero", {2, 2}, {0, 0, 100, 100});
  write_body(m.node("Scan", {"", "zero", "x"}, {"total", "steps"}, "scan"));
  const auto graph = m.import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Tensor x = Tensor::f32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_THAT(run_graph(*graph, {x}), ElementsAre(4, 6, 112, 114));
  EXPECT_EQ(graph->outputs()[1]->shape(), Shape({2, 2, 2}));
}

TEST(OnnxScan, AMissingBodyIsRefused) {
  ModelWriter m(11);
  m.input("x", {3, 2}).output("y");
  m.node("Scan", {"x"}, {"y"}, "scan");
  EXPECT_EQ(m.failure(), "node 'scan' (Scan): has no body");
}

}  // namespace
}  // namespace rk::frontends
