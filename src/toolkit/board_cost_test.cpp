// SPDX-License-Identifier: Apache-2.0
#include "toolkit/board_cost.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "toolkit/advice.h"

namespace rk::toolkit {
namespace {

using program::TensorKind;

// A 3x3 convolution of 40 to 48 channels, a Transpose, and a Sigmoid on the CPU; int8 on RK3588.
program::Program network() {
  program::Program program;
  program.target = "rk3588";
  program.variants.resize(1);
  program::Variant& v = program.variants[0];
  v.tensors.resize(1);
  const auto add = [&](const Shape& shape, TensorKind kind) {
    program::ProgramTensor tensor{.dtype = DType::kI8, .kind = kind, .shape = shape, .scale = 1};
    if (kind == TensorKind::kNpuConstant) tensor.weight = 1;
    v.tensors.push_back(tensor);
    return static_cast<int32_t>(v.tensors.size() - 1);
  };
  const int32_t x = add({1, 40, 160, 160}, TensorKind::kInput);
  const int32_t w = add({48, 40, 3, 3}, TensorKind::kNpuConstant);
  const int32_t y = add({1, 48, 160, 160}, TensorKind::kInternal);
  const int32_t t = add({1, 160, 160, 48}, TensorKind::kInternal);
  const int32_t z = add({1, 160, 160, 48}, TensorKind::kOutput);
  v.inputs = {x};
  v.outputs = {z};
  v.steps.push_back({.type = "Conv",
                     .name = "Conv:c",
                     .inputs = {x, w},
                     .outputs = {y},
                     .params = program::ConvParams{.kernel = {3, 3}}});
  v.steps.push_back({.type = "Transpose",
                     .name = "Transpose:t",
                     .inputs = {y},
                     .outputs = {t},
                     .params = program::OpParams{.op = "Transpose"}});
  v.steps.push_back({.type = "Sigmoid",
                     .name = "Sigmoid:s",
                     .processor = program::Processor::kCpu,
                     .inputs = {t},
                     .outputs = {z},
                     .params = program::OpParams{.op = "Sigmoid"}});
  return program;
}

TEST(BoardCostTest, LayersAreBoundByWhatTheySpendTimeOn) {
  const auto cost = board_cost(network(), {});
  ASSERT_TRUE(cost.ok()) << cost.status().message();
  ASSERT_EQ(cost->layers.size(), 3u);
  // 25600 pixels * ceil(48/32) * 9 * ceil(40/32) cycles against 3 MB of traffic.
  EXPECT_EQ(cost->layers[0].cost.counted.npu_cycles, 25600u * 2 * 9 * 2);
  const auto bound = [&](size_t i) {
    return bound_by(cost->layers[i].processor, cost->layers[i].cost.counted);
  };
  EXPECT_EQ(bound(0), "MAC");
  EXPECT_EQ(bound(1), "DDR");
  EXPECT_EQ(bound(2), "CPU");
  EXPECT_NEAR(cost->fps, 1e6 / cost->us, 1e-6);
}

TEST(BoardCostTest, ChipsWithFewerCoresRefuseMore) {
  const auto cost = board_cost(network(), {.cores = 4});
  ASSERT_FALSE(cost.ok());
  EXPECT_NE(cost.status().message().find("rk3588 has 3"), std::string::npos);
}

TEST(BoardCostTest, MeasurementsScaleLayersByTypeAndOthersByFrame) {
  BoardCost cost{.chip = "rk3588", .us = 300, .fps = 1e6 / 300};
  cost.layers.resize(2);
  cost.layers[0].type = "Conv";
  cost.layers[0].cost.us = 200;
  cost.layers[1].type = "Concat";
  cost.layers[1].cost.us = 100;
  calibrate(
      {{{"rk3588", "Conv"}, {100, 150}}, {{"rk3588", "*"}, {10, 20}}, {{"rk3566", "Conv"}, {1, 9}}},
      cost);
  EXPECT_DOUBLE_EQ(cost.layers[0].cost.us, 300);
  EXPECT_DOUBLE_EQ(cost.layers[1].cost.us, 200);
  EXPECT_DOUBLE_EQ(cost.us, 500);
  EXPECT_DOUBLE_EQ(cost.fps, 2000);
}

TEST(BoardCostTest, CalibrationFilesAreCheckedLineByLine) {
  const std::string path = testing::TempDir() + "measured.csv";
  const auto read = [&](const std::string& text) {
    std::ofstream(path) << text;
    return read_calibration(path);
  };
  const std::string header = "chip,type,predicted_us,measured_us\n";
  const auto good = read(header + "RK3588,Conv,10,20\nrk3588,Conv,30,20\n");
  ASSERT_TRUE(good.ok()) << good.status().message();
  EXPECT_DOUBLE_EQ(good->at({"rk3588", "Conv"}).predicted_us, 40);
  EXPECT_FALSE(read("rk3588,Conv,10,20\n").ok());
  EXPECT_FALSE(read(header + "rk3588,Conv,0,20\n").ok());
  EXPECT_FALSE(read(header + "rk3588,Conv,10,fast\n").ok());
  EXPECT_FALSE(read(header + "rk9999,Conv,10,20\n").ok());
  std::remove(path.c_str());
}

// An average of 20 by 20 as the vendor's compiler prints it on rk3588: 7 by 7 over tiles, then 3 by 3.
TEST(BoardCostTest, AveragesOfWholePlanesAreConvolutions) {
  program::Program program = network();
  program::Variant& v = program.variants[0];
  v.tensors[1].shape = {1, 64, 20, 20};
  v.tensors[3].shape = {1, 64, 1, 1};
  v.steps.resize(1);
  v.steps[0].inputs = {1};
  v.steps[0].params = program::PoolParams{.kind = program::PoolKind::kAverage, .kernel = {20, 20}};
  const auto cost = board_cost(program, {});
  ASSERT_TRUE(cost.ok()) << cost.status().message();
  const target::NpuCost& counted = cost->layers[0].cost.counted;
  EXPECT_EQ(counted.npu_cycles, 784u + 144u);
  EXPECT_NEAR(static_cast<double>(counted.ddr_cycles), 1261 + 74, 0.03 * 1335);
  std::get<program::PoolParams>(v.steps[0].params).kernel = {3, 3};
  EXPECT_EQ(board_cost(program, {})->layers[0].cost.counted.npu_cycles, 0u) << "only pools";
}

TEST(BoardCostTest, SkippedWeightsHalveTheTimeOfTheArray) {
  program::Program program = network();
  program::Step& conv = program.variants[0].steps[0];
  conv.macs = uint64_t{160} * 160 * 48 * 40 * 9;
  const auto dense = board_cost(program, {});
  conv.macs /= 2;
  const auto sparse = board_cost(program, {});
  ASSERT_TRUE(dense.ok() && sparse.ok());
  EXPECT_EQ(dense->layers[0].cost.skip, 1);
  EXPECT_EQ(sparse->layers[0].cost.skip, 2);
  const target::Target& target = *target::find_target("rk3588").value();
  const double array = target.time.npu_factor * 25600 * 2 * 9 * 2 / target.time.npu_mhz;
  EXPECT_NEAR(dense->us - sparse->us, array / 2, 2);
}

TEST(AdviceTest, NamesChannelsMoversAndFallBacksWithGains) {
  const program::Program program = network();
  const AdviceReport report =
      advise(*target::find_target("rk3588").value(), program.main_variant());
  const auto item = [&](const std::string& layer, const std::string& found) -> const Advice* {
    for (const Advice& advice : report.items)
      if (advice.layer == layer && advice.found.find(found) != std::string::npos) return &advice;
    return nullptr;
  };
  const Advice* const outputs = item("Conv:c", "48 output channels");
  const Advice* const inputs = item("Conv:c", "40 input channels");
  ASSERT_TRUE(outputs != nullptr && inputs != nullptr) << to_text(report, 99);
  EXPECT_NE(outputs->change.find("use 32, or 64"), std::string::npos);
  // Half of the cycles each: 25600 * 9 * 2 of 25600 * 9 * 4.
  EXPECT_NEAR(outputs->gain_us, inputs->gain_us, 1);
  ASSERT_NE(item("Transpose:t", "moves data"), nullptr);
  ASSERT_NE(item("Sigmoid:s", "CPU"), nullptr);
  ASSERT_NE(item("model", "3 cores"), nullptr);
  for (size_t i = 1; i < report.items.size(); ++i)
    EXPECT_GE(report.items[i - 1].gain_us, report.items[i].gain_us);
  // Channels of either kind gain the same; the table has one line per step.
  const std::vector<std::string> lines = by_step(report, program.main_variant().steps.size());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NE(lines[0].find("channels"), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find(str(" (-", std::llround(outputs->gain_us), " us)")), std::string::npos)
      << lines[0];
  EXPECT_EQ(lines[1].find("Transpose only moves data"), 0u) << lines[1];
  EXPECT_EQ(lines[2].find("Sigmoid runs on the CPU"), 0u) << lines[2];
}

}  // namespace
}  // namespace rk::toolkit
