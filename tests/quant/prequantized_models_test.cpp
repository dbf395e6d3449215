// SPDX-License-Identifier: Apache-2.0
// Published models that arrive quantized, against outputs of ONNX Runtime: the evaluator has its arithmetic, the simulated
// chip is within steps of it, and no float is left between.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "quant/samples.h"
#include "tests/e2e/figure.h"
#include "tests/e2e/models.h"
#include "toolkit/simulator.h"

namespace rk::quant_check {
namespace {

using e2e::figure_at_least;
using e2e::figure_at_most;
using e2e::figure_holds;

struct Case {
  Tensor input;  // raw, f32 NCHW
  Tensor output;
};

struct Run {
  double evaluator_steps = 0;  // largest distance from ONNX Runtime, in steps of the output
  double chip_steps = 0;
  double chip_off_share = 0;  // elements more than a tenth of a step off
  int float_tensors = 0;
};

Result<std::vector<float>> simulate(toolkit::Simulator& simulator, Tensor input) {
  const toolkit::Feed feed{
      {DType::kF32, input.shape(), input.mutable_data<float>(), input.size_bytes()}, true};
  Tensor out = Tensor::make(simulator.output_type(0));
  const toolkit::ArrayRef ref{DType::kF32, out.shape(), out.mutable_data<float>(),
                              out.size_bytes()};
  RK_TRY(simulator.run({&feed, 1}, {&ref, 1}));
  return out.to_f32();
}

Result<Run> run(const std::string& onnx, const toolkit::Config& config,
                const toolkit::LoadOptions& load, const std::vector<Case>& cases) {
  toolkit::Toolkit toolkit;
  RK_TRY(toolkit.config(config));
  RK_TRY(toolkit.load_onnx(onnx, load));
  toolkit::BuildOptions build;
  build.do_quantization = false;
  RK_TRY(toolkit.build(build));
  Run out;
  for (const auto& tensor : toolkit.program().main_variant().tensors)
    out.float_tensors += !tensor.is_constant() && tensor.dtype == DType::kF16;
  RK_ASSIGN(auto simulator, toolkit::Simulator::create(toolkit.program(), {}));
  const float scale = simulator->output_attr(0).scale;
  const double step = scale > 0 ? scale : 1e-3;
  size_t off = 0, all = 0;
  for (const Case& one : cases) {
    RK_ASSIGN(const auto golden, toolkit.golden({one.input}));
    RK_ASSIGN(const auto found, simulate(*simulator, one.input.clone()));
    const auto want = one.output.span<float>(), evaluated = golden[0].span<float>();
    for (size_t i = 0; i < want.size(); ++i) {
      const double e = std::fabs(double{evaluated[i]} - want[i]) / step;
      const double c = std::fabs(double{found[i]} - want[i]) / step;
      out.evaluator_steps = std::max(out.evaluator_steps, e);
      out.chip_steps = std::max(out.chip_steps, c);
      off += c > 0.1;
      ++all;
    }
  }
  out.chip_off_share = static_cast<double>(off) / static_cast<double>(std::max<size_t>(all, 1));
  return out;
}

// One operator each, written by several tools: QOperator and QDQ, uint8 and int8, weights per tensor and per channel.
TEST(PrequantizedModels, SingleLayersOfSeveralTools) {
  const auto shared = e2e::shared_folder();
  if (!shared) GTEST_SKIP() << "../shared is absent";
  double worst_evaluator = 0, worst_chip = 0;
  int layers = 0, with_float = 0;
  for (const char* name :
       {"concat", "concat_const_blob", "conv_int8_weights_qdq", "conv_per_channel_weights_qdq",
        "conv_uint8_weights_qdq", "eltwise", "eltwise_scalar", "gemm", "matmul_uint8_weights",
        "matmul_variable_inputs", "padding", "reshape", "resize_bilinear_align", "resize_nearest",
        "split", "squeeze", "unsqueeze"}) {
    const std::string layer = str("quantized_", name);
    const std::string folder = str(*shared, "/assets/layers/onnx/", layer, "/");
    auto input = quant::load_npy_tensor(str(folder, "input_", layer, ".npy"));
    auto output = quant::load_npy_tensor(str(folder, "output_", layer, ".npy"));
    ASSERT_TRUE(input.ok() && output.ok()) << layer;
    toolkit::Config config;
    config.target_platform = "rk3588";
    toolkit::LoadOptions load;
    load.input_size_list = {{input->shape().dims().begin(), input->shape().dims().end()}};
    std::vector<Case> cases;
    cases.push_back({input->cast(DType::kF32), output->cast(DType::kF32)});
    const auto result = run(folder + layer + ".onnx", config, load, cases);
    ASSERT_TRUE(result.ok()) << layer << ": " << result.status().message();
    std::printf("  %-40s evaluator %.3f, chip %.3f steps, %d float tensors\n", layer.c_str(),
                result->evaluator_steps, result->chip_steps, result->float_tensors);
    worst_evaluator = std::max(worst_evaluator, result->evaluator_steps);
    worst_chip = std::max(worst_chip, result->chip_steps);
    ++layers;
    with_float += result->float_tensors > 0;
  }
  figure_at_most(str(layers, " quantized layers: evaluator's distance from ONNX Runtime, steps"),
                 worst_evaluator, 1.001);
  figure_at_most(str(layers, " quantized layers: simulated chip's distance, steps"), worst_chip,
                 1.001);
  figure_at_most(str(layers, " quantized layers: of them with float tensors"), with_float, 0);
}

TEST(PrequantizedModels, OneConvolutionOfOnnxRuntime) {
  const auto shared = e2e::shared_folder();
  if (!shared) GTEST_SKIP() << "../shared is absent";
  const std::string name = "ort_conv_qdq_s8s8_perchannel";
  std::vector<Case> cases;
  for (const char* which : {"img", "random"}) {
    const std::string folder = str(*shared, "/assets/goldens/onnx/", name, "/", which, "/");
    auto input = quant::load_npy_tensor(folder + "in_0.npy");
    auto output = quant::load_npy_tensor(folder + "out_0.npy");
    ASSERT_TRUE(input.ok() && output.ok());
    cases.push_back({std::move(*input), std::move(*output)});
  }
  toolkit::Config config;
  config.target_platform = "rk3588";
  toolkit::LoadOptions load;
  load.input_size_list = {{1, 3, 24, 24}};
  const auto result =
      run(str(*shared, "/assets/models/onnx/", name, "/conv_qdq_s8s8_perchannel.onnx"), config,
          load, cases);
  ASSERT_TRUE(result.ok()) << result.status().message();
  figure_at_most("ONNX Runtime QDQ convolution: evaluator's distance, steps",
                 result->evaluator_steps, 0.01);
  figure_at_most("ONNX Runtime QDQ convolution: simulated chip's distance, steps",
                 result->chip_steps, 1.001);
  figure_at_most("ONNX Runtime QDQ convolution: share of bytes that differ", result->chip_off_share,
                 0.01);
  EXPECT_EQ(result->float_tensors, 0);
}

TEST(PrequantizedModels, DigitsTrainedForQuantization) {
  const auto shared = e2e::shared_folder();
  if (!shared) GTEST_SKIP() << "../shared is absent";
  const std::string name = "digits_qat_qdq";
  const std::string onnx = str(*shared, "/assets/models/onnx/", name, "/digits_qat_qdq.onnx");
  std::vector<Case> cases;
  for (const char* which : {"digit0", "digit1"}) {
    const std::string folder = str(*shared, "/assets/goldens/onnx/", name, "/", which, "/");
    auto input = quant::load_npy_tensor(folder + "raw_0.npy");
    auto output = quant::load_npy_tensor(folder + "out_0.npy");
    ASSERT_TRUE(input.ok() && output.ok());
    cases.push_back({input->cast(DType::kF32).reshaped({1, 1, 28, 28}), std::move(*output)});
  }
  toolkit::Config config;
  config.target_platform = "rk3588";
  config.mean_values = {{127.5f}};
  config.std_values = {{64.0f}};
  const auto result = run(onnx, config, {}, cases);
  ASSERT_TRUE(result.ok()) << result.status().message();
  figure_at_most("digits QAT: evaluator's distance from ONNX Runtime, steps",
                 result->evaluator_steps, 0.01);
  figure_at_most("digits QAT: simulated chip's distance from ONNX Runtime, steps",
                 result->chip_steps, 2.001);
  EXPECT_EQ(result->float_tensors, 0);

  // 0.910 is what the network was published with.
  const auto images =
      quant::load_npy_tensor(str(*shared, "/assets/datasets/digits/test_images.npy"));
  const auto labels =
      quant::load_npy_tensor(str(*shared, "/assets/datasets/digits/test_labels.npy"));
  ASSERT_TRUE(images.ok() && labels.ok());
  toolkit::Toolkit toolkit;
  toolkit::BuildOptions build;
  build.do_quantization = false;
  ASSERT_TRUE(toolkit.config(config).ok() && toolkit.load_onnx(onnx).ok() &&
              toolkit.build(build).ok());
  const auto simulator = toolkit::Simulator::create(toolkit.program(), {});
  ASSERT_TRUE(simulator.ok()) << simulator.status().message();
  const std::vector<float> pixels = images->to_f32();
  const int64_t count = labels->elements();
  int64_t right = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto* from = pixels.data() + i * 784;
    const auto logits = simulate(**simulator, Tensor::f32({1, 1, 28, 28}, {from, from + 784}));
    ASSERT_TRUE(logits.ok()) << logits.status().message();
    right += std::ranges::max_element(*logits) - logits->begin() == labels->at_i64(i);
  }
  figure_at_least("digits QAT: accuracy in int8, 0.910 when trained",
                  static_cast<double>(right) / static_cast<double>(count), 0.905);
}

}  // namespace
}  // namespace rk::quant_check
