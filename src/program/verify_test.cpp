// SPDX-License-Identifier: Apache-2.0
// A small legal program, and one damage per test case: each must be refused with its own message.
#include <gtest/gtest.h>

#include <functional>

#include "program/native_layout.h"
#include "program/program.h"
#include "target/chips.h"

namespace rk::program {
namespace {

ProgramTensor feature(std::string name, TensorKind kind, const Shape& shape) {
  ProgramTensor out;
  out.name = std::move(name);
  out.dtype = DType::kI8;
  out.kind = kind;
  out.shape = shape;
  out.scale = 0.5f;
  out.size_bytes = 64;
  return out;
}

// input %1 -> ConvAdd(weight %4, bias %5, addend %1 through a table %2) -> output %3
Program small_program() {
  Program program;
  program.target = "rk3588";
  program.weights.push_back({});
  program.inputs.push_back({});
  Variant& v = program.variants.emplace_back();
  v.arena_bytes = 256;
  v.tensors.resize(1);
  v.tensors.push_back(feature("x", TensorKind::kInput, {1, 8, 5, 4}));
  v.tensors.push_back(feature("t", TensorKind::kInternal, {1, 8, 5, 4}));
  v.tensors.push_back(feature("y", TensorKind::kOutput, {1, 8, 5, 4}));

  const Shape shape{8, 8, 3, 3};
  ProgramTensor weight = feature("w", TensorKind::kNpuConstant, shape);
  weight.layout = Layout::kWeight;
  weight.native_shape = native_weight_shape(target::rk3588().weights_i8, shape, WeightUse::kDense);
  weight.scale = 0;
  weight.weight = 1;
  program.weights.push_back(make_blob(std::vector<uint8_t>(9 * 8 * 16)));
  v.tensors.push_back(weight);
  ProgramTensor bias = feature("b", TensorKind::kNpuConstant, {8});
  bias.dtype = DType::kI32;
  bias.scale = 0;
  bias.weight = 2;
  program.weights.push_back(make_blob(std::vector<uint8_t>(256)));
  v.tensors.push_back(bias);

  v.inputs = {1};
  v.outputs = {3};
  v.steps.push_back({.type = "Sigmoid",
                     .name = "Sigmoid:s",
                     .inputs = {1},
                     .outputs = {2},
                     .params = TableParams{"Sigmoid", std::vector<int8_t>(256)}});
  v.steps.push_back({.type = "ConvAdd",
                     .name = "Conv:c",
                     .inputs = {2, 4, 5, 1},
                     .outputs = {3},
                     .params = ConvParams{.kernel = {3, 3}, .pads = {1, 1, 1, 1}}});
  return program;
}

ConvParams& conv(Program& p) { return std::get<ConvParams>(p.variants[0].steps[1].params); }

struct Damage {
  const char* message;
  std::function<void(Program&)> apply;
};

TEST(ProgramVerifyTest, AcceptsTheSmallProgram) {
  const Status status = verify(small_program());
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(ProgramVerifyTest, RefusesEachDamageWithItsOwnMessage) {
  const Damage damages[] = {
      {"not known; expected one of", [](Program& p) { p.target = "rk9999"; }},
      {"no variant", [](Program& p) { p.variants.clear(); }},
      {"input descriptions", [](Program& p) { p.inputs.clear(); }},
      {"beyond the arena", [](Program& p) { p.variants[0].tensors[2].offset_in_arena = 200; }},
      {"beyond the arena",
       [](Program& p) { p.variants[0].tensors[2].offset_in_arena = UINT64_MAX; }},
      {"limit is 1 GiB", [](Program& p) { p.variants[0].arena_bytes = uint64_t{1} << 31; }},
      {"limit is 1 GiB",
       [](Program& p) { p.variants[0].tensors[1].size_bytes = uint64_t{1} << 31; }},
      {"zero point 300", [](Program& p) { p.variants[0].tensors[1].zero_point = 300; }},
      {"is not a positive number", [](Program& p) { p.variants[0].tensors[1].scale = -1; }},
      {"weight index 7", [](Program& p) { p.variants[0].tensors[4].weight = 7; }},
      {"input tensor 99", [](Program& p) { p.variants[0].steps[0].inputs[0] = 99; }},
      {"output tensor 0", [](Program& p) { p.variants[0].steps[0].outputs[0] = 0; }},
      {"before it is written", [](Program& p) { p.variants[0].steps[0].inputs[0] = 3; }},
      {"written already", [](Program& p) { p.variants[0].steps[1].outputs[0] = 2; }},
      {"model output 't' is never written",
       [](Program& p) {
         p.variants[0].steps.clear();
         p.variants[0].outputs = {2};
       }},
      {"constant or listed twice",
       [](Program& p) {
         p.variants[0].inputs = {1, 1};
         p.inputs.resize(2);
       }},
      {"table of 255",
       [](Program& p) { std::get<TableParams>(p.variants[0].steps[0].params).table.resize(255); }},
      {"output height 5, computed 3",
       [](Program& p) {
         conv(p).pads = {0, 1, 0, 1};
       }},
      {"output height 5, computed 3",
       [](Program& p) {
         conv(p).stride = {2, 2};
       }},
      {"stride height 0", [](Program& p) { conv(p).stride.h = 0; }},
      {"pad top -1", [](Program& p) { conv(p).pads.top = -1; }},
      {"does not fit 8 input and 8 output channels in 2 groups",
       [](Program& p) { conv(p).group = 2; }},
      {"groups do not divide", [](Program& p) { conv(p).group = 3; }},
      {"does not fit",
       [](Program& p) {
         p.variants[0].tensors[4].shape = {8, 8, 3, 1};
       }},
      {"too short for 8 channels",
       [](Program& p) { p.weights[2] = make_blob(std::vector<uint8_t>(63)); }},
      {"needs 1152 bytes",
       [](Program& p) { p.weights[1] = make_blob(std::vector<uint8_t>(1151)); }},
      {"not a constant", [](Program& p) { p.variants[0].steps[1].inputs[1] = 2; }},
      {"needs its bias block", [](Program& p) { p.variants[0].steps[1].inputs[2] = kNone; }},
      {"scale 65536", [](Program& p) { conv(p).output.scale.scale = 65536; }},
      {"shift 63", [](Program& p) { conv(p).output.scale.shift = 63; }},
      {"multiplier shift -1", [](Program& p) { conv(p).multiplier_shift = -1; }},
      {"overflow 64-bit",
       [](Program& p) {
         conv(p).multiplier_shift = 0;
         conv(p).output.scale.scale = 65535;
         p.weights[2] = make_blob(std::vector<uint8_t>(64, 0x7f));
       }},
      {"clip limit", [](Program& p) { conv(p).clip_limit = int64_t{1} << 40; }},
      {"differ in shape",
       [](Program& p) {
         p.variants[0].tensors[1].shape = {1, 8, 5, 3};
       }},
      {"is f16, expected i8", [](Program& p) { p.variants[0].tensors[2].dtype = DType::kF16; }},
      {"no name", [](Program& p) { p.variants[0].steps[0].params = OpParams{}; }},
      {"dtype is not known", [](Program& p) { p.variants[0].tensors[1].dtype = DType{}; }},
  };
  for (const Damage& damage : damages) {
    Program program = small_program();
    damage.apply(program);
    const Status status = verify(program);
    EXPECT_FALSE(status.ok()) << damage.message;
    EXPECT_NE(status.message().find(damage.message), std::string::npos)
        << "expected '" << damage.message << "' in: " << status.message();
  }
}

// Fine units leave no room for the largest constants that there could be, but for those that there are.
TEST(ProgramVerifyTest, SumsAreBoundedByTheConstantsOfTheirChannels) {
  Program program = small_program();
  conv(program).multiplier_shift = 0;
  conv(program).output.scale.scale = 65535;
  const Status status = verify(program);
  EXPECT_TRUE(status.ok()) << status.message();
}

Program one_step(StepParams params, const Shape& in, const Shape& out) {
  Program program;
  program.target = "rk3588";
  program.weights.push_back({});
  program.inputs.push_back({});
  Variant& v = program.variants.emplace_back();
  v.arena_bytes = 64;
  v.tensors.resize(1);
  v.tensors.push_back(feature("x", TensorKind::kInput, in));
  v.tensors.push_back(feature("y", TensorKind::kOutput, out));
  v.inputs = {1};
  v.outputs = {2};
  v.steps.push_back({.type = "T", .name = "T:n", .inputs = {1}, .outputs = {2}});
  v.steps[0].params = std::move(params);
  return program;
}

TEST(ProgramVerifyTest, PoolWindowsMustTouchTheInput) {
  PoolParams pool{.kernel = {3, 3}, .stride = {2, 2}, .pads = {1, 1, 1, 1}};
  EXPECT_TRUE(verify(one_step(pool, {1, 3, 7, 7}, {1, 3, 4, 4})).ok());
  // Ceil mode gives a larger output; the fifth window starts at 7, outside.
  EXPECT_FALSE(verify(one_step(pool, {1, 3, 7, 7}, {1, 3, 5, 4})).ok());
  pool.pads.top = 3;
  EXPECT_FALSE(verify(one_step(pool, {1, 3, 7, 7}, {1, 3, 4, 4})).ok());
  pool.pads.top = 1;
  pool.kind = PoolKind::kAverage;
  EXPECT_FALSE(verify(one_step(pool, {1, 3, 7, 7}, {1, 3, 4, 4})).ok());
  pool.by_count.resize(9);
  EXPECT_TRUE(verify(one_step(pool, {1, 3, 7, 7}, {1, 3, 4, 4})).ok());
  pool.by_count[3].offset = 1;
  EXPECT_FALSE(verify(one_step(pool, {1, 3, 7, 7}, {1, 3, 4, 4})).ok());
}

TEST(ProgramVerifyTest, ConcatExtentsMustAddUp) {
  ConcatParams concat{.axis = 1, .identity = true};
  EXPECT_TRUE(verify(one_step(concat, {1, 3, 2, 2}, {1, 3, 2, 2})).ok());
  EXPECT_FALSE(verify(one_step(concat, {1, 3, 2, 2}, {1, 4, 2, 2})).ok());
  EXPECT_FALSE(verify(one_step(concat, {1, 3, 2, 2}, {1, 3, 2, 3})).ok());
  EXPECT_FALSE(verify(one_step(concat, {1, 3, 2}, {1, 3, 2, 2})).ok());
  concat.axis = 4;
  EXPECT_FALSE(verify(one_step(concat, {1, 3, 2, 2}, {1, 3, 2, 2})).ok());
  concat.axis = 1;
  concat.identity = false;
  EXPECT_FALSE(verify(one_step(concat, {1, 3, 2, 2}, {1, 3, 2, 2})).ok());
}

TEST(ProgramVerifyTest, ResizeFactorsAndModesAreChecked) {
  ResizeParams resize{.scale_h = 2, .scale_w = 2};
  EXPECT_TRUE(verify(one_step(resize, {1, 3, 2, 2}, {1, 3, 4, 4})).ok());
  resize.scale_h = 0;
  EXPECT_FALSE(verify(one_step(resize, {1, 3, 2, 2}, {1, 3, 4, 4})).ok());
  resize.scale_h = 2;
  resize.mode = static_cast<ResizeMode>(9);
  EXPECT_FALSE(verify(one_step(resize, {1, 3, 2, 2}, {1, 3, 4, 4})).ok());
}

TEST(ProgramTextTest, NamesTensorsStepsAndConstants) {
  const std::string text = to_text(small_program());
  for (const char* part :
       {"target=rk3588", "\"x\" input i8[1,8,5,4]", "scale=0.5", "native=[1,1,3,3,8,16]",
        "ConvAdd \"Conv:c\" on npu from %2, %4, %5, %1 to %3", "pads=[1,1,1,1]",
        "output=16384>>14+0"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

}  // namespace
}  // namespace rk::program
