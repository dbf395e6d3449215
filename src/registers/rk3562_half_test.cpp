// SPDX-License-Identifier: Apache-2.0
// Expected words and tiles are those of vendor files for RK3562, float16: digits, signs, ultraface.
#include <gtest/gtest.h>

#include <bit>

#include "registers/convolution.h"
#include "registers/dpu.h"
#include "registers/half_weights.h"
#include "registers/pooling.h"
#include "registers/rk3562.h"
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
  for (Feature* feature : {&layer.in, &layer.out}) {
    feature->chip = &kRk3562;
    feature->plane_align = 4;
    feature->is_float = true;
  }
  layer.params.kernel = {kernel, kernel};
  layer.params.stride = {stride, stride};
  layer.params.pads = {pad, pad, pad, pad};
  layer.params.activation = program::Activation::kRelu;
  layer.weight_bytes = static_cast<uint64_t>((in.channels + 7) / 8 * 8 * out.channels * kernel) *
                       static_cast<uint64_t>(kernel) * 2;
  return layer;
}

// digits, Conv:/pw/Conv and Conv:/c4/Conv.
TEST(RegisterRk3562Half, AConvolutionHasTheWordsOfTheVendorsFile) {
  ConvLayer layer = layer_of({.channels = 16, .height = 14, .width = 14},
                             {.channels = 32, .height = 14, .width = 14}, 1, 1, 0);
  auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 1U);
  const auto list = list_of(layer, tiles->front());
  expect_words(
      list, {{0x100c, 0x10200120}, {0x1010, 0x80},       {0x101c, 0x400},    {0x1020, 0x20000020},
             {0x103c, 0x70000},    {0x1044, 0xe0007},    {0x1084, 0},        {0x3018, 0x200},
             {0x3024, 0},          {0x4010, 0x40000002}, {0x4030, 0x1f0001}, {0x4038, 0x100092},
             {0x4044, 0},          {0x4050, 2},          {0x4054, 0},        {0x4060, 0x12},
             {0x406c, 0},          {0x4070, 0x7fffffff}, {0x40ac, 0},        {0x40b0, 0x10001},
             {0x40b4, 0},          {0x501c, 2},          {0x5034, 1},        {0x5044, 0x17850}});
  EXPECT_EQ(list->commands.size(), 131U);

  layer = layer_of({.channels = 32, .height = 14, .width = 14},
                   {.channels = 32, .height = 14, .width = 14}, 3, 1, 1);
  layer.has_addend = true;
  tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  expect_words(list_of(layer, tiles->front()), {{0x1010, 0x60},
                                                {0x407c, 0x2c0c0},
                                                {0x4080, 0},
                                                {0x4084, 1},
                                                {0x5034, 0x40000008},
                                                {0x5044, 0x17858}});
}

// digits, Conv:/dw/Conv: a limit of 6; ultraface, Conv:254: blocks of 16 channels, each in rows.
TEST(RegisterRk3562Half, DepthwiseWeightsHaveNoOffsetsBetweenThem) {
  ConvLayer layer = layer_of({.channels = 16, .height = 28, .width = 28},
                             {.channels = 16, .height = 14, .width = 14}, 3, 2, 1);
  layer.is_depthwise = true;
  layer.params.activation = program::Activation::kClip;
  layer.params.clip_limit_f32 = 6;
  layer.weight_bytes = 288;
  auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  expect_words(list_of(layer, tiles->front()), {{0x100c, 0x10200121},
                                                {0x101c, 0x120},
                                                {0x1024, 0x3030001},
                                                {0x3018, 0x202},
                                                {0x3020, 0xf},
                                                {0x4030, 0xf0003},
                                                {0x4050, 0x126},
                                                {0x406c, 0},
                                                {0x4070, 0x40c00000},
                                                {0x4078, 0x40c00000},
                                                {0x5044, 0x17852}});

  layer = layer_of({.channels = 32, .height = 120, .width = 160},
                   {.channels = 32, .height = 60, .width = 80}, 3, 2, 1);
  layer.is_depthwise = true;
  layer.weight_bytes = 576;
  tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 6U);
  const auto last = list_of(layer, (*tiles)[3]);
  expect_words(last, {{0x1018, 0x180707},
                      {0x101c, 0x120},
                      {0x1038, 8},
                      {0x102c, 0xa0002c},
                      {0x1088, 614400},
                      {0x1110, 288},
                      {0x4018, 153600},
                      {0x5020, 64}});
}

// signs, Conv:/stem/stem.1/stem.1.0/Conv: rows that tiles share are fetched again.
TEST(RegisterRk3562Half, TilesDoNotShareRows) {
  const ConvLayer layer = layer_of({.channels = 16, .height = 160, .width = 160},
                                   {.channels = 24, .height = 80, .width = 80}, 3, 2, 1);
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 4U);
  expect_words(list_of(layer, (*tiles)[1]), {{0x1018, 0x180707},
                                             {0x102c, 0xa0002b},
                                             {0x103c, 0x500000},
                                             {0x1040, 0xe000000},
                                             {0x1078, 0xa0002b},
                                             {0x1088, 110080},
                                             {0x4018, 28160}});
}

// FastestDet and mobilenet_v2: all rows of the last channels fit, which are fewer; and all rows of
// as many channels as the buffer holds without the border below.
TEST(RegisterRk3562Half, EveryPartOfADepthwiseLayerIsCutOnItsOwn) {
  struct Part {
    int64_t channels, rows, out_rows;
    bool operator==(const Part&) const = default;
  };
  const auto parts_of = [](const ConvLayer& layer) {
    std::vector<Part> parts;
    const auto tiles = tile_convolution(layer);
    if (!tiles.ok()) return parts;
    for (const ConvTile& tile : *tiles)
      parts.push_back({tile.channels, tile.in_rows, tile.out_rows});
    return parts;
  };
  ConvLayer layer = layer_of({.channels = 24, .height = 88, .width = 88},
                             {.channels = 24, .height = 44, .width = 44}, 3, 2, 1);
  layer.is_depthwise = true;
  layer.weight_bytes = 576;
  EXPECT_EQ(parts_of(layer), (std::vector<Part>{{16, 80, 40}, {16, 9, 4}, {8, 88, 44}}));
  layer = layer_of({.channels = 192, .height = 28, .width = 28},
                   {.channels = 192, .height = 28, .width = 28}, 3, 1, 1);
  layer.is_depthwise = true;
  layer.weight_bytes = 3456;
  EXPECT_EQ(parts_of(layer), (std::vector<Part>{{144, 28, 28}, {48, 28, 28}}));
}

// digits: a picture of one channel of 28x28 whose numbers are (x - 128) / 64.
TEST(RegisterRk3562Half, APictureBecomesHalves) {
  ConvLayer layer = layer_of(
      {.channels = 1, .height = 28, .width = 28, .is_picture = true, .is_model_input = true},
      {.channels = 16, .height = 28, .width = 28}, 3, 1, 1);
  layer.picture = {{{16384, 20}, -2}};
  layer.weight_bytes = 0x480;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  expect_words(list_of(layer, tiles->front()), {{0x100c, 0x34208122},
                                                {0x1010, 0x2d8},
                                                {0x101c, 0x480},
                                                {0x1020, 0x20000048},
                                                {0x103c, 0x40000},
                                                {0x1044, 0x200020},
                                                {0x1048, 0x149},
                                                {0x104c, 0x14000},
                                                {0x1054, 0xfffffffe},
                                                {0x1078, 0x700001},
                                                {0x1090, 0x70},
                                                {0x1094, 0x70},
                                                {0x118c, 0x6f006f},
                                                {0x3018, 0x200},
                                                {0x3024, 0}});
}

// digits, MaxPool:/pool/MaxPool; signs, Resize:/Resize and the selection of
// Concat:/stem/stem.2/Concat.
TEST(RegisterRk3562Half, PoolingEnlargementsAndSelectionsHaveTheWordsOfTheVendorsFiles) {
  PoolLayer pool;
  pool.in = {.channels = 32, .height = 14, .width = 14, .plane_align = 4, .chip = &kRk3562};
  pool.out = {.channels = 32, .height = 7, .width = 7, .plane_align = 4, .chip = &kRk3562};
  pool.in.is_float = pool.out.is_float = true;
  pool.params.kernel = pool.params.stride = {2, 2};
  expect_words(for_rk3562(write_pool(pool, {0, 7})), {{0x6044, 0xfbff},
                                                      {0x6048, 0xfbff},
                                                      {0x604c, 0xfbff},
                                                      {0x6050, 0xfbff},
                                                      {0x6084, 0x342},
                                                      {0x7030, 0x42}});

  Enlargement one{.height = 10, .width = 10, .source_plane = 100, .out_plane = 400};
  one.chip = &kRk3562;
  one.is_float = true;
  const auto enlarged = write_enlargement(one);
  ASSERT_TRUE(enlarged.ok());
  expect_words(for_rk3562(*enlarged),
               {{0x4010, 0x40000002}, {0x402c, 7}, {0x4030, 0x70000}, {0x5044, 0x27849}});

  ConvLayer layer = layer_of({.channels = 32, .height = 80, .width = 80},
                             {.channels = 24, .height = 80, .width = 80}, 1, 1, 0);
  layer.params.activation = program::Activation::kNone;
  layer.has_bias = false;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  ASSERT_EQ(tiles->size(), 2U);
  const auto selection = list_of(layer, (*tiles)[1]);
  expect_words(selection, {{0x1038, 0x2008},
                           {0x101c, 0x600},
                           {0x102c, 0x500024},
                           {0x4030, 0x170001},
                           {0x4038, 0x53},
                           {0x4050, 2},
                           {0x40b0, 0x10001},
                           {0x40c0, 0x4440102}});
  EXPECT_EQ(selection->units, 0xdU);
  EXPECT_EQ(selection->find(0x5044), nullptr);
}

// Blocks of 8 kernels by 32 channels, four lanes of a picture, 16 channels of a depthwise layer.
TEST(RegisterRk3562Half, WeightsLieInTheChipsBlocks) {
  const auto shape_of = [](const Shape& shape, program::WeightUse use) {
    const auto blocks = half_blocks(kRk3562, shape, use, [](int64_t) { return uint16_t{0}; });
    return blocks.ok() ? blocks->native_shape : std::vector<int32_t>();
  };
  using program::WeightUse;
  EXPECT_EQ(shape_of(Shape{16, 3, 3, 3}, WeightUse::kPicture),
            (std::vector<int32_t>{2, 1, 3, 3, 8, 4}));
  EXPECT_EQ(shape_of(Shape{32, 16, 1, 1}, WeightUse::kDense),
            (std::vector<int32_t>{4, 1, 1, 1, 8, 16}));
  EXPECT_EQ(shape_of(Shape{1, 20, 3, 3}, WeightUse::kDepthwise),
            (std::vector<int32_t>{1, 2, 3, 3, 1, 16}));
}

target::RegisterFile registers_with(const RegisterTask& task) {
  target::RegisterFile file;
  for (const Command& command : task.commands) file.write({0, command.value, command.offset});
  return file;
}

// What a list says in the registers of RK3588 comes back.
TEST(RegisterRk3562Half, ListsReadBackAsThoseOfRk3588) {
  ConvLayer layer = layer_of({.channels = 24, .height = 40, .width = 40},
                             {.channels = 48, .height = 20, .width = 20}, 3, 2, 1);
  layer.params.activation = program::Activation::kClip;
  layer.params.clip_limit_f32 = 6;
  const auto tiles = tile_convolution(layer);
  ASSERT_TRUE(tiles.ok());
  const auto task = write_convolution(layer, tiles->front());
  ASSERT_TRUE(task.ok());
  const auto list = for_rk3562(*task);
  ASSERT_TRUE(list.ok());
  const auto back = target::rk3562_as_rk3588(registers_with(*list), list->units);
  ASSERT_TRUE(back.ok()) << back.status().message();
  for (const target::PlacedField& field : target::rk3562_fields())
    EXPECT_EQ(back->get(field.rk3588), registers_with(*task).get(field.rk3588))
        << field.rk3588.name;
  EXPECT_EQ(back->get(reg::CNA_DATA_SIZE1__DATAIN_CHANNEL), 24U);
  EXPECT_EQ(back->get(reg::DPU_BN_RELUX_CMP_VALUE), std::bit_cast<uint32_t>(6.0f));

  // Halves in the array and int8 behind it.
  target::RegisterFile other = registers_with(*list);
  other.write({0, 0, target::rk3562_reg::kDpuFormat});
  EXPECT_EQ(target::rk3562_as_rk3588(other, list->units).status().code(), Code::kUnsupported);
}

Result<RegisterTask> list_of(const DpuTask& dpu) {
  RK_ASSIGN(const RegisterTask task, write_dpu(dpu));
  return for_rk3562(task);
}

// A conversion of int8 and a Softmax of 24 channels of 5x5, compiled to ask.
TEST(RegisterRk3562Half, Int8BecomesHalves) {
  DpuTask widen{.channels = 32, .height = 5, .width = 5, .chip = &kRk3562, .real_channels = 24};
  widen.source_plane = widen.out_plane = 28;
  widen.to_half = true;
  expect_words(list_of(widen), {{0x4010, 0x40000000},
                                {0x401c, 0x1c},
                                {0x402c, 0x17},
                                {0x4030, 0x170003},
                                {0x4038, 0x53},
                                {0x4050, 0x126},
                                {0x40b0, 0x10001},
                                {0x40b8, 0x38},
                                {0x5014, 0x1f},
                                {0x5044, 0x7809},
                                {0x504c, 3}});
  DpuTask scale{.channels = 24, .height = 5, .width = 5, .is_float = true, .chip = &kRk3562};
  scale.real_channels = 24;
  scale.source_plane = scale.out_plane = 28;
  scale.half_source = HalfStage{-4, 0x2961};
  expect_words(list_of(scale), {{0x4010, 0x40000002},
                                {0x4030, 0x170001},
                                {0x4038, 0x100012},
                                {0x4040, 0xc0800000},
                                {0x4044, 0x29610000},
                                {0x4050, 0},
                                {0x5044, 0x17849}});
}

TEST(RegisterRk3562Half, StepsOfASoftmaxHaveTheWordsOfTheVendorsFile) {
  DpuTask largest{.channels = 24, .height = 1, .width = 25, .is_float = true, .chip = &kRk3562};
  largest.real_channels = 24;
  largest.source_plane = 28;
  largest.writes_largest = true;
  largest.beyond = uint16_t{0xfbff};
  expect_words(list_of(largest), {{0x400c, 0x20001e5},
                                  {0x4014, 0xfbff},
                                  {0x401c, 0},
                                  {0x4024, 0x1c00000},
                                  {0x402c, 0x17},
                                  {0x4030, 1},
                                  {0x40b4, 0x40000000},
                                  {0x40c8, 4},
                                  {0x5034, 1},
                                  {0x5044, 0x17849},
                                  {0x504c, 3}});
  DpuTask join{.channels = 24, .height = 5, .width = 5, .is_float = true, .chip = &kRk3562};
  join.source_plane = join.addend_plane = join.out_plane = 28;
  DpuTask look_up = join;
  look_up.lookup_factor = 0x6a66;
  look_up.lookup_addend = 16380;
  expect_words(list_of(look_up), {{0x4060, 0x20000},
                                  {0x4064, 0x40a00000},
                                  {0x4068, 0x6a660000},
                                  {0x407c, 0x1004140},
                                  {0x40ac, 1},
                                  {0x40b0, 0x14000},
                                  {0x40b4, 0xf00e},
                                  {0x40cc, 0x10},
                                  {0x4108, 0x160}});
  join.addend = program::InputStage{0, {1, 0}};
  join.join = Join::kDifference;
  expect_words(list_of(join), {{0x407c, 0x4c0c0}, {0x5034, 0x40000008}, {0x5044, 0x17849}});
  join.join = Join::kLargest;
  expect_words(list_of(join), {{0x407c, 0xc0c0}});
  join.join = Join::kQuotient;
  expect_words(list_of(join), {{0x4010, 0x20000001},
                               {0x407c, 0x10421c8},
                               {0x40b0, 1},
                               {0x5034, 0x40000008},
                               {0x5044, 0xf821}});
  join.join = Join::kProduct;
  EXPECT_EQ(list_of(join).status().code(), Code::kUnsupported);
}

// fastestdet in int8, the last list of exSoftmax13:Softmax_262.
TEST(RegisterRk3562Half, HalvesBecomeInt8) {
  DpuTask narrow{.channels = 80, .height = 22, .width = 22, .is_float = true, .chip = &kRk3562};
  narrow.real_channels = 80;
  narrow.source_plane = narrow.out_plane = 484;
  narrow.to_int8 = true;
  narrow.half_source = HalfStage{-128, 0x5c0f};
  const auto list = list_of(narrow);
  expect_words(list, {{0x4010, 2},
                      {0x4030, 0x4f0003},
                      {0x4038, 0x52},
                      {0x4044, 0x5c0f0000},
                      {0x4060, 0x20010},
                      {0x4064, 0xc3000000},
                      {0x407c, 0x10041c1},
                      {0x5034, 0x40000008},
                      {0x5040, 0x3c8},
                      {0x5044, 0x17b49},
                      {0x504c, 0x1e4},
                      {0x506c, 0x1e4}});
  EXPECT_EQ(list->find(0x5038)->value, 7744U);
}

}  // namespace
}  // namespace rk::registers
