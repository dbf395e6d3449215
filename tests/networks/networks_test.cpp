// SPDX-License-Identifier: Apache-2.0
// Every network through the public path for two chips in float16 and int8, held against the float evaluator on the
// imported graph, with the list of what left the NPU. Calibrated on other inputs than those it is judged on.
#include <gtest/gtest.h>

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

class Networks : public testing::TestWithParam<Network> {
 protected:
  // One model file and golden per network, shared by its four conversions.
  static const ZooModel& judged() {
    static std::map<std::string, ZooModel> made;
    const auto [it, is_new] = made.try_emplace(GetParam().name);
    if (is_new) make(it->second);
    return it->second;
  }

  static void make(ZooModel& model) {
    const Network& network = GetParam();
    model.name = network.name;
    NetworkWriter writer(kSeed, network.opset);
    network.write(writer);
    const std::string bytes = writer.model->SerializeAsString();
    model.onnx = (std::filesystem::temp_directory_path() / ("rk_network_" + network.name + ".onnx"))
                     .string();
    const Status written =
        write_file(model.onnx, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
    ASSERT_TRUE(written.ok()) << written.message();
    ZooCase one{.name = "unseen", .inputs = {}, .outputs = {}};
    one.inputs.push_back(input_of(network, kSeed + 100));
    toolkit::Toolkit toolkit;
    ASSERT_TRUE(load(toolkit, model.onnx, "rk3588").ok());
    auto golden = toolkit.golden(one.inputs);
    ASSERT_TRUE(golden.ok()) << golden.status().message();
    one.outputs = std::move(*golden);
    for (const auto& output : writer.model->graph().output())
      model.output_names.push_back(output.name());
    model.cases.push_back(std::move(one));
  }

  static Status load(toolkit::Toolkit& toolkit, const std::string& onnx, const std::string& chip) {
    toolkit::Config config;
    config.target_platform = chip;
    RK_TRY(toolkit.config(config));
    return toolkit.load_onnx(onnx);
  }

  static Result<std::string> calibration() {
    ZooModel samples{
        .name = "network_" + GetParam().name, .onnx = "", .cases = {}, .output_names = {}};
    for (uint32_t i = 0; i < 2; ++i) {
      ZooCase one{.name = "sample" + std::to_string(i), .inputs = {}, .outputs = {}};
      one.inputs.push_back(input_of(GetParam(), kSeed + i));
      samples.cases.push_back(std::move(one));
    }
    return foundation::write_calibration(samples);
  }
};

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

TEST_P(Networks, MatchTheFloatEvaluatorOnBothChipsInFloat16) {
  for (const std::string chip : {"rk3588", "rk3566"}) {
    toolkit::Toolkit toolkit;
    const Status loaded = load(toolkit, judged().onnx, chip);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    toolkit::BuildOptions build;
    build.do_quantization = false;
    convert_and_compare(judged(), toolkit, chip, build);
  }
}

TEST_P(Networks, MatchTheFloatEvaluatorOnBothChipsInInt8) {
  for (const std::string chip : {"rk3588", "rk3566"}) {
    toolkit::Toolkit toolkit;
    const Status loaded = load(toolkit, judged().onnx, chip);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    const auto samples = calibration();
    ASSERT_TRUE(samples.ok()) << samples.status().message();
    toolkit::BuildOptions build;
    build.dataset = *samples;
    convert_and_compare(judged(), toolkit, chip, build);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Networks, testing::ValuesIn(all_networks()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace rk::networks
