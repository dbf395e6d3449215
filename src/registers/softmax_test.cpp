// SPDX-License-Identifier: Apache-2.0
// Expected words are those of the vendor's file of fastestdet for RK3588: the Softmax over 80
// channels of 22x22, int8.
#include "registers/softmax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "registers/layer_tasks.h"

namespace rk::registers {
namespace {

using program::OpParams;
using program::ProgramTensor;
using testing::HasSubstr;

using Words = std::vector<std::pair<uint16_t, uint32_t>>;

void expect_words(const BoundTask& bound, const Words& expected) {
  for (const auto& [offset, word] : expected) {
    const Command* const command = bound.task.find(offset);
    ASSERT_NE(command, nullptr) << std::hex << offset;
    EXPECT_EQ(command->value, word) << std::hex << offset;
  }
}

ProgramTensor tensor(const std::string& name, DType dtype, program::Layout layout, Shape shape) {
  ProgramTensor t{.name = name, .dtype = dtype, .layout = layout};
  t.shape = std::move(shape);
  for (const int64_t extent : t.shape.dims())
    t.native_shape.push_back(static_cast<int32_t>(extent));
  return t;
}

// One step between two tensors.
program::Program one_step(OpParams params, ProgramTensor in, ProgramTensor out,
                          const std::string& type = "exSoftmax13") {
  program::Program program;
  program.target = "rk3588";
  program.weights.resize(1);
  program::Variant variant;
  variant.tensors = {std::move(in), std::move(out)};
  program::Step step{.type = type, .name = type + ":s", .inputs = {0}, .outputs = {1}};
  step.params = std::move(params);
  variant.steps.push_back(std::move(step));
  program.variants.push_back(std::move(variant));
  return program;
}

Result<LayerTasks> tasks_of(const program::Program& program, size_t step = 0) {
  return layer_tasks(program, program.main_variant(), program.main_variant().steps[step]);
}

program::Program over_channels() {
  ProgramTensor in = tensor("x", DType::kI8, program::Layout::kNc1hwc2, {1, 80, 22, 22});
  ProgramTensor out = in;
  out.name = "y";
  in.scale = half_to_float(0x2e0f);
  in.zero_point = -34;
  out.scale = 1.0F / 255;
  out.zero_point = -128;
  return one_step({"Softmax", {{"axis", int64_t{1}}}}, in, out);
}

TEST(RegisterSoftmax, OverChannelsHasTheWordsOfTheVendorsFile) {
  const auto layer = tasks_of(over_channels());
  ASSERT_TRUE(layer.ok()) << layer.status().message();
  const std::vector<BoundTask>& tasks = layer->tasks;
  ASSERT_EQ(tasks.size(), 14U);
  EXPECT_EQ(layer->loads, 1U);
  expect_words(tasks[0],
               {{0x4010, 0x40000000}, {0x4050, 0x126}, {0x40c0, 0x3c80}, {0x5044, 0x7801}});
  expect_words(tasks[1], {{0x4014, 0xfbff},
                          {0x4040, 0x20040},
                          {0x4044, 0x42080000},
                          {0x4048, 0x2e0f0000},
                          {0x5044, 0x17849}});
  // 484 pixels, 128 at a time, each of two bytes.
  expect_words(tasks[2], {{0x400c, 0x20021e5},
                          {0x4034, 0x1c00000},
                          {0x4088, 0x40000000},
                          {0x5034, 3},
                          {0x5044, 0x17841},
                          {0x504c, 0x1640}});
  expect_words(tasks[5],
               {{0x400c, 0x2001be5}, {0x4020, 0x300}, {0x5018, 0x1800}, {0x504c, 0x1800}});
  expect_words(tasks[6], {{0x100c, 0x60008120}, {0x1024, 8}, {0x1034, 0x10}, {0x1044, 0x1e4}});
  EXPECT_EQ(tasks[6].task.units, 0xdU);
  expect_words(tasks[7], {{0x4070, 0x108402c0}, {0x5034, 0x40000008}});
  expect_words(tasks[9],
               {{0x4064, 0x467ff000}, {0x4068, 0x6a660000}, {0x4070, 0x302}, {0x4088, 0xf000}});
  expect_words(tasks[10], {{0x1034, 0xa0}, {0x403c, 0xf}});
  expect_words(tasks[11], {{0x1024, 8}, {0x1030, 0x500}});
  expect_words(tasks[12], {{0x4070, 0x108303c0}, {0x4084, 1}, {0x5044, 0x17841}});
  expect_words(tasks[13], {{0x400c, 0x800001e5},
                           {0x4010, 0x8000002},
                           {0x4040, 0x42},
                           {0x4048, 0x5bf80000},
                           {0x4060, 0x20050},
                           {0x4064, 0xc3000000},
                           {0x5040, 0x3c80},
                           {0x5044, 0x17b49},
                           {0x506c, 0x1e40}});
  EXPECT_EQ(tasks[13].tensor(Operand::kOutput), "y");
}

// On RK3562 the largest channels are a picture of rows that are a power of two, or of one row:
// layers compiled to ask, and the vendor's file of fastestdet.
TEST(RegisterSoftmax, Rk3562TakesPixelsInOtherRows) {
  struct Pixels {
    int64_t height, width;
    uint32_t rows, entries;  // width and height, 0x102c; entries of a row, 0x103c
  };
  for (const Pixels& p : {Pixels{8, 10, 0x8000a, 0x10000}, Pixels{16, 8, 0x100008, 0x20000},
                          Pixels{20, 20, 0x100019, 0x20000}, Pixels{9, 24, 0x8001b, 0x10000},
                          Pixels{40, 24, 0x20001e, 0x40000}, Pixels{13, 13, 0xa90001, 0x160000},
                          Pixels{22, 22, 0x1e40001, 0x3d0000}}) {
    const ProgramTensor in =
        tensor("x", DType::kF16, program::Layout::kNc1hwc2, {1, 16, p.height, p.width});
    ProgramTensor out = in;
    out.name = "y";
    program::Program program = one_step({"Softmax", {{"axis", int64_t{1}}}}, in, out);
    program.target = "rk3562";
    const auto layer = tasks_of(program);
    ASSERT_TRUE(layer.ok()) << layer.status().message();
    const auto picture = std::ranges::find_if(
        layer->tasks, [](const BoundTask& bound) { return bound.listed.units == 0xd; });
    ASSERT_NE(picture, layer->tasks.end());
    EXPECT_EQ(picture->listed.find(0x102c)->value, p.rows);
    EXPECT_EQ(picture->listed.find(0x103c)->value, p.entries);
    EXPECT_EQ(picture->listed.find(0x1048)->value, 0xe9U);
  }
}

// The factor of the index is 3276 where 3276.8 would be right, so that exp(0) is read an eighth of
// an entry early: between 32449 and 32767 of 32768. -10 and less is 1 of them.
TEST(RegisterSoftmax, ExponentialsComeFromTheTable) {
  const program::Program program = with_numbers_of_lists(over_channels());
  const program::Variant& variant = program.main_variant();
  ASSERT_EQ(variant.steps.size(), 1U);
  EXPECT_EQ(std::get<OpParams>(variant.steps[0].params).op, "exTableSoftmax");
  ASSERT_EQ(variant.steps[0].inputs.size(), 2U);
  const ByteSpan table = program.weights[1].bytes;
  ASSERT_EQ(table.size(), 2U * 256 * 256);
  const auto at = [&](int largest, int x) {
    const int place = (largest + 128) * 256 + x + 128;
    return half_to_float(load<uint16_t>(table.data() + 2 * place));
  };
  EXPECT_EQ(at(100, 100), half_to_float(float_to_half((32449 + 318 * 0.875F) / 32768)));
  EXPECT_EQ(at(127, -128), 1.0F / 32768);
  EXPECT_NEAR(at(10, 0), std::exp(-10 * half_to_float(0x2e0f)), 1e-3);
  // Written once more it stays as it is.
  EXPECT_TRUE(tasks_of(program).ok());
}

TEST(RegisterSoftmax, RowsWithinAtomsAreComparedAndSummedThere) {
  const ProgramTensor in = tensor("x", DType::kF16, program::Layout::kPlain, {1, 4420, 2});
  ProgramTensor out = in;
  out.name = "y";
  const program::Program halves = one_step({"Softmax", {{"axis", int64_t{2}}}}, in, out, "Softmax");
  const auto layer = tasks_of(halves);
  ASSERT_TRUE(layer.ok()) << layer.status().message();
  // Swap, largest, difference, table, look up, sum, quotient.
  EXPECT_EQ(layer->tasks.size(), 7U);
  expect_words(layer->tasks[1], {{0x4070, 0x108002c0}, {0x4030, 1104}});
  EXPECT_EQ(layer->tasks[6].tensor(Operand::kOutput), "y");

  // A result of int8 is converted; only halves that round as in our runtime have a list.
  out.dtype = DType::kI8;
  out.scale = 1.0F / 255;
  out.zero_point = -128;
  const auto split =
      with_numbers_of_lists(one_step({"Softmax", {{"axis", int64_t{2}}}}, in, out, "Softmax"));
  ASSERT_EQ(split.main_variant().steps.size(), 2U);
  EXPECT_EQ(split.main_variant().steps[1].type, "exDataConvert");
  const auto converted = tasks_of(split, 1);
  ASSERT_TRUE(converted.ok()) << converted.status().message();
  // The half 0.5 is 127.49999 of 255ths in float: below the tie.
  expect_words(converted->tasks[0], {{0x4064, 0xc3000001}, {0x4034, 552}, {0x5040, 0x20}});
}

// Its result is the function's then, as in a file that is read without our section.
TEST(RegisterSoftmax, WithoutAListItTakesNoTable) {
  for (const char* const target : {"rk3576", "rv1126b", "rv1106", "rv1103"}) {
    program::Program program = over_channels();
    program.target = target;
    EXPECT_FALSE(tasks_of(program).ok()) << target;
    const program::Program written = with_numbers_of_lists(program);
    EXPECT_EQ(std::get<OpParams>(written.main_variant().steps[0].params).op, "Softmax") << target;
  }
}

TEST(RegisterSoftmax, RefusesWhatNoListHas) {
  const auto refused = [](ProgramTensor in, const std::string& target) {
    ProgramTensor out = in;
    out.name = "y";
    program::Program program =
        one_step({"Softmax", {{"axis", int64_t{-1}}}}, std::move(in), out, "Softmax");
    program.target = target;
    const auto tasks = tasks_of(program);
    return tasks.ok() ? std::string("written") : tasks.status().message();
  };
  using program::Layout;
  EXPECT_THAT(refused(tensor("x", DType::kF16, Layout::kPlain, {1, 5, 3}), "rk3588"),
              HasSubstr("rows of 3 numbers, 15 in all"));
  EXPECT_THAT(refused(tensor("x", DType::kF16, Layout::kNc1hwc2, {1, 8, 4, 2}), "rk3588"),
              HasSubstr("neither channels nor the last"));
  EXPECT_THAT(refused(tensor("x", DType::kF16, Layout::kPlain, {1, 4, 2}), "rk3566"),
              HasSubstr("RK3566"));
  EXPECT_EQ(refused(tensor("x", DType::kF16, Layout::kPlain, {1, 1000}), "rk3588"), "written");
}

// The conversion of ultraface's scores, [1, 4420, 1, 2].
TEST(RegisterConversion, Int8ToFloat16HasTheWordsOfTheVendorsFile) {
  ProgramTensor in = tensor("x", DType::kI8, program::Layout::kNc1hwc2, {1, 4420, 1, 2});
  ProgramTensor out = tensor("y", DType::kF16, program::Layout::kNc1hwc2, {1, 4420, 1, 2});
  in.scale = half_to_float(0x27f8);
  in.plane_align = out.plane_align = 4;
  const auto layer = tasks_of(one_step({.op = "Identity", .attrs = {}}, in, out, "exDataConvert"));
  ASSERT_TRUE(layer.ok()) << layer.status().message();
  ASSERT_EQ(layer->tasks.size(), 2U);
  EXPECT_EQ(layer->form, LayerForm::kIdentical);
  expect_words(layer->tasks[0], {{0x4010, 0x40000000},
                                 {0x4024, 0x40},
                                 {0x403c, 0x1143114f},
                                 {0x4050, 0x126},
                                 {0x4084, 0x10001},
                                 {0x40c0, 0x80},
                                 {0x5014, 0x114f},
                                 {0x504c, 0x20}});
  expect_words(layer->tasks[1], {{0x4010, 0x48000002},
                                 {0x403c, 0x11431147},
                                 {0x4040, 0x20040},
                                 {0x4048, 0x27f80000},
                                 {0x40c0, 0x40}});
  // Three of 1.1 is not one of a half.
  ProgramTensor narrow = in;
  narrow.name = "z";
  narrow.scale = 1.1F;
  EXPECT_THAT(tasks_of(one_step({.op = "Identity", .attrs = {}}, out, narrow, "exDataConvert"))
                  .status()
                  .message(),
              HasSubstr("a half that is not its inverse"));
}

}  // namespace
}  // namespace rk::registers
