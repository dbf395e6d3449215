// SPDX-License-Identifier: Apache-2.0
// Expected words and tiles are those of vendor files: layer_conv_relu (rk3588, int8) and layers compiled to ask.
#include "registers/convolution.h"

#include <gtest/gtest.h>

#include "registers/dpu.h"
#include "registers/pooling.h"
#include "registers/rk3566.h"

namespace rk::registers {
namespace {

// 8 channels of 12x12 to 16, 3x3 with borders, Relu: the list of layer_conv_relu.
ConvLayer small_layer() {
  ConvLayer layer;
  layer.in = {.channels = 8, .height = 12, .width = 12, .is_model_input = true, .zero_point = 4};
  layer.out = {.channels = 16, .height = 12, .width = 12, .plane_align = 4, .zero_point = -128};
  layer.params.kernel = {3, 3};
  layer.params.pads = {1, 1, 1, 1};
  layer.params.pad_value = 4;
  layer.params.activation = program::Activation::kRelu;
  layer.params.output = {.scale = {.scale = 18905, .shift = 22}, .zero_point = -128};
  layer.weight_bytes = 2304;
  return layer;
}

uint32_t value(const RegisterTask& task, uint16_t offset) {
  const Command* const command = task.find(offset);
  return command == nullptr ? 0xdeadbeef : command->value;
}

TEST(RegisterConvolution, SmallLayerHasTheWordsOfTheVendorsFile) {
  const ConvLayer layer = small_layer();
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok()) << tiles.status().message();
  ASSERT_EQ(tiles->size(), 1U);
  const auto task = write_convolution(layer, tiles->front());
  ASSERT_TRUE(task.ok()) << task.status().message();
  EXPECT_EQ(task->commands.size(), 126U);
  EXPECT_EQ(task->units, 0x1dU);
  const std::pair<uint16_t, uint32_t> expected[] = {
      {0x1010, 0x100},      {0x1014, 0x9},     {0x1020, 0xc000c}, {0x1024, 0x70010},
      {0x1028, 0xc},        {0x102c, 0x90},    {0x1030, 0x900},   {0x1034, 0x90},
      {0x1038, 0x3030010},  {0x1040, 0xb1},    {0x1044, 3},       {0x104c, 0xb},
      {0x1050, 0x10000},    {0x1068, 0x11},    {0x1078, 0xf000f}, {0x107c, 0x30},
      {0x1080, 0x60},       {0x1084, 0xc000c}, {0x1088, 0x10},    {0x1184, 4},
      {0x3010, 1},          {0x3014, 0xb000b}, {0x3018, 0x1f},    {0x4004, 0xe},
      {0x400c, 0x1e4},      {0x4010, 0xe0},    {0x4024, 0x900},   {0x403c, 0xf001f},
      {0x4040, 0x20140},    {0x4048, 0xe01},   {0x4050, 0x125},   {0x4058, 0x1f},
      {0x405c, 0xb000b},    {0x4060, 0x12},    {0x4070, 0x383},   {0x4078, 1},
      {0x4080, 0xffffff80}, {0x4084, 0x49d9},  {0x4088, 0x16},    {0x40c0, 0x1200},
      {0x5014, 0x1f},       {0x501c, 0xe},     {0x5034, 1},       {0x5044, 0x7810},
      {0x5068, 0x01010101}};
  for (const auto& [offset, word] : expected)
    EXPECT_EQ(value(*task, offset), word) << std::hex << offset;
  // Target bits, value, register: the first two words of the list.
  EXPECT_EQ(encode(task->commands[0]), 0x0201000000b11040U);
  EXPECT_EQ(encode(task->commands[4]), 0x10010000000e4004U);
}

void expect_words(const RegisterTask& task,
                  const std::vector<std::pair<uint16_t, uint32_t>>& expected) {
  for (const auto& [offset, word] : expected)
    EXPECT_EQ(value(task, offset), word) << std::hex << offset;
}

// The same layer in float16.
TEST(RegisterConvolution, FloatLayerHasTheWordsOfTheVendorsFile) {
  ConvLayer layer = small_layer();
  layer.in.is_float = layer.out.is_float = true;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok()) << tiles.status().message();
  const auto task = write_convolution(layer, tiles->front());
  ASSERT_TRUE(task.ok());
  EXPECT_EQ(task->commands.size(), 126U);
  expect_words(
      *task,
      {{0x100c, 0x120},   {0x1024, 0x70008}, {0x1030, 0x900}, {0x1034, 0x90},  {0x1044, 3},
       {0x1088, 8},       {0x1184, 0},       {0x3010, 0x200}, {0x3018, 0xf},   {0x4010, 0x48000002},
       {0x403c, 0xf000f}, {0x4040, 0x20150}, {0x4048, 0},     {0x4050, 0x126}, {0x4058, 0xf},
       {0x4080, 0},       {0x4084, 0x10001}, {0x4088, 0},     {0x5014, 0xf},   {0x501c, 2},
       {0x5044, 0x17850}});

  layer.has_bias = false;
  const auto bare = write_convolution(layer, tiles->front());
  ASSERT_TRUE(bare.ok());
  EXPECT_EQ(bare->units, 0xdU);
  EXPECT_EQ(value(*bare, 0x4040), 0x53U);
  EXPECT_EQ(bare->find(0x501c), nullptr);
}

// 12 channels of 7x9 to 20 of 14x18: the list of layer_deconv_2x.
TEST(RegisterConvolution, TransposedLayerHasTheWordsOfTheVendorsFile) {
  ConvLayer layer;
  layer.in = {.channels = 12, .height = 7, .width = 9, .plane_align = 4, .zero_point = -4};
  layer.out = {.channels = 20, .height = 14, .width = 18, .plane_align = 4};
  layer.params.kernel = layer.params.stride = {2, 2};
  layer.params.transposed = true;
  layer.params.pad_value = -4;
  layer.weight_bytes = 1280;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok()) << tiles.status().message();
  ASSERT_EQ(tiles->size(), 1U);
  const auto task = write_convolution(layer, tiles->front());
  ASSERT_TRUE(task.ok());
  expect_words(*task, {{0x100c, 0x10000},
                       {0x1010, 0x80},
                       {0x1014, 0x909},
                       {0x1020, 0x90007},
                       {0x1024, 0xb0010},
                       {0x1028, 0x12},
                       {0x102c, 0xfc},
                       {0x1038, 0x2020014},
                       {0x1040, 0x1b},
                       {0x1044, 3},
                       {0x1068, 0x11},
                       {0x107c, 0x24},
                       {0x1080, 0x1c},
                       {0x1184, ~3U},
                       {0x3014, 0xd0011},
                       {0x40c0, 0x1f80}});
}

// Rows of the input that tiles of a transposed layer read: each output row y needs the input row y / 2.
TEST(RegisterConvolution, TransposedLayersAreCutByRows) {
  ConvLayer layer;
  layer.in = {.channels = 512, .height = 80, .width = 80, .plane_align = 4};
  layer.out = {.channels = 32, .height = 160, .width = 160, .plane_align = 4};
  layer.params.kernel = layer.params.stride = {2, 2};
  layer.params.transposed = true;
  layer.weight_bytes = 32 * 4 * 512;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok()) << tiles.status().message();
  ASSERT_GT(tiles->size(), 1U);
  int64_t next = 0;
  for (const ConvTile& tile : *tiles) {
    EXPECT_EQ(tile.first_out_row, next);
    next += tile.out_rows;
    EXPECT_EQ(tile.first_in_row, tile.first_out_row / 2);
    EXPECT_EQ(tile.first_in_row + tile.in_rows - 1, (next - 1) / 2);
    // The kernel reaches one cell above the first row.
    EXPECT_EQ(tile.pad_top, 1);
  }
  EXPECT_EQ(next, 160);
}

struct TileCase {
  const char* what;
  ConvLayer layer;
  std::vector<std::array<int64_t, 4>> tiles;  // input rows, output rows, data banks, weight banks
};

ConvLayer square(int64_t channels, int64_t height, int64_t width, int64_t out, int32_t kernel,
                 int32_t stride, int32_t pad) {
  ConvLayer layer;
  layer.in = {.channels = channels, .height = height, .width = width, .is_model_input = true};
  layer.out = {.channels = out,
               .height = (height + 2 * pad - kernel) / stride + 1,
               .width = (width + 2 * pad - kernel) / stride + 1,
               .plane_align = 4};
  layer.params.kernel = {kernel, kernel};
  layer.params.stride = {stride, stride};
  layer.params.pads = {pad, pad, pad, pad};
  layer.weight_bytes = static_cast<uint64_t>(out * kernel * kernel * ((channels + 15) / 16 * 16));
  return layer;
}

TEST(RegisterConvolution, TilesAreThoseOfTheVendorsCompiler) {
  const TileCase cases[] = {
      {"one tile, ten banks", square(96, 56, 56, 256, 3, 2, 0), {{55, 27, 10, 2}}},
      {"weights stay",
       square(128, 80, 81, 64, 3, 1, 0),
       {{28, 26, 9, 3}, {28, 26, 9, 3}, {28, 26, 9, 3}}},
      {"last tile shorter",
       square(512, 40, 40, 128, 1, 1, 0),
       {{16, 16, 10, 2}, {16, 16, 10, 2}, {8, 8, 10, 2}}},
      {"stride and border",
       square(96, 160, 160, 32, 3, 2, 1),
       {{22, 11, 11, 1},
        {23, 11, 11, 1},
        {23, 11, 11, 1},
        {23, 11, 11, 1},
        {23, 11, 11, 1},
        {23, 11, 11, 1},
        {23, 11, 11, 1},
        {7, 3, 11, 1}}},
      {"weights of 11.25 banks do not stay",
       square(256, 80, 40, 160, 3, 1, 1),
       {{22, 21, 7, 5}, {22, 20, 7, 5}, {22, 20, 7, 5}, {20, 19, 7, 5}}},
      {"two groups of kernels need seven banks",
       square(128, 36, 64, 128, 5, 1, 2),
       {{20, 18, 5, 7}, {20, 16, 5, 7}, {4, 2, 5, 7}}},
      {"one group where two do not fit", square(128, 20, 20, 512, 7, 2, 3), {{20, 10, 2, 10}}},
  };
  for (const TileCase& c : cases) {
    const auto tiles = tile_convolution(c.layer);
    ASSERT_TRUE(tiles.ok()) << c.what << ": " << tiles.status().message();
    ASSERT_EQ(tiles->size(), c.tiles.size()) << c.what;
    for (size_t i = 0; i < tiles->size(); ++i) {
      const ConvTile& t = (*tiles)[i];
      EXPECT_EQ((std::array<int64_t, 4>{t.in_rows, t.out_rows, t.data_banks, t.weight_banks}),
                c.tiles[i])
          << c.what << ", tile " << i;
    }
  }
}

TEST(RegisterConvolution, DepthwiseLayersAreCutByChannelsBeforeRows) {
  ConvLayer layer = square(160, 80, 80, 160, 3, 1, 0);
  layer.is_depthwise = true;
  layer.weight_bytes = 9 * 160;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 6U);
  EXPECT_EQ((*tiles)[0].out_rows, 68);
  EXPECT_EQ((*tiles)[2].first_channel, 128);
  EXPECT_EQ((*tiles)[2].channels, 32);
  EXPECT_EQ((*tiles)[3].out_rows, 10);
}

TEST(RegisterConvolution, RefusesABorderAsWideAsTheKernel) {
  ConvLayer layer = square(16, 8, 8, 16, 3, 7, 5);
  const auto tiles = tile_convolution(layer);
  ASSERT_FALSE(tiles.ok());
  EXPECT_EQ(tiles.status().message(), "no register form for a border as wide as the kernel");
}

TEST(RegisterConvolution, RefusesAKernelHigherThanTheBuffer) {
  const auto tiles = tile_convolution(square(2048, 64, 64, 32, 3, 1, 1));
  ASSERT_FALSE(tiles.ok());
  EXPECT_NE(tiles.status().message().find("no register form for a kernel of 3 rows"),
            std::string::npos)
      << tiles.status().message();
}

// The first layer of yunet_n_320 on two cores and on three: a picture of 320x320 to 16 channels of 160x160.
TEST(RegisterConvolution, CoresTakeTurnsWithEvenTiles) {
  ConvLayer layer;
  layer.in = {
      .channels = 3, .height = 320, .width = 320, .is_picture = true, .is_model_input = true};
  layer.out = {.channels = 16, .height = 160, .width = 160, .plane_align = 4};
  layer.params.kernel = {3, 3};
  layer.params.stride = {2, 2};
  layer.params.pads = {1, 1, 0, 0};
  layer.weight_bytes = int64_t{16} * 9 * 16;
  struct Rows {
    int64_t first, out, in;
  };
  const auto expect = [&](int cores, const std::vector<std::vector<Rows>>& rows) {
    const auto split = split_convolution(layer, cores);
    ASSERT_TRUE(split.ok()) << split.status().message();
    ASSERT_EQ(split->size(), rows.size());
    for (size_t core = 0; core < rows.size(); ++core) {
      const std::vector<ConvTile>& tiles = (*split)[core];
      ASSERT_EQ(tiles.size(), rows[core].size());
      for (size_t i = 0; i < tiles.size(); ++i) {
        EXPECT_EQ(tiles[i].first_out_row, rows[core][i].first);
        EXPECT_EQ(tiles[i].out_rows, rows[core][i].out);
        EXPECT_EQ(tiles[i].in_rows, rows[core][i].in);
        EXPECT_EQ(tiles[i].data_banks, 11);
        EXPECT_EQ(tiles[i].reuses_weights, i != 0);
      }
    }
  };
  expect(2,
         {{{0, 27, 54}, {54, 27, 55}, {108, 26, 53}}, {{27, 27, 55}, {81, 27, 55}, {134, 26, 53}}});
  expect(
      3,
      {{{0, 27, 54}, {81, 27, 55}}, {{27, 27, 55}, {108, 26, 53}}, {{54, 27, 55}, {134, 26, 53}}});
}

TEST(RegisterConvolution, FewerRowsThanCoresAreNotSplit) {
  ConvLayer layer = small_layer();
  layer.in.height = layer.out.height = 2;
  const auto two = split_convolution(layer, 2), three = split_convolution(layer, 3);
  ASSERT_TRUE(two.ok() && three.ok());
  EXPECT_EQ(two->size(), 2U);
  EXPECT_TRUE(three->empty());
}

// 16 channels of 160x160 to 80x80, windows of 2 by 2: the list of a MaxPool of yunet_n_320.
TEST(RegisterPooling, MaxPoolHasTheWordsOfTheVendorsFile) {
  PoolLayer layer;
  layer.in = {.channels = 16, .height = 160, .width = 160, .plane_align = 4};
  layer.out = {.channels = 16, .height = 80, .width = 80, .plane_align = 4};
  layer.params.kernel = layer.params.stride = {2, 2};
  const RegisterTask task = write_pool(layer, {0, 80});
  EXPECT_EQ(task.units, 0x60U);
  EXPECT_EQ(task.commands.size(), 26U);
  const std::pair<uint16_t, uint32_t> expected[] = {
      {0x6004, 0xe},      {0x600c, 0x9f},  {0x6014, 0xf},     {0x6018, 0x4f},    {0x6024, 0x11},
      {0x6034, 0x110101}, {0x6040, 0},     {0x607c, 0x19000}, {0x6084, 0x19000}, {0x60dc, 3},
      {0x7010, 0x9f},     {0x7024, 0xa00}, {0x7028, 0x64000}, {0x7030, 1}};
  for (const auto& [offset, word] : expected)
    EXPECT_EQ(value(task, offset), word) << std::hex << offset;
}

// A MaxPool and an average of float16, of yolo_relu and layer_avgpool.
TEST(RegisterPooling, FloatPoolingHasTheWordsOfTheVendorsFiles) {
  PoolLayer largest;
  largest.in = largest.out = {.channels = 40, .height = 8, .width = 8, .is_float = true};
  largest.params.kernel = {3, 3};
  largest.params.pads = {1, 1, 1, 1};
  expect_words(write_pool(largest, {0, 8}), {{0x6014, 0x27},
                                             {0x6020, 0x27},
                                             {0x6024, 0x11},
                                             {0x6034, 0x202},
                                             {0x6040, 0x1111},
                                             {0x607c, 0x400},
                                             {0x6084, 0x402},
                                             {0x7014, 0x27},
                                             {0x7024, 0x80},
                                             {0x7028, 0x400},
                                             {0x7030, 2}});
  PoolLayer average;
  average.in = {.channels = 10, .height = 12, .width = 12, .is_float = true};
  average.out = {.channels = 10, .height = 6, .width = 6, .is_float = true};
  average.params.kind = program::PoolKind::kAverage;
  average.params.kernel = average.params.stride = {2, 2};
  expect_words(write_pool(average, {0, 6}), {{0x6014, 0xf},
                                             {0x6024, 0x10},
                                             {0x6034, 0x110101},
                                             {0x6038, 0x7800},
                                             {0x603c, 0x7800},
                                             {0x607c, 0x240},
                                             {0x6084, 0x242},
                                             {0x7030, 2}});
}

// The same layer of one network (resnet_relu) in the vendor's files for both chips.
TEST(RegisterRk3566, AConvolutionWithAnAddendHasTheWordsOfTheVendorsFile) {
  ConvLayer layer = small_layer();
  layer.in = {.channels = 16, .height = 24, .width = 24, .chip = &kRk3566};
  layer.out = layer.in;
  layer.params.pad_value = -128;
  layer.params.activation = program::Activation::kNone;
  layer.params.post_activation = program::Activation::kRelu;
  layer.params.addend = {128, {0x663f, 5}};
  layer.has_addend = true;
  layer.weight_bytes = 16 * 9 * 16;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok()) << tiles.status().message();
  ASSERT_EQ(tiles->size(), 1U);
  const auto task = write_convolution(layer, tiles->front());
  ASSERT_TRUE(task.ok());
  const RegisterTask listed = for_rk3566(*task);
  EXPECT_EQ(listed.units, 0x1fU);
  EXPECT_EQ(listed.commands.size(), 133U);
  expect_words(
      listed, {{0x1004, 0xe},      {0x1010, 0x40},       {0x1024, 0xf0010},    {0x1040, 0x71},
               {0x1044, 0x18000c}, {0x104c, 0xa},        {0x1068, 0xff800011}, {0x1078, 0x171c07},
               {0x107c, 0x18},     {0x1080, 0x240},      {0x200c, 1},          {0x3010, 0x170017},
               {0x3014, 0xf},      {0x400c, 0x108},      {0x4024, 0x1200},     {0x403c, 0xf000f},
               {0x4040, 0x148},    {0x4070, 0x900000d0}, {0x4078, 0x5663f},    {0x40c0, 0x2400},
               {0x5014, 0xf},      {0x5024, 0xf},        {0x5028, 1},          {0x5034, 0x40000000},
               {0x503c, 0x11f8},   {0x5040, 0x1200},     {0x5044, 0x4000},     {0x504c, 0}});
  // The operand comes from its first plane on.
  const Command* const addend = listed.find(target::reg::DPU_RDMA_RDMA_EW_BASE_ADDR);
  EXPECT_EQ(addend->operand, Operand::kAddend);
  EXPECT_EQ(addend->value, 0U);
}

TEST(RegisterRk3566, PoolingAndCopiesHaveTheWordsOfTheVendorsFile) {
  PoolLayer pool;
  pool.in = pool.out = {.channels = 40, .height = 8, .width = 8, .chip = &kRk3566};
  pool.params.kernel = {3, 3};
  pool.params.pads = {1, 1, 1, 1};
  const RegisterTask pooled = for_rk3566(write_pool(pool, {0, 8}));
  EXPECT_EQ(pooled.commands.size(), 29U);
  expect_words(pooled, {{0x6014, 0x27},
                        {0x6024, 0x11},
                        {0x6044, 0x7ff80},
                        {0x6050, 0x7ff80},
                        {0x607c, 0x200},
                        {0x6084, 0x200},
                        {0x7018, 1},
                        {0x7024, 0x40},
                        {0x7028, 0x200},
                        {0x7030, 0}});
  DpuTask copy{.channels = 16, .height = 16, .width = 16, .chip = &kRk3566, .real_channels = 12};
  copy.source_plane = copy.out_plane = 256;
  const auto written = write_dpu(copy);
  ASSERT_TRUE(written.ok());
  const RegisterTask copied = for_rk3566(*written);
  expect_words(copied, {{0x400c, 0x109},
                        {0x4024, 0x800},
                        {0x403c, 0xb000f},
                        {0x4040, 0x53},
                        {0x40c0, 0x800},
                        {0x501c, 1},
                        {0x5028, 1},
                        {0x5044, 0x4001}});
}

// The tables of yolo_relu's Sigmoid: a list for each, 71 registers with the links counted apart, 515 words of data.
TEST(RegisterRk3566, TablesAreLoadedOneByOne) {
  std::vector<int16_t> low(513), high(513);
  low[0] = 59, low[1] = 60, low[512] = 16384;
  high[0] = 16384, high[1] = 16484, high[512] = 32708;
  const auto load = write_table_load(low, high);
  ASSERT_TRUE(load.ok());
  ASSERT_TRUE(loads_tables(*load));
  const auto loads = table_loads_for_rk3566(*load);
  ASSERT_EQ(loads.size(), 2U);
  for (const RegisterTask& one : loads) {
    EXPECT_EQ(one.commands.size(), 584U);
    expect_words(one, {{0x400c, 0x109}, {0x4024, 8}, {0x403c, 0x70007}, {0x40c0, 8}, {0x5014, 7}});
  }
  const std::vector<Command>& first = loads[0].commands;
  EXPECT_EQ(first[69], (Command{0x4100, 0x20000}));
  EXPECT_EQ(first[70].value, 59U);
  EXPECT_EQ(first[582].value, 16384U);
  EXPECT_EQ(first[583].value, 60U);
  EXPECT_EQ(loads[1].commands[69], (Command{0x4100, 0x30000}));
  EXPECT_EQ(loads[1].commands[583].value, 16484U);
}

// The same layers of the signs (ConvReluAdd of 12 channels, Concat) and of the digits (MaxPool) in the vendor's files.
TEST(RegisterRk3566, Float16HasTheWordsOfTheVendorsFile) {
  const Feature feature{
      .channels = 12, .height = 80, .width = 80, .is_float = true, .chip = &kRk3566};
  ConvLayer layer{.params = {}, .in = feature, .out = feature};
  layer.params.kernel = {3, 3};
  layer.params.pads = {1, 1, 1, 1};
  layer.params.activation = program::Activation::kRelu;
  layer.has_addend = true;
  layer.weight_bytes = 0xd80;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok()) << tiles.status().message();
  const auto task = write_convolution(layer, tiles->front());
  ASSERT_TRUE(task.ok());
  const RegisterTask listed = for_rk3566(*task);
  EXPECT_EQ(listed.units, 0x1fU);
  EXPECT_EQ(listed.commands.size(), 133U);
  expect_words(listed,
               {{0x100c, 0x220},      {0x1034, 0x120},      {0x200c, 0x2001},     {0x300c, 0x2000},
                {0x3010, 0x4f004f},   {0x3014, 0xf},        {0x4010, 0x48000002}, {0x4024, 0xc800},
                {0x403c, 0xb000f},    {0x4040, 0x158},      {0x4050, 0x126},      {0x4060, 0x12},
                {0x4070, 0x100002d0}, {0x4084, 1},          {0x40c0, 0x19000},    {0x501c, 2},
                {0x5024, 7},          {0x5034, 0x40000004}, {0x503c, 0xc7f8},     {0x5040, 0xc800},
                {0x5044, 0x14040}});
  layer.has_addend = layer.has_bias = false;
  const auto bare = write_convolution(layer, tiles->front());
  ASSERT_TRUE(bare.ok());
  const RegisterTask without_reader = for_rk3566(*bare);
  EXPECT_EQ(without_reader.units, 0xfU);
  EXPECT_EQ(without_reader.commands.size(), 113U);

  DpuTask copy{.channels = 12, .height = 80, .width = 80, .is_float = true, .chip = &kRk3566};
  copy.source_plane = copy.out_plane = 6400;
  const auto written = write_dpu(copy);
  ASSERT_TRUE(written.ok());
  expect_words(for_rk3566(*written), {{0x400c, 0x109},
                                      {0x4010, 0x48000002},
                                      {0x4024, 0xc800},
                                      {0x403c, 0xb000b},
                                      {0x4084, 1},
                                      {0x5014, 0xb},
                                      {0x5044, 0x14041}});
  PoolLayer pool;
  pool.in =
      pool.out = {.channels = 32, .height = 14, .width = 14, .is_float = true, .chip = &kRk3566};
  pool.out.height = pool.out.width = 7;
  pool.out.plane_align = 4;
  pool.params.kernel = pool.params.stride = {2, 2};
  expect_words(for_rk3566(write_pool(pool, {0, 7})), {{0x6044, 0xfbff},
                                                      {0x6050, 0xfbff},
                                                      {0x607c, 0x1a0},
                                                      {0x6084, 0x1a2},
                                                      {0x7018, 1},
                                                      {0x7024, 0x70},
                                                      {0x7028, 0x620},
                                                      {0x7030, 2}});
}

}  // namespace
}  // namespace rk::registers
