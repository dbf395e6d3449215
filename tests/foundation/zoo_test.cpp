// SPDX-License-Identifier: Apache-2.0
// Every model at hand through the C API: float16 within cosine 0.9995 of the golden, int8 within 0.98.
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
    RK_ASSIGN(build.dataset, write_calibration(model));
  }
  RK_TRY(toolkit.build(build));
  return toolkit.rknn_bytes();
}

class Zoo : public testing::TestWithParam<std::string> {};

void check(const std::string& name, bool quantize, double bar) {
  const auto model = load_zoo_model(name);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto rknn = convert(*model, quantize);
  ASSERT_TRUE(rknn.ok()) << rknn.status().message();
  const auto any = AnyModel::load(*rknn);
  ASSERT_TRUE(any.ok()) << any.status().message();
  compare_with_goldens(*model, *any, quantize ? "int8" : "float16", bar);
}

TEST_P(Zoo, Float16KeepsTheCosine) { check(GetParam(), false, 0.9995); }
TEST_P(Zoo, Int8KeepsTheCosine) { check(GetParam(), true, 0.98); }

INSTANTIATE_TEST_SUITE_P(Models, Zoo, testing::ValuesIn(zoo_names()),
                         [](const auto& info) { return info.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Zoo);

}  // namespace
}  // namespace rk::foundation
