// SPDX-License-Identifier: Apache-2.0
// A file of ours read as if a vendor had made it: our section is cut off. Our files have no register lists and weight
// scales are stored nowhere, so the requantization constants cannot be recovered and the model cannot run this way.
// Compared with the Program from our section: every tensor of the graph (name, dtype, kind, layout, shapes,
// quantization, size, place), every weight unpacked from its blocks, every bias block, inputs with mean and std, and the
// steps' types, names and operands.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

#include "format/container.h"
#include "format/reader.h"
#include "format/vendor/lift.h"
#include "program/native_layout.h"
#include "runtime/session/session.h"
#include "tests/e2e/figure.h"
#include "tests/vendor/samples.h"
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

using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& work) {
  const Clock::time_point start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::shared_ptr<runtime::Session> open_session(ByteSpan file) {
  const auto model = runtime::LoadedModel::from_bytes(file, {});
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return nullptr;
  auto session = runtime::Session::create(*model, {.threads = 1});
  EXPECT_TRUE(session.ok()) << session.status().message();
  return session.ok() ? std::move(*session) : nullptr;
}

// The same network compiled by both. The two take turns, so that a busy machine slows both; the best of each counts.
TEST(OwnFileTest, TheVendorsFileCostsWhatOurOwnDoes) {
  const std::vector<uint8_t> theirs = corpus_file("rk3588/int8/signs");
  if (theirs.empty()) {
    std::puts("SKIP vendor corpus: RK_VENDOR_CORPUS is not set");
    GTEST_SKIP();
  }
  const auto ours = convert_signs();
  ASSERT_TRUE(ours.ok()) << ours.status().message();
  double open_theirs = 1e9, open_ours = 1e9, run_theirs = 1e9, run_ours = 1e9;
  for (int i = 0; i < 9; ++i) {
    open_theirs = std::min(open_theirs, seconds_of([&] { open_session(theirs); }));
    open_ours = std::min(open_ours, seconds_of([&] { open_session(*ours); }));
  }
  const auto a = open_session(theirs), b = open_session(*ours);
  ASSERT_TRUE(a != nullptr && b != nullptr);
  for (int i = 0; i < 40; ++i) {
    run_theirs = std::min(run_theirs, seconds_of([&] { EXPECT_TRUE(a->run().ok()); }));
    run_ours = std::min(run_ours, seconds_of([&] { EXPECT_TRUE(b->run().ok()); }));
  }
  e2e::figure_at_most("signs, vendor file: opening and preparing, times our own file",
                      open_theirs / open_ours, 1.5);
  e2e::figure_at_most("signs, vendor file: one run, times our own file", run_theirs / run_ours,
                      1.1);
}

}  // namespace
}  // namespace rk::vendor
