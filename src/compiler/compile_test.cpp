// SPDX-License-Identifier: Apache-2.0
// Small graphs in text form; every constant of the resulting steps is worked out by hand in the
// comment beside it.
#include "compiler/compile.h"

#include <gtest/gtest.h>

#include "base/half.h"
#include "base/log.h"
#include "ir/text.h"
#include "ops/registry.h"
#include "program/native_layout.h"

namespace rk::compiler {
namespace {

using program::Activation;
using program::ConvParams;
using program::Program;
using program::Step;

Graph parse(std::string_view text) {
  auto graph = parse_graph(text, ops::registry());
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(graph).value();
}

Program compiled(std::string_view text, const CompileOptions& options = {}) {
  auto program = compile(parse(text), options);
  EXPECT_TRUE(program.ok()) << program.status().message();
  return std::move(program).value();
}

const Step& step(const Program& program, size_t i) { return program.variants[0].steps.at(i); }

template <typename Params>
const Params& params(const Program& program, size_t i) {
  return std::get<Params>(step(program, i).params);
}

const program::ProgramTensor& tensor(const Program& program, int32_t index) {
  return program.variants[0].tensors.at(static_cast<size_t>(index));
}

std::vector<std::string> step_types(const Program& program) {
  std::vector<std::string> out;
  for (const Step& step : program.variants[0].steps) out.push_back(step.type);
  return out;
}

constexpr std::string_view kConv = R"(graph "g" {
  input %x: f32[1,2,1,1] q(i8, scale=[0.5], zp=[10])
  const %w: f32[2,2,1,1] q(i8, axis=0, scale=[0.01, 0.005], zp=[-3, 4], min=[-1.25, -0.66], max=[1.3, 0.615]) = [1.0, -0.5, 0.25, 0.1]
  const %b: f32[2] = [1.0, -2.0]
  %y: f32[1,2,1,1] q(i8, scale=[0.04], zp=[-7]) = Conv(%x, %w, %b) @"c1"
  output %y
})";

TEST(EmitConvTest, OneByOneConvolutionHasHandComputedConstants) {
  const Program program = compiled(kConv);
  ASSERT_EQ(step_types(program), (std::vector<std::string>{"Conv"}));
  EXPECT_EQ(step(program, 0).name, "Conv:c1");
  EXPECT_EQ(step(program, 0).processor, program::Processor::kNpu);
  EXPECT_EQ(step(program, 0).macs, 4u);
  const auto constants =
      program::unpack_conv_constants(program, program.variants[0], step(program, 0));
  ASSERT_TRUE(constants.ok()) << constants.status().message();
  // rne(w / s) + zp: 100 - 3, -50 - 3, 50 + 4, 20 + 4
  EXPECT_EQ(constants->weights, (std::vector<int8_t>{97, -53, 54, 24}));
  EXPECT_EQ(constants->channels.offset, (std::vector<int16_t>{3, -4}));
  EXPECT_EQ(constants->channels.multiplier, (std::vector<int16_t>{16384, 8192}));
  // 1 / 0.005 - 10 * (100 - 50); -2 / 0.0025 - 10 * (50 + 20)
  EXPECT_EQ(constants->channels.bias, (std::vector<int32_t>{-300, -1500}));
  const auto& p = params<ConvParams>(program, 0);
  EXPECT_EQ(p.pad_value, 10);
  EXPECT_EQ(p.output, (program::OutputStage{{16384, 17}, -7}));  // 0.5 * 0.01 / 0.04 = 1/8
  EXPECT_EQ(p.multiplier_shift, 14);

  const auto& weight = tensor(program, step(program, 0).inputs[1]);
  EXPECT_EQ(weight.native_shape, (std::vector<int32_t>{1, 1, 1, 1, 2, 16}));
  const ByteSpan bytes = program.weights[static_cast<size_t>(weight.weight)].bytes;
  EXPECT_EQ(static_cast<int8_t>(bytes[2]), -3);  // -o
  EXPECT_EQ(static_cast<int8_t>(bytes[18]), 4);
  EXPECT_EQ(tensor(program, step(program, 0).inputs[2]).native_shape, (std::vector<int32_t>{64}));
}

TEST(EmitConvTest, FusedAddAndClipAreInTheAccumulatorsUnit) {
  const Program program = compiled(R"(graph "g" {
    input %x: f32[1,2,1,1] q(i8, scale=[0.5], zp=[10])
    input %e: f32[1,2,1,1] q(i8, scale=[0.02], zp=[5])
    const %w: f32[2,2,1,1] q(i8, scale=[0.01], zp=[0], min=[-1.28], max=[1.27]) = [1.0, -0.5, 0.25, 0.1]
    %a: f32[1,2,1,1] q(i8, scale=[0.04], zp=[0]) = FusedConv(%x, %w, _, %e) {post_activation="Relu"} @"c1"
    %y: f32[1,2,1,1] q(i8, scale=[0.04], zp=[0]) = FusedConv(%a, %w) {activation="Clip", clip_min=0.0, clip_max=6.0} @"c2"
    output %y
  })");
  ASSERT_EQ(step_types(program), (std::vector<std::string>{"ConvAddRelu", "ConvClip"}));
  const auto& added = params<ConvParams>(program, 0);
  EXPECT_EQ(added.addend, (program::InputStage{-5, {16384, 12}}));  // 0.02 / 0.005 = 4
  EXPECT_EQ(added.activation, Activation::kNone);
  EXPECT_EQ(added.post_activation, Activation::kRelu);
  const auto& clipped = params<ConvParams>(program, 1);
  EXPECT_EQ(clipped.activation, Activation::kClip);
  EXPECT_EQ(clipped.clip_limit, 15000);  // 6 / (0.04 * 0.01)
}

// Two channels, the second with scale 0.0001 of the first; `range` is min and max of the scales, if they are ours.
program::ConvConstants narrow_channel(std::string_view range) {
  const Program program = compiled(str(R"(graph "g" {
    input %x: f32[1,2,1,1] q(i8, scale=[1.0], zp=[0])
    const %w: f32[2,2,1,1] q(i8, axis=0, scale=[1.0, 0.0001], zp=[0, 0])",
                                       range, R"() = [1.0, 2.0, 0.0078125, 0.0]
    %y: f32[1,2,1,1] q(i8, scale=[1.0], zp=[0]) = Conv(%x, %w) @"c"
    output %y
  })"));
  auto constants = program::unpack_conv_constants(program, program.variants[0], step(program, 0));
  EXPECT_TRUE(constants.ok()) << constants.status().message();
  return std::move(*constants);
}

TEST(EmitConvTest, TinyWeightScalesAreRaisedSoThatMultipliersKeepSixBits) {
  const auto constants = narrow_channel(", min=[-128,-0.0128], max=[127,0.0127]");
  EXPECT_EQ(constants.channels.multiplier[1], 32);                  // 16384 / 512
  EXPECT_EQ(constants.weights, (std::vector<int8_t>{1, 2, 4, 0}));  // (1/128) / (1/512)
}

TEST(EmitConvTest, ScalesTheModelBroughtKeepTheirIntegers) {
  const auto constants = narrow_channel("");
  EXPECT_EQ(constants.channels.multiplier[1], 3);  // 32767 * 0.0001
  EXPECT_EQ(constants.weights, (std::vector<int8_t>{1, 2, 78, 0}));
}

TEST(EmitConvTest, ABiasBeyond32BitsNamesTheLayer) {
  const auto program = compile(parse(R"(graph "g" {
    input %x: f32[1,1,1,1] q(i8, scale=[0.00001], zp=[0])
    const %w: f32[1,1,1,1] q(i8, scale=[0.00001], zp=[0]) = [0.0001]
    const %b: f32[1] = [1000.0]
    %y: f32[1,1,1,1] q(i8, scale=[1.0], zp=[0]) = Conv(%x, %w, %b) @"layer7"
    output %y
  })"),
                               {});
  ASSERT_FALSE(program.ok());
  EXPECT_NE(program.status().message().find("'layer7' (Conv): bias 1000 of channel 0"),
            std::string::npos)
      << program.status().message();
}

TEST(EmitConvTest, DepthwiseWeightsAreOneRowOfChannels) {
  const Program program = compiled(R"(graph "g" {
    input %x: f32[1,2,3,3] q(i8, scale=[0.5], zp=[0])
    const %w: f32[2,1,2,1] q(i8, axis=0, scale=[0.5, 0.5], zp=[0, 0]) = [1, 2, 3, 4]
    %y: f32[1,2,2,3] q(i8, scale=[0.5], zp=[0]) = Conv(%x, %w) {group=2} @"dw"
    output %y
  })");
  const auto& weight = tensor(program, step(program, 0).inputs[1]);
  EXPECT_EQ(weight.shape, (Shape{1, 2, 2, 1}));
  EXPECT_EQ(weight.native_shape, (std::vector<int32_t>{1, 0, 2, 1, 1, 64, 1, 1, 2, 1, 1, 16}));
  const auto constants =
      program::unpack_conv_constants(program, program.variants[0], step(program, 0));
  EXPECT_EQ(constants->weights, (std::vector<int8_t>{2, 4, 6, 8}));
}

TEST(EmitConvTest, TransposedConvolutionsKeepTheirWeightOrder) {
  const Program program = compiled(R"(graph "g" {
    input %x: f32[1,2,3,3] q(i8, scale=[0.5], zp=[1])
    const %w: f32[2,3,1,1] q(i8, axis=1, scale=[0.5, 0.25, 0.125], zp=[0, 0, 0], min=[-64, -32, -16], max=[63.5, 31.75, 15.875]) =
      [1, 1, 1, 2, 2, 2]
    %y: f32[1,3,6,6] q(i8, scale=[0.5], zp=[0]) = ConvTranspose(%x, %w) {strides=[2,2], output_padding=[1,1]} @"up"
    output %y
  })");
  const auto constants =
      program::unpack_conv_constants(program, program.variants[0], step(program, 0));
  EXPECT_EQ(constants->weights, (std::vector<int8_t>{2, 4, 8, 4, 8, 16}));
  EXPECT_EQ(constants->channels.bias, (std::vector<int32_t>{-6, -12, -24}));
  EXPECT_EQ(constants->channels.multiplier, (std::vector<int16_t>{16384, 8192, 4096}));
}

TEST(EmitConvTest, WithoutQuantizationWeightsAreHalfFloats) {
  const Program program = compiled(R"(graph "g" {
    input %x: f32[1,3,4,4]
    const %w: f32[1,3,1,1] = [1.0, 0.5, -2.0]
    const %b: f32[1] = [0.25]
    %y: f32[1,1,4,4] = FusedConv(%x, %w, %b) {activation="Clip", clip_min=0.0, clip_max=6.0} @"c"
    output %y
  })");
  ASSERT_EQ(step_types(program), (std::vector<std::string>{"ConvClip"}));
  const auto& weight = tensor(program, step(program, 0).inputs[1]);
  EXPECT_EQ(weight.dtype, DType::kF16);
  const ByteSpan bytes = program.weights[static_cast<size_t>(weight.weight)].bytes;
  EXPECT_EQ(load<uint16_t>(bytes.data() + 4), float_to_half(-2.0f));
  EXPECT_EQ(params<ConvParams>(program, 0).clip_limit_f32, 6.0f);
  EXPECT_EQ(tensor(program, 1).dtype, DType::kF16);
  EXPECT_EQ(tensor(program, 1).size_bytes, 4u * 8 * 3 * 2);  // width 4 padded to 8 pixels
}

// 1e-10 is 0 in float16, whose least number is 2^-24: Log would read 0 where the model makes sure that it does not.
TEST(EmitOpTest, AnEpsilonThatFloat16RoundsToZeroIsRaisedToItsLeastNumber) {
  const auto held = [](const char* node, const char* epsilon) {
    const Program program = compiled(str(R"(graph "g" {
      input %x: f32[1,4]
      const %e: f32[1] = [)",
                                         epsilon, R"(]
      const %most: f32[] = [1000.0]
      %a = )",
                                         node, R"( @"a"
      %y = Log(%a)
      output %y
    })"));
    const program::ProgramTensor& constant = tensor(program, step(program, 0).inputs[1]);
    return load<float>(program.weights[static_cast<size_t>(constant.weight)].bytes.data());
  };
  for (const char* const node : {"Add(%x, %e)", "Max(%x, %e)"}) {
    EXPECT_EQ(held(node, "1e-10"), 0x1p-24f) << node;
    EXPECT_EQ(held(node, "2.9802322e-08"), 0x1p-24f) << node;  // 2^-25, a tie
    EXPECT_EQ(held(node, "5e-08"), 5e-08f) << node;            // rounds to 2^-24 by itself
    EXPECT_EQ(held(node, "-1e-10"), -1e-10f) << node;
  }
  EXPECT_EQ(held("Mul(%x, %e)", "1e-10"), 1e-10f) << "keeps nothing away from 0";
}

TEST(EmitConvTest, AnActivationTheChipLacksRunsByDefinition) {
  const Program program = compiled(R"(graph "g" {
    input %x: f32[1,2,1,1] q(i8, scale=[0.5], zp=[10])
    const %w: f32[2,2,1,1] q(i8, scale=[0.01], zp=[0]) = [1.0, -0.5, 0.25, 0.1]
    %y: f32[1,2,1,1] q(i8, scale=[0.04], zp=[0]) = FusedConv(%x, %w) {activation="Sigmoid"} @"c1"
    output %y
  })");
  EXPECT_EQ(params<program::OpParams>(program, 0).op, "FusedConv");
}

TEST(EmitConvTest, MixedPrecisionPutsConversionsAround) {
  const Program program = compiled(R"(graph "g" {
    input %x: f32[1,2,1,1] q(i8, scale=[0.5], zp=[10])
    const %w: f32[2,2,1,1] = [1.0, -0.5, 0.25, 0.1]
    %h: f32[1,2,1,1] = Conv(%x, %w) @"c1"
    %y: f32[1,2,1,1] q(i8, scale=[0.04], zp=[0]) = Conv(%h, %w) @"c2"
    output %y
  })");
  EXPECT_EQ(step_types(program),
            (std::vector<std::string>{"exDataConvert", "Conv", "Conv", "exDataConvert"}));
  EXPECT_EQ(params<program::OpParams>(program, 0).op, "Identity");
  EXPECT_EQ(tensor(program, step(program, 3).outputs[0]).dtype, DType::kI8);
}

TEST(EmitMatmulTest, GemmBecomesAConvolutionBetweenReshapes) {
  const Program program = compiled(R"(graph "g" {
    input %x: f32[2,3] q(i8, scale=[0.5], zp=[0])
    const %w: f32[3,2] q(i8, axis=1, scale=[0.5, 0.25], zp=[0, 0]) = [1, 2, 3, 4, 5, 6]
    const %b: f32[1,2] = [1.0, 2.0]
    %y: f32[2,2] q(i8, scale=[1.0], zp=[0]) = Gemm(%x, %w, %b) @"fc"
    output %y
  })");
  ASSERT_EQ(step_types(program), (std::vector<std::string>{"Reshape", "Conv", "Reshape"}));
  EXPECT_EQ(step(program, 1).name, "Conv:fc#2");
  const auto constants =
      program::unpack_conv_constants(program, program.variants[0], step(program, 1));
  EXPECT_EQ(constants->weights, (std::vector<int8_t>{2, 6, 10, 8, 16, 24}));  // transposed
  EXPECT_EQ(constants->channels.bias, (std::vector<int32_t>{4, 16}));
  EXPECT_EQ(tensor(program, step(program, 1).outputs[0]).shape, (Shape{2, 2, 1, 1}));
}

TEST(EmitSumTest, OperandsMeetInAUnit1024FinerThanTheOutput) {
  const Program program = compiled(R"(graph "g" {
    input %a: f32[1,2,2,2] q(i8, scale=[0.5], zp=[3])
    input %b: f32[1,2,2,2] q(i8, scale=[0.25], zp=[-4])
    %y: f32[1,2,2,2] q(i8, scale=[1.0], zp=[7]) = Add(%a, %b) @"s"
    output %y
  })");
  const auto& p = params<program::SumParams>(program, 0);
  ASSERT_EQ(p.inputs.size(), 2u);
  EXPECT_EQ(p.inputs[0], (program::InputStage{-3, {16384, 5}}));  // 0.5 * 1024 = 512
  EXPECT_EQ(p.inputs[1], (program::InputStage{4, {16384, 6}}));
  EXPECT_EQ(p.output, (program::OutputStage{{16384, 24}, 7}));
}

TEST(EmitConcatTest, CopiesBytesOnlyBetweenEqualScales) {
  const auto text = [](const char* scale) {
    return str(R"(graph "g" {
      input %a: f32[1,2,2,2] q(i8, scale=[0.5], zp=[3])
      input %b: f32[1,1,2,2] q(i8, scale=[)",
               scale, R"(], zp=[3])
      %y: f32[1,3,2,2] q(i8, scale=[0.5], zp=[3]) = Concat(%a, %b) {axis=-3} @"s"
      output %y
    })");
  };
  const Program same = compiled(text("0.5"));
  EXPECT_TRUE(params<program::ConcatParams>(same, 0).identity);
  EXPECT_EQ(params<program::ConcatParams>(same, 0).axis, 1);
  const Program other = compiled(text("0.25"));
  const auto& p = params<program::ConcatParams>(other, 0);
  EXPECT_FALSE(p.identity);
  EXPECT_EQ(p.inputs[0], (program::InputStage{-3, {1, 0}}));
  EXPECT_EQ(p.inputs[1], (program::InputStage{-3, {16384, 15}}));  // 0.25 / 0.5
  EXPECT_EQ(p.output, (program::OutputStage{{16384, 14}, 3}));
}

TEST(EmitPoolTest, AverageStagesHoldOneOverTheCount) {
  const Program program = compiled(R"(graph "g" {
    input %x: f32[1,2,5,5] q(i8, scale=[0.5], zp=[3])
    %y: f32[1,2,2,2] q(i8, scale=[0.5], zp=[3]) = AveragePool(%x) {kernel_shape=[2,2], strides=[2,2]} @"p"
    %z: f32[1,2,1,1] q(i8, scale=[0.5], zp=[3]) = GlobalMaxPool(%y) @"m"
    output %z
  })");
  const auto& p = params<program::PoolParams>(program, 0);
  ASSERT_EQ(p.by_count.size(), 4u);
  EXPECT_EQ(p.by_count[0], (program::InputStage{-3, {16384, 4}}));
  EXPECT_EQ(p.by_count[2], (program::InputStage{-3, {21845, 6}}));  // 1024 / 3 * 64 = 21845.3
  EXPECT_EQ(p.by_count[3], (program::InputStage{-3, {16384, 6}}));
  const auto& m = params<program::PoolParams>(program, 1);
  EXPECT_EQ(m.kind, program::PoolKind::kMax);
  EXPECT_EQ(m.kernel, (program::Extent2{2, 2}));
}

TEST(EmitPoolTest, MaximumThatChangesScaleRunsByDefinition) {
  const Program program = compiled(R"(graph "g" {
    input %x: f32[1,2,4,4] q(i8, scale=[0.5], zp=[3])
    %y: f32[1,2,2,2] q(i8, scale=[0.25], zp=[3]) = MaxPool(%x) {kernel_shape=[2,2], strides=[2,2]} @"p"
    output %y
  })");
  EXPECT_EQ(params<program::OpParams>(program, 0).op, "MaxPool");
}

TEST(EmitResizeTest, NearestCopiesAndLinearRescales) {
  const Program program = compiled(R"(graph "g" {
    input %x: f32[1,2,2,2] q(i8, scale=[0.5], zp=[3])
    const %f: f32[4] = [1.0, 1.0, 2.0, 2.0]
    %n: f32[1,2,4,4] q(i8, scale=[0.5], zp=[3]) = Resize(%x, _, %f) {mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"} @"n"
    %y: f32[1,2,8,8] q(i8, scale=[0.25], zp=[0]) = Resize(%n, _, %f) {mode="linear"} @"l"
    output %y
  })");
  const auto& n = params<program::ResizeParams>(program, 0);
  EXPECT_TRUE(n.identity);
  EXPECT_EQ(n.coordinates, program::CoordinateMode::kAsymmetric);
  EXPECT_EQ(n.nearest, program::NearestMode::kFloor);
  EXPECT_EQ(n.scale_h, 2.0f);
  const auto& l = params<program::ResizeParams>(program, 1);
  EXPECT_FALSE(l.identity);
  EXPECT_EQ(l.mode, program::ResizeMode::kLinear);
  EXPECT_EQ(l.input, (program::InputStage{-3, {16384, 3}}));  // 0.5 * 1024 / 0.25 = 2048
}

TEST(EmitTableTest, EntriesAreTheFunctionOnTheTensorsScales) {
  const Program program = compiled(R"(graph "g" {
    input %x: f32[1,2,2,2] q(i8, scale=[0.125], zp=[0])
    %s: f32[1,2,2,2] q(i8, scale=[0.00390625], zp=[-128]) = Sigmoid(%x) @"s"
    const %two: f32[] = [2.0]
    %y: f32[1,2,2,2] q(i8, scale=[0.00390625], zp=[-128]) = Mul(%s, %two) @"m"
    output %y
  })");
  const auto& s = params<program::TableParams>(program, 0);
  EXPECT_EQ(s.function, "Sigmoid");
  EXPECT_EQ(s.table[128], 0);    // sigmoid(0) * 256 - 128
  EXPECT_EQ(s.table[136], 59);   // sigmoid(1) = 0.731059 -> 187.15 - 128
  EXPECT_EQ(s.table[0], -128);   // sigmoid(-16)
  EXPECT_EQ(s.table[255], 127);  // saturates
  const auto& m = params<program::TableParams>(program, 1);
  EXPECT_EQ(m.table[0], -128);
  EXPECT_EQ(m.table[1], -126);
  EXPECT_EQ(m.table[200], 127);
}

TEST(EmitOpTest, ConstantsBecomeCpuConstantsAndFloatResultsAreConverted) {
  const Program program = compiled(R"(graph "g" {
    input %x: f32[1,2,2,2] q(i8, scale=[0.125], zp=[0])
    const %shape: i64[2] = [1, 8]
    %r: f32[1,8] q(i8, scale=[0.125], zp=[0]) = Reshape(%x, %shape) @"r"
    %y: f32[1,8] = Softmax(%r) @"sm"
    output %y
  })");
  EXPECT_EQ(step_types(program), (std::vector<std::string>{"Reshape", "exDataConvert", "Softmax"}));
  const auto& shape = tensor(program, step(program, 0).inputs[1]);
  EXPECT_EQ(shape.kind, program::TensorKind::kCpuConstant);
  EXPECT_EQ(shape.dtype, DType::kI64);
  EXPECT_EQ(shape.size_bytes, 16u);
  EXPECT_EQ(tensor(program, program.variants[0].outputs[0]).dtype, DType::kF16);
}

TEST(CompileTest, InputsPassedThroughGetACopy) {
  const Program program = compiled(R"(graph "g" {
    input %x: f32[1,2]
    %y: f32[1,2] = Relu(%x)
    output %x
    output %y
  })");
  EXPECT_EQ(step_types(program), (std::vector<std::string>{"Relu", "Identity"}));
  EXPECT_NE(program.variants[0].outputs[0], program.variants[0].inputs[0]);
}

TEST(CompileTest, VariantsShareTheirConstants) {
  const auto text = [](int64_t width) {
    return str(R"(graph "g" {
      input %x: f32[1,2,1,)",
               width, R"(] q(i8, scale=[0.5], zp=[0])
      const %w: f32[2,2,1,1] q(i8, scale=[0.5], zp=[0]) = [1, 2, 3, 4]
      %y: f32[1,2,1,)",
               width, R"(] q(i8, scale=[0.5], zp=[0]) = Conv(%x, %w) @"c"
      output %y
    })");
  };
  const auto graph = [&](size_t i) -> Result<Graph> { return parse(text(i == 0 ? 4 : 8)); };
  const auto program = compile(graph, 2, {});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program->variants.size(), 2u);
  EXPECT_EQ(program->weights.size(), 3u);
  EXPECT_EQ(program->variants[1].tensors[1].shape, (Shape{1, 2, 1, 8}));
}

TEST(CompileTest, CoresGetRowsOfConvolutionsUnlessTheModelIsForOne) {
  constexpr std::string_view kRows = R"(graph "g" {
    input %x: f32[1,2,7,4] q(i8, scale=[0.5], zp=[0])
    const %w: f32[2,2,1,1] q(i8, scale=[0.5], zp=[0]) = [1, 2, 3, 4]
    %y: f32[1,2,7,4] q(i8, scale=[0.5], zp=[0]) = Conv(%x, %w) @"c"
    output %y
  })";
  EXPECT_EQ(step(compiled(kRows), 0).core_rows, (std::vector<int32_t>{4, 3, 3, 2, 2}));
  CompileOptions options;
  options.target = "rk3576";
  EXPECT_EQ(step(compiled(kRows, options), 0).core_rows, (std::vector<int32_t>{4, 3}));
  options.single_core = true;
  EXPECT_TRUE(step(compiled(kRows, options), 0).core_rows.empty());
}

TEST(CompileTest, OptionsReachTheProgram) {
  CompileOptions options;
  options.target = "RK3568";
  options.custom_string = "hello";
  options.inputs.push_back({.mean = {127.5f}, .std = {2.0f}, .model_dtype = DType::kF32});
  const Program program = compiled(kConv, options);
  EXPECT_EQ(program.target, "rk3566");
  EXPECT_EQ(program.custom_string, "hello");
  EXPECT_EQ(program.inputs[0].mean[0], 127.5f);
  EXPECT_EQ(program.name, "g");
}

TEST(CompileTest, UnknownTargetsAndProcessorsAreRefused) {
  CompileOptions options;
  options.target = "rk1";
  EXPECT_FALSE(compile(parse(kConv), options).ok());
  options.target = "rk3588";
  options.op_target["c1"] = "dsp";
  const auto program = compile(parse(kConv), options);
  ASSERT_FALSE(program.ok());
  EXPECT_NE(program.status().message().find("op_target['c1'] is 'dsp'"), std::string::npos);
}

TEST(PlacementTest, SaysWhyANodeLeavesTheNpu) {
  std::string seen;
  const int level = log_level();
  set_log_level(2);
  set_log_sink([&](LogLevel, std::string_view line) { seen += std::string(line) + "\n"; });
  CompileOptions options;
  options.op_target["c1"] = "cpu";
  const Program forced = compiled(kConv, options);
  const Program softmax = compiled(R"(graph "g" {
    input %x: f32[1,8]
    %y: f32[1,8] = Softmax(%x) @"sm"
    output %y
  })");
  set_log_sink({});
  set_log_level(level);
  EXPECT_EQ(step(forced, 0).processor, program::Processor::kCpu);
  EXPECT_EQ(step(softmax, 0).processor, program::Processor::kCpu);
  EXPECT_NE(seen.find("'c1' (Conv) runs on the CPU: op_target says so"), std::string::npos) << seen;
  EXPECT_NE(seen.find("'sm' (Softmax) runs on the CPU: input [1,8] has not four axes"),
            std::string::npos)
      << seen;
}

}  // namespace
}  // namespace rk::compiler
