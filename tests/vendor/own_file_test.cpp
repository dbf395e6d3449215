// SPDX-License-Identifier: Apache-2.0
// A file of ours read as if a vendor had made it: our section is cut off. Our files have no register lists and weight
// scales are stored nowhere, so the requantization constants cannot be recovered and the model cannot run this way.
// Compared with the Program from our section: every tensor of the graph (name, dtype, kind, layout, shapes,
// quantization, size, place), every weight unpacked from its blocks, every bias block, inputs with mean and std, and the
// steps' types, names and operands.
#include <gtest/gtest.h>

#include <algorithm>

#include "format/container.h"
#include "format/reader.h"
#include "format/vendor/lift.h"
#include "program/native_layout.h"
#include "tests/e2e/figure.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::vendor {
namespace {

using program::ProgramTensor;

Result<std::vector<uint8_t>> convert_signs() {
  const std::string folder = RK_SOURCE_DIR "/examples/signs/";
  toolkit::Toolkit toolkit;
  toolkit::Config config;
  config.target_platform = "rk3588";
  config.mean_values = {{0, 0, 0}};
  config.std_values = {{255, 255, 255}};
  RK_TRY(toolkit.config(config));
  RK_TRY(toolkit.load_onnx(folder + "signs.onnx"));
  RK_TRY(
      toolkit.build({.do_quantization = true, .dataset = folder + "dataset.txt", .progress = {}}));
  return toolkit.rknn_bytes();
}

bool same_tensor(const ProgramTensor& a, const ProgramTensor& b) {
  const bool arena = a.kind == program::TensorKind::kInput ||
                     a.kind == program::TensorKind::kOutput ||
                     a.kind == program::TensorKind::kInternal;
  return a.name == b.name && a.dtype == b.dtype && a.kind == b.kind && a.layout == b.layout &&
         a.shape == b.shape && a.native_shape == b.native_shape && a.scale == b.scale &&
         a.zero_point == b.zero_point && a.size_bytes == b.size_bytes && a.weight == b.weight &&
         (!arena || a.offset_in_arena == b.offset_in_arena);
}

TEST(OwnFileTest, SignsReadThroughTheVendorPathHoldsTheSameTensorsWeightsAndBiases) {
  const auto file = convert_signs();
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto ours = format::read_rknn(*file, nullptr);
  ASSERT_TRUE(ours.ok()) << ours.status().message();
  auto container = format::split_container(*file);
  ASSERT_TRUE(container.ok());
  ASSERT_TRUE(container->section.has_value());
  container->section.reset();
  const auto model = format::read_model(*container);
  ASSERT_TRUE(model.ok());

  const auto refused = format::lift_model(*model, nullptr);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("requantization constants are missing"),
            std::string::npos);
  const auto lifted = format::lift_model(*model, nullptr, {.describe_only = true});
  ASSERT_TRUE(lifted.ok()) << lifted.status().message();

  const program::Variant &a = ours->main_variant(), &b = lifted->main_variant();
  size_t equal = 0;
  ASSERT_GE(b.tensors.size(), a.tensors.size());
  for (size_t i = 1; i < a.tensors.size(); ++i) {
    const bool same = same_tensor(a.tensors[i], b.tensors[i]);
    equal += same;
    EXPECT_TRUE(same) << "tensor " << i << " '" << a.tensors[i].name << "'";
  }
  e2e::figure_holds("our signs file through the vendor path: equal tensors",
                    equal + 1 == a.tensors.size(), str(equal, " of ", a.tensors.size() - 1), "all");
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_EQ(a.outputs, b.outputs);
  EXPECT_EQ(a.arena_bytes, b.arena_bytes);
  ASSERT_EQ(ours->inputs.size(), lifted->inputs.size());

  size_t weights = 0, constants_equal = 0;
  for (const program::Step& step : a.steps) {
    if (!std::holds_alternative<program::ConvParams>(step.params)) continue;
    const auto wanted = program::unpack_conv_constants(*ours, a, step);
    const auto got = program::unpack_conv_constants(*lifted, b, step);
    ASSERT_TRUE(wanted.ok() && got.ok());
    ++weights;
    constants_equal += wanted->weights == got->weights &&
                       wanted->channels.bias == got->channels.bias &&
                       wanted->channels.offset == got->channels.offset &&
                       wanted->channels.multiplier == got->channels.multiplier;
  }
  EXPECT_GT(weights, 0u);
  e2e::figure_holds(
      "our signs file through the vendor path: convolutions with equal weights and bias blocks",
      constants_equal == weights, str(constants_equal, " of ", weights), "all");

  size_t steps_equal = 0;
  const size_t steps = std::min(a.steps.size(), b.steps.size());
  for (size_t i = 0; i < steps; ++i) {
    steps_equal += a.steps[i].type == b.steps[i].type && a.steps[i].name == b.steps[i].name &&
                   a.steps[i].outputs == b.steps[i].outputs;
  }
  e2e::figure_holds("our signs file through the vendor path: equal steps (type, name, results)",
                    steps_equal == a.steps.size() && a.steps.size() == b.steps.size(),
                    str(steps_equal, " of ", a.steps.size()), "all");
}

}  // namespace
}  // namespace rk::vendor
