// SPDX-License-Identifier: Apache-2.0
// Golden files lifted to a graph: the float evaluator on it against the runtime on the file.
#include "toolkit/program_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/file.h"
#include "evaluator/evaluate.h"
#include "format/reader.h"
#include "frontends/frontend.h"
#include "ops/registry.h"
#include "runtime/session/session.h"

namespace rk::toolkit {
namespace {

std::string golden(const std::string& name) {
  return str(RK_SOURCE_DIR, "/tests/golden/v3/", name, ".rknn");
}

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return ab / std::sqrt(aa * bb);
}

// The outputs of the runtime for input values as the model itself takes them (after mean and std).
std::vector<std::vector<float>> run_file(const std::vector<uint8_t>& file,
                                         const std::vector<float>& stored_values) {
  const auto model = runtime::LoadedModel::from_bytes(file, {});
  EXPECT_TRUE(model.ok()) << model.status().message();
  const auto session = runtime::Session::create(*model);
  EXPECT_TRUE(session.ok());
  runtime::CallerFormat format;
  format.format = runtime::TensorFormat::kNchw;
  EXPECT_TRUE(
      (*session)->set_input(0, format, stored_values.data(), stored_values.size() * 4).ok());
  EXPECT_TRUE((*session)->run().ok());
  std::vector<std::vector<float>> out;
  for (size_t i = 0; i < (*session)->output_count(); ++i) {
    const uint64_t bytes = (*session)->output_bytes(i, format).value();
    out.emplace_back(bytes / 4);
    EXPECT_TRUE((*session)->get_output(i, format, out.back().data(), bytes).ok());
  }
  return out;
}

void expect_lifted(const std::string& name, double least_cosine) {
  const auto file = read_file(golden(name));
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto program = format::read_rknn(*file);
  ASSERT_TRUE(program.ok()) << program.status().message();
  const auto graph = graph_of(*program, ops::registry());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_TRUE(verify(*graph).ok()) << verify(*graph).message();
  // It survives the file that it is written to.
  const auto bytes = frontends::export_onnx(*graph);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();

  const program::Variant& variant = program->main_variant();
  const Shape& shape = variant.tensors[static_cast<size_t>(variant.inputs[0])].shape;
  const auto elements = static_cast<size_t>(shape.elements());
  const auto& info = program->inputs.empty() ? program::InputInfo() : program->inputs[0];
  std::vector<float> given(elements), taken(elements);
  for (size_t i = 0; i < elements; ++i) {
    given[i] =
        info.mean.empty() ? static_cast<float>(i * 37 % 11) - 5 : static_cast<float>(i * 89 % 256);
    const size_t channel = shape.rank() < 4 ? 0
                                            : i / static_cast<size_t>(shape[2] * shape[3]) %
                                                  static_cast<size_t>(shape[1]);
    const float mean = channel < info.mean.size() ? info.mean[channel] : 0;
    const float std = channel < info.std.size() ? info.std[channel] : 1;
    taken[i] = (given[i] - mean) / std;
  }
  const auto wanted = run_file(*file, given);
  const std::vector<Tensor> inputs = {Tensor::f32(shape, taken)};
  const auto found = evaluator::evaluate(*graph, inputs);
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_EQ(found->size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const std::vector<float> lifted = (*found)[i].to_f32();
    ASSERT_EQ(lifted.size(), wanted[i].size());
    EXPECT_GE(cosine(lifted, wanted[i]), least_cosine) << name << ", output " << i;
    EXPECT_EQ(graph->outputs()[i]->name(),
              variant.tensors[static_cast<size_t>(variant.outputs[i])].name);
  }
}

TEST(ProgramGraph, AnInt8NetworkComesBackWithItsQuantization) {
  expect_lifted("int8", 0.999);
  const auto program = format::read_rknn(read_file(golden("int8")).value());
  const auto graph = graph_of(*program, ops::registry());
  size_t quantized = 0, convolutions = 0;
  std::set<std::string> names;
  for (const Node* node : graph->nodes()) {
    EXPECT_TRUE(names.insert(node->name()).second) << node->name();
    quantized += node->op() == "QuantizeLinear";
    convolutions += node->op() == "Conv" || node->op() == "ConvTranspose";
  }
  EXPECT_EQ(convolutions, 4u) << "stem, depthwise, pointwise, transposed";
  EXPECT_GT(quantized, 8u);
}

TEST(ProgramGraph, Float16NetworksComeBack) {
  expect_lifted("float16", 0.99999);
  expect_lifted("attention", 0.9999);
}

TEST(ProgramGraph, AFileIsWrittenWithNotesOfWhatItDoesNotSay) {
  const std::string path = testing::TempDir() + "lifted.onnx";
  const auto notes = lift_to_onnx(golden("int8"), path);
  ASSERT_TRUE(notes.ok()) << notes.status().message();
  ASSERT_EQ(notes->size(), 1u);
  EXPECT_NE(notes->front().find("mean 103.5,116.25,123.675"), std::string::npos) << notes->front();
  EXPECT_TRUE(read_file(path).ok());
  const auto shapes = lift_to_onnx(golden("dynamic"), path);
  ASSERT_TRUE(shapes.ok()) << shapes.status().message();
  EXPECT_NE(shapes->back().find("3 sets of input shapes"), std::string::npos);
}

}  // namespace
}  // namespace rk::toolkit
