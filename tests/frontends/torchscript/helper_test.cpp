// SPDX-License-Identifier: Apache-2.0
// Files that libtorch wrote (torchscript/*.pt, kept from make_cases.py), through the real helper program: the same numbers
// as from the stored answers. Only built where libtorch is.
#include <gtest/gtest.h>

#include <algorithm>

#include "evaluator/evaluate.h"
#include "frontends/model_source.h"
#include "ops/registry.h"
#include "tests/frontends/cases.h"

namespace rk::frontends {
namespace {

class TorchFiles : public testing::TestWithParam<const char*> {};

TEST_P(TorchFiles, GiveTheNumbersOfLibtorch) {
  const std::string folder = RK_SOURCE_DIR "/tests/frontends/torchscript/";
  const auto cases = read_cases(folder + "cases.bin");
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  const auto found = std::ranges::find(*cases, GetParam(), &TinyCase::name);
  ASSERT_NE(found, cases->end());
  ImportOptions options;
  options.input_shapes = found->shapes;
  auto model = import_model({folder + GetParam() + ".pt"}, "", options, ops::registry());
  if (!found->refusal.empty()) {
    ASSERT_FALSE(model.ok());
    EXPECT_NE(model.status().message().find(found->refusal), std::string::npos)
        << model.status().message();
    return;
  }
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto outputs = evaluator::evaluate(model->graph, found->inputs, {});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  ASSERT_EQ(outputs->size(), found->outputs.size());
  for (size_t k = 0; k < outputs->size(); ++k) {
    ASSERT_EQ((*outputs)[k].shape(), found->outputs[k].shape());
    for (int64_t i = 0; i < found->outputs[k].elements(); ++i) {
      ASSERT_NEAR((*outputs)[k].at_f64(i), found->outputs[k].at_f64(i), found->tolerance)
          << k << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, TorchFiles,
                         testing::Values("conv2d", "quantized_conv", "half_weights",
                                         "refused_operator"));

TEST(TorchFilesDamaged, AreRefusedWithLibtorchsOwnWords) {
  auto bytes = read_file(RK_SOURCE_DIR "/tests/frontends/torchscript/conv2d.pt");
  ASSERT_TRUE(bytes.ok());
  bytes->resize(bytes->size() / 2);
  const ModelFile file{"conv2d.pt", *bytes};
  const auto model = import_files({&file, 1}, "pytorch", {}, ops::registry());
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.status().message().find("libtorch cannot read the file: "), std::string::npos)
      << model.status().message();
}

}  // namespace
}  // namespace rk::frontends
