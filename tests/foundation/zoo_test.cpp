// SPDX-License-Identifier: Apache-2.0
// Every model at hand through the C API: float16 within cosine 0.9995 of the golden, int8 within 0.98.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/e2e/figure.h"
#include "tests/foundation/any_model.h"
#include "tests/foundation/zoo.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::foundation {
namespace {

double cosine(const std::vector<float>& a, const Tensor& golden) {
  double dot = 0, aa = 0, gg = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double g = golden.at_f64(static_cast<int64_t>(i));
    dot += double{a[i]} * g;
    aa += double{a[i]} * a[i];
    gg += g * g;
  }
  if (gg == 0 && aa == 0) return 1;
  return dot / std::max(1e-300, std::sqrt(aa) * std::sqrt(gg));
}

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

// The worst case of every output, by name. With `steps`, a case whose golden stays below two int8 steps of its output
// is judged by the largest difference, at most one step, and left out of the cosine.
void compare(const ZooModel& model, const AnyModel& any, bool quantized, double bar) {
  std::vector<double> worst(model.output_names.size(), 1);
  for (const ZooCase& one : model.cases) {
    const auto results = any.run_float(one.inputs);
    ASSERT_TRUE(results.ok()) << results.status().message();
    ASSERT_EQ(results->size(), one.outputs.size());
    for (size_t i = 0; i < results->size(); ++i) {
      const Tensor& golden = one.outputs[i];
      ASSERT_EQ(static_cast<int64_t>((*results)[i].size()), golden.elements());
      const rknn_tensor_attr attr = any.output_attr(static_cast<uint32_t>(i));
      double peak = 0, difference = 0;
      for (int64_t e = 0; e < golden.elements(); ++e) {
        peak = std::max(peak, std::fabs(golden.at_f64(e)));
        difference = std::max(difference,
                              std::fabs(golden.at_f64(e) - (*results)[i][static_cast<size_t>(e)]));
      }
      if (quantized && attr.type == RKNN_TENSOR_INT8 && peak < 2 * attr.scale) {
        e2e::figure_at_most(str("int8 ", model.name, " ", one.name, " ", model.output_names[i],
                                " (below two steps), difference in steps"),
                            difference / attr.scale, 1);
        continue;
      }
      worst[i] = std::min(worst[i], cosine((*results)[i], golden));
    }
  }
  for (size_t i = 0; i < worst.size(); ++i) {
    e2e::figure_at_least(
        str(quantized ? "int8 " : "float16 ", model.name, " ", model.output_names[i], ", cosine"),
        worst[i], bar);
  }
}

void check(const std::string& name, bool quantize, double bar) {
  const auto model = load_zoo_model(name);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto rknn = convert(*model, quantize);
  ASSERT_TRUE(rknn.ok()) << rknn.status().message();
  const auto any = AnyModel::load(*rknn);
  ASSERT_TRUE(any.ok()) << any.status().message();
  compare(*model, *any, quantize, bar);
}

TEST_P(Zoo, Float16KeepsTheCosine) { check(GetParam(), false, 0.9995); }
TEST_P(Zoo, Int8KeepsTheCosine) { check(GetParam(), true, 0.98); }

INSTANTIATE_TEST_SUITE_P(Models, Zoo, testing::ValuesIn(zoo_names()),
                         [](const auto& info) { return info.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Zoo);

}  // namespace
}  // namespace rk::foundation
