// SPDX-License-Identifier: Apache-2.0
// Every network through the public path for two chips in float16 and int8, held against the float
// evaluator on the imported graph, with the list of what left the NPU. Calibrated on other inputs
// than those it is judged on.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "tests/foundation/judge.h"
#include "tests/networks/network.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::networks {
namespace {

using foundation::AnyModel;
using foundation::ZooCase;
using foundation::ZooModel;

constexpr uint32_t kSeed = 20261115;

// Pictures and spectra are smooth with some noise, as real ones are; tokens are drawn evenly.
Tensor input_of(const Network& network, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor out = Tensor::make(network.input);
  if (network.input.dtype == DType::kI64) {
    std::uniform_int_distribution<int64_t> draw(0, network.vocabulary - 1);
    for (int64_t i = 0; i < out.elements(); ++i) out.mutable_data<int64_t>()[i] = draw(random);
    return out;
  }
  const Shape& shape = network.input.shape;
  const int64_t width = shape[shape.rank() - 1];
  const int64_t height = shape.rank() == 4 ? shape[2] : 1;
  std::uniform_real_distribution<float> draw(-1, 1);
  const int64_t planes = out.elements() / (width * height);
  auto* value = out.mutable_data<float>();
  for (int64_t plane = 0; plane < planes; ++plane) {
    const float fx = 12 * draw(random), fy = 12 * draw(random), phase = 3 * draw(random);
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) {
        const float wave =
            std::sin(fx * static_cast<float>(x) / static_cast<float>(width) +
                     fy * static_cast<float>(y) / static_cast<float>(height) + phase);
        *value++ = 0.5f + 0.35f * wave + 0.15f * draw(random);
      }
    }
  }
  return out;
}

Status load(toolkit::Toolkit& toolkit, const std::string& onnx, const std::string& chip,
            int optimization_level = 3) {
  toolkit::Config config;
  config.target_platform = chip;
  config.optimization_level = optimization_level;
  RK_TRY(toolkit.config(config));
  return toolkit.load_onnx(onnx);
}

// A network's file, an input and what the float evaluator makes of it. The file goes with the
// object.
class MadeNetwork {
 public:
  explicit MadeNetwork(const Network& network) { status_ = make(network); }
  ~MadeNetwork() {
    std::error_code ignored;
    std::filesystem::remove(model_.onnx, ignored);
  }
  MadeNetwork(const MadeNetwork&) = delete;
  MadeNetwork& operator=(const MadeNetwork&) = delete;

  const Status& status() const { return status_; }
  const ZooModel& model() const { return model_; }

 private:
  Status make(const Network& network) {
    NetworkWriter writer(kSeed, network.opset);
    network.write(writer);
    const std::string bytes = writer.model->SerializeAsString();
    model_.name = network.name;
    model_.onnx = (std::filesystem::temp_directory_path() /
                   str("rk_network_", ::getpid(), "_", network.name, ".onnx"))
                      .string();
    RK_TRY(write_file(model_.onnx, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}));
    for (const auto& output : writer.model->graph().output())
      model_.output_names.push_back(output.name());
    ZooCase one{.name = "unseen", .inputs = {}, .outputs = {}};
    one.inputs.push_back(input_of(network, kSeed + 100));
    toolkit::Toolkit toolkit;
    RK_TRY(load(toolkit, model_.onnx, "rk3588"));
    RK_ASSIGN(one.outputs, toolkit.golden(one.inputs));
    model_.cases.push_back(std::move(one));
    return ok_status();
  }
  Status status_ = ok_status();
  ZooModel model_;
};

Result<std::string> calibration(const Network& network) {
  ZooModel samples{.name = "network_" + network.name, .onnx = "", .cases = {}, .output_names = {}};
  for (uint32_t i = 0; i < 2; ++i) {
    ZooCase one{.name = "sample" + std::to_string(i), .inputs = {}, .outputs = {}};
    one.inputs.push_back(input_of(network, kSeed + i));
    samples.cases.push_back(std::move(one));
  }
  return foundation::write_calibration(samples);
}

class Networks : public testing::TestWithParam<Network> {};

// "3 of 90 steps left the NPU: Softmax 1 (Softmax_12), Transpose 2 (...)".
void print_departures(const program::Program& program, const std::string& label) {
  std::map<std::string, std::vector<std::string>> left;
  size_t count = 0;
  const auto& steps = program.main_variant().steps;
  for (const program::Step& step : steps) {
    if (step.processor == program::Processor::kNpu) continue;
    left[step.type].push_back(step.name.substr(step.name.find(':') + 1));
    ++count;
  }
  std::printf("PLACEMENT %s: %zu of %zu steps left the NPU", label.c_str(), count, steps.size());
  const char* separator = ": ";
  for (const auto& [type, names] : left) {
    std::printf("%s%s %zu (", separator, type.c_str(), names.size());
    for (size_t i = 0; i < names.size(); ++i)
      std::printf("%s%s", i == 0 ? "" : ", ", names[i].c_str());
    std::printf(")");
    separator = "; ";
  }
  std::printf("\n");
}

void convert_and_compare(const ZooModel& model, toolkit::Toolkit& toolkit, const std::string& chip,
                         const toolkit::BuildOptions& build) {
  const std::string label = str(chip, build.do_quantization ? " int8" : " float16");
  const Status built = toolkit.build(build);
  ASSERT_TRUE(built.ok()) << built.message();
  print_departures(toolkit.program(), str(label, " ", model.name));
  const auto rknn = toolkit.rknn_bytes();
  ASSERT_TRUE(rknn.ok()) << rknn.status().message();
  const auto any = AnyModel::load(*rknn);
  ASSERT_TRUE(any.ok()) << any.status().message();
  foundation::compare_with_goldens(model, *any, label, build.do_quantization ? 0.97 : 0.999);
}

TEST_P(Networks, MatchTheFloatEvaluatorOnBothChips) {
  const MadeNetwork made(GetParam());
  ASSERT_TRUE(made.status().ok()) << made.status().message();
  const auto samples = calibration(GetParam());
  ASSERT_TRUE(samples.ok()) << samples.status().message();
  for (const bool quantize : {false, true}) {
    for (const std::string chip : {"rk3588", "rk3566"}) {
      toolkit::Toolkit toolkit;
      const Status loaded = load(toolkit, made.model().onnx, chip);
      ASSERT_TRUE(loaded.ok()) << loaded.message();
      toolkit::BuildOptions build;
      build.do_quantization = quantize;
      if (quantize) build.dataset = *samples;
      convert_and_compare(made.model(), toolkit, chip, build);
    }
  }
}

// The steps of one type, by processor.
size_t count_steps(const program::Program& program, std::string_view type,
                   program::Processor processor) {
  return static_cast<size_t>(std::ranges::count_if(
      program.main_variant().steps,
      [&](const program::Step& step) { return step.type == type && step.processor == processor; }));
}

TEST(OptimizationLevel, ThreeMakesNearestResizeAConvTransposeTwoKeepsItOnTheCpu) {
  const auto yolo = std::ranges::find(all_networks(), "yolov5s_relu", &Network::name);
  const MadeNetwork made(*yolo);
  ASSERT_TRUE(made.status().ok()) << made.status().message();
  for (const int level : {2, 3}) {
    toolkit::Toolkit toolkit;
    const Status loaded = load(toolkit, made.model().onnx, "rk3588", level);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    toolkit::BuildOptions build;
    const auto samples = calibration(*yolo);
    ASSERT_TRUE(samples.ok()) << samples.status().message();
    build.dataset = *samples;
    convert_and_compare(made.model(), toolkit, str("level ", level, " rk3588"), build);
    const program::Program& program = toolkit.program();
    EXPECT_EQ(count_steps(program, "Resize", program::Processor::kCpu), level == 2 ? 2u : 0u);
    EXPECT_EQ(count_steps(program, "ConvTranspose", program::Processor::kNpu),
              level == 3 ? 2u : 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Networks, testing::ValuesIn(all_networks()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace rk::networks
