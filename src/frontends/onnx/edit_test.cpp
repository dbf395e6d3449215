// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/edit.h"

#include <gtest/gtest.h>

#include "tests/frontends/onnx/model_builder.h"

namespace rk::frontends {
namespace {

using testing::GraphWriter;
using testing::ModelWriter;

Result<EditedModel> edited(const ModelWriter& m, const EditOptions& options) {
  const std::string bytes = m.model->SerializeAsString();
  return edit_onnx_model({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, options);
}

// y = x + [10, 20, 30] over the last axis; x is 2 x 3.
ModelWriter small() {
  ModelWriter m;
  m.input("x", {2, 3});
  m.floats("c", {3}, {10, 20, 30});
  m.node("Add", {"x", "c"}, {"y"});
  m.value_info("y", {2, 3});
  testing::describe(*m.model->mutable_graph()->add_output(), "y", {2, 3}, testing::kFloat);
  return m;
}

TEST(OnnxEdit, CallersSeeTheOtherShapesAndGetTheSameNumbers) {
  const auto model =
      edited(small(), {.inputs = {{"x", "a,b->b,1,a"}}, .outputs = {{"y", "a,b->ba"}}});
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->input_names, std::vector<std::string>{"x"});
  const auto graph = import_onnx_bytes(model->bytes, "", {}, ops::registry());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->inputs()[0]->name(), "x");
  EXPECT_EQ(graph->inputs()[0]->shape(), (Shape{3, 1, 2}));
  EXPECT_EQ(graph->outputs()[0]->name(), "y");
  EXPECT_EQ(graph->outputs()[0]->shape(), (Shape{6}));
  // x = [[1, 2, 3], [4, 5, 6]] turned, y turned.
  EXPECT_EQ(testing::run_graph(*graph, {Tensor::f32({3, 1, 2}, {1, 4, 2, 5, 3, 6})}),
            (std::vector<float>{11, 14, 22, 25, 33, 36}));
}

TEST(OnnxEdit, BodiesOfBranchesSeeTheInnerName) {
  ModelWriter m;
  m.input("x", {2, 3});
  testing::describe(*m.model->mutable_graph()->add_output(), "y", {2, 3}, testing::kFloat);
  m.ints("zero", {}, {0});
  m.node("Cast", {"zero"}, {"condition"}).add_attribute()->set_name("to");
  auto& to = *m.model->mutable_graph()->mutable_node(0)->mutable_attribute(0);
  to.set_type(2);
  to.set_i(9);
  onnx::NodeProto& choose = m.node("If", {"condition"}, {"y"}, "choose");
  GraphWriter then_branch(testing::set_graph(choose, "then_branch"));
  then_branch.output("t").node("Abs", {"x"}, {"t"});
  GraphWriter else_branch(testing::set_graph(choose, "else_branch"));
  else_branch.output("e").node("Neg", {"x"}, {"e"});
  const auto model = edited(m, {.inputs = {{"x", "a,b->b,a"}}, .outputs = {}});
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto graph = import_onnx_bytes(model->bytes, "", {}, ops::registry());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(testing::run_graph(*graph, {Tensor::f32({3, 2}, {1, 4, 2, 5, 3, 6})}),
            (std::vector<float>{-1, -2, -3, -4, -5, -6}));
}

TEST(OnnxEdit, FieldsThatAreNotKnownHereAreKept) {
  ModelWriter m = small();
  std::string bytes = m.model->SerializeAsString();
  // Field 6 of ModelProto, doc_string, which the importer does not read.
  bytes += std::string("\x32\x05") + "hello";
  const auto model = edit_onnx_model({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                                     {.inputs = {{"x", "a,b->b,a"}}, .outputs = {}});
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::string out(model->bytes.begin(), model->bytes.end());
  EXPECT_NE(out.find("\x32\x05hello"), std::string::npos);
}

TEST(OnnxEdit, FailuresNameTheTensorOrTheFile) {
  const auto message = [](const Result<EditedModel>& result) {
    return result.ok() ? "accepted" : result.status().message();
  };
  EXPECT_NE(
      message(edited(small(), {.inputs = {{"z", "a,b->b,a"}}, .outputs = {}})).find("no input 'z'"),
      std::string::npos);
  EXPECT_NE(message(edited(small(), {.inputs = {}, .outputs = {{"x", "a,b->b,a"}}}))
                .find("no output 'x'"),
            std::string::npos);
  const std::vector<uint8_t> noise = {1, 2, 3, 4};
  EXPECT_NE(message(edit_onnx_model(noise, {})).find("not an ONNX model"), std::string::npos);
}

}  // namespace
}  // namespace rk::frontends
