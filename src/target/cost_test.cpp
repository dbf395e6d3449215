// SPDX-License-Identifier: Apache-2.0
// Rows of the tables that the vendor's compiler prints (toolkit 2.3.2, verbose) for networks of known shapes.
#include "target/cost.h"

#include <gtest/gtest.h>

#include <string>

#include "target/conv_traffic.h"
#include "target/target.h"

namespace rk::target {
namespace {

struct Row {
  const char* chip;
  DType dtype;
  Shape in, weight, out;
  bool addend = false;
  uint64_t ddr_cycles, npu_cycles, read_kb;
  bool picture = false;
};

ConvGeometry geometry_of(const Row& row) {
  const bool depthwise = row.weight[0] == 1 && row.out[1] == row.weight[1];
  return {.dtype = row.dtype,
          .batch = row.in[0],
          .in_channels = row.in[1],
          .in_h = row.in[2],
          .in_w = row.in[3],
          .out_channels = row.out[1],
          .out_h = row.out[2],
          .out_w = row.out[3],
          .kernel_h = row.weight[2],
          .kernel_w = row.weight[3],
          .group = depthwise ? row.in[1] : 1,
          .picture = row.picture,
          .has_addend = row.addend};
}

class CostRows : public testing::TestWithParam<Row> {};

TEST_P(CostRows, CountedAsTheCompilerPrintsThem) {
  const Row& row = GetParam();
  const Target* target = *find_target(row.chip);
  const NpuCost cost = conv_cost(*target, geometry_of(row));
  EXPECT_EQ(cost.npu_cycles, row.npu_cycles);
  EXPECT_NEAR(static_cast<double>(cost.ddr_cycles), static_cast<double>(row.ddr_cycles),
              0.03 * static_cast<double>(row.ddr_cycles));
  EXPECT_NEAR(static_cast<double>(cost.read_bytes) / 1024, static_cast<double>(row.read_kb) + 0.5,
              1.5);
}

constexpr DType kInt = DType::kI8, kHalf = DType::kF16;
INSTANTIATE_TEST_SUITE_P(
    MobileNetV2, CostRows,
    testing::Values(
        Row{"rk3588",
            kInt,
            {1, 3, 224, 224},
            {32, 3, 3, 3},
            {1, 32, 112, 112},
            false,
            23540,
            112896,
            151,
            true},
        Row{"rk3588",
            kInt,
            {1, 32, 112, 112},
            {1, 32, 3, 3},
            {1, 32, 112, 112},
            false,
            33974,
            112896,
            392},
        Row{"rk3588",
            kInt,
            {1, 32, 112, 112},
            {16, 32, 1, 1},
            {1, 16, 112, 112},
            false,
            25488,
            50176,
            392},
        Row{"rk3588",
            kInt,
            {1, 144, 56, 56},
            {24, 144, 1, 1},
            {1, 24, 56, 56},
            true,
            27734,
            15680,
            542},
        Row{"rk3588", kInt, {1, 960, 7, 7}, {1, 960, 3, 3}, {1, 960, 7, 7}, false, 4668, 8640, 61},
        Row{"rk3588",
            kInt,
            {1, 576, 7, 7},
            {160, 576, 1, 1},
            {1, 160, 7, 7},
            false,
            5475,
            5760,
            118},
        Row{"rk3576",
            kInt,
            {1, 96, 112, 112},
            {1, 96, 3, 3},
            {1, 96, 56, 56},
            false,
            201864,
            56448,
            1177},
        Row{"rk3562", kInt, {1, 960, 7, 7}, {1, 960, 3, 3}, {1, 960, 7, 7}, false, 14532, 8640, 60},
        Row{"rk3562",
            kHalf,
            {1, 960, 7, 7},
            {1, 960, 3, 3},
            {1, 960, 7, 7},
            false,
            28035,
            8640,
            112},
        Row{"rk3566",
            kInt,
            {1, 960, 7, 7},
            {1, 960, 3, 3},
            {1, 960, 7, 7},
            false,
            16801,
            17280,
            61},
        Row{"rk3566",
            kHalf,
            {1, 576, 7, 7},
            {160, 576, 1, 1},
            {1, 160, 7, 7},
            false,
            39124,
            46080,
            235},
        Row{"rv1106",
            kInt,
            {1, 576, 14, 14},
            {1, 576, 3, 3},
            {1, 576, 7, 7},
            false,
            24314,
            10368,
            118}));
INSTANTIATE_TEST_SUITE_P(ResNet18, CostRows,
                         testing::Values(Row{"rk3566",
                                             kInt,
                                             {1, 3, 224, 224},
                                             {64, 3, 7, 7},
                                             {1, 64, 112, 112},
                                             false,
                                             148977,
                                             2458624,
                                             172,
                                             true},
                                         Row{"rk3566",
                                             kInt,
                                             {1, 64, 56, 56},
                                             {64, 64, 3, 3},
                                             {1, 64, 56, 56},
                                             false,
                                             66775,
                                             225792,
                                             232},
                                         Row{"rk3566",
                                             kInt,
                                             {1, 64, 56, 56},
                                             {64, 64, 3, 3},
                                             {1, 64, 56, 56},
                                             true,
                                             97319,
                                             225792,
                                             428}));
// One input channel counts as depthwise.
INSTANTIATE_TEST_SUITE_P(Digits, CostRows,
                         testing::Values(Row{"rk3588",
                                             kHalf,
                                             {1, 1, 48, 63},
                                             {32, 1, 1, 1},
                                             {1, 32, 48, 63},
                                             false,
                                             8465,
                                             3024,
                                             6,
                                             true}));

TEST(CostTest, MatrixProductsOfTwoActivationsAreCountedByBatch) {
  const Target* target = *find_target("rk3566");
  EXPECT_EQ(matmul_cost(*target, DType::kI8, 2, 400, 32, 400).npu_cycles, 80000u);
  EXPECT_EQ(matmul_cost(*target, DType::kI8, 2, 400, 400, 64).npu_cycles, 41600u);
}

TEST(CostTest, HostileExtentsSaturateInsteadOfOverflowing) {
  const Target* target = *find_target("rk3588");
  const int64_t huge = int64_t{1} << 30;
  const NpuCost cost = conv_cost(*target, {.dtype = DType::kI8,
                                           .in_channels = huge,
                                           .in_h = huge,
                                           .in_w = huge,
                                           .out_channels = huge,
                                           .out_h = huge,
                                           .out_w = huge,
                                           .kernel_h = huge,
                                           .kernel_w = huge});
  EXPECT_EQ(cost.npu_cycles, uint64_t{1} << 53);
}

TEST(CostTest, EveryChipHasAnArrayAndAMemory) {
  for (const Target* target : all_targets()) {
    EXPECT_GT(target->cost.output_lanes_f16 + target->cost.output_lanes_i8, 0) << target->name;
    EXPECT_GT(target->cost.depthwise_lanes, 0) << target->name;
    EXPECT_GT(target->cost.ddr_bytes_per_cycle, 0) << target->name;
    EXPECT_GT(target->time.npu_mhz, 0) << target->name;
  }
}

struct ConstantRow {
  const char* chip;
  DType dtype;
  Shape weight;
  bool picture;
  uint64_t weight_bytes, bias_bytes;  // as listed, before they are rounded up to 64
};

TEST(CostTest, WeightsTakeWhatTheConstantTablesSay) {
  const ConstantRow rows[] = {
      {"rk3588", DType::kI8, {39, 48, 1, 1}, false, 1920, 512},
      {"rk3588", DType::kI8, {16, 3, 3, 3}, true, 2304, 256},
      {"rk3588", DType::kI8, {1, 48, 3, 3}, false, 576, 512},
      {"rk3588", DType::kF16, {24, 12, 3, 3}, false, 6912, 128},
      {"rk3576", DType::kI8, {1, 96, 3, 3}, false, 1728, 768},
      {"rk3576", DType::kF16, {144, 24, 1, 1}, false, 9216, 576},
      // Two halves of 288 input channels in float16; 544 and one core's 32 outputs stay whole, as on other chips.
      {"rk3576", DType::kI8, {64, 576, 3, 3}, false, 2 * 331776, 512},
      {"rk3576", DType::kI8, {64, 544, 3, 3}, false, 313344, 512},
      {"rk3576", DType::kI8, {32, 576, 3, 3}, false, 165888, 256},
      {"rv1126b", DType::kI8, {64, 576, 3, 3}, false, 331776, 512},
      {"rk3576", DType::kI8, {64, 1, 5, 5}, true, 6400, 512},
      {"rk3562", DType::kI8, {1, 80, 3, 3}, false, 1728, 576},
      {"rk3566", DType::kI8, {144, 24, 1, 1}, false, 4608, 1152},
      {"rk3566", DType::kI8, {32, 3, 3, 3}, true, 2304, 256},
      {"rv1106", DType::kI8, {40, 40, 3, 3}, false, 17280, 384},
      {"rv1106b", DType::kI8, {64, 32, 3, 3}, false, 18432, 448},
  };
  const auto to_64 = [](uint64_t bytes) { return (bytes + 63) / 64 * 64; };
  for (const ConstantRow& row : rows) {
    const bool depthwise = row.weight[0] == 1;
    const int64_t channels = row.weight[1];
    const ConvGeometry geometry = {.dtype = row.dtype,
                                   .in_channels = channels,
                                   .out_channels = depthwise ? channels : row.weight[0],
                                   .kernel_h = row.weight[2],
                                   .kernel_w = row.weight[3],
                                   .group = depthwise ? channels : 1,
                                   .picture = row.picture};
    EXPECT_EQ(weight_bytes(**find_target(row.chip), geometry),
              to_64(row.weight_bytes) + to_64(row.bias_bytes))
        << row.chip << " " << to_string(row.weight);
  }
}

TEST(CostTest, GroupsThatDoNotFillBlocksRunAsADenseConvolution) {
  const auto bytes = [](const char* chip, DType dtype) {
    return weight_bytes(**find_target(chip), {.dtype = dtype,
                                              .in_channels = 256,
                                              .in_h = 16,
                                              .in_w = 16,
                                              .out_channels = 256,
                                              .out_h = 16,
                                              .out_w = 16,
                                              .kernel_h = 3,
                                              .kernel_w = 3,
                                              .group = 32,
                                              .has_bias = false});
  };
  EXPECT_EQ(bytes("rk3588", DType::kI8), 589824u);
  EXPECT_EQ(bytes("rk3576", DType::kI8), 589824u);
  EXPECT_LT(bytes("rk3588", DType::kF16), 589824u / 8);
  EXPECT_LT(bytes("rk3566", DType::kI8), 589824u / 8);
}

TEST(CostTest, DepthwiseOutputsTakeTheChannelsOfTheFeatureTables) {
  const auto channels = [](const char* chip, DType dtype, int64_t count) {
    return depthwise_channels(**find_target(chip), dtype, count);
  };
  EXPECT_EQ(channels("rk3588", DType::kI8, 16), 64);
  EXPECT_EQ(channels("rk3588", DType::kI8, 144), 192);
  EXPECT_EQ(channels("rk3588", DType::kF16, 48), 64);
  EXPECT_EQ(channels("rk3576", DType::kI8, 32), 64);
  EXPECT_EQ(channels("rk3576", DType::kI8, 96), 160);
  EXPECT_EQ(channels("rk3576", DType::kF16, 144), 176);
  EXPECT_EQ(channels("rk3562", DType::kI8, 96), 112);
  EXPECT_EQ(channels("rk3562", DType::kF16, 144), 152);
  EXPECT_EQ(channels("rk3566", DType::kI8, 80), 96);
  EXPECT_EQ(channels("rv1106", DType::kI8, 144), 176);
}

// Heads of detectors: what is a model output counts as it is stored.
TEST(CostTest, ModelOutputsCountWithAllTheirChannelsAndCopies) {
  const auto count = [](const Row& row, const ConvTraffic& traffic) {
    const NpuCost cost = conv_cost(*find_target(row.chip).value(), geometry_of(row), traffic);
    EXPECT_NEAR(static_cast<double>(cost.ddr_cycles), static_cast<double>(row.ddr_cycles),
                0.002 * static_cast<double>(row.ddr_cycles));
    EXPECT_EQ(cost.read_bytes / 1024, row.read_kb);
  };
  // 39 channels are written as 64.
  count({"rk3588", kInt, {1, 48, 40, 40}, {39, 48, 1, 1}, {1, 39, 40, 40}, false, 7677, 0, 77},
        {.writes_output = true});
  // ConvSigmoid in float16 writes two copies; who reads them reads both.
  count(
      {"rk3588", kHalf, {1, 64, 80, 80}, {255, 64, 1, 1}, {1, 255, 80, 80}, false, 313117, 0, 832},
      {.writes_output = true, .written_copies = 2});
  count({"rk3588", kHalf, {1, 80, 80, 80}, {1, 80, 1, 1}, {1, 1, 80, 80}, false, 95247, 0, 2000},
        {.writes_output = true, .reads_output = true, .read_copies = 2});
}

TEST(CostTest, SkippedWeightsAreNotRead) {
  const ConvGeometry geometry{
      .in_channels = 64, .in_h = 8, .in_w = 8, .out_channels = 64, .out_h = 8, .out_w = 8};
  const Target& target = *find_target("rk3576").value();
  const NpuCost dense = conv_cost(target, geometry);
  const NpuCost sparse = conv_cost(target, geometry, {.skip = 4});
  EXPECT_EQ(dense.read_bytes - sparse.read_bytes, 64u * 64 * 3 / 4);
  EXPECT_EQ(dense.npu_cycles, sparse.npu_cycles);
}

}  // namespace
}  // namespace rk::target
