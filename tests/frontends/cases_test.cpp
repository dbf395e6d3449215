// SPDX-License-Identifier: Apache-2.0
// Every tiny model of tests/frontends/<format>: imported, run on the float evaluator and compared with numbers that the
// script beside it computed by formulas of its own; or refused with the message it is there for.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "evaluator/evaluate.h"
#include "frontends/model_source.h"
#include "ops/registry.h"
#include "tests/frontends/cases.h"

namespace rk::frontends {
namespace {

class FrontendCases : public testing::TestWithParam<const char*> {};

std::string differences(const Tensor& found, const Tensor& expected, double tolerance) {
  if (found.shape() != expected.shape()) {
    return str("shape ", to_string(found.shape()), ", expected ", to_string(expected.shape()));
  }
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double a = found.at_f64(i), b = expected.at_f64(i);
    if (std::isnan(a) == std::isnan(b) && !(std::abs(a - b) > tolerance)) continue;
    return str("element ", i, " is ", a, ", expected ", b);
  }
  return {};
}

void run(const TinyCase& c) {
  SCOPED_TRACE(c.format + "/" + c.name);
  std::vector<ModelFile> files;
  for (const auto& bytes : c.files) files.push_back({"", bytes});
  ImportOptions options;
  options.input_shapes = c.shapes;
  options.input_is_nchw = c.input_is_nchw;
  auto model = import_files(files, c.format, options, ops::registry());
  if (!c.refusal.empty()) {
    ASSERT_FALSE(model.ok());
    EXPECT_NE(model.status().message().find(c.refusal), std::string::npos)
        << model.status().message();
    return;
  }
  ASSERT_TRUE(model.ok()) << model.status().message();
  std::istringstream without(c.without);
  for (std::string op; without >> op;) {
    for (const Node* node : model->graph.nodes()) EXPECT_NE(node->op(), op) << node->name();
  }
  if (!c.note.empty()) {
    std::string notes;
    for (const std::string& note : model->notes) notes += note + "\n";
    EXPECT_NE(notes.find(c.note), std::string::npos) << notes;
  }
  const auto outputs = evaluator::evaluate(model->graph, c.inputs, {});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  ASSERT_EQ(outputs->size(), c.outputs.size());
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    EXPECT_EQ(differences((*outputs)[i], c.outputs[i], c.tolerance), "") << "output " << i;
  }
}

TEST_P(FrontendCases, TinyModelsGiveTheNumbersOfTheirFormulas) {
  const auto source = find_source(GetParam());
  ASSERT_TRUE(source.ok());
  if ((*source)->import == nullptr) GTEST_SKIP() << GetParam() << " is switched off";
  const std::string folder = std::string(GetParam()) == "pytorch" ? "torchscript" : GetParam();
  const auto cases = read_cases(str(RK_SOURCE_DIR "/tests/frontends/", folder, "/cases.bin"));
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  ASSERT_FALSE(cases->empty());
  for (const TinyCase& c : *cases) run(c);
}

INSTANTIATE_TEST_SUITE_P(Formats, FrontendCases,
                         testing::Values("tflite", "darknet", "caffe", "tensorflow", "pytorch"));

}  // namespace
}  // namespace rk::frontends
