// SPDX-License-Identifier: Apache-2.0
// Expected words are those of vendor files for RK3588: a Concat of fastestdet and an Add of yunet_n_320.
#include "registers/dpu.h"

#include <gtest/gtest.h>

namespace rk::registers {
namespace {

using Words = std::vector<std::pair<uint16_t, uint32_t>>;

void expect_words(const RegisterTask& task, const Words& expected) {
  for (const auto& [offset, word] : expected) {
    const Command* const command = task.find(offset);
    ASSERT_NE(command, nullptr) << std::hex << offset;
    EXPECT_EQ(command->value, word) << std::hex << offset;
  }
}

// 48 channels of 22x22 with another scale than the result.
TEST(RegisterDpu, ACopyHasTheWordsOfTheVendorsConcat) {
  DpuTask copy{.channels = 48, .height = 22, .width = 22};
  copy.source_plane = copy.out_plane = 484;
  copy.source = program::InputStage{128, {1, 0}};
  copy.output = {{21970, 15}, -128};
  const auto task = write_dpu(copy);
  ASSERT_TRUE(task.ok()) << task.status().message();
  EXPECT_EQ(task->units, 0x18U);
  EXPECT_EQ(task->commands.size(), 69U);
  expect_words(*task,
               {{0x4004, 0xe},        {0x400c, 0x1e5},  {0x4010, 0},        {0x4024, 0x1e40},
                {0x4030, 0x15},       {0x4034, 0x15},   {0x403c, 0x2f002f}, {0x4040, 0x20050},
                {0x4044, 0x80},       {0x4048, 0},      {0x4050, 2},        {0x4058, 0x2f},
                {0x405c, 0x150015},   {0x4060, 0x53},   {0x4070, 0x383},    {0x4078, 1},
                {0x4080, 0xffffff80}, {0x4084, 0x55d2}, {0x4088, 0xf},      {0x40c0, 0x1e40},
                {0x5014, 0x2f},       {0x5034, 1},      {0x5044, 0x7801},   {0x504c, 0},
                {0x5068, 0x1010101}});
}

// Planes of 121 pixels are padded to 124.
TEST(RegisterDpu, PaddedPlanesAreSteppedOver) {
  DpuTask copy{.channels = 96, .height = 11, .width = 11};
  copy.source_plane = copy.out_plane = 124;
  const auto task = write_dpu(copy);
  ASSERT_TRUE(task.ok());
  expect_words(*task, {{0x4024, 0x7c0}, {0x40c0, 0x7c0}, {0x504c, 0x30}, {0x4040, 0x53}});
}

TEST(RegisterDpu, ASumHasTheWordsOfTheVendorsAdd) {
  DpuTask sum{.channels = 64, .height = 20, .width = 20};
  sum.source_plane = sum.addend_plane = sum.out_plane = 400;
  sum.source = program::InputStage{128, {16384, 0}};
  sum.addend = program::InputStage{128, {18092, 1}};
  sum.output = {{16384, 28}, -128};
  const auto task = write_dpu(sum);
  ASSERT_TRUE(task.ok());
  expect_words(*task, {{0x4040, 0x20040},
                       {0x4044, 0x80},
                       {0x4048, 0x40000000},
                       {0x4070, 0x904202c0},
                       {0x4074, 0x80},
                       {0x4078, 0x146ac},
                       {0x4080, 0xffffff80},
                       {0x4084, 0x4000},
                       {0x4088, 0x1c},
                       {0x5034, 0x40000004},
                       {0x5040, 0x1900},
                       {0x506c, 0}});
}

// Of yolo_relu and layer_conv_relu_add in float16.
TEST(RegisterDpu, FloatCopiesAndSumsHaveTheWordsOfTheVendorsFiles) {
  DpuTask copy{.channels = 16, .height = 16, .width = 16, .is_float = true};
  copy.source_plane = copy.out_plane = 256;
  const auto copied = write_dpu(copy);
  ASSERT_TRUE(copied.ok());
  expect_words(*copied, {{0x4010, 0x48000002},
                         {0x4024, 0x1000},
                         {0x403c, 0xf000f},
                         {0x4040, 0x53},
                         {0x4084, 0x10001},
                         {0x5044, 0x17849}});
  DpuTask sum{.channels = 16, .height = 10, .width = 10, .is_float = true};
  sum.source_plane = sum.addend_plane = sum.out_plane = 100;
  sum.addend = program::InputStage{0, {1, 0}};
  const auto added = write_dpu(sum);
  ASSERT_TRUE(added.ok());
  expect_words(*added, {{0x4040, 0x53},
                        {0x4070, 0x108202c0},
                        {0x4078, 1},
                        {0x40c0, 0x640},
                        {0x5034, 0x40000008},
                        {0x5044, 0x17849}});
}

// Of yolo_relu: 8x8 to 16x16.
TEST(RegisterDpu, AnEnlargementHasTheWordsOfTheVendorsResize) {
  Enlargement twice{.height = 8, .width = 8, .source_plane = 64, .out_plane = 256};
  const auto bytes = write_enlargement(twice);
  ASSERT_TRUE(bytes.ok());
  expect_words(*bytes, {{0x4010, 0x04000000},
                        {0x4024, 0x100},
                        {0x4030, 0xf},
                        {0x4034, 7},
                        {0x4038, 0x100010},
                        {0x403c, 0xf000f},
                        {0x4050, 0x126},
                        {0x4058, 0xf},
                        {0x405c, 0x7000f},
                        {0x4084, 1},
                        {0x40c0, 0x1000},
                        {0x500c, 7},
                        {0x5010, 7},
                        {0x5014, 7},
                        {0x5044, 0xf801},
                        {0x5048, 0x1249}});
  twice.is_float = true;
  const auto halves = write_enlargement(twice);
  ASSERT_TRUE(halves.ok());
  expect_words(
      *halves,
      {{0x4010, 0x44000002}, {0x403c, 0x70007}, {0x4058, 7}, {0x4084, 1}, {0x5044, 0xf841}});
}

TEST(RegisterDpu, RefusesExtentsBeyondTheFields) {
  const auto task = write_dpu({.channels = 24, .height = 4, .width = 4});
  ASSERT_FALSE(task.ok());
  EXPECT_EQ(task.status().message(), "no register form for extents beyond the registers' fields");
}

}  // namespace
}  // namespace rk::registers
