// SPDX-License-Identifier: Apache-2.0
// Expected words and tiles are those of vendor files for RV1106: layers and networks named at each
// test.
#include "registers/rv1106.h"

#include <gtest/gtest.h>

#include "registers/convolution.h"
#include "registers/dpu.h"
#include "registers/int8_constants.h"
#include "registers/pooling.h"
#include "target/rv1106_registers.h"

namespace rk::registers {
namespace {

namespace reg = target::reg;
using Words = std::vector<std::pair<uint16_t, uint32_t>>;

void expect_words(const Result<RegisterTask>& task, const Words& expected) {
  ASSERT_TRUE(task.ok()) << task.status().message();
  for (const auto& [offset, word] : expected) {
    const Command* const command = task->find(offset);
    ASSERT_NE(command, nullptr) << std::hex << offset;
    EXPECT_EQ(command->value, word) << std::hex << offset;
  }
}

Result<RegisterTask> list_of(const ConvLayer& layer, const ConvTile& tile) {
  RK_ASSIGN(const RegisterTask task, write_convolution(layer, tile));
  return for_rv1106(task);
}

ConvLayer layer_of(Feature in, Feature out, int32_t kernel, int32_t stride, int32_t pad) {
  ConvLayer layer{.in = in, .out = out};
  layer.in.chip = layer.out.chip = &kRv1106;
  layer.in.plane_align = layer.out.plane_align = 4;
  layer.params.kernel = {kernel, kernel};
  layer.params.stride = {stride, stride};
  layer.params.pads = {pad, pad, pad, pad};
  layer.params.pad_value = -128;
  layer.params.multiplier_shift = 14;
  layer.params.output = {.scale = {.scale = 18905, .shift = 22}, .zero_point = -128};
  layer.weight_bytes = static_cast<uint64_t>((in.channels + 15) / 16 * 16 * out.channels * kernel) *
                       static_cast<uint64_t>(kernel);
  return layer;
}

// layer_conv_relu: 8 channels of 12x12, a model input, to 16.
TEST(RegisterRv1106, AConvolutionHasTheWordsOfTheVendorsFile) {
  ConvLayer layer = layer_of({.channels = 8, .height = 12, .width = 12, .is_model_input = true},
                             {.channels = 16, .height = 12, .width = 12}, 3, 1, 1);
  layer.params.pad_value = 4;
  layer.params.activation = program::Activation::kRelu;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 1U);
  const auto list = list_of(layer, tiles->front());
  expect_words(
      list, {{0x1004, 0xe},        {0x3004, 0xe},        {0x100c, 0},          {0x1010, 0xb4},
             {0x1014, 0x9},        {0x101c, 0},          {0x1020, 0xc000c},    {0x1024, 0x70010},
             {0x1028, 0xc},        {0x102c, 0x90},       {0x1030, 0x900},      {0x1034, 0x90},
             {0x1038, 0x3030010},  {0x103c, 0x60000},    {0x1040, 0x8},        {0x1044, 0xc0006},
             {0x1048, 0x4000000},  {0x104c, 0x9},        {0x1050, 0x10001},    {0x1054, 0x10001},
             {0x1068, 0x101},      {0x1078, 0x400f400f}, {0x107c, 0x30},       {0x1080, 0x90},
             {0x1084, 0xc000c},    {0x1088, 0x10},       {0x108c, 0},          {0x1184, 0x4},
             {0x1188, 0x48},       {0x118c, 0xb000b},    {0x3010, 0x1},        {0x3014, 0xb000b},
             {0x3018, 0xf},        {0x301c, 0},          {0x400c, 0x1e4},      {0x4010, 0x800000},
             {0x4018, 0},          {0x401c, 0x7fffffff}, {0x4024, 0x900},      {0x4028, 0x7fffffff},
             {0x402c, 0x7fffffff}, {0x4030, 0xb},        {0x4034, 0xb},        {0x403c, 0xf000f},
             {0x4040, 0x121d80},   {0x4044, 0},          {0x4048, 0x1},        {0x404c, 0x80000000},
             {0x4050, 0x30000001}, {0x4054, 0x8e000000}, {0x4058, 0x3},        {0x405c, 0xb000b},
             {0x4060, 0x12},       {0x406c, 0},          {0x4070, 0x10041c1},  {0x4074, 0},
             {0x4078, 0x1},        {0x407c, 0x80000000}, {0x4080, 0xffffff80}, {0x4084, 0x49d9},
             {0x4088, 0x16},       {0x40c0, 0x900},      {0x40d8, 0x80000000}, {0x40dc, 0x7fffffff},
             {0x40e0, 0},          {0x40e4, 0x7fffffff}, {0x40e8, 0x80000000}, {0x40ec, 0x7fffffff},
             {0x500c, 0xb},        {0x5010, 0xb},        {0x5014, 0xf},        {0x501c, 0xe},
             {0x5034, 0x1},        {0x5044, 0x7810},     {0x5068, 0x1010101},  {0x8028, 0xc},
             {0x802c, 0xffffffff}});
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->commands.size(), 126U);
  EXPECT_EQ(list->units, 0x1dU);
  EXPECT_EQ(encode(list->commands.front()), 0x02010000000e1004U);
  EXPECT_EQ(encode(list->commands.back()), 0x0401ffffffff802cU);
  EXPECT_EQ(list->find(0x1070)->operand, Operand::kFeature);
  EXPECT_EQ(list->find(0x1110)->operand, Operand::kWeight);
  EXPECT_EQ(list->find(0x4020)->operand, Operand::kOutput);
  EXPECT_EQ(list->find(0x5020)->operand, Operand::kBias);
}

// signs: a picture of 320x320. What an application stores is brought to int8 by scale and offset;
// 178 rows of it fill seven banks.
TEST(RegisterRv1106, APictureIsConvertedAndHasFourLanesInTheBuffer) {
  ConvLayer layer = layer_of(
      {.channels = 3, .height = 320, .width = 320, .is_picture = true, .is_model_input = true},
      {.channels = 16, .height = 160, .width = 160}, 3, 2, 1);
  layer.params.activation = program::Activation::kRelu;
  layer.picture.assign(3, {{0x4000, 14}, -128});
  layer.weight_bytes = 0x240;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 2U);
  expect_words(
      list_of(layer, tiles->front()),
      {{0x100c, 0x2000a000}, {0x1010, 0x7c},       {0x101c, 0xffe00000}, {0x1020, 0x14000b2},
       {0x1024, 0x20010},    {0x1030, 0x240},      {0x1034, 0x24},       {0x103c, 0x1400000},
       {0x1044, 0x1400028},  {0x1048, 0x1c000000}, {0x104c, 0xe38e0},    {0x1050, 0x40004000},
       {0x1054, 0x14000},    {0x1058, 0xffe00000}, {0x105c, 0xffe00000}, {0x106c, 0},
       {0x1078, 0x400f400f}, {0x107c, 0x29b8},     {0x1080, 0x29b8},     {0x1084, 0x29b80001},
       {0x108c, 0xff},       {0x1184, 0xff80},     {0x1188, 0x12},       {0x118c, 0x1bcf1bcf},
       {0x301c, 0x20},       {0x4034, 0x58}});
}

// layer_conv_first1: one channel comes in halves of atoms; the offset -5 is odd.
TEST(RegisterRv1106, APictureOfOneChannel) {
  ConvLayer layer = layer_of(
      {.channels = 1, .height = 20, .width = 20, .is_picture = true, .is_model_input = true},
      {.channels = 8, .height = 20, .width = 20}, 3, 1, 1);
  layer.params.pad_value = -5;
  layer.picture.assign(1, {{0x58d8, 9}, -5});
  layer.weight_bytes = 0x120;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  expect_words(list_of(layer, tiles->front()), {{0x100c, 0x20008000},
                                                {0x1010, 0x3ff},
                                                {0x1024, 0x10},
                                                {0x103c, 0x200000},
                                                {0x1044, 0x200004},
                                                {0x104c, 0x10000090},
                                                {0x1050, 0x158d8},
                                                {0x1054, 0x10001},
                                                {0x1058, 0xfffff600},
                                                {0x1078, 0xc00f300f},
                                                {0x107c, 0x50},
                                                {0x1080, 0x50},
                                                {0x1084, 0x500001},
                                                {0x1184, 0xfffb},
                                                {0x118c, 0x4f004f},
                                                {0x403c, 0x7000f},
                                                {0x4060, 0x13},
                                                {0x406c, 0x80000000}});
}

// mobilenet_v2: 144 channels of 56x56, depthwise: blocks of 32 channels as far as they fit seven
// banks, the last of 16; and 96 channels of 112x112, whose blocks have two tiles of rows.
TEST(RegisterRv1106, ADepthwiseLayerIsCutByChannelsAndThenByRows) {
  ConvLayer layer = layer_of({.channels = 144, .height = 56, .width = 56},
                             {.channels = 144, .height = 56, .width = 56}, 3, 1, 1);
  layer.is_depthwise = true;
  layer.weight_bytes = 144 * 9 * 2;
  layer.params.output.scale = {0x5422, 0x15};
  auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 3U);
  EXPECT_EQ((*tiles)[0].channels, 64);
  EXPECT_EQ((*tiles)[1].channels, 64);
  EXPECT_EQ((*tiles)[2].channels, 16);
  expect_words(list_of(layer, (*tiles)[1]),
               {{0x100c, 0x7},        {0x1010, 0x14},       {0x1024, 0x3f0040},  {0x1030, 0x480},
                {0x1034, 0x240},      {0x1038, 0x3030002},  {0x103c, 0x700000},  {0x1044, 0x380070},
                {0x1048, 0x1c000000}, {0x1184, 0xff80},     {0x1188, 0x120},     {0x3010, 0xa},
                {0x3018, 0x3f},       {0x400c, 0x1fc},      {0x403c, 0x3f003f},  {0x4040, 0x101c92},
                {0x4048, 0},          {0x4050, 0x70000125}, {0x4054, 0xe000000}, {0x4058, 0x30007},
                {0x40c0, 0x18800},    {0x501c, 0xa},        {0x5044, 0x7816}});
  // Of 16 channels.
  expect_words(list_of(layer, (*tiles)[2]), {{0x1010, 0x38},
                                             {0x1024, 0xf0010},
                                             {0x1030, 0x120},
                                             {0x1034, 0x90},
                                             {0x1044, 0x38001c},
                                             {0x1048, 0x8000000},
                                             {0x1188, 0x48},
                                             {0x4058, 0x10007}});
  layer = layer_of({.channels = 96, .height = 112, .width = 112},
                   {.channels = 96, .height = 56, .width = 56}, 3, 2, 1);
  layer.is_depthwise = true;
  layer.weight_bytes = 96 * 9 * 2;
  tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 6U);
  for (size_t i = 0; i < tiles->size(); ++i) {
    EXPECT_EQ((*tiles)[i].first_channel, static_cast<int64_t>(i / 2 * 32));
    EXPECT_EQ((*tiles)[i].in_rows, i % 2 == 0 ? 64 : 49);
    EXPECT_EQ((*tiles)[i].kept_rows, 0);
  }
  expect_words(list_of(layer, (*tiles)[1]), {{0x1020, 0x700031},
                                             {0x1040, 0x2008},
                                             {0x1048, 0x1c000000},
                                             {0x1068, 0x100},
                                             {0x1084, 0x700031},
                                             {0x4034, 0x17}});
}

// ask_tr of a network made to ask: 16 channels of 20x25, kernel 4, stride 2.
TEST(RegisterRv1106, ATransposedConvolutionHasCellsBetweenItsPixels) {
  ConvLayer layer = layer_of({.channels = 16, .height = 20, .width = 25},
                             {.channels = 20, .height = 40, .width = 50}, 4, 2, 1);
  layer.params.transposed = true;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 1U);
  expect_words(list_of(layer, tiles->front()), {{0x100c, 0},
                                                {0x1010, 0x3ff},
                                                {0x1014, 0x909},
                                                {0x1020, 0x190014},
                                                {0x1030, 0x1400},
                                                {0x1034, 0x100},
                                                {0x1038, 0x4040014},
                                                {0x1044, 0x19000d},
                                                {0x1048, 0x1c000000},
                                                {0x1068, 0x202},
                                                {0x107c, 0x64},
                                                {0x1080, 0x1f4}});
}

// signs: 12 channels of 80x80 copied into a Concat.
TEST(RegisterRv1106, ACopyHasTheWordsOfTheVendorsFile) {
  DpuTask copy{.channels = 16, .height = 80, .width = 80, .chip = &kRv1106};
  copy.real_channels = 12;
  copy.source_plane = copy.out_plane = 6400;
  copy.output = {{1, 0}, 0};
  const auto task = write_dpu(copy);
  ASSERT_TRUE(task.ok());
  const auto list = for_rv1106(*task);
  expect_words(list, {{0x400c, 0x1e5},
                      {0x4010, 0x800000},
                      {0x4024, 0x19000},
                      {0x4030, 0x4f},
                      {0x4034, 0x4f},
                      {0x403c, 0xb000f},
                      {0x4040, 0x53},
                      {0x4050, 0x30000002},
                      {0x4058, 0x3},
                      {0x405c, 0x4f004f},
                      {0x4060, 0x13},
                      {0x4070, 0x10041c1},
                      {0x4084, 0x10001},
                      {0x40c0, 0x19000},
                      {0x5044, 0x907809}});
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->commands.size(), 78U);
}

TEST(RegisterRv1106, RefusesFloat16) {
  DpuTask copy{.channels = 16, .height = 8, .width = 8, .chip = &kRv1106};
  copy.source_plane = copy.out_plane = 64;
  copy.is_float = true;
  const auto task = write_dpu(copy);
  ASSERT_TRUE(task.ok());
  const auto list = for_rv1106(*task);
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.status().code(), Code::kUnsupported);
  EXPECT_NE(list.status().message().find("other numbers than int8"), std::string::npos);
}

// Lists are read into the form that they came from.
TEST(RegisterRv1106, ListsAreReadAsTheyAreWritten) {
  const ConvLayer layer = layer_of({.channels = 32, .height = 14, .width = 14},
                                   {.channels = 48, .height = 14, .width = 14}, 3, 1, 1);
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  const auto task = write_convolution(layer, tiles->front());
  ASSERT_TRUE(task.ok());
  const auto list = for_rv1106(*task), other = for_rk3562(*task);
  ASSERT_TRUE(list.ok() && other.ok());
  target::RegisterFile raw;
  for (const Command& command : list->commands) raw.write({0, command.value, command.offset});
  const auto read = target::rv1106_as_rk3562(raw, list->units);
  ASSERT_TRUE(read.ok()) << read.status().message();
  for (const uint16_t offset : {0x1014, 0x101c, 0x1024, 0x102c, 0x1084, 0x1090, 0x1094, 0x3018,
                                0x4038, 0x4050, 0x4054, 0x4060, 0x407c, 0x40b0, 0x501c}) {
    EXPECT_EQ(read->get(offset), other->find(offset)->value) << std::hex << offset;
  }
  EXPECT_EQ(read->get(0x1080), 0x101U);  // pads above and left are all there is
  // Numbers of another type are refused.
  raw.write({0, 0x48000002, 0x4010});
  EXPECT_FALSE(target::rv1106_as_rk3562(raw, list->units).ok());
}

// A block of 32 channels and one of 16; each weight lies beside its offset, 128 as 0x80.
TEST(RegisterRv1106, OffsetsOfDepthwiseWeightsAlternateWithThem) {
  const auto target = target::find_target("rv1106");
  ASSERT_TRUE(target.ok());
  constexpr int64_t kChannels = 35;
  std::vector<int8_t> plain;
  std::vector<int16_t> offset;
  for (int64_t c = 0; c < kChannels; ++c) {
    offset.push_back(static_cast<int16_t>(c == 34 ? 128 : c));
    for (int64_t tap = 0; tap < 2; ++tap) plain.push_back(static_cast<int8_t>(2 * c + tap));
  }
  const HelperConstant weights = int8_weights(**target, kRv1106, Shape{1, kChannels, 1, 2},
                                              program::WeightUse::kDepthwise, plain, offset);
  ASSERT_EQ(weights.bytes.size(), 2U * (32 + 16) * 2);
  EXPECT_EQ(weights.bytes[0], 0);              // channel 0, tap 0
  EXPECT_EQ(weights.bytes[2], 2);              // channel 1
  EXPECT_EQ(weights.bytes[3], 1);              // its offset
  EXPECT_EQ(weights.bytes[64], 1);             // channel 0, tap 1
  EXPECT_EQ(weights.bytes[128 + 4], 68);       // channel 34, tap 0
  EXPECT_EQ(weights.bytes[128 + 5], 0x80);     // 128
  EXPECT_EQ(weights.bytes[128 + 32 + 4], 69);  // tap 1
  EXPECT_EQ(weights.bytes[128 + 6], 0);        // no channel
  EXPECT_EQ(weights.native_shape, (std::vector<int32_t>{1, 1, 1, 2, 1, 32, 1, 1, 1, 2, 1, 16}));
}

}  // namespace
}  // namespace rk::registers
