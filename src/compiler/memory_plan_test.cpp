// SPDX-License-Identifier: Apache-2.0
#include "compiler/memory_plan.h"

#include <gtest/gtest.h>

#include "compiler/layout.h"
#include "program/memory.h"

namespace rk::compiler {
namespace {

TEST(MemoryPlanTest, AnActivationTakesThePlaceOfWhatItReads) {
  // Conv, exSwish, Conv: the chip computes the activation as the first convolution writes.
  program::Variant variant;
  variant.tensors.resize(1);
  for (const auto kind : {program::TensorKind::kInput, program::TensorKind::kInternal,
                          program::TensorKind::kInternal, program::TensorKind::kOutput})
    variant.tensors.push_back({.dtype = DType::kI8, .kind = kind, .shape = {1, 32, 8, 8}});
  variant.inputs = {1};
  variant.outputs = {4};
  variant.steps = {
      {.type = "Conv", .inputs = {1}, .outputs = {2}, .params = program::ConvParams{}},
      {.type = "exSwish",
       .inputs = {2},
       .outputs = {3},
       .params = program::OpParams{.op = "exSwish"}},
      {.type = "Conv", .inputs = {3}, .outputs = {4}, .params = program::ConvParams{}}};
  const target::Target* const rk3588 = target::find_target("rk3588").value();
  ASSERT_TRUE(assign_layouts(*rk3588, variant).ok());
  ASSERT_TRUE(assign_memory(*rk3588, variant).ok());
  EXPECT_EQ(variant.tensors[2].offset_in_arena, 2048u);
  EXPECT_EQ(variant.tensors[3].offset_in_arena, 2048u);
  EXPECT_EQ(variant.tensors[4].offset_in_arena, 0u);
  EXPECT_EQ(variant.arena_bytes, 4096u);
  // A second reader of the sum before the activation keeps both apart.
  variant.steps.push_back(
      {.type = "Conv", .inputs = {2}, .outputs = {4}, .params = program::ConvParams{}});
  ASSERT_TRUE(assign_memory(*rk3588, variant).ok());
  EXPECT_NE(variant.tensors[2].offset_in_arena, variant.tensors[3].offset_in_arena);
}

// An input, then one tensor after the other, the last one an output.
program::Variant chain_of(std::span<const Shape> shapes) {
  program::Variant variant;
  variant.tensors.resize(1);
  for (size_t i = 0; i < shapes.size(); ++i) {
    using enum program::TensorKind;
    const auto kind = i == 0 ? kInput : i + 1 == shapes.size() ? kOutput : kInternal;
    variant.tensors.push_back({.dtype = DType::kI8, .kind = kind, .shape = shapes[i]});
  }
  variant.inputs = {1};
  variant.outputs = {static_cast<int32_t>(shapes.size())};
  return variant;
}

TEST(MemoryPlanTest, AReshapeThatMovesNoByteStaysInPlace) {
  const auto offset_of_result = [](const Shape& from, const Shape& to) {
    const Shape shapes[] = {{1, 32, 4, 4}, from, to, {1, 32, 4, 4}};
    program::Variant variant = chain_of(shapes);
    variant.steps = {
        {.type = "Conv", .inputs = {1}, .outputs = {2}, .params = program::ConvParams{}},
        {.type = "Reshape",
         .inputs = {2},
         .outputs = {3},
         .params = program::OpParams{.op = "Reshape"}},
        {.type = "Conv", .inputs = {3}, .outputs = {4}, .params = program::ConvParams{}}};
    const target::Target* const rk3588 = target::find_target("rk3588").value();
    EXPECT_TRUE(assign_layouts(*rk3588, variant).ok());
    EXPECT_TRUE(assign_memory(*rk3588, variant).ok());
    return static_cast<int64_t>(variant.tensors[3].offset_in_arena) -
           static_cast<int64_t>(variant.tensors[2].offset_in_arena);
  };
  EXPECT_EQ(offset_of_result({1, 64, 4, 8}, {2, 32, 4, 8}), 0);
  EXPECT_EQ(offset_of_result({1, 64, 4, 8}, {1, 64, 8, 4}), 0);
  EXPECT_EQ(offset_of_result({1, 64, 1, 1}, {1, 64}), 0);
  EXPECT_EQ(offset_of_result({1, 64, 16}, {64, 16}), 0);
  EXPECT_NE(offset_of_result({1, 48, 4, 8}, {2, 24, 4, 8}), 0);
  EXPECT_NE(offset_of_result({1, 64, 4, 8}, {1, 32, 8, 8}), 0);
}

TEST(MemoryPlanTest, AnActivationBehindAConvolutionWritesTheOutputItself) {
  const Shape shapes[] = {{1, 32, 8, 8}, {1, 32, 8, 8}, {1, 32, 8, 8}};
  program::Variant variant = chain_of(shapes);
  variant.steps = {{.type = "Conv", .inputs = {1}, .outputs = {2}, .params = program::ConvParams{}},
                   {.type = "Sigmoid",
                    .inputs = {2},
                    .outputs = {3},
                    .params = program::OpParams{.op = "Sigmoid"}}};
  const target::Target* const rk3588 = target::find_target("rk3588").value();
  ASSERT_TRUE(assign_layouts(*rk3588, variant).ok());
  ASSERT_TRUE(assign_memory(*rk3588, variant).ok());
  EXPECT_EQ(variant.tensors[3].offset_in_arena, variant.tensors[2].offset_in_arena);
  EXPECT_EQ(variant.arena_bytes, 4096u);
}

TEST(MemoryPlanTest, ATransposedConvolutionWritesABlockOfChannelsMore) {
  struct Case {
    const char* chip;
    DType dtype;
    int64_t in, out;
    uint64_t printed;
  };
  for (const Case& c :
       {Case{"rk3576", DType::kI8, 64, 32, 65536}, Case{"rk3576", DType::kI8, 32, 32, 32768},
        Case{"rk3576", DType::kI8, 32, 40, 65536}, Case{"rk3576", DType::kF16, 64, 32, 98304},
        Case{"rv1126b", DType::kI8, 32, 16, 65536}, Case{"rk3588", DType::kI8, 32, 40, 65536}}) {
    const Shape shapes[] = {{1, 16, 16, 16}, {1, c.in, 16, 16}, {1, c.out, 32, 32}, {1, 8, 32, 32}};
    program::Variant variant = chain_of(shapes);
    for (auto& tensor : variant.tensors) tensor.dtype = c.dtype;
    variant.steps = {
        {.type = "Conv", .inputs = {1}, .outputs = {2}, .params = program::ConvParams{}},
        {.type = "ConvTranspose",
         .inputs = {2},
         .outputs = {3},
         .params = program::ConvParams{.transposed = true}},
        {.type = "Conv", .inputs = {3}, .outputs = {4}, .params = program::ConvParams{}}};
    ASSERT_TRUE(assign_layouts(*target::find_target(c.chip).value(), variant).ok());
    EXPECT_EQ(variant.tensors[3].size_bytes, c.printed) << c.chip << " " << c.in << " " << c.out;
  }
}

TEST(MemoryPlanTest, ADepthwiseConvolutionOfALargeOperandWritesHalfABlockMore) {
  struct Case {
    const char* chip;
    int64_t channels, in, out;
    uint64_t printed;  // channels
  };
  for (const Case& c : {Case{"rk3562", 72, 56, 56, 112}, Case{"rk3562", 48, 112, 56, 80},
                        Case{"rk3562", 120, 28, 28, 128}, Case{"rk3562", 240, 28, 14, 256},
                        Case{"rk3562", 32, 112, 112, 32}, Case{"rk3576", 72, 56, 28, 128},
                        Case{"rk3576", 96, 112, 56, 160}, Case{"rk3576", 144, 56, 56, 192},
                        Case{"rv1126b", 144, 56, 56, 224}, Case{"rv1106", 96, 112, 56, 112}}) {
    const Shape shapes[] = {{1, 16, c.in, c.in},
                            {1, c.channels, c.in, c.in},
                            {1, c.channels, c.out, c.out},
                            {1, 8, c.out, c.out}};
    program::Variant variant = chain_of(shapes);
    variant.steps = {
        {.type = "Conv", .inputs = {1}, .outputs = {2}, .params = program::ConvParams{}},
        {.type = "Conv",
         .inputs = {2},
         .outputs = {3},
         .params = program::ConvParams{.group = static_cast<int32_t>(c.channels)}},
        {.type = "Conv", .inputs = {3}, .outputs = {4}, .params = program::ConvParams{}}};
    ASSERT_TRUE(assign_layouts(*target::find_target(c.chip).value(), variant).ok());
    EXPECT_EQ(variant.tensors[3].size_bytes, c.printed * static_cast<uint64_t>(c.out * c.out))
        << c.chip << " " << c.channels;
  }
}

// The network of the guide's SRAM sample (section 5.7.3.4): MobileNetV1 in int8 on RK3588, places and sizes as printed
// there for 512 KiB of SRAM, relative to where the arena begins.
struct GuideRow {
  int64_t channels, edge;
  uint64_t start, size, hit;
};
constexpr GuideRow kGuide[] = {
    {32, 112, 0x24c00, 0x62000, 0x5b400}, {32, 112, 0x86c00, 0xc4000, 0},
    {64, 112, 0x14ac00, 0xc4000, 0},      {64, 56, 0x00000, 0x31000, 0x31000},
    {128, 56, 0x31000, 0x62000, 0x4f000}, {128, 56, 0x93000, 0x62000, 0},
    {128, 56, 0x00000, 0x62000, 0x62000}, {128, 28, 0x62000, 0x18800, 0x18800},
    {256, 28, 0x00000, 0x31000, 0x31000}, {256, 28, 0x31000, 0x31000, 0x31000},
    {256, 28, 0x00000, 0x31000, 0x31000}, {256, 14, 0x31000, 0x0c400, 0x0c400},
    {512, 14, 0x00000, 0x18800, 0x18800}, {512, 14, 0x18800, 0x18800, 0x18800},
    {512, 14, 0x00000, 0x18800, 0x18800}, {512, 14, 0x18800, 0x18800, 0x18800},
    {512, 14, 0x00000, 0x18800, 0x18800}, {512, 14, 0x18800, 0x18800, 0x18800},
    {512, 14, 0x00000, 0x18800, 0x18800}, {512, 14, 0x18800, 0x18800, 0x18800},
    {512, 14, 0x00000, 0x18800, 0x18800}, {512, 14, 0x18800, 0x18800, 0x18800},
    {512, 14, 0x00000, 0x18800, 0x18800}, {512, 7, 0x18800, 0x06800, 0x06800},
    {1024, 7, 0x00000, 0x0d000, 0x0d000}, {1024, 7, 0x0d000, 0x0d000, 0x0d000},
    {1024, 7, 0x00000, 0x0d000, 0x0d000}, {1024, 1, 0x0d000, 0x00400, 0x00400},
    {1000, 1, 0x00000, 0x00400, 0x00400},
};

program::Variant guide_network() {
  program::Variant variant;
  variant.tensors.resize(1);
  const auto add = [&](const Shape& shape, DType dtype, program::TensorKind kind) {
    variant.tensors.push_back({.dtype = dtype, .kind = kind, .shape = shape});
    return static_cast<int32_t>(variant.tensors.size() - 1);
  };
  int32_t last = add({1, 3, 224, 224}, DType::kI8, program::TensorKind::kInput);
  variant.inputs = {last};
  constexpr size_t kPool = 27;
  for (size_t i = 0; i < std::size(kGuide); ++i) {
    const GuideRow& row = kGuide[i];
    const int32_t out =
        add({1, row.channels, row.edge, row.edge}, DType::kI8, program::TensorKind::kInternal);
    program::Step step{.inputs = {last}, .outputs = {out}};
    if (i == kPool) {
      step.params = program::PoolParams{.kind = program::PoolKind::kAverage};
    } else {
      const bool depthwise = i < kPool && i % 2 == 1;
      step.params =
          program::ConvParams{.group = depthwise ? static_cast<int32_t>(row.channels) : 1};
    }
    variant.steps.push_back(std::move(step));
    last = out;
  }
  const int32_t out = add({1, 1000, 1, 1}, DType::kF32, program::TensorKind::kOutput);
  variant.steps.push_back(
      {.inputs = {last}, .outputs = {out}, .params = program::OpParams{.op = "Softmax"}});
  variant.outputs = {out};
  return variant;
}

TEST(MemoryPlanTest, GuideSampleHasThePrintedPlacesAndTraffic) {
  constexpr uint64_t kSram = 524288;
  const target::Target* const rk3588 = target::find_target("rk3588").value();
  program::Variant variant = guide_network();
  ASSERT_TRUE(assign_layouts(*rk3588, variant).ok());
  ASSERT_TRUE(assign_memory(*rk3588, variant).ok());
  for (size_t i = 0; i < std::size(kGuide); ++i) {
    const program::ProgramTensor& tensor = variant.tensors[i + 2];
    EXPECT_EQ(tensor.offset_in_arena, kGuide[i].start) << i;
    EXPECT_EQ(tensor.size_bytes, kGuide[i].size) << i;
    EXPECT_EQ(program::bytes_in_sram(tensor, kSram), kGuide[i].hit) << i;
  }
  EXPECT_EQ(variant.arena_bytes, 2157568u);
  const program::MemoryTraffic traffic = program::memory_traffic(variant, kSram);
  EXPECT_EQ(traffic.feature_bytes, 11068320u);
  EXPECT_EQ(traffic.sram_bytes, 6688768u);
}

}  // namespace
}  // namespace rk::compiler
