// SPDX-License-Identifier: Apache-2.0
// Small vendor files put together by hand: one or two 1x1 convolutions of one channel with register lists.
#include "format/vendor/lift.h"

#include <gtest/gtest.h>

#include "format/vendor/test_file.h"
#include "program/native_layout.h"

namespace rk::format {
namespace {

// x -> Conv -> y
VendorFile one_conv(const std::string& type, const std::vector<Write>& list,
                    const std::string& platform = "rk3588") {
  VendorFile file(platform);
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, -3);
  const int32_t w = file.weight(), b = file.bias();
  const int32_t y = file.feature("y", TensorKind::kOutput, 0.25f, -5);
  file.conv(type, {x, w, b}, y, list);
  return file;
}

const program::ConvParams& conv_of(const program::Program& program, size_t step = 0) {
  return std::get<program::ConvParams>(program.main_variant().steps[step].params);
}

TEST(VendorLiftTest, ConvolutionConstantsComeFromTheRegisterList) {
  VendorFile file = one_conv("ConvRelu", with(plain_list(), {{reg::DPU_BN_CFG, 0x12}}));
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  const program::ConvParams& p = conv_of(*program);
  EXPECT_EQ(p.output.scale, (ScaleShift{20000, 20}));
  EXPECT_EQ(p.output.zero_point, -5);
  EXPECT_EQ(p.multiplier_shift, 14);
  EXPECT_EQ(p.activation, program::Activation::kRelu);
  EXPECT_EQ(p.post_activation, program::Activation::kNone);
  EXPECT_EQ(p.pad_value, -3);
  EXPECT_EQ(program->toolkit_version, "1.6.2-source_code");
  EXPECT_EQ(program->compiler_version, "1.6.2b0 (6e4d@2024)");
  const auto constants = program::unpack_conv_constants(*program, program->main_variant(),
                                                        program->main_variant().steps[0]);
  ASSERT_TRUE(constants.ok());
  EXPECT_EQ(constants->weights, std::vector<int8_t>{3});
  EXPECT_EQ(constants->channels.bias, std::vector<int32_t>{7});
  EXPECT_EQ(constants->channels.multiplier, std::vector<int16_t>{16384});
}

TEST(VendorLiftTest, ClipLimitIsTheComparisonRegister) {
  VendorFile file =
      one_conv("ConvClip",
               with(plain_list(), {{reg::DPU_BN_CFG, 0x92}, {reg::DPU_BN_RELUX_CMP_VALUE, 1234}}));
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(conv_of(*program).activation, program::Activation::kClip);
  EXPECT_EQ(conv_of(*program).clip_limit, 1234);
}

// A Clip of low and high is max(v - low, 0), at most high - low, then + low in the element-wise stage.
TEST(VendorLiftTest, AClipWhoseEndsAreThoseOfTheOutputTypeIsNoActivation) {
  const auto clip = [](uint32_t limit, uint32_t added_again) {
    return one_conv("ConvClip", with(plain_list(), {{reg::DPU_BN_CFG, 0x20090},
                                                    {reg::DPU_BN_ALU_CFG, 6500},
                                                    {reg::DPU_BN_RELUX_CMP_VALUE, limit},
                                                    {reg::DPU_EW_CFG, 0x10020380},
                                                    {reg::DPU_EW_OP_VALUE_0, added_again}}));
  };
  const auto low = static_cast<uint32_t>(-6500);
  // 20000 / 2^20 - 5: -6500 is stored as -128.97, 7000 as 128.5.
  VendorFile file = clip(13500, low);
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(conv_of(*program).activation, program::Activation::kNone);
  EXPECT_EQ(conv_of(*program).post_activation, program::Activation::kNone);
  const auto refuses = [](VendorFile narrow, const char* says) {
    const auto refused = narrow.lift();
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.status().message().find(says), std::string::npos)
        << refused.status().message();
  };
  refuses(clip(12000, low), "a clip narrower than its output");
  refuses(clip(13500, low + 1), "a clip whose low end is not added again");
}

// x (2 x 2) -> ConvTranspose with a kernel of 2 x 2 and stride 2 -> y (4 x 4), as files with an activation have it: no
// attributes.
VendorFile transposed(const std::string& type, const std::vector<Write>& list) {
  VendorFile file;
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, -3);
  const int32_t w = file.constant("w", DType::kI8, {1, 1, 2, 2}, {1, 1, 2, 2, 1, 16},
                                  std::vector<uint8_t>(64, 3));
  const int32_t b = file.bias(), y = file.feature("y", TensorKind::kOutput, 0.25f, -5);
  FileTensor& out = file.graph().tensors[static_cast<size_t>(y)];
  out.shape = {1, 1, 4, 4};
  out.native_shape = {1, 1, 4, 4, 16};
  out.size_bytes = 256;
  file.node(type, {x, w, b}, {y});
  file.task(0x1d, with(list, {{reg::CNA_CONV_CON1, 0x10000},
                              {reg::CNA_CONV_CON3, 0x909},
                              {reg::CNA_WEIGHT_SIZE2, 0x2020001},
                              {reg::CNA_PAD_CON0, 0x11}}));
  return file;
}

TEST(VendorLiftTest, ATransposedConvolutionWithoutAttributesIsReadFromItsRegisters) {
  VendorFile file = transposed("ConvTransposeRelu", with(plain_list(), {{reg::DPU_BN_CFG, 0x12}}));
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  const program::ConvParams& p = conv_of(*program);
  EXPECT_TRUE(p.transposed);
  EXPECT_EQ(p.activation, program::Activation::kRelu);
  EXPECT_EQ(p.kernel.h * 10 + p.kernel.w, 22);
  EXPECT_EQ(p.stride.h * 10 + p.stride.w, 22);
  EXPECT_EQ(p.pads.top + p.pads.left + p.pads.bottom + p.pads.right, 0);
}

TEST(VendorLiftTest, TableNamesAreSpelledInBothWays) {
  VendorFile file = transposed("ConvTransposeexSwish", plain_list());
  const auto program = file.lift();
  ASSERT_FALSE(program.ok());  // it has no table
  EXPECT_EQ(program.status().message().find("after a convolution"), std::string::npos)
      << program.status().message();
}

TEST(VendorLiftTest, APReluWithOneSlopeHasItInTheRegisterOfALeakyRelu) {
  VendorFile file;
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, -3);
  const int32_t w = file.weight(), b = file.bias();
  const int32_t slope = file.constant("a", DType::kF32, {1, 1, 1}, {1, 1, 1}, {0, 0, 0, 0});
  const int32_t y = file.feature("y", TensorKind::kOutput, 0.25f, -5);
  file.conv("ConvPRelu", {x, w, b, slope}, y,
            with(plain_list(), {{reg::DPU_DATA_FORMAT, 15 << 4},
                                {reg::DPU_BS_MUL_CFG, 0x101},
                                {reg::DPU_BN_CFG, 0x62},
                                {reg::DPU_BN_MUL_CFG, 0xccd0000}}));
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  ASSERT_TRUE(conv_of(*program).slope.has_value());
  EXPECT_EQ(conv_of(*program).slope->factor, std::vector<int16_t>{0xccd});
  EXPECT_EQ(conv_of(*program).slope->negative_multiplier_shift, 15);
}

TEST(VendorLiftTest, RegistersKeepTheirValuesFromTheListBefore) {
  VendorFile file;
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, 0);
  const int32_t w = file.weight(), b = file.bias();
  const int32_t m = file.feature("m", TensorKind::kInternal, 0.5f, 0);
  const int32_t y = file.feature("y", TensorKind::kOutput, 0.5f, 0);
  file.conv("Conv", {x, w, b}, m, plain_list());
  file.conv("Conv", {m, w, b}, y, {{reg::DPU_OUT_CVT_SCALE, 30000}});
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(conv_of(*program, 0).output.scale, (ScaleShift{20000, 20}));
  EXPECT_EQ(conv_of(*program, 1).output.scale, (ScaleShift{30000, 20}));
}

TEST(VendorLiftTest, AlternatingBanksKeepTheValuesOfTheListBeforeTheLast) {
  VendorFile file;
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, 0);
  const int32_t w = file.weight(), b = file.bias();
  const int32_t m = file.feature("m", TensorKind::kInternal, 0.5f, 0);
  const int32_t n = file.feature("n", TensorKind::kInternal, 0.5f, 0);
  const int32_t y = file.feature("y", TensorKind::kOutput, 0.5f, 0);
  const std::vector<Write> list =
      with(plain_list(), {{reg::DPU_S_POINTER, 0xe}, {reg::DPU_RDMA_RDMA_S_POINTER, 0xe}});
  file.conv("Conv", {x, w, b}, m, list);
  file.conv("Conv", {m, w, b}, n, with(list, {{reg::DPU_OUT_CVT_SCALE, 30000}}));
  file.conv("Conv", {n, w, b}, y, {});
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(conv_of(*program, 1).output.scale, (ScaleShift{30000, 20}));
  EXPECT_EQ(conv_of(*program, 2).output.scale, (ScaleShift{20000, 20}));
}

TEST(VendorLiftTest, AddendStageAndReluAfterTheAddition) {
  VendorFile file;
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, 0);
  const int32_t w = file.weight(), b = file.bias();
  const int32_t y = file.feature("y", TensorKind::kOutput, 0.5f, 0);
  file.conv("ConvAddRelu", {x, w, b, x}, y,
            with(plain_list(), {{reg::DPU_EW_CFG, 0x904200c0},
                                {reg::DPU_EW_CVT_OFFSET_VALUE, 0xfffffff0},
                                {reg::DPU_EW_CVT_SCALE_VALUE, 0x44159}}));
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  const program::ConvParams& p = conv_of(*program);
  EXPECT_EQ(p.addend, (program::InputStage{-16, {16729, 4}}));
  EXPECT_EQ(p.activation, program::Activation::kNone);
  EXPECT_EQ(p.post_activation, program::Activation::kRelu);
}

TEST(VendorLiftTest, RefusesWhatTheRegistersDoAndIsNotDecodedNamingTheNode) {
  struct Case {
    Write write;
    const char* message;
  };
  const Case cases[] = {
      {{reg::CNA_DCOMP_CTRL, 1}, "compressed weights"},
      {{reg::DPU_BN_CFG, 0x02}, "batch-norm"},
      {{reg::DPU_EW_CFG, 0x303 & ~1u}, "lookup table"},
      {{reg::DPU_EW_CFG, 0x904202c0}, "an element-wise operand that the node does not have"},
      {{reg::DPU_RDMA_RDMA_BRDMA_CFG, 6}, "bias block form 3"},
      {{reg::DPU_OUT_CVT_SCALE, 0}, "output scale of 0"},
  };
  for (const Case& c : cases) {
    VendorFile file = one_conv("Conv", with(plain_list(), {c.write}));
    const auto program = file.lift();
    ASSERT_FALSE(program.ok()) << c.message;
    EXPECT_EQ(program.status().code(), Code::kUnsupported);
    EXPECT_NE(program.status().message().find(c.message), std::string::npos)
        << program.status().message();
    EXPECT_NE(program.status().message().find("Conv, 1 node, first 'Conv:n0'"), std::string::npos);
  }
}

// The numbers of a step's constant operand.
std::vector<float> numbers_of(const program::Program& program, const program::Step& step,
                              size_t operand) {
  const auto& tensor = program.main_variant().tensors[static_cast<size_t>(step.inputs[operand])];
  const ByteSpan bytes = program.weights[static_cast<size_t>(tensor.weight)].bytes;
  std::vector<float> out(bytes.size() / 4);
  std::memcpy(out.data(), bytes.data(), out.size() * 4);
  return out;
}

// ((acc >> 3) + 7) * m / 2^14 as (acc + 7 * 8) * m / 2^17.
TEST(VendorLiftTest, AShiftedAccumulatorBecomesALargerBiasAndShift) {
  VendorFile file = one_conv("Conv", with(plain_list(), {{reg::CORE_CLIP_TRUNCATE, 3}}));
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(conv_of(*program).multiplier_shift, 17);
  const auto constants = program::unpack_conv_constants(*program, program->main_variant(),
                                                        program->main_variant().steps[0]);
  ASSERT_TRUE(constants.ok());
  EXPECT_EQ(constants->channels.bias, std::vector<int32_t>{56});
}

TEST(VendorLiftTest, AShiftInTheBatchNormStageIsASlopeOfOne) {
  VendorFile file = one_conv("Conv", with(plain_list(), {{reg::DPU_DATA_FORMAT, 14 << 4 | 2 << 10},
                                                         {reg::DPU_BN_CFG, 0x42},
                                                         {reg::DPU_BN_MUL_CFG, 1 << 16 | 2 << 8}}));
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  ASSERT_TRUE(conv_of(*program).slope.has_value());
  EXPECT_EQ(*conv_of(*program).slope, (program::SlopeStage{14, 2, 2, {1}}));
}

// v * 5 / 2^2 in the batch-norm stage.
TEST(VendorLiftTest, FactorsOfTheBatchNormStageAreKept) {
  VendorFile file = one_conv("Conv", with(plain_list(), {{reg::DPU_DATA_FORMAT, 14 << 4 | 2 << 10},
                                                         {reg::DPU_BN_CFG, 0x42},
                                                         {reg::DPU_BN_MUL_CFG, 5 << 16 | 2 << 8}}));
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  const program::Step& step = program->main_variant().steps[0];
  const double unit = 20000.0 / (1 << 20) * 0.25 * 5 / 4;
  EXPECT_FLOAT_EQ(numbers_of(*program, step, 1)[0], static_cast<float>(3 * unit / 0.5));
  EXPECT_FLOAT_EQ(numbers_of(*program, step, 2)[0], static_cast<float>((7 + 3.0 * -3) * unit));
}

// The other operand as (x - 16) * 16729 / 2^4, the product as v * e / 2^9.
TEST(VendorLiftTest, AProductAfterAConvolutionTakesItsScalesFromTheRegisters) {
  VendorFile file;
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, 16);
  const int32_t w = file.weight(), b = file.bias();
  const int32_t y = file.feature("y", TensorKind::kOutput, 0.25f, 0);
  file.conv("ConvMul", {x, w, b, x}, y,
            with(plain_list(), {{reg::DPU_EW_CFG, 0x904202c4},
                                {reg::DPU_EW_CVT_OFFSET_VALUE, 0xfffffff0},
                                {reg::DPU_EW_CVT_SCALE_VALUE, 9 << 22 | 0x44159}}));
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  const auto& steps = program->main_variant().steps;
  ASSERT_EQ(steps.size(), 4u);  // Conv, the operand's factor and addend, the product
  EXPECT_FLOAT_EQ(numbers_of(*program, steps[1], 1)[0], 16729.0f / 16 / 512 / 0.5f);
  EXPECT_FLOAT_EQ(numbers_of(*program, steps[2], 1)[0], 0);
  EXPECT_EQ(std::get<program::OpParams>(steps[3].params).op, "Mul");
}

TEST(VendorLiftTest, PartsOfASplitAreRescaledAsTheirCopiesDoIt) {
  VendorFile file;
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, -3);
  const int32_t a = file.feature("a", TensorKind::kOutput, 0.25f, 4);
  const int32_t b = file.feature("b", TensorKind::kOutput, 0.5f, -3);
  for (const int32_t part : {a, b}) file.graph().tensors[static_cast<size_t>(part)].shape[2] = 1;
  file.node("Split", {x}, {a, b}).params =
      FileOperatorParams{20, {{"axis", int64_t{2}}, {"split", std::vector<int64_t>{1, 1}}}};
  for (const char* part : {"a", "b"}) {
    const bool scales = *part == 'a';
    const size_t first = file.word_count();
    file.task(0x18, {{reg::DPU_BS_CFG, 0x20050},
                     {reg::DPU_BS_ALU_CFG, scales ? 3u : 0u},
                     {reg::DPU_BN_CFG, 0x53},
                     {reg::DPU_EW_CFG, 0x383},
                     {reg::DPU_OUT_CVT_OFFSET, scales ? 4u : 0u},
                     {reg::DPU_OUT_CVT_SCALE, scales ? 32767u : 1u},
                     {reg::DPU_OUT_CVT_SHIFT, scales ? 14u : 0u},
                     {reg::DPU_RDMA_RDMA_SRC_BASE_ADDR, 0},
                     {reg::DPU_DST_BASE_ADDR, 0}});
    file.address("x", first + 7);
    file.address(part, first + 8);
  }
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  const auto& steps = program->main_variant().steps;
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].outputs[1], b);
  const auto& copy = std::get<program::ConcatParams>(steps[1].params);
  EXPECT_EQ(copy.inputs[0], (program::InputStage{3, {32767, 14}}));
  EXPECT_EQ(copy.output.zero_point, 4);
  EXPECT_EQ(steps[1].outputs, std::vector<int32_t>{a});
}

TEST(VendorLiftTest, TheFeatureOfAnInt8ProductIsConvertedAsItsTasksDoIt) {
  VendorFile file;
  const int32_t a = file.feature("a", TensorKind::kInput, 0.5f, -128);
  const int32_t b = file.feature("b", TensorKind::kInput, 0.25f, -102);
  const int32_t y = file.feature("y", TensorKind::kOutput, 1.0f, 0);
  file.graph().tensors[static_cast<size_t>(a)].shape = {1, 2, 1, 2};
  for (const int32_t i : {b, y}) file.graph().tensors[static_cast<size_t>(i)].shape = {1, 2, 1, 3};
  file.node("exMatMul", {a, b}, {y});
  file.task(0x1d, {{reg::CNA_CVT_CON0, 15 << 4}, {reg::CNA_CVT_CON1, 18172u << 16 | 102}});
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  const auto& variant = program->main_variant();
  for (const program::Step& step : variant.steps) {
    const auto* const copy = std::get_if<program::ConcatParams>(&step.params);
    if (copy == nullptr) continue;
    EXPECT_EQ(step.inputs, std::vector<int32_t>{b});
    EXPECT_EQ(copy->inputs[0], (program::InputStage{102, {18172, 15}}));
    const auto& made = variant.tensors[static_cast<size_t>(step.outputs[0])];
    EXPECT_FLOAT_EQ(made.scale, 0.25f * 32768 / 18172);
    EXPECT_EQ(made.zero_point, 0);
    return;
  }
  ADD_FAILURE() << "no conversion";
}

// 1 x 2 times 2 x 3 with the lists' own constants: the sums are scaled twice and rounded each time.
TEST(VendorLiftTest, AnInt8ProductRoundsWhereItsListDoes) {
  VendorFile file;
  const int32_t a = file.feature("a", TensorKind::kInput, 0.5f, -128);
  const int32_t b = file.feature("b", TensorKind::kInput, 0.25f, -102);
  const int32_t y = file.feature("y", TensorKind::kOutput, 1.0f, 5);
  file.graph().tensors[static_cast<size_t>(a)].shape = {1, 2, 1, 2};
  for (const int32_t i : {b, y}) file.graph().tensors[static_cast<size_t>(i)].shape = {1, 2, 1, 3};
  file.node("exMatMul", {a, b}, {y});
  file.address("y", 0);
  file.task(0x1d, {{reg::DPU_DST_BASE_ADDR, 0},
                   {reg::CNA_CVT_CON0, 15 << 4},
                   {reg::CNA_CVT_CON1, 18172u << 16 | 102},
                   {reg::DPU_BS_OW_OP, 128},
                   {reg::DPU_BS_CFG, 0x20050},
                   {reg::DPU_BN_CFG, 0x42},
                   {reg::DPU_BN_MUL_CFG, 23170u << 16 | 17 << 8},
                   {reg::DPU_DATA_FORMAT, 17 << 10},
                   {reg::DPU_EW_CFG, 0x383},
                   {reg::DPU_OUT_CVT_OFFSET, 5},
                   {reg::DPU_OUT_CVT_SCALE, 22999},
                   {reg::DPU_OUT_CVT_SHIFT, 20}});
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  const auto& variant = program->main_variant();
  std::string operators;
  for (const program::Step& step : variant.steps) {
    const auto* const p = std::get_if<program::OpParams>(&step.params);
    operators += p == nullptr ? "copy " : p->op + " ";
    if (p == nullptr || p->op != "exRequantize") continue;
    const AttrMap expected = {{"first_scale", int64_t{23170}}, {"first_shift", int64_t{17}},
                              {"scale", int64_t{22999}},       {"shift", int64_t{20}},
                              {"zero_point", int64_t{5}},      {"unit", 1.0f}};
    ASSERT_EQ(p->attrs.size(), expected.size());
    for (const auto& [name, value] : expected)
      EXPECT_TRUE(attr_equal(p->attrs.at(name), value)) << name;
  }
  EXPECT_EQ(operators, "Mul Transpose copy Mul Transpose MatMul exRequantize Transpose ");
}

TEST(VendorLiftTest, SoftmaxWithoutListsIsOneStepAlongItsAxis) {
  VendorFile file("rk3566");
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, 3);
  const int32_t y = file.feature("y", TensorKind::kOutput, 1 / 256.0f, -128);
  file.node("exSoftmax13", {x}, {y}).params = FileOperatorParams{61, {{"axis", int64_t{1}}}};
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  const auto& steps = program->main_variant().steps;
  ASSERT_EQ(steps.size(), 1u);
  const auto& p = std::get<program::OpParams>(steps[0].params);
  EXPECT_EQ(p.op, "Softmax");
  EXPECT_EQ(std::get<int64_t>(p.attrs.at("axis")), 1);
  EXPECT_EQ(steps[0].outputs, std::vector<int32_t>{y});
}

TEST(VendorLiftTest, ListsEveryNodeThatCannotBeDecoded) {
  VendorFile file;
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, 0);
  const int32_t m = file.feature("m", TensorKind::kInternal, 0.5f, 0);
  const int32_t y = file.feature("y", TensorKind::kOutput, 0.5f, 0);
  file.node("exNothing", {x}, {m});
  file.node("LeakyRelu", {m}, {y});
  const auto program = file.lift();
  ASSERT_FALSE(program.ok());
  const std::string& text = program.status().message();
  EXPECT_NE(text.find("2 of the nodes"), std::string::npos) << text;
  EXPECT_NE(text.find("exNothing, 1 node, first 'exNothing:n0': this operator is not decoded"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("LeakyRelu, 1 node, first 'LeakyRelu:n1': attribute 'alpha' is not stored"),
            std::string::npos);
  VendorFile again = std::move(file);
  const auto described = lift_model(again.model, nullptr, {.describe_only = true});
  ASSERT_TRUE(described.ok()) << described.status().message();
  EXPECT_EQ(described->main_variant().steps.size(), 2u);
}

// One convolution of RK3566 whose weights of 2 x 16 lanes hold `value`, coded: eight streams without differences from it.
VendorFile coded_conv(uint8_t value, uint32_t decompress) {
  VendorFile file("rk3566");
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, 0);
  const int32_t y = file.feature("y", TensorKind::kOutput, 0.5f, 0);
  std::vector<uint8_t> coded;
  for (int stream = 0; stream < 8; ++stream) {
    std::vector<uint8_t> bytes = {0, value, 0, 0, 0x10, 0x32, 0x54, 0x76};
    bytes.resize(64);
    coded.insert(coded.end(), bytes.begin(), bytes.end());
  }
  const int32_t w = file.constant("w", DType::kUndefined, {1, 1, 1, 1}, {1, 1, 1, 1, 2, 16}, coded);
  file.graph().tensors[static_cast<size_t>(w)].layout = program::Layout::kPlain;
  file.conv("Conv", {x, w, file.bias()}, y,
            with(plain_list(), {{reg::DPU_BS_CFG, 0x148}, {reg::CNA_DCOMP_CTRL, decompress}}));
  return file;
}

TEST(VendorLiftTest, CodedWeightsBecomeBlocks) {
  const auto program = coded_conv(3, 1).lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  const program::Variant& variant = program->main_variant();
  const program::ProgramTensor& weight =
      variant.tensors[static_cast<size_t>(variant.steps[0].inputs[1])];
  EXPECT_EQ(weight.dtype, DType::kI8);
  EXPECT_EQ(weight.layout, program::Layout::kWeight);
  EXPECT_EQ(weight.size_bytes, 32u);
  const ByteSpan bytes = program->weights[static_cast<size_t>(weight.weight)].bytes;
  EXPECT_EQ(std::vector<uint8_t>(bytes.begin(), bytes.end()), std::vector<uint8_t>(32, 3));
}

TEST(VendorLiftTest, CodedWeightsThatTheRegistersDoNotDecodeAreRefused) {
  const auto program = coded_conv(3, 0).lift();
  ASSERT_FALSE(program.ok());
  EXPECT_NE(program.status().message().find("compressed weights"), std::string::npos)
      << program.status().message();
}

TEST(VendorLiftTest, DamagedCodedWeightsAreRefusedByNameButDescribed) {
  VendorFile file = coded_conv(3, 1);
  const uint8_t cut[16] = {};
  file.model.buffers[file.graph().tensors[3].buffer].data = cut;
  const auto program = file.lift();
  ASSERT_FALSE(program.ok());
  EXPECT_NE(program.status().message().find("constant 'w': compressed weights:"), std::string::npos)
      << program.status().message();
  const auto described = lift_model(file.model, nullptr, {.describe_only = true});
  EXPECT_TRUE(described.ok()) << described.status().message();
}

TEST(VendorLiftTest, ConvolutionsWithoutRegisterListsAreRefused) {
  VendorFile file;
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, 0);
  const int32_t w = file.weight(), b = file.bias();
  const int32_t y = file.feature("y", TensorKind::kOutput, 0.5f, 0);
  file.node("Conv", {x, w, b}, {y}).params = FileConvParams{"", {}, 1, {1, 1}, {}, {}};
  const auto program = file.lift();
  ASSERT_FALSE(program.ok());
  EXPECT_NE(program.status().message().find("requantization constants are missing"),
            std::string::npos);
}

TEST(VendorLiftTest, CustomOperatorsAreKeptUnderTheirName) {
  VendorFile file;
  file.model.custom_ops = "cstOther,cstMine";
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, 0);
  const int32_t y = file.feature("y", TensorKind::kOutput, 0.5f, 0);
  file.node("cstMine", {x}, {y});
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(std::get<program::OpParams>(program->main_variant().steps[0].params).op,
            "custom.cstMine");
  EXPECT_EQ(program->main_variant().steps[0].type, "cstMine");
}

// x0 + x1 with the numbers of a vendor file: (x + 128) * 16384 + (e + 17) * 17176 / 2, * 31695 / 2^29 - 128.
VendorFile one_add(const std::string& platform, bool swap_streams) {
  VendorFile file(platform);
  const int32_t a = file.feature("a", TensorKind::kInput, 0.5f, -128);
  const int32_t b = file.feature("b", TensorKind::kInput, 0.25f, -17);
  const int32_t y = file.feature("y", TensorKind::kOutput, 1.0f, -128);
  file.node("AddRelu", {a, b}, {y});
  const size_t first = file.word_count();
  file.task(0x18, {{reg::DPU_BS_CFG, 0x20040},
                   {reg::DPU_BS_ALU_CFG, 128},
                   {reg::DPU_BS_MUL_CFG, 0x40000000},
                   {reg::DPU_BN_CFG, 0x53},
                   {reg::DPU_EW_CFG, 0x904200c0},
                   {reg::DPU_EW_CVT_OFFSET_VALUE, 17},
                   {reg::DPU_EW_CVT_SCALE_VALUE, 0x14318},
                   {reg::DPU_OUT_CVT_OFFSET, 0xffffff80},
                   {reg::DPU_OUT_CVT_SCALE, 31695},
                   {reg::DPU_OUT_CVT_SHIFT, 29},
                   {reg::DPU_RDMA_RDMA_SRC_BASE_ADDR, 0},
                   {reg::DPU_RDMA_RDMA_EW_BASE_ADDR, 0}});
  file.address(swap_streams ? "b" : "a", first + 10);
  file.address(swap_streams ? "a" : "b", first + 11);
  return file;
}

TEST(VendorLiftTest, AdditionTakesBothOperandsStagesFromTheRegisters) {
  for (const bool swapped : {false, true}) {
    VendorFile file = one_add("rk3588", swapped);
    const auto program = file.lift();
    ASSERT_TRUE(program.ok()) << program.status().message();
    const auto& p = std::get<program::SumParams>(program->main_variant().steps[0].params);
    ASSERT_EQ(p.inputs.size(), 2u);
    EXPECT_EQ(p.inputs[swapped ? 1 : 0], (program::InputStage{128, {16384, 0}}));
    EXPECT_EQ(p.inputs[swapped ? 0 : 1], (program::InputStage{17, {17176, 1}}));
    EXPECT_EQ(p.output, (program::OutputStage{{31695, 29}, -128}));
    EXPECT_EQ(p.activation, program::Activation::kRelu);
  }
}

TEST(VendorLiftTest, AdditionIsDerivedFromScalesWhereTheRegistersAreNotKnown) {
  VendorFile file = one_add("rk3576", false);
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  const auto& p = std::get<program::SumParams>(program->main_variant().steps[0].params);
  // 0.5 and 0.25 of the output's scale, times 2^10.
  EXPECT_EQ(p.inputs[0], (program::InputStage{128, {16384, 5}}));
  EXPECT_EQ(p.inputs[1], (program::InputStage{17, {16384, 6}}));
  EXPECT_EQ(p.output, (program::OutputStage{{16384, 24}, -128}));
  EXPECT_EQ(p.activation, program::Activation::kRelu);
}

TEST(VendorLiftTest, AShapeLargerThanItsMemoryIsDamage) {
  VendorFile file = one_conv("Conv", plain_list());
  file.graph().tensors[1].shape = {1, 1, 32768, 32768};
  const auto program = file.lift();
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.status().code(), Code::kInvalidModel);
  EXPECT_NE(program.status().message().find("does not fit into the 64 bytes"), std::string::npos)
      << program.status().message();
}

TEST(VendorLiftTest, TasksOutsideTheCommandsAreDamage) {
  VendorFile file = one_conv("Conv", plain_list());
  std::vector<uint8_t> words(8), tasks(40);
  tasks[24] = 2;
  file.model.buffers.push_back({words});
  file.model.buffers.push_back({tasks});
  FileTensor t;
  t.dtype = DType::kU64;
  t.kind = kRegisterCommandsKind;
  t.buffer = static_cast<uint32_t>(file.model.buffers.size()) - 2;
  file.graph().tensors.push_back(t);
  t.kind = kTasksKind;
  ++t.buffer;
  file.graph().tensors.push_back(t);
  const auto program = lift_model(file.model, nullptr);
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.status().code(), Code::kInvalidModel);
  EXPECT_NE(program.status().message().find("task 0: 2 register commands at byte 0 of 8"),
            std::string::npos);
}

// Channel c of pixel p holds 10 * c + p. Blocks of 16 lanes, 4 pixels.
std::vector<uint8_t> blocked_bytes() {
  std::vector<uint8_t> bytes(64, 99);
  for (size_t p = 0; p < 4; ++p) {
    for (size_t c = 0; c < 3; ++c) bytes[p * 16 + c] = static_cast<uint8_t>(10 * c + p);
  }
  return bytes;
}

TEST(VendorLiftTest, ConstantsInBlocksOfChannelsBecomeRowMajor) {
  VendorFile file;
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, 0);
  const int32_t y = file.feature("y", TensorKind::kOutput, 0.5f, 0);
  const int32_t k = file.constant("k", DType::kI8, {1, 3, 2, 2}, {1, 1, 2, 2, 16}, blocked_bytes());
  for (const int32_t i : {x, y}) file.graph().tensors[static_cast<size_t>(i)].shape = {1, 3, 2, 2};
  FileTensor& constant = file.graph().tensors[static_cast<size_t>(k)];
  constant.layout = program::Layout::kNc1hwc2;
  constant.scale = {0.25f};
  constant.zero_point = {4};
  file.node("Mul", {x, k}, {y});
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  const program::Variant& variant = program->main_variant();
  const auto& operand = variant.tensors[static_cast<size_t>(variant.steps[0].inputs[1])];
  const ByteSpan bytes = program->weights[static_cast<size_t>(operand.weight)].bytes;
  const std::vector<uint8_t> expected = {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23};
  EXPECT_EQ(std::vector<uint8_t>(bytes.begin(), bytes.end()), expected);
  EXPECT_EQ(operand.scale, 0.25f);
  EXPECT_EQ(operand.zero_point, 4);
}

TEST(VendorLiftTest, AnOperandThatIsNotUnderstoodIsRefused) {
  for (const int what : {0, 1, 2}) {
    VendorFile file;
    const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, 0);
    const int32_t y = file.feature("y", TensorKind::kOutput, 0.5f, 0);
    const int32_t k = file.constant("k", DType::kF32, {1}, {1}, {0, 0, 128, 63});
    FileTensor& constant = file.graph().tensors[static_cast<size_t>(k)];
    if (what == 0) constant.layout = static_cast<program::Layout>(0x23);
    if (what == 1) constant.kind = static_cast<TensorKind>(7);
    if (what == 2) constant.dtype = static_cast<DType>(99);
    file.node("Mul", {x, k}, {y});
    const auto program = file.lift();
    ASSERT_FALSE(program.ok()) << what;
    EXPECT_NE(program.status().message().find("operand 'k' has kind"), std::string::npos)
        << program.status().message();
  }
}

TEST(VendorLiftTest, ScratchAndHelperTensorsAreNoOperands) {
  VendorFile file;
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, 0);
  const int32_t scratch = file.feature("y_exSecondary", TensorKind::kInternal, 0.5f, 0);
  const int32_t helper = file.constant("y_conv_weight", DType::kI8, {1, 1, 1, 1},
                                       {1, 1, 1, 1, 1, 16}, std::vector<uint8_t>(16));
  file.graph().tensors[static_cast<size_t>(helper)].kind = TensorKind::kHelperConstant;
  const int32_t y = file.feature("y", TensorKind::kOutput, 0.5f, 0);
  file.graph().tensors[static_cast<size_t>(y)].shape = {1, 2, 2, 2};
  file.node("Concat", {x, x, scratch, helper}, {y}).params = FileConcatParams{1};
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program->main_variant().steps[0].inputs, (std::vector<int32_t>{x, x}));
}

TEST(VendorLiftTest, AnAbsentOperandKeepsItsPlace) {
  VendorFile file;
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, 0);
  const int32_t y = file.feature("y", TensorKind::kOutput, 0.5f, 0);
  const int32_t most = file.constant("most", DType::kF32, {1}, {1}, {0, 0, 128, 63});
  file.node("Clip", {x, -1, most}, {y});
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program->main_variant().steps[0].inputs,
            (std::vector<int32_t>{x, program::kNone, most}));
}

// A task that loads 513 + 513 entries, then the convolution whose registers use them.
TEST(VendorLiftTest, ActivationsByTableComeFromTheFilesTables) {
  VendorFile file;
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, 0);
  const int32_t w = file.weight(), b = file.bias();
  const int32_t y = file.feature("y", TensorKind::kOutput, 0.25f, 0);
  file.node("ConvSigmoid", {x, w, b}, {y}).params =
      FileConvParams{"NOTSET", {1, 1}, 1, {1, 1}, {0, 0, 0, 0}, {1, 1}};
  std::vector<Write> load = {{0x4100, 0x20000}};
  for (uint32_t i = 0; i < 513; ++i) load.push_back({0x4104, i});
  load.push_back({0x4100, 0x30000});
  for (uint32_t i = 0; i < 513; ++i) load.push_back({0x4104, 0xffff8000 + i});
  file.task(0x18, load);
  file.task(0x1d, with(plain_list(), {{0x4060, 0x20040},
                                      {0x4064, 77},
                                      {0x4068, 0x78331400},
                                      {0x4070, 0x302},
                                      {0x410c, 0x50500},
                                      {0x4110, 0xffffc000},
                                      {0x411c, 0x4000},
                                      {0x4128, 0x40000000},
                                      {0x412c, 13 << 5}}));
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  const program::ConvParams& p = conv_of(*program);
  ASSERT_TRUE(p.lookup.has_value());
  EXPECT_EQ(p.lookup->multiplier, 0x7833);
  EXPECT_EQ(p.lookup->shift, 20);
  EXPECT_EQ(p.lookup->addend, 77);
  EXPECT_EQ(p.lookup->start, -16384);
  EXPECT_EQ(p.lookup->end, 16384);
  EXPECT_EQ(p.lookup->entry_shift, 5);
  EXPECT_EQ(p.lookup->above, (ScaleShift{16384, 13}));
  ASSERT_EQ(p.lookup->low.size(), 513u);
  EXPECT_EQ(p.lookup->low[512], 512);
  EXPECT_EQ(p.lookup->high[0], -32768);
  EXPECT_EQ(p.lookup->high[512], -32768 + 512);
}

}  // namespace
}  // namespace rk::format
