// SPDX-License-Identifier: Apache-2.0
// Every model at hand through the C API: float16 within cosine 0.9995 of the golden, int8 within 0.98. A model that
// arrives quantized is int8 whatever is asked for, since it keeps its own scales.
#include <gtest/gtest.h>

#include "tests/foundation/judge.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::foundation {
namespace {

Result<std::vector<uint8_t>> convert(const ZooModel& model, bool quantize) {
  toolkit::Toolkit toolkit;
  toolkit::Config config;
  config.target_platform = "rk3588";
  RK_TRY(toolkit.config(config));
  toolkit::LoadOptions load;
  for (const Tensor& input : model.cases.front().inputs) {
    load.input_size_list.emplace_back(input.shape().dims().begin(), input.shape().dims().end());
  }
  RK_TRY(toolkit.load_onnx(model.onnx, load));
  toolkit::BuildOptions build;
  build.do_quantization = quantize;
  if (quantize) {
    RK_ASSIGN(const ZooModel others, calibration_set(model));
    RK_ASSIGN(build.dataset, write_calibration(others));
  }
  RK_TRY(toolkit.build(build));
  return toolkit.rknn_bytes();
}

class Zoo : public testing::TestWithParam<std::string> {};

void check(const std::string& name, bool quantize) {
  const auto model = load_zoo_model(name);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto rknn = convert(*model, quantize);
  ASSERT_TRUE(rknn.ok()) << rknn.status().message();
  const auto any = AnyModel::load(*rknn);
  ASSERT_TRUE(any.ok()) << any.status().message();
  const bool arrived_quantized = !quantize && any->output_attr(0).type == RKNN_TENSOR_INT8;
  const bool int8 = quantize || arrived_quantized;
  const char* label = arrived_quantized ? "int8 of its own scales" : int8 ? "int8" : "float16";
  // The state that a recurrent network hands on drifts with windows it was not calibrated on.
  const double int8_bar = name.starts_with("silero") ? 0.97 : 0.98;
  compare_with_goldens(*model, *any, label, int8 ? int8_bar : 0.9995);
}

TEST_P(Zoo, Float16KeepsTheCosine) { check(GetParam(), false); }
TEST_P(Zoo, Int8KeepsTheCosine) { check(GetParam(), true); }

INSTANTIATE_TEST_SUITE_P(Models, Zoo, testing::ValuesIn(zoo_names()),
                         [](const auto& info) { return info.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Zoo);

}  // namespace
}  // namespace rk::foundation
