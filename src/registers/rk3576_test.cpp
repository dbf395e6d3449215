// SPDX-License-Identifier: Apache-2.0
// Expected words and tiles are those of vendor files for RK3576 and RV1126B, int8: networks named at
// each test, others are single layers compiled to ask.
#include "registers/rk3576.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "registers/convolution.h"
#include "registers/dpu.h"
#include "registers/pooling.h"
#include "target/rk3562_registers.h"
#include "target/rk3576_registers.h"

namespace rk::registers {
namespace {

namespace reg = target::reg;
using Bytes = std::vector<uint8_t>;
using Words = std::vector<std::pair<uint16_t, uint32_t>>;

void expect_words(const Result<Rk3576List>& list, const Words& expected) {
  ASSERT_TRUE(list.ok()) << list.status().message();
  for (const auto& [offset, word] : expected) {
    const Command* const command = list->task.find(offset);
    ASSERT_NE(command, nullptr) << std::hex << offset;
    EXPECT_EQ(command->value, word) << std::hex << offset;
  }
}

Result<Rk3576List> list_of(const ConvLayer& layer, const ConvTile& tile, uint32_t core = 0) {
  RK_ASSIGN(const RegisterTask task, write_convolution(layer, tile));
  return for_rk3576(*layer.in.chip, task, core);
}

ConvLayer layer_of(Feature in, Feature out, int32_t kernel, int32_t stride, int32_t pad,
                   const Chip& chip = kRk3576) {
  ConvLayer layer{.in = in, .out = out};
  layer.in.chip = layer.out.chip = &chip;
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
TEST(RegisterRk3576, AConvolutionHasTheWordsOfTheVendorsFile) {
  ConvLayer layer = layer_of({.channels = 8, .height = 12, .width = 12, .is_model_input = true},
                             {.channels = 16, .height = 12, .width = 12}, 3, 1, 1);
  layer.params.pad_value = 4;
  layer.params.activation = program::Activation::kRelu;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 1U);
  const auto list = list_of(layer, tiles->front());
  expect_words(
      list, {{0x1004, 0xe},        {0x100c, 0},         {0x1010, 0xfff},      {0x1014, 0x9},
             {0x1018, 0x40000404}, {0x101c, 0x900},     {0x1020, 0x90},       {0x1024, 0x202000f},
             {0x1028, 0x240007},   {0x102c, 0xb000b},   {0x1030, 0x120000b},  {0x1034, 0x8f},
             {0x1038, 0x7},        {0x103c, 0x30000},   {0x1040, 0x10000000}, {0x1044, 0xc0003},
             {0x1048, 0xb},        {0x106c, 0},         {0x1078, 0xb000b},    {0x107c, 0x7},
             {0x1080, 0x1010101},  {0x1084, 0x4},       {0x108c, 0xf000f},    {0x1090, 0x30},
             {0x1094, 0x90},       {0x1098, 0x90},      {0x118c, 0xb000b},    {0x3018, 0x10000001},
             {0x301c, 0xb000b},    {0x3020, 0xf},       {0x400c, 0x40000004}, {0x4030, 0xf0710},
             {0x4034, 0xb000b},    {0x4038, 0x120080},  {0x4044, 0x1},        {0x4050, 0x80011011},
             {0x4060, 0x902},      {0x406c, 0},         {0x4070, 0x7fffffff}, {0x407c, 0x10041c1},
             {0x40ac, 0xffffff80}, {0x40b0, 0x49d9},    {0x40b4, 0x16},       {0x40b8, 0x90},
             {0x40c0, 0x4440100},  {0x40d0, 0x40ffff},  {0x5014, 0xf},        {0x501c, 0x710},
             {0x5034, 0x41},       {0x5044, 0x40000010}});
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->task.commands.size(), 139U);
  EXPECT_EQ(list->task.units, 0x1dU);
  EXPECT_EQ(encode(list->task.commands.front()), 0x02010000000e1004U);
  EXPECT_EQ(encode(list->task.commands.back()), 0x200100000000507cU);
  EXPECT_EQ(list->task.find(0x5024)->operand, Operand::kBiasNumbers);
  Bytes shifts(16);
  shifts[0] = shifts[1] = 14;
  EXPECT_EQ(list->bias_numbers, shifts);
  EXPECT_TRUE(list->norm_numbers.empty());
  // The second core has the banks behind those of the first.
  expect_words(list_of(layer, tiles->front(), 1), {{0x1018, 0x4000040b},
                                                   {0x1038, 0x10e},
                                                   {0x103c, 0x31c00},
                                                   {0x1040, 0x2c001c00},
                                                   {0x101c, 0x900}});
}

// digits, ConvReluAdd: 32 channels of 14x14 to 32; mobilenet_v2, ConvAdd to 160 channels of 7x7,
// whose planes are padded.
TEST(RegisterRk3576, AnAddendComesInOneStream) {
  ConvLayer layer = layer_of({.channels = 32, .height = 14, .width = 14},
                             {.channels = 32, .height = 14, .width = 14}, 3, 1, 1);
  layer.params.activation = program::Activation::kRelu;
  layer.params.addend = {128, {0x4de0, 7}};
  layer.params.output = {.scale = {.scale = 0x4141, .shift = 0x17}, .zero_point = -128};
  layer.has_addend = true;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  expect_words(list_of(layer, tiles->front()), {{0x407c, 0x8002c0c0},
                                                {0x4080, 0x80},
                                                {0x4084, 0x74de0},
                                                {0x40b0, 0x14141},
                                                {0x4050, 0x80011111},
                                                {0x5034, 0x50000044},
                                                {0x5040, 0xc4},
                                                {0x5044, 0x40000018},
                                                {0x504c, 0xc4},
                                                {0x506c, 0xc4}});
  ConvLayer padded = layer_of({.channels = 960, .height = 7, .width = 7},
                              {.channels = 160, .height = 7, .width = 7}, 1, 1, 0);
  padded.has_addend = true;
  const auto one = tile_convolution(padded);
  ASSERT_TRUE(one.ok());
  expect_words(list_of(padded, one->front()),
               {{0x1098, 52}, {0x5040, 52}, {0x504c, 55}, {0x506c, 55}});
}

// mobilenet_v2: 96 channels of 112x112 to 56x56, depthwise: 64 channels in three tiles, 32 in two.
TEST(RegisterRk3576, DepthwiseTilesGoThroughTheRowsOfTheirChannels) {
  ConvLayer layer = layer_of({.channels = 96, .height = 112, .width = 112},
                             {.channels = 96, .height = 56, .width = 56}, 3, 2, 1);
  layer.is_depthwise = true;
  layer.weight_bytes = 96 * 9 * 2;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 5U);
  const int64_t rows[] = {22, 22, 12, 45, 11};
  for (size_t i = 0; i < tiles->size(); ++i) {
    EXPECT_EQ((*tiles)[i].channels, i < 3 ? 64 : 32);
    EXPECT_EQ((*tiles)[i].out_rows, rows[i]);
  }
  expect_words(list_of(layer, (*tiles)[1]),
               {{0x100c, 0x1},       {0x1018, 0xc0000505}, {0x101c, 0x480},    {0x1020, 0x240},
                {0x1024, 0x2020001}, {0x1028, 0x1340003f}, {0x102c, 0x6f002c}, {0x1030, 0x480037},
                {0x1034, 0x4cf},     {0x1038, 0x80000007}, {0x103c, 0x7012d0}, {0x1040, 0x14001340},
                {0x1078, 0x6f002b},  {0x1080, 0x100},      {0x1098, 0x1340},   {0x3018, 0x1000000a},
                {0x3020, 0x3f},      {0x400c, 0x4000000c}, {0x4030, 0x3f0310}, {0x4038, 0x100092},
                {0x4044, 0},         {0x4050, 0x13333},    {0x40b8, 0x2c30},   {0x501c, 0x510},
                {0x5034, 0x41},      {0x5044, 0x40000012}, {0x40c0, 0x4440100}});
  expect_words(list_of(layer, (*tiles)[4]), {{0x4050, 0x13133}, {0x103c, 0x381378}});
}

// Single layers: banks of rows, and whether weights stay for the next tile.
TEST(RegisterRk3576, BanksAreThoseOfTheVendorsCompiler) {
  const struct {
    int64_t in, size, out;
    int32_t kernel;
    size_t tiles;
    int32_t data_banks;
    bool keeps;
  } layers[] = {{512, 20, 512, 3, 1, 4, false}, {128, 80, 64, 3, 3, 5, true},
                {128, 80, 128, 3, 3, 5, false}, {512, 40, 256, 3, 4, 4, false},
                {512, 40, 32, 3, 4, 4, true},   {64, 80, 256, 1, 2, 5, true},
                {96, 56, 24, 1, 1, 5, false},   {48, 30, 24, 3, 1, 4, false}};
  for (const auto& l : layers) {
    const ConvLayer layer =
        layer_of({.channels = l.in, .height = l.size, .width = l.size},
                 {.channels = l.out, .height = l.size, .width = l.size}, l.kernel, 1, l.kernel / 2);
    const auto tiles = tile_convolution(layer);
    ASSERT_TRUE(tiles.ok());
    EXPECT_EQ(tiles->size(), l.tiles) << l.in << " to " << l.out;
    EXPECT_EQ(tiles->front().data_banks, l.data_banks) << l.in << " to " << l.out;
    EXPECT_EQ(tiles->back().reuses_weights, l.keeps) << l.in << " to " << l.out;
  }
  // 32 kernels that fill more than three banks are no list of the vendor's.
  const ConvLayer large = layer_of({.channels = 1024, .height = 10, .width = 10},
                                   {.channels = 512, .height = 10, .width = 10}, 3, 1, 1);
  EXPECT_EQ(tile_convolution(large).status().code(), Code::kUnsupported);
}

// signs on RV1126B, the picture of 320x320: six banks of eight, 292 rows.
TEST(RegisterRk3576, Rv1126bHasOneBankMore) {
  ConvLayer layer = layer_of(
      {.channels = 3, .height = 320, .width = 320, .is_picture = true, .is_model_input = true},
      {.channels = 16, .height = 160, .width = 160}, 3, 2, 1, kRv1126b);
  layer.weight_bytes = 16 * 48;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 2U);
  expect_words(list_of(layer, tiles->front()), {{0x1010, 0x3fff},
                                                {0x1018, 0x40000606},
                                                {0x1028, 0x17f4000b},
                                                {0x102c, 0x13f0123},
                                                {0x1038, 0x8},
                                                {0x1040, 0x18000000},
                                                {0x1094, 0x4470}});
}

// Pictures of 224x224 and 100x100.
TEST(RegisterRk3576, WeightsOfAPictureLieInRowsWhere16DividesItsWidths) {
  ConvLayer layer = layer_of(
      {.channels = 3, .height = 224, .width = 224, .is_picture = true, .is_model_input = true},
      {.channels = 64, .height = 112, .width = 112}, 7, 2, 3);
  layer.params.pad_value = 1;
  layer.picture.assign(3, {{0x75d5, 10}, 1});
  layer.weight_bytes = 64 * 0xe0;
  EXPECT_TRUE(has_weights_in_rows(layer));
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  expect_words(list_of(layer, tiles->front()), {{0x100c, 0x2000a006},
                                                {0x101c, 0x3800},
                                                {0x1020, 0xe0},
                                                {0x1024, 0x606003f},
                                                {0x1028, 0xd20001b},
                                                {0x1030, 0x1c0006f},
                                                {0x103c, 0xf0000},
                                                {0x1044, 0xe0000f},
                                                {0x1048, 0xa28a0},
                                                {0x1054, 0x1},
                                                {0x1070, 0},
                                                {0x1078, 0x2900df},
                                                {0x107c, 0x2},
                                                {0x1080, 0x2020303},
                                                {0x1084, 0x10101},
                                                {0x1090, 0x2a},
                                                {0x1094, 0x24c0},
                                                {0x118c, 0xe000d},
                                                {0x3018, 0x10000081}});
  ConvLayer odd = layer_of(
      {.channels = 3, .height = 100, .width = 100, .is_picture = true, .is_model_input = true},
      {.channels = 12, .height = 100, .width = 100}, 3, 1, 1);
  odd.params.pad_value = -7;
  odd.picture.assign(3, {{0x730a, 10}, -7});
  odd.weight_bytes = 576;
  const auto plain = tile_convolution(odd);
  ASSERT_TRUE(plain.ok());
  expect_words(list_of(odd, plain->front()), {{0x100c, 0x2000a002},
                                              {0x101c, 0x240},
                                              {0x1024, 0x202000f},
                                              {0x1028, 0x2bc0002},
                                              {0x1044, 0x700070},
                                              {0x1070, 0xfffffff9},
                                              {0x1078, 0x140063},
                                              {0x1084, 0xfffffff9},
                                              {0x118c, 0x60006}});
}

// 128 channels of 80x80 to 64 of 160x160, kernel 4, the second of three tiles.
TEST(RegisterRk3576, TransposedConvolutionsFetchTheirWeightsAnew) {
  ConvLayer layer = layer_of({.channels = 128, .height = 80, .width = 80},
                             {.channels = 64, .height = 160, .width = 160}, 4, 2, 1);
  layer.params.transposed = true;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 3U);
  expect_words(list_of(layer, (*tiles)[1]), {{0x100c, 0},
                                             {0x1014, 0x909},
                                             {0x1018, 0xc0000505},
                                             {0x102c, 0x4f001f},
                                             {0x1038, 0x7},
                                             {0x103c, 0xa01360},
                                             {0x1040, 0x14000000},
                                             {0x1080, 0x2010201},
                                             {0x301c, 0x3d009f},
                                             {0x40b8, 0xa140}});
}

// yunet, Add of 64 channels of 20x20; signs, Concat and MaxPool.
TEST(RegisterRk3576, SumsCopiesAndPoolingHaveTheWordsOfTheVendorsFiles) {
  DpuTask sum{.channels = 64, .height = 20, .width = 20, .chip = &kRk3576, .real_channels = 64};
  sum.source_plane = sum.addend_plane = sum.out_plane = 400;
  sum.source = program::InputStage{128, {0x4000, 0}};
  sum.addend = program::InputStage{128, {0x46ac, 1}};
  sum.output = {{0x4000, 0x1c}, -128};
  const auto written = write_dpu(sum);
  ASSERT_TRUE(written.ok());
  const auto added = for_rk3576(kRk3576, *written);
  expect_words(added, {{0x400c, 0x5},
                       {0x4030, 0x3f0f00},
                       {0x4038, 0x100012},
                       {0x4044, 0},
                       {0x4050, 0},
                       {0x4060, 0x903},
                       {0x407c, 0x8002c0c0},
                       {0x4084, 0x146ac},
                       {0x40b0, 0x14000},
                       {0x40b8, 0},
                       {0x40c0, 0x4440000},
                       {0x501c, 0x1a},
                       {0x5034, 0x40000044},
                       {0x5040, 0x190},
                       {0x5044, 0x9}});
  EXPECT_EQ(added->task.commands.size(), 89U);
  Bytes rows(64);
  rows[0] = rows[16] = 0x80;
  rows[33] = 0x40;
  EXPECT_EQ(added->bias_numbers, rows);

  DpuTask copy{.channels = 16, .height = 80, .width = 80, .chip = &kRk3576, .real_channels = 12};
  copy.source_plane = copy.out_plane = 6400;
  copy.source = program::InputStage{128, {1, 0}};
  copy.output = {{0x6017, 15}, -128};
  const auto one = write_dpu(copy);
  ASSERT_TRUE(one.ok());
  expect_words(for_rk3576(kRk3576, *one), {{0x402c, 0xb},
                                           {0x4038, 0x100012},
                                           {0x4044, 0x2},
                                           {0x4050, 0x20000},
                                           {0x40b0, 0x16017},
                                           {0x5014, 0xf},
                                           {0x501c, 0x2},
                                           {0x5034, 0x41}});

  PoolLayer pool;
  pool.in = {.channels = 64, .height = 10, .width = 10, .plane_align = 4, .chip = &kRk3576};
  pool.out = pool.in;
  pool.params.kernel = {5, 5};
  pool.params.stride = {1, 1};
  pool.params.pads = {2, 2, 2, 2};
  const auto pooled = for_rk3576(kRk3576, write_pool(pool, {0, 10}));
  expect_words(pooled, {{0x6024, 0x11},
                        {0x6034, 0x404},
                        {0x6040, 0x2222},
                        {0x6044, 0x7ff80},
                        {0x607c, 0x640},
                        {0x60dc, 0},
                        {0x7024, 0xa0},
                        {0x7030, 0x40}});
  EXPECT_EQ(pooled->task.commands.size(), 31U);
}

TEST(RegisterRk3576, RefusesWhatNoListShows) {
  Enlargement one{.height = 10, .width = 10, .source_plane = 100, .out_plane = 400};
  one.chip = &kRk3576;
  const auto enlarged = write_enlargement(one);
  ASSERT_TRUE(enlarged.ok());
  EXPECT_EQ(for_rk3576(kRk3576, *enlarged).status().code(), Code::kUnsupported);
}

// 48 channels of 30x30 to 24; 128 channels of 56x56, depthwise; without bias the reader takes no part.
TEST(RegisterRk3576, Float16HasTheWordsOfTheVendorsFiles) {
  const auto halves = [](ConvLayer layer, uint64_t weight_bytes) {
    layer.in.is_float = layer.out.is_float = true;
    layer.weight_bytes = weight_bytes;
    return layer;
  };
  const ConvLayer dense = halves(layer_of({.channels = 48, .height = 30, .width = 30},
                                          {.channels = 24, .height = 30, .width = 30}, 3, 1, 1),
                                 20736);
  const auto one = tile_convolution(dense);
  ASSERT_TRUE(one.ok());
  const auto list = list_of(dense, one->front());
  expect_words(list, {{0x100c, 0x200120},
                      {0x1018, 0x40000404},
                      {0x101c, 0x5100},
                      {0x1020, 0x360},
                      {0x1024, 0x2020017},
                      {0x1028, 0x546002f},
                      {0x1030, 0x360001d},
                      {0x103c, 0x2d0000},
                      {0x3018, 0x10000200},
                      {0x4010, 0x40000002},
                      {0x4030, 0x170710},
                      {0x4038, 0x100092},
                      {0x4044, 0x2},
                      {0x4050, 0x21011},
                      {0x40b0, 0x10001},
                      {0x501c, 0x100},
                      {0x5034, 0x1},
                      {0x5044, 0x40010050}});
  EXPECT_EQ(list->task.commands.size(), 139U);
  EXPECT_TRUE(list->bias_numbers.empty());

  ConvLayer without = dense;
  without.has_bias = false;
  const auto plain = list_of(without, one->front());
  expect_words(plain, {{0x4038, 0x53}, {0x4044, 0x2}});
  EXPECT_EQ(plain->task.units, 0xdU);
  EXPECT_EQ(plain->task.commands.size(), 118U);

  ConvLayer each = layer_of({.channels = 128, .height = 56, .width = 56},
                            {.channels = 128, .height = 56, .width = 56}, 3, 1, 1);
  each.is_depthwise = true;
  each = halves(each, 2304);
  const auto tiles = tile_convolution(each);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 4U);
  const auto first = list_of(each, tiles->front());
  expect_words(first, {{0x100c, 0x200121},
                       {0x101c, 0x240},
                       {0x1020, 0x240},
                       {0x1024, 0x2020000},
                       {0x1028, 0xc40001f},
                       {0x1030, 0x240037},
                       {0x3018, 0x1000020a},
                       {0x4044, 0},
                       {0x4050, 0x23333},
                       {0x501c, 0x110},
                       {0x5034, 0x41},
                       {0x5044, 0x40010052}});
  EXPECT_EQ(first->bias_numbers, Bytes(16));
}

// What the emulator makes of a list is what the list for RK3588 says.
TEST(RegisterRk3576, ListsAreReadBack) {
  ConvLayer layer = layer_of({.channels = 40, .height = 33, .width = 33},
                             {.channels = 24, .height = 17, .width = 17}, 3, 2, 1);
  layer.params.activation = program::Activation::kRelu;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  const auto task = write_convolution(layer, tiles->front());
  ASSERT_TRUE(task.ok());
  for (const uint32_t core : {0U, 1U}) {
    const auto list = for_rk3576(kRk3576, *task, core);
    ASSERT_TRUE(list.ok());
    target::RegisterFile raw;
    for (const Command& command : list->task.commands)
      raw.write({0, command.value, command.offset});
    const auto numbers = target::read_stage(target::kUseShifts, list->bias_numbers);
    EXPECT_EQ(numbers.shift, 14);
    const auto form = target::rk3576_as_rk3562(raw, list->task.units, numbers, {});
    ASSERT_TRUE(form.ok()) << form.status().message();
    const auto read = target::rk3562_as_rk3588(*form, list->task.units);
    ASSERT_TRUE(read.ok()) << read.status().message();
    for (const target::RegisterField& field :
         {reg::CNA_DATA_SIZE0__DATAIN_WIDTH, reg::CNA_DATA_SIZE0__DATAIN_HEIGHT,
          reg::CNA_WEIGHT_SIZE2__WEIGHT_KERNELS, reg::CNA_WEIGHT_SIZE2__WEIGHT_WIDTH,
          reg::CNA_CONV_CON3__CONV_X_STRIDE, reg::CNA_PAD_CON0__PAD_TOP,
          reg::CORE_DATAOUT_SIZE_0__DATAOUT_WIDTH, reg::DPU_DST_SURF_STRIDE__DST_SURF_STRIDE,
          reg::DPU_SURFACE_ADD__SURF_ADD, reg::DPU_BS_MUL_CFG__BS_MUL_SHIFT_VALUE,
          reg::DPU_BS_OW_CFG__SIZE_E_0, reg::DPU_OUT_CVT_SCALE__OUT_CVT_SCALE,
          reg::DPU_RDMA_RDMA_BRDMA_CFG__BRDMA_DATA_USE, reg::DPU_BN_CFG__BN_RELU_BYPASS}) {
      EXPECT_EQ(read->get(field), field.get(task->find(field.offset)->value)) << field.name;
    }
  }
}

TEST(RegisterRk3576, NumbersOfStagesAreRowsOf16Bytes) {
  const target::StageNumbers numbers{
      .addend = -5, .offset = -7, .factor = 0x4064, .shift = 13, .shift_below = 2};
  constexpr uint32_t kAll =
      target::kUseAddend | target::kUseOffset | target::kUseFactor | target::kUseShifts;
  const Bytes rows = target::write_stage(kAll, numbers);
  EXPECT_EQ(rows.size(), 80U);
  EXPECT_EQ(rows.size(), target::stage_bytes(kAll));
  EXPECT_EQ(target::read_stage(kAll, rows), numbers);
  EXPECT_EQ(rows[16], 0xfb);
  EXPECT_EQ(rows[35], 0xff);  // offsets have 32 bits
}

// Rows of each core, in turns.
std::vector<int64_t> rows_of_cores(const ConvLayer& layer) {
  std::vector<int64_t> rows;
  const auto split = split_convolution(layer, 2);
  if (!split.ok() || split->empty()) return rows;
  for (size_t i = 0; i < (*split)[0].size(); ++i)
    for (const auto& core : *split) rows.push_back(core[i].out_rows);
  return rows;
}

struct Shared {
  int64_t channels, height, width;
  int32_t kernel, stride, pad;
  std::vector<int64_t> rows;
};

// Layers compiled to ask.
TEST(RegisterRk3576, TwoCoresTakeTheRowsThatTheyHaveInVendorFiles) {
  const Shared asked[] = {{16, 2, 3, 1, 1, 0, {1, 1}},
                          {16, 12, 9, 1, 1, 0, {6, 6}},
                          {16, 13, 3, 1, 1, 0, {10, 3}},
                          {16, 9, 4, 1, 1, 0, {8, 1}},
                          {16, 11, 9, 1, 1, 0, {7, 4}},
                          {16, 13, 7, 1, 1, 0, {9, 4}},
                          {16, 9, 9, 1, 1, 0, {5, 4}},
                          {16, 1, 8, 1, 1, 0, {}},
                          {16, 3, 8, 3, 1, 1, {}},
                          {16, 4, 8, 3, 1, 1, {2, 2}},
                          {16, 5, 8, 5, 1, 2, {}},
                          {16, 6, 8, 5, 1, 2, {3, 3}},
                          {16, 9, 8, 7, 1, 3, {5, 4}},
                          {16, 9, 8, 5, 1, 2, {6, 3}},
                          {16, 9, 10, 3, 2, 1, {3, 2}},
                          {64, 65, 65, 1, 1, 0, {33, 32}},
                          {64, 96, 96, 3, 1, 1, {48, 48}},
                          {64, 120, 120, 1, 1, 0, {30, 30, 30, 30}},
                          // Parts in the middle first.
                          {64, 112, 112, 3, 1, 1, {36, 36, 20, 20}},
                          {64, 128, 128, 3, 1, 1, {41, 41, 23, 23}},
                          {64, 200, 112, 3, 1, 1, {52, 52, 48, 48}},
                          {32, 176, 176, 5, 1, 2, {57, 57, 31, 31}},
                          {64, 112, 112, 7, 1, 3, {35, 35, 21, 21}},
                          {128, 80, 80, 3, 2, 1, {12, 12, 8, 8}},
                          {128, 76, 80, 3, 2, 1, {12, 12, 7, 7}},
                          {128, 120, 80, 3, 2, 1, {18, 18, 12, 12}},
                          {64, 112, 112, 2, 2, 0, {14, 14, 14, 14}},
                          {64, 128, 224, 3, 1, 1, {25, 25, 25, 25, 14, 14}},
                          {64, 224, 224, 3, 1, 1, {24, 24, 24, 24, 24, 24, 24, 24, 16, 16}},
                          // An odd number of rows that do not fit at once: the rule is not known.
                          {128, 75, 75, 3, 1, 1, {}}};
  for (const Shared& a : asked) {
    const int64_t height = (a.height + 2 * a.pad - a.kernel) / a.stride + 1;
    const int64_t width = (a.width + 2 * a.pad - a.kernel) / a.stride + 1;
    const ConvLayer layer =
        layer_of({.channels = a.channels, .height = a.height, .width = a.width},
                 {.channels = 16, .height = height, .width = width}, a.kernel, a.stride, a.pad);
    EXPECT_EQ(rows_of_cores(layer), a.rows) << a.height << "x" << a.width << " kernel " << a.kernel;
  }
}

// digits: 16 channels of 14x14 to 32; 32 channels of 7x7 to 64.
TEST(RegisterRk3576, ListsOfTwoCoresHaveTheWordsOfTheVendorsFile) {
  const auto lists = [](const ConvLayer& layer, CoreUse use) {
    std::vector<Rk3576List> out;
    const auto split = split_convolution(layer, 2);
    EXPECT_TRUE(split.ok());
    for (uint32_t core = 0; core < split->size(); ++core) {
      const auto task = write_convolution(layer, (*split)[core].front());
      const auto list = for_rk3576(kRk3576, *task, core, use);
      EXPECT_TRUE(list.ok()) << list.status().message();
      EXPECT_EQ(list->task.commands.size(), 138U);
      EXPECT_EQ(list->task.commands[2].offset, 0x4004);
      out.push_back(*list);
    }
    return out;
  };
  const auto even = lists(layer_of({.channels = 16, .height = 14, .width = 14},
                                   {.channels = 32, .height = 14, .width = 14}, 1, 1, 0),
                          CoreUse::kTogether);
  ASSERT_EQ(even.size(), 2U);
  expect_words(even[0], {{0x1014, 0x10000009},
                         {0x1018, 0x40000606},
                         {0x1028, 0x1c000f},
                         {0x102c, 0xd0006},
                         {0x1034, 0x61},
                         {0x1038, 0x10},
                         {0x103c, 0x40000},
                         {0x1040, 0x30000000},
                         {0x1078, 0xd0006},
                         {0x1088, 0},
                         {0x1098, 0x64},
                         {0x301c, 0x6000d},
                         {0x4018, 0},
                         {0x4024, 0x6},
                         {0x40b8, 0x126},
                         {0x5010, 0x6}});
  expect_words(even[1], {{0x1014, 0x10000009},
                         {0x1018, 0x4000060c},
                         {0x1038, 0x80000010},
                         {0x103c, 0x41800},
                         {0x1040, 0x30001800},
                         {0x1088, 1568},
                         {0x4018, 1568}});
  const auto odd = lists(layer_of({.channels = 32, .height = 7, .width = 7},
                                  {.channels = 64, .height = 7, .width = 7}, 3, 1, 1),
                         CoreUse::kApart);
  ASSERT_EQ(odd.size(), 2U);
  expect_words(odd[0], {{0x1014, 0x9},
                        {0x1018, 0x40000404},
                        {0x1028, 0x14001f},
                        {0x102c, 0x60004},
                        {0x1034, 0x1b},
                        {0x1038, 0x7},
                        {0x1080, 0x1000101},
                        {0x1098, 0x24},
                        {0x40b8, 0x4c}});
  expect_words(odd[1], {{0x1014, 0x9},
                        {0x1018, 0x4000040b},
                        {0x1038, 0xe},
                        {0x103c, 0x41c00},
                        {0x1040, 0x2c001c00},
                        {0x1080, 0x1010100},
                        {0x1088, 336},
                        {0x4018, 448},
                        {0x40b8, 0x53}});
}

TEST(RegisterRk3576, TheFenceHasTheWordsOfTheVendorsFile) {
  const auto fence = fence_of_rk3576(kRk3576);
  ASSERT_TRUE(fence.ok()) << fence.status().message();
  const std::vector<Command>& commands = fence->list.task.commands;
  ASSERT_EQ(commands.size(), 138U);
  // Registers that are not 0.
  const Words expected = {
      {0x1004, 0xe},        {0x3004, 0xe},        {0x4004, 0xe},        {0x5004, 0xe},
      {0x1010, 0xfff},      {0x1014, 0x10000009}, {0x1018, 0x40000404}, {0x101c, 0x100},
      {0x1020, 0x10},       {0x1024, 0xf},        {0x1028, 0x1000f},    {0x1030, 0x200000},
      {0x1038, 0xc0000007}, {0x103c, 0x10000},    {0x1040, 0x10000000}, {0x1044, 0x10001},
      {0x1048, 0xb},        {0x104c, 0x10001},    {0x1050, 0x10001},    {0x107c, 0xf},
      {0x108c, 0xf000f},    {0x1090, 0x4},        {0x1094, 0x1},        {0x1098, 0x1},
      {0x3018, 0x10000001}, {0x3020, 0xf},        {0x400c, 0x40000004}, {0x401c, 0x1},
      {0x402c, 0xf},        {0x4030, 0xf0710},    {0x4038, 0x20040},    {0x4048, 0x80000000},
      {0x404c, 0x7fffffff}, {0x4050, 0x80021011}, {0x4058, 0x80000000}, {0x405c, 0x7fffffff},
      {0x4060, 0x903},      {0x406c, 0x80000000}, {0x4070, 0x7fffffff}, {0x4074, 0x80000000},
      {0x4078, 0x7fffffff}, {0x407c, 0x10041c1},  {0x4084, 0x1},        {0x4088, 0x80000000},
      {0x408c, 0x7fffffff}, {0x40a4, 0x80000000}, {0x40a8, 0x7fffffff}, {0x40b0, 0x4000},
      {0x40b4, 0xe},        {0x40b8, 0x1},        {0x40c0, 0x4440100},  {0x40d0, 0x40ffff},
      {0x501c, 0x14},       {0x5034, 0x41},       {0x5044, 0x40000010}};
  Words found;
  for (const Command& command : commands)
    if (command.value != 0) found.emplace_back(command.offset, command.value);
  EXPECT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < std::min(found.size(), expected.size()); ++i)
    EXPECT_EQ(found[i], expected[i]) << std::hex << found[i].first;
  EXPECT_EQ(fence->list.task.find(0x1088)->operand, Operand::kFeature);
  EXPECT_EQ(fence->list.task.find(0x1110)->operand, Operand::kWeight);
  EXPECT_EQ(fence->list.task.find(0x4018)->operand, Operand::kOutput);
  EXPECT_EQ(fence->list.task.find(0x5020)->operand, Operand::kNone);
  EXPECT_EQ(fence->list.task.find(0x5024)->operand, Operand::kBiasNumbers);
  EXPECT_EQ(fence->list.bias_numbers, Bytes(32));
}

}  // namespace
}  // namespace rk::registers
