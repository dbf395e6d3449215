// SPDX-License-Identifier: Apache-2.0
// Expected words and tiles are those of vendor files for RK3562, int8: layers and networks named at
// each test.
#include "registers/rk3562.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "registers/convolution.h"
#include "registers/dpu.h"
#include "registers/pooling.h"
#include "target/rk3562_registers.h"

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
  return for_rk3562(task);
}

ConvLayer layer_of(Feature in, Feature out, int32_t kernel, int32_t stride, int32_t pad) {
  ConvLayer layer{.in = in, .out = out};
  layer.in.chip = layer.out.chip = &kRk3562;
  layer.in.plane_align = layer.out.plane_align = 4;
  layer.params.kernel = {kernel, kernel};
  layer.params.stride = {stride, stride};
  layer.params.pads = {pad, pad, pad, pad};
  layer.params.pad_value = -128;
  layer.params.output = {.scale = {.scale = 18905, .shift = 22}, .zero_point = -128};
  layer.weight_bytes = static_cast<uint64_t>((in.channels + 15) / 16 * 16 * out.channels * kernel) *
                       static_cast<uint64_t>(kernel);
  return layer;
}

// layer_conv_relu: 8 channels of 12x12, a model input, to 16.
TEST(RegisterRk3562, AConvolutionHasTheWordsOfTheVendorsFile) {
  ConvLayer layer = layer_of({.channels = 8, .height = 12, .width = 12, .is_model_input = true},
                             {.channels = 16, .height = 12, .width = 12}, 3, 1, 1);
  layer.params.pad_value = 4;
  layer.params.activation = program::Activation::kRelu;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 1U);
  const auto list = list_of(layer, tiles->front());
  expect_words(
      list, {{0x1004, 0xe},        {0x100c, 0x10000000}, {0x1010, 0xe4},       {0x1014, 0x9},
             {0x1018, 0x180707},   {0x101c, 0x900},      {0x1020, 0x20000090}, {0x1024, 0x3030010},
             {0x1028, 0x8},        {0x102c, 0xc000c},    {0x1030, 0xc},        {0x1034, 0x90},
             {0x1038, 0x8},        {0x103c, 0x30000},    {0x1040, 0xe000000},  {0x1044, 0xc0003},
             {0x1048, 0xb},        {0x104c, 0x10001},    {0x1050, 0x10001},    {0x106c, 0x20},
             {0x1078, 0xc000c},    {0x107c, 0x8},        {0x1080, 0x1010101},  {0x1084, 0x4},
             {0x108c, 0xf400f},    {0x1090, 0x30},       {0x1094, 0x90},       {0x1098, 0x90},
             {0x118c, 0xb000b},    {0x3018, 0x1},        {0x301c, 0xb000b},    {0x3020, 0xf},
             {0x400c, 0x1e4},      {0x401c, 0x90},       {0x402c, 0xf},        {0x4030, 0xf0003},
             {0x4034, 0xb000b},    {0x4038, 0x120e80},   {0x4044, 0x1},        {0x4050, 0x1},
             {0x4054, 0x800e0000}, {0x4060, 0x12},       {0x406c, 0},          {0x4070, 0x7fffffff},
             {0x407c, 0x10041c1},  {0x4088, 0x80000000}, {0x40ac, 0xffffff80}, {0x40b0, 0x49d9},
             {0x40b4, 0x16},       {0x40b8, 0x90},       {0x40c0, 0x4440102},  {0x5014, 0xf},
             {0x501c, 0xe},        {0x5034, 0x1},        {0x5044, 0x7810},     {0x8028, 0xc},
             {0x802c, 0xffffffff}});
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->commands.size(), 131U);
  EXPECT_EQ(list->units, 0x1dU);
  EXPECT_EQ(encode(list->commands.front()), 0x02010000000e1004U);
  EXPECT_EQ(encode(list->commands.back()), 0x0401ffffffff802cU);
}

// digits, ConvReluAdd: 32 channels of 14x14 to 32.
TEST(RegisterRk3562, AnAddendComesInOneStream) {
  ConvLayer layer = layer_of({.channels = 32, .height = 14, .width = 14},
                             {.channels = 32, .height = 14, .width = 14}, 3, 1, 1);
  layer.params.activation = program::Activation::kRelu;
  layer.params.addend = {128, {0x4de0, 7}};
  layer.params.output = {.scale = {.scale = 0x4141, .shift = 0x17}, .zero_point = -128};
  layer.has_addend = true;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  const auto list = list_of(layer, tiles->front());
  expect_words(list, {{0x1010, 0x84},
                      {0x407c, 0x8002c0c0},
                      {0x4080, 0x80},
                      {0x4084, 0x74de0},
                      {0x4088, 0x80000000},
                      {0x40b0, 0x14141},
                      {0x40b4, 0x17},
                      {0x5018, 0},
                      {0x5034, 0x40000004},
                      {0x5040, 0xc4},
                      {0x5044, 0x7818},
                      {0x504c, 0},
                      {0x506c, 0}});
  EXPECT_EQ(list->find(0x5038)->operand, Operand::kAddend);
  EXPECT_EQ(list->find(0x5018)->operand, Operand::kNone);
}

// mobilenet_v2: 96 channels of 112x112 to 56x56, depthwise. Channels in blocks of 32, the rows of
// each in two tiles; the second keeps the last row of the first, which fills the ring of 7 banks.
TEST(RegisterRk3562, DepthwiseTilesGoThroughTheRowsOfTheirChannels) {
  ConvLayer layer = layer_of({.channels = 96, .height = 112, .width = 112},
                             {.channels = 96, .height = 56, .width = 56}, 3, 2, 1);
  layer.is_depthwise = true;
  layer.weight_bytes = 96 * 9 * 2;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 6U);
  for (size_t i = 0; i < tiles->size(); ++i) {
    EXPECT_EQ((*tiles)[i].first_channel, static_cast<int64_t>(i / 2 * 32));
    EXPECT_EQ((*tiles)[i].channels, 32);
    EXPECT_EQ((*tiles)[i].out_rows, i % 2 == 0 ? 32 : 24);
  }
  expect_words(list_of(layer, (*tiles)[2]),
               {{0x100c, 0x10000005}, {0x1018, 0x180707}, {0x1038, 0x8}, {0x103c, 0x380000}});
  expect_words(
      list_of(layer, (*tiles)[3]),
      {{0x100c, 0x10000005}, {0x1010, 0x78},      {0x1018, 0x80180707}, {0x101c, 0x240},
       {0x1020, 0x20000120}, {0x1024, 0x3030002}, {0x1028, 0x20},       {0x102c, 0x700031},
       {0x1034, 0x540},      {0x1038, 0x2008},    {0x103c, 0x380dc8},   {0x1040, 0xe000000},
       {0x1078, 0x700030},   {0x1080, 0x100},     {0x1088, 0x7e000},    {0x1090, 0x1c0},
       {0x1094, 0x3100},     {0x1110, 0x240},     {0x3018, 0xa},        {0x3020, 0x1f},
       {0x400c, 0x1ec},      {0x4030, 0x1f0007},  {0x4038, 0x100e92},   {0x4044, 0},
       {0x4050, 0x125},      {0x4054, 0xe0000},   {0x40b8, 0x1880},     {0x501c, 0xa},
       {0x5020, 0xc0},       {0x5044, 0x7812}});
}

// yolov5s: 32 channels of 160x160 to 64 channels of 80x80, four tiles around a ring of 3584
// entries; rows take 80 each.
TEST(RegisterRk3562, TilesShareRowsInARing) {
  const ConvLayer layer = layer_of({.channels = 32, .height = 160, .width = 160},
                                   {.channels = 64, .height = 80, .width = 80}, 3, 2, 1);
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  const int64_t expected[][5] = {// in rows, out rows, kept, first, write
                                 {44, 22, 0, 0, 0},
                                 {43, 21, 1, 0xd70, 0xdc0},
                                 {43, 21, 1, 0xc90, 0xce0},
                                 {33, 16, 1, 0xbb0, 0xc00}};
  ASSERT_EQ(tiles->size(), std::size(expected));
  for (size_t i = 0; i < tiles->size(); ++i) {
    const ConvTile& tile = (*tiles)[i];
    const int64_t found[] = {tile.in_rows, tile.out_rows, tile.kept_rows, tile.first_entry,
                             tile.write_entry};
    EXPECT_TRUE(std::ranges::equal(found, expected[i])) << i;
    EXPECT_EQ(tile.reuses_weights, i > 0);
  }
}

// Kernels of 16 channels and what is left of the buffer, as in resnet18 and mobilenet_v2.
TEST(RegisterRk3562, BanksAreThoseOfTheVendorsCompiler) {
  const struct {
    int64_t in, size, out;
    int32_t kernel, data_banks;
  } layers[] = {{48, 40, 80, 3, 6},  {64, 10, 64, 3, 6},    {128, 28, 128, 3, 6},
                {512, 7, 512, 3, 5}, {576, 7, 160, 1, 5},   {160, 7, 960, 1, 3},
                {960, 7, 320, 1, 6}, {1280, 1, 1000, 1, 6}, {24, 80, 12, 1, 7}};
  for (const auto& l : layers) {
    const ConvLayer layer =
        layer_of({.channels = l.in, .height = l.size, .width = l.size},
                 {.channels = l.out, .height = l.size, .width = l.size}, l.kernel, 1, l.kernel / 2);
    const auto tiles = tile_convolution(layer);
    ASSERT_TRUE(tiles.ok());
    EXPECT_EQ(tiles->front().data_banks, l.data_banks) << l.in << " to " << l.out;
  }
}

// digits: a picture of one channel, 28x28, of bytes less 128; rows padded to 32.
TEST(RegisterRk3562, APictureIsOneRowOfAtomsThatIsConverted) {
  ConvLayer layer = layer_of(
      {.channels = 1, .height = 28, .width = 28, .is_picture = true, .is_model_input = true},
      {.channels = 16, .height = 28, .width = 28}, 3, 1, 1);
  layer.params.pad_value = 0;
  layer.picture = {{{16384, 14}, -128}};
  layer.weight_bytes = 576;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  expect_words(list_of(layer, tiles->front()),
               {{0x100c, 0x34008002}, {0x1010, 0x3ff},      {0x1018, 0x180707}, {0x101c, 0x240},
                {0x1020, 0x20000024}, {0x1024, 0x3030010},  {0x1028, 0x1},      {0x103c, 0x20000},
                {0x1044, 0x200020},   {0x1048, 0xe0},       {0x104c, 0x14000},  {0x1050, 0x10001},
                {0x1054, 0xffffff80}, {0x1058, 0},          {0x1070, 0},        {0x1078, 0x380001},
                {0x107c, 0x1},        {0x108c, 0x800f400f}, {0x1090, 0x38},     {0x1094, 0x38},
                {0x118c, 0x370037},   {0x3024, 0x20}});
  // The words that a loader rewrites, as in the tables of the file.
  const auto list = list_of(layer, tiles->front());
  ASSERT_TRUE(list.ok());
  const auto words_of = [&](std::span<const PatchedWord> places) {
    std::vector<uint32_t> words;
    for (const auto& [slot, offset] : places) {
      EXPECT_EQ(slot, words.size());
      words.push_back(list->find(offset)->value);
    }
    return words;
  };
  EXPECT_EQ(words_of(rk3562_geometry_words()),
            (std::vector<uint32_t>{0x1c001c, 0x34008002, 0x180707, 0x38, 0x38, 0, 0x20000}));
  EXPECT_EQ(words_of(rk3562_conversion_words()),
            (std::vector<uint32_t>{0xe0, 0x14000, 0x10001, 0xffffff80, 0, 0, 0, 0, 0, 0x20,
                                   0x3030010, 0, 0x20000024}));
}

// layer_two_add, digits, and Resize of signs.
TEST(RegisterRk3562, SumsPoolingAndEnlargementsHaveTheWordsOfTheVendorsFiles) {
  DpuTask sum{.channels = 16, .height = 6, .width = 10, .chip = &kRk3562, .real_channels = 12};
  sum.source_plane = sum.addend_plane = sum.out_plane = 60;
  sum.source = program::InputStage{4, {0x4000, 0}};
  sum.addend = program::InputStage{11, {0x7c1b, 1}};
  sum.output = {{0x5f8c, 0x1d}, 4};
  const auto written = write_dpu(sum);
  ASSERT_TRUE(written.ok());
  const auto added = for_rk3562(*written);
  expect_words(added,
               {{0x400c, 0x1e5},   {0x401c, 0x3c},      {0x402c, 0xb},        {0x4030, 0xb0003},
                {0x4034, 0x50009}, {0x4038, 0x100012},  {0x4040, 0x4},        {0x4044, 0x40000000},
                {0x4050, 0},       {0x4060, 0x13},      {0x407c, 0x8002c0c0}, {0x4080, 0xb},
                {0x4084, 0x17c1b}, {0x40ac, 0x4},       {0x40b0, 0x15f8c},    {0x40b4, 0x1d},
                {0x40b8, 0x3c},    {0x40c0, 0x4440002}, {0x5014, 0xf},        {0x5034, 0x40000004},
                {0x5040, 0x3c},    {0x5044, 0x7809}});
  EXPECT_EQ(added->commands.size(), 82U);

  PoolLayer pool;
  pool.in = {.channels = 32, .height = 14, .width = 14, .plane_align = 4, .chip = &kRk3562};
  pool.out = {.channels = 32, .height = 7, .width = 7, .plane_align = 4, .chip = &kRk3562};
  pool.params.kernel = pool.params.stride = {2, 2};
  const auto pooled = for_rk3562(write_pool(pool, {0, 7}));
  expect_words(pooled, {{0x600c, 0xd},
                        {0x6018, 0x6},
                        {0x6034, 0x110101},
                        {0x6044, 0x7ff80},
                        {0x6050, 0x7ff80},
                        {0x606c, 0},
                        {0x607c, 0x340},
                        {0x7024, 0xe0},
                        {0x7028, 0xc40},
                        {0x7030, 0x40},
                        {0x8028, 0xc}});
  EXPECT_EQ(pooled->commands.size(), 37U);

  Enlargement one{.height = 10, .width = 10, .source_plane = 100, .out_plane = 400};
  one.chip = &kRk3562;
  const auto enlarged = write_enlargement(one);
  ASSERT_TRUE(enlarged.ok());
  expect_words(for_rk3562(*enlarged), {{0x401c, 0x14},
                                       {0x4020, 0x13},
                                       {0x4024, 0x9},
                                       {0x4028, 0x14},
                                       {0x4030, 0xf0000},
                                       {0x4034, 0x90013},
                                       {0x4038, 0x53},
                                       {0x4050, 0x26},
                                       {0x40b0, 0x10001},
                                       {0x40b8, 0x190},
                                       {0x500c, 0x9},
                                       {0x5014, 0x3},
                                       {0x5044, 0x27809},
                                       {0x5048, 0x1249}});
}

// In the unit of channel 0 (mobilenet_v2, the layer of 96 channels above: multiplier 10624), and
// only where int8 ends first.
TEST(RegisterRk3562, ALimitIsInTheUnitOfTheFirstChannel) {
  ConvLayer layer = layer_of({.channels = 32, .height = 8, .width = 8},
                             {.channels = 32, .height = 8, .width = 8}, 1, 1, 0);
  layer.params.activation = program::Activation::kClip;
  layer.params.clip_limit = 31914;
  layer.params.output = {.scale = {.scale = 0x4175, .shift = 0x15}, .zero_point = -128};
  layer.first_multiplier = 10624;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  expect_words(list_of(layer, tiles->front()),
               {{0x4060, 0x12}, {0x406c, 0}, {0x4070, 0xc041}, {0x4078, 0xc041}});
  layer.params.clip_limit = 20000;
  EXPECT_EQ(list_of(layer, tiles->front()).status().code(), Code::kUnsupported);
  layer.first_multiplier = 0;
  EXPECT_EQ(list_of(layer, tiles->front()).status().code(), Code::kUnsupported);
}

TEST(RegisterRk3562, RefusesProducts) {
  DpuTask sum{.channels = 16, .height = 2, .width = 2, .chip = &kRk3562};
  sum.addend = program::InputStage{};
  auto product = write_dpu(sum);
  ASSERT_TRUE(product.ok());
  ASSERT_TRUE(for_rk3562(*product).ok());
  constexpr uint32_t kMultiplies = 4;  // EW_OP_TYPE
  for (Command& command : product->commands)
    if (command.offset == reg::DPU_EW_CFG) command.value |= kMultiplies;
  EXPECT_EQ(for_rk3562(*product).status().code(), Code::kUnsupported);
}

target::RegisterFile registers_with(const RegisterTask& task) {
  target::RegisterFile file;
  for (const Command& command : task.commands) file.write({0, command.value, command.offset});
  return file;
}

// What a list says in the registers of RK3588 comes back.
TEST(RegisterRk3562, ListsReadBackAsThoseOfRk3588) {
  ConvLayer layer = layer_of({.channels = 32, .height = 160, .width = 160},
                             {.channels = 64, .height = 80, .width = 80}, 3, 2, 1);
  layer.params.activation = program::Activation::kRelu;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  const auto task = write_convolution(layer, (*tiles)[1]);
  ASSERT_TRUE(task.ok());
  const auto list = for_rk3562(*task);
  ASSERT_TRUE(list.ok());
  const auto back = target::rk3562_as_rk3588(registers_with(*list), list->units);
  ASSERT_TRUE(back.ok()) << back.status().message();
  for (const target::PlacedField& field : target::rk3562_fields())
    EXPECT_EQ(back->get(field.rk3588), registers_with(*task).get(field.rk3588))
        << field.rk3588.name;
  EXPECT_EQ(back->get(reg::DPU_BS_MUL_CFG__BS_MUL_SHIFT_VALUE), 14U);
  EXPECT_EQ(back->get(reg::DPU_BN_CFG__BN_RELU_BYPASS), 0U);
  // The row that stayed in the buffer is the one before the first that is fetched: rows of 160
  // atoms.
  EXPECT_EQ(back->get(reg::CNA_FEATURE_DATA_ADDR), 43U * 160 * 16);

  // A stage that no known list has.
  target::RegisterFile other = registers_with(*list);
  other.write({0, 0x12345, target::rk3562_reg::kElements});
  EXPECT_EQ(target::rk3562_as_rk3588(other, list->units).status().code(), Code::kUnsupported);
}

}  // namespace
}  // namespace rk::registers
