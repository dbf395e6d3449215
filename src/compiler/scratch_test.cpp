// SPDX-License-Identifier: Apache-2.0
// Sizes are those that the vendor's compiler (2.3.2) prints for networks of one such step between convolutions.
#include "compiler/scratch.h"

#include <gtest/gtest.h>

namespace rk::compiler {
namespace {

using program::OpParams;
using program::TensorKind;

const target::Target& chip(const char* name) { return *target::find_target(name).value(); }

// One step from a tensor of shape `in` to one of shape `out`, both internal.
program::Variant one_step(DType dtype, const Shape& in, const Shape& out, OpParams params,
                          std::string type) {
  program::Variant variant;
  variant.tensors = {{},
                     {.dtype = dtype, .shape = in, .size_bytes = 64},
                     {.dtype = dtype, .shape = out, .size_bytes = 64}};
  const size_t inputs = params.op == "exSDPAttention" ? 3 : 1;
  variant.steps = {{.type = std::move(type),
                    .inputs = std::vector<int32_t>(inputs, 1),
                    .outputs = {2},
                    .params = std::move(params)}};
  return variant;
}

uint64_t scratch(const char* name, DType dtype, const Shape& in, const Shape& out,
                 OpParams params) {
  const std::string type = params.op;
  const program::Variant variant = one_step(dtype, in, out, std::move(params), type);
  return scratch_bytes(chip(name), variant, variant.steps[0]);
}

TEST(ScratchTest, AttentionGrowsWithTheSquareOfTheSequence) {
  struct Case {
    const char* chip;
    DType dtype;
    int64_t heads, rows, depth;
    double printed;
  };
  for (const Case& c : {Case{"rk3588", DType::kI8, 1, 256, 32, 0xa40c0},
                        Case{"rk3588", DType::kI8, 2, 400, 32, 0x1936c0},
                        Case{"rk3588", DType::kI8, 1, 512, 32, 0x2880c0},
                        Case{"rk3588", DType::kF16, 1, 256, 32, 0xe5100},
                        Case{"rk3588", DType::kF16, 1, 384, 32, 0x1ff900},
                        Case{"rk3588", DType::kI8, 1, 320, 48, 0x1158c0},
                        Case{"rk3576", DType::kI8, 1, 320, 48, 0xe3900},
                        Case{"rk3576", DType::kI8, 1, 400, 32, 0x145500},
                        Case{"rk3576", DType::kI8, 4, 256, 32, 0x1cc280},
                        Case{"rk3576", DType::kI8, 2, 512, 32, 0x718280},
                        Case{"rk3576", DType::kF16, 2, 256, 32, 0x210180},
                        Case{"rk3562", DType::kI8, 1, 512, 32, 0x206100}}) {
    const Shape shape = {1, c.heads, c.rows, c.depth};
    const auto ours =
        static_cast<double>(scratch(c.chip, c.dtype, shape, shape, {.op = "exSDPAttention"}));
    EXPECT_NEAR(ours / c.printed, 1, 0.03) << c.chip << " " << c.rows;
  }
}

TEST(ScratchTest, SoftmaxAndNormalizationTakeSoMuchForEachPosition) {
  const Shape anchors = {1, 4096, 2}, classes = {1, 600, 81}, rows = {1, 256, 128};
  const OpParams softmax = {.op = "Softmax", .attrs = {{"axis", int64_t{2}}}};
  EXPECT_EQ(scratch("rk3588", DType::kF16, anchors, anchors, softmax), 0x70000u);
  EXPECT_EQ(scratch("rk3588", DType::kF16, classes, classes, softmax), 0x6e280u);
  EXPECT_NEAR(double(scratch("rk3576", DType::kF16, anchors, anchors, softmax)), 0x220040, 64);
  const OpParams norm = {.op = "LayerNormalization"};
  EXPECT_EQ(scratch("rk3588", DType::kF16, rows, rows, norm), 0x24040u);
  EXPECT_EQ(scratch("rk3588", DType::kI8, rows, rows, norm), 0x22040u);
}

TEST(ScratchTest, ChannelsThatBecomeABatchAreCopied) {
  const OpParams reshape = {.op = "Reshape"};
  EXPECT_EQ(scratch("rk3588", DType::kI8, {1, 32, 48, 63}, {4, 8, 48, 63}, reshape), 0x5e800u);
  EXPECT_EQ(scratch("rk3588", DType::kI8, {4, 8, 48, 64}, {1, 32, 48, 64}, reshape), 0x60000u);
  EXPECT_EQ(scratch("rk3588", DType::kF16, {1, 32, 48, 63}, {4, 8, 48, 63}, reshape), 0x2f400u);
  EXPECT_EQ(scratch("rk3588", DType::kI8, {1, 96, 22, 22}, {48, 2, 22, 22}, reshape), 0x108000u);
  EXPECT_EQ(scratch("rk3588", DType::kF16, {1, 96, 22, 22}, {48, 2, 22, 22}, reshape), 0xc6000u);
  EXPECT_EQ(scratch("rk3588", DType::kI8, {1, 48, 8, 8}, {1, 48, 1, 64}, reshape), 0u);
  const OpParams swap = {.op = "Transpose", .attrs = {{"perm", std::vector<int64_t>{1, 0, 2, 3}}}};
  EXPECT_EQ(scratch("rk3588", DType::kI8, {24, 2, 44, 44}, {2, 24, 44, 44}, swap), 0x1e4000u);
  EXPECT_EQ(scratch("rk3588", DType::kF16, {48, 2, 22, 22}, {2, 48, 22, 22}, swap), 0xb7000u);
  const OpParams other = {.op = "Transpose", .attrs = {{"perm", std::vector<int64_t>{0, 2, 3, 1}}}};
  EXPECT_EQ(scratch("rk3588", DType::kI8, {1, 24, 44, 44}, {1, 44, 44, 24}, other), 0u);
}

TEST(ScratchTest, ChannelsThatBecomeTheLastAxisLieInFullBlocks) {
  struct Case {
    const char* chip;
    DType dtype;
    int64_t channels, height, width;
    uint64_t operand, result, scratch;
  };
  for (const Case& c : {Case{"rk3588", DType::kI8, 6, 30, 40, 38400, 20480, 40960},
                        Case{"rk3588", DType::kF16, 10, 20, 20, 25600, 15360, 30720},
                        Case{"rk3576", DType::kI8, 12, 30, 40, 38400, 20480, 14400},
                        Case{"rk3576", DType::kF16, 12, 30, 40, 38400, 40960, 67200},
                        Case{"rk3562", DType::kF16, 8, 8, 10, 1280, 1280, 0},
                        Case{"rv1106b", DType::kI8, 12, 4, 5, 320, 640, 560}}) {
    program::Variant variant = one_step(
        c.dtype, {1, c.channels, c.height, c.width}, {1, c.height, c.width, c.channels},
        {.op = "Transpose", .attrs = {{"perm", std::vector<int64_t>{0, 2, 3, 1}}}}, "Transpose");
    variant.tensors[1].layout = program::Layout::kNc1hwc2;
    variant.tensors[1].size_bytes = c.operand;
    EXPECT_EQ(scratch_bytes(chip(c.chip), variant, variant.steps[0]), c.scratch) << c.chip;
    EXPECT_EQ(stored_bytes(chip(c.chip), variant)[2], c.result) << c.chip;
  }
}

TEST(ScratchTest, OutputsAreHandedOverInCopies) {
  const auto copies = [](const char* name, DType dtype, const Shape& shape) {
    return output_copies(chip(name), {.dtype = dtype, .kind = TensorKind::kOutput, .shape = shape});
  };
  using Sizes = std::vector<uint64_t>;
  EXPECT_EQ(copies("rk3566", DType::kI8, {1, 64, 80, 80}), (Sizes{0x190000}));
  EXPECT_EQ(copies("rk3566", DType::kI8, {1, 64, 20, 20}), (Sizes{0x7800}));
  EXPECT_EQ(copies("rk3566", DType::kI8, {1, 39, 40, 40}), (Sizes{0x3e800}));
  EXPECT_EQ(copies("rk3566", DType::kI8, {1, 16, 16, 20}), (Sizes{5120}));
  EXPECT_EQ(copies("rk3566", DType::kI8, {1, 16, 20, 40}), (Sizes{51200}));
  EXPECT_EQ(copies("rk3566", DType::kI8, {1, 3, 256, 384}), (Sizes{0x180000}));
  EXPECT_EQ(copies("rk3566", DType::kI8, {1, 9, 24, 40}), (Sizes{46080}));
  EXPECT_EQ(copies("rk3566", DType::kF16, {1, 16, 16, 40}), (Sizes{20480}));
  EXPECT_EQ(copies("rk3566", DType::kF16, {1, 39, 10, 10}), (Sizes{0x2580}));
  EXPECT_EQ(copies("rk3562", DType::kI8, {1, 80, 40, 40}), (Sizes{0x1f400}));
  EXPECT_EQ(copies("rk3562", DType::kI8, {1, 39, 40, 40}), (Sizes{0x12c00, 0xf3c0}));
  EXPECT_EQ(copies("rk3588", DType::kI8, {1, 64, 80, 80}), Sizes{});
  EXPECT_EQ(copies("rk3566", DType::kI8, {1, 10}), Sizes{});
}

TEST(ScratchTest, FloatFeaturesBehindTablesLieSeveralTimes) {
  const auto stored = [](const char* name, DType dtype, const char* type) {
    program::Variant variant = one_step(dtype, {1, 16, 40, 40}, {1, 16, 40, 40}, {}, type);
    variant.tensors.push_back(variant.tensors[1]);
    variant.steps.insert(
        variant.steps.begin(),
        {.type = "Conv", .inputs = {3}, .outputs = {1}, .params = program::ConvParams{}});
    return stored_bytes(chip(name), variant)[1] / 64;
  };
  EXPECT_EQ(stored("rk3588", DType::kF16, "Sigmoid"), 2u);
  EXPECT_EQ(stored("rk3588", DType::kF16, "exSwish"), 3u);
  EXPECT_EQ(stored("rk3576", DType::kF16, "exSwish"), 2u);
  EXPECT_EQ(stored("rk3566", DType::kF16, "HardSwish"), 3u);
  EXPECT_EQ(stored("rk3588", DType::kF16, "LeakyRelu"), 1u);
  EXPECT_EQ(stored("rk3588", DType::kI8, "exSwish"), 1u);
}

TEST(ScratchTest, TablesThatJoinNoConvolutionWriteSeveralTimes) {
  const auto stored = [](const char* name, DType dtype, const char* type) {
    const program::Variant variant = one_step(dtype, {1, 48, 24, 40}, {1, 48, 24, 40}, {}, type);
    const std::vector<uint64_t> sizes = stored_bytes(chip(name), variant);
    return std::vector<uint64_t>{sizes[1] / 64, sizes[2] / 64};
  };
  using Copies = std::vector<uint64_t>;
  EXPECT_EQ(stored("rk3588", DType::kI8, "exSwish"), (Copies{1, 4}));
  EXPECT_EQ(stored("rk3588", DType::kI8, "Sigmoid"), (Copies{1, 4}));
  EXPECT_EQ(stored("rk3588", DType::kI8, "LeakyRelu"), (Copies{1, 1}));
  EXPECT_EQ(stored("rk3588", DType::kF16, "exSwish"), (Copies{1, 2}));
  EXPECT_EQ(stored("rk3588", DType::kF16, "Sigmoid"), (Copies{1, 2}));
  EXPECT_EQ(stored("rk3576", DType::kI8, "exSwish"), (Copies{1, 1}));
}

TEST(ScratchTest, ProductsAndSoftmaxAreOneAttention) {
  program::Variant variant;
  const auto add = [&](const Shape& shape) {
    variant.tensors.push_back({.dtype = DType::kI8, .shape = shape});
    return static_cast<int32_t>(variant.tensors.size() - 1);
  };
  add({});
  const int32_t q = add({1, 2, 400, 32}), k = add({1, 2, 32, 400}), v = add({1, 2, 64, 400});
  const int32_t scores = add({1, 2, 400, 400}), soft = add({1, 2, 400, 400}),
                turned = add({1, 2, 400, 400}), y = add({1, 2, 64, 400});
  const auto step = [&](const char* op, std::vector<int32_t> in, int32_t out) {
    variant.steps.push_back(
        {.type = op, .inputs = std::move(in), .outputs = {out}, .params = OpParams{.op = op}});
  };
  step("MatMul", {q, k}, scores);
  step("Softmax", {scores}, soft);
  step("Transpose", {soft}, turned);
  step("MatMul", {v, turned}, y);
  const auto regions = attention_regions(chip("rk3588"), variant);
  ASSERT_EQ(regions.size(), 1u);
  EXPECT_EQ(regions[0].steps, (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_EQ(regions[0].inner, (std::vector<int32_t>{scores, soft, turned}));
  EXPECT_NEAR(double(regions[0].scratch_bytes) / 0x1936c0, 1, 0.03);
  EXPECT_TRUE(attention_regions(chip("rk3566"), variant).empty());
  variant.steps[3].params = OpParams{.op = "Concat"};
  EXPECT_TRUE(attention_regions(chip("rk3588"), variant).empty());
}

}  // namespace
}  // namespace rk::compiler
