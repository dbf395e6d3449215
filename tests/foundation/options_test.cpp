// SPDX-License-Identifier: Apache-2.0
// Each conversion option and its effect on the Program or the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "format/reader.h"
#include "tests/foundation/any_model.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::foundation {
namespace {

using program::Processor;
using program::Step;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::string example(const std::string& path) {
  return std::string(RK_SOURCE_DIR) + "/examples/" + path;
}

toolkit::Config digits_config() {
  toolkit::Config config;
  config.target_platform = "rk3588";
  config.mean_values = {{127.5f}};
  config.std_values = {{64}};
  return config;
}

// digits, built in int8 unless a cut makes the pictures useless.
toolkit::Toolkit built(const toolkit::Config& config, const toolkit::LoadOptions& load = {},
                       bool quantize = true) {
  toolkit::Toolkit out;
  Status status = out.config(config);
  EXPECT_TRUE(status.ok()) << status.message();
  status = out.load_onnx(example("digits/digits.onnx"), load);
  EXPECT_TRUE(status.ok()) << status.message();
  status = out.build({quantize, example("digits/calib.txt"), {}});
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

std::vector<std::string> step_types(const toolkit::Toolkit& toolkit) {
  std::vector<std::string> out;
  for (const Step& step : toolkit.program().main_variant().steps) out.push_back(step.type);
  return out;
}

TEST(Options, OptimizationLevelsDropFusions) {
  const auto types_at = [](int level) {
    toolkit::Config config = digits_config();
    config.optimization_level = level;
    return step_types(built(config));
  };
  EXPECT_THAT(types_at(3), Contains("ConvReluAdd"));
  EXPECT_THAT(types_at(3), Contains("ConvClip"));
  EXPECT_THAT(types_at(2), Not(Contains("ConvReluAdd")));
  EXPECT_THAT(types_at(2), Contains("ConvRelu"));
  EXPECT_THAT(types_at(1), Not(Contains("ConvRelu")));
  EXPECT_THAT(types_at(0), Contains("Add"));
}

TEST(Options, OpTargetMovesAnOperatorByTypeAndByOutputName) {
  const auto processor_of = [](const toolkit::Toolkit& toolkit, std::string_view type) {
    for (const Step& step : toolkit.program().main_variant().steps) {
      if (step.type == type) return step.processor;
    }
    ADD_FAILURE() << "no step " << type;
    return Processor::kGpu;
  };
  EXPECT_EQ(processor_of(built(digits_config()), "MaxPool"), Processor::kNpu);
  toolkit::Config by_type = digits_config();
  by_type.op_target["MaxPool"] = "cpu";
  EXPECT_EQ(processor_of(built(by_type), "MaxPool"), Processor::kCpu);
  toolkit::Config by_name = digits_config();
  by_name.op_target["/pool/MaxPool_output_0"] = "cpu";
  EXPECT_EQ(processor_of(built(by_name), "MaxPool"), Processor::kCpu);
}

TEST(Options, RemoveReshapeGivesTheOutputItsInnerShape) {
  toolkit::LoadOptions load;
  load.outputs = {"/Flatten_output_0"};
  const auto shape_with = [&](bool remove) {
    toolkit::Config config = digits_config();
    config.remove_reshape = remove;
    const toolkit::Toolkit toolkit = built(config, load);
    const auto& variant = toolkit.program().main_variant();
    return to_string(variant.tensors[static_cast<size_t>(variant.outputs[0])].shape);
  };
  const std::string flat = shape_with(false), inner = shape_with(true);
  EXPECT_EQ(std::count(flat.begin(), flat.end(), ','), 1) << flat;
  EXPECT_EQ(std::count(inner.begin(), inner.end(), ','), 3) << inner;
}

TEST(Options, SingleCoreModelsKeepToOneCore) {
  toolkit::Config config = digits_config();
  config.single_core_mode = true;
  const auto bytes = built(config).rknn_bytes();
  ASSERT_TRUE(bytes.ok());
  const auto program = format::read_rknn(*bytes);
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_TRUE(program->single_core);
  EXPECT_FALSE(built(digits_config()).program().single_core);
}

TEST(Options, CustomStringComesBackFromTheQuery) {
  toolkit::Config config = digits_config();
  config.custom_string = "made for the third shelf";
  const auto bytes = built(config).rknn_bytes();
  ASSERT_TRUE(bytes.ok());
  const auto model = AnyModel::load(*bytes);
  ASSERT_TRUE(model.ok());
  rknn_custom_string text{};
  ASSERT_EQ(rknn_query(model->context(), RKNN_QUERY_CUSTOM_STRING, &text, sizeof text), RKNN_SUCC);
  EXPECT_STREQ(text.string, "made for the third shelf");
  config.custom_string = std::string(1025, 'x');
  toolkit::Toolkit refused;
  EXPECT_THAT(refused.config(config).message(), HasSubstr("at most 1024"));
}

TEST(Options, InputInitialValueTurnsAnInputIntoAConstant) {
  toolkit::Config config;
  config.target_platform = "rk3588";
  toolkit::LoadOptions load;
  load.inputs = {"/act_1/Relu_output_0", "/act_2/Relu_output_0"};
  load.outputs = {"/Add_output_0"};
  load.input_size_list = {{1, 32, 14, 14}, {1, 32, 14, 14}};
  toolkit::Toolkit probe;
  ASSERT_TRUE(probe.config(config).ok());
  Status status = probe.load_onnx(example("digits/digits.onnx"), load);
  ASSERT_TRUE(status.ok()) << status.message();

  Tensor ones = Tensor::make({DType::kF32, {1, 32, 14, 14}});
  for (int64_t i = 0; i < ones.elements(); ++i) ones.mutable_data<float>()[i] = 1;
  load.input_initial_val = {std::nullopt, ones};
  const toolkit::Toolkit toolkit = built(config, load, false);
  EXPECT_EQ(toolkit.program().main_variant().inputs.size(), 1u);
  const auto bytes = toolkit.rknn_bytes();
  ASSERT_TRUE(bytes.ok());
  const auto model = AnyModel::load(*bytes);
  ASSERT_TRUE(model.ok());
  const auto result = model->run_float({Tensor::make(ones.type())});
  ASSERT_TRUE(result.ok()) << result.status().message();
  for (const float y : (*result)[0]) EXPECT_EQ(y, 1.0f);
}

TEST(Options, TheCommandReadsRknnConvertYml) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "rk_foundation_yml";
  fs::create_directories(folder);
  std::ofstream(folder / "digits.yml") << "models:\n"
                                          "    name: digits\n"
                                          "    platform: onnx\n"
                                          "    model_file_path: "
                                       << example("digits/digits.onnx")
                                       << "\n"
                                          "    quantize: true\n"
                                          "    dataset: "
                                       << example("digits/calib.txt")
                                       << "\n"
                                          "    configs:\n"
                                          "      quantized_dtype: asymmetric_quantized-8\n"
                                          "      mean_values: [127.5]\n"
                                          "      std_values: [64]\n"
                                          "      optimization_level: 2\n";
  const fs::path out = folder / "out.rknn";
  fs::remove(out);
  const std::string command = str(RK_COMMAND, " convert -i ", (folder / "digits.yml").string(),
                                  " -t rk3588 -o ", out.string(), " > /dev/null");
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto bytes = read_file(out.string());
  ASSERT_TRUE(bytes.ok());
  const auto program = format::read_rknn(*bytes);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->inputs[0].mean, std::vector<float>{127.5f});
  EXPECT_EQ(program->inputs[0].std, std::vector<float>{64});
  bool has_add = false;
  for (const Step& step : program->main_variant().steps) has_add |= step.type == "Add";
  EXPECT_TRUE(has_add) << "optimization_level 2 keeps Add apart";
}

}  // namespace
}  // namespace rk::foundation
