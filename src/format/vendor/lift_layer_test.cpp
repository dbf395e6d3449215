// SPDX-License-Identifier: Apache-2.0
// Convolutions whose channels share one weight offset and one multiplier (quantized_method='layer'): where their registers
// and tables hold these.
#include <gtest/gtest.h>

#include "format/vendor/test_file.h"
#include "program/native_layout.h"

namespace rk::format {
namespace {

struct Lifted {
  program::ConvParams params;
  program::BiasBlock channels;
};

Lifted lift(VendorFile& file) {
  const auto program = file.lift();
  EXPECT_TRUE(program.ok()) << program.status().message();
  if (!program.ok()) return {};
  const program::Variant& variant = program->main_variant();
  const program::Step& step = variant.steps[0];
  const auto constants = program::unpack_conv_constants(*program, variant, step);
  EXPECT_TRUE(constants.ok()) << constants.status().message();
  if (!constants.ok()) return {};
  return {std::get<program::ConvParams>(step.params), constants->channels};
}

int32_t bias_alone(VendorFile& file) {
  return file.constant("b", DType::kI32, {1}, {16}, std::vector<uint8_t>(64));
}

std::vector<Write> more(std::vector<Write> list, const std::vector<Write>& writes) {
  list.insert(list.end(), writes.begin(), writes.end());
  return list;
}

TEST(VendorLayerTest, ASlopeTakesItsOneMultiplierAndShiftFromTheBiasStage) {
  VendorFile file;
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, -3);
  const int32_t y = file.feature("y", TensorKind::kOutput, 0.25f, -5);
  file.conv("ConvLeakyRelu", {x, file.weight(), bias_alone(file)}, y,
            more(plain_list(), {{reg::DPU_BS_MUL_CFG, 0x40000000},
                                {reg::DPU_BS_OW_OP, 9},
                                {reg::DPU_BN_CFG, 0x62},
                                {reg::DPU_BN_MUL_CFG, 0xccd0000},
                                {reg::DPU_RDMA_RDMA_BRDMA_CFG, 2}}));
  const Lifted lifted = lift(file);
  ASSERT_TRUE(lifted.params.slope.has_value());
  EXPECT_EQ(lifted.params.multiplier_shift, 0);
  EXPECT_EQ(lifted.params.slope->negative_multiplier_shift, 14);
  EXPECT_EQ(lifted.params.slope->factor, std::vector<int16_t>{0xccd});
  EXPECT_EQ(lifted.channels.multiplier[0], 16384);
  EXPECT_EQ(lifted.channels.offset[0], 9);
}

TEST(VendorLayerTest, TheShiftOfAProductThatIsOffCounts) {
  for (const uint32_t shift : {0u, 1u}) {
    VendorFile file;
    const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, -3);
    const int32_t y = file.feature("y", TensorKind::kOutput, 0.25f, -5);
    file.conv("Conv", {x, file.weight(), bias_alone(file)}, y,
              more(plain_list(), {{reg::DPU_BS_CFG, 0x20150},
                                  {reg::DPU_BS_MUL_CFG, shift << 8},
                                  {reg::DPU_RDMA_RDMA_BRDMA_CFG, 2}}));
    EXPECT_EQ(lift(file).params.multiplier_shift, 14 + static_cast<int32_t>(shift));
  }
}

// Two channels of a 1x1 depthwise convolution.
VendorFile depthwise(const char* chip, const char* type, const std::vector<Write>& writes,
                     std::vector<uint8_t> table = {}) {
  VendorFile file(chip);
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, -3);
  const int32_t y = file.feature("y", TensorKind::kOutput, 0.25f, -5);
  for (const int32_t i : {x, y}) file.graph().tensors[static_cast<size_t>(i)].shape[1] = 2;
  const int32_t w = file.constant("w", DType::kI8, {1, 2, 1, 1}, {1, 1, 1, 1, 1, 16},
                                  std::vector<uint8_t>(16, 3));
  const int32_t b = bias_alone(file);
  if (!table.empty()) {
    const auto size = static_cast<int32_t>(table.size() / 2);
    file.constant("table", DType::kI16, {1, size, 1, 1}, {1, 1, 1, 1, size}, std::move(table));
    file.address("table", 0);
    file.address("slope", 1);
    file.constant("slope", DType::kI16, {1, 8, 1, 1}, {1, 1, 1, 1, 8},
                  {0xcd, 0x0c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  }
  file.conv(type, {x, w, b}, y, writes);
  std::get<FileConvParams>(file.graph().nodes.back().params).group = 2;
  return file;
}

TEST(VendorLayerTest, DepthwiseWeightsHaveARegisterForTheirOffset) {
  VendorFile file = depthwise(
      "rk3562", "Conv",
      {{0x40b0, 20000}, {0x40b4, 20}, {0x40ac, 0xfffffffb}, {0x501c, 2}, {0x1074, 0x0b0b}});
  const Lifted lifted = lift(file);
  EXPECT_EQ(lifted.channels.offset, (std::vector<int16_t>{11, 11}));
  EXPECT_EQ(lifted.channels.multiplier, (std::vector<int16_t>{16384, 16384}));
  EXPECT_EQ(lifted.params.multiplier_shift, 14);
}

// RK3576: multiplier and shifts are the first parts of the table then, since the offset is not in it.
TEST(VendorLayerTest, ATableHasNoOffsetWhereARegisterHoldsIt) {
  std::vector<uint8_t> table(64);
  table[1] = 0x40;
  table[16] = 1;
  table[17] = 14;
  VendorFile file = depthwise("rk3576", "ConvLeakyRelu",
                              {{0x5024, 0},
                               {0x5030, 0},
                               {0x40b0, 20000},
                               {0x40b4, 20},
                               {0x40ac, 0xfffffffb},
                               {0x501c, 1 << 8},
                               {0x1074, 0xf5f5}},
                              table);
  const Lifted lifted = lift(file);
  ASSERT_TRUE(lifted.params.slope.has_value());
  EXPECT_EQ(lifted.channels.offset, (std::vector<int16_t>{-11, -11}));
  EXPECT_EQ(lifted.channels.multiplier, (std::vector<int16_t>{16384, 16384}));
  EXPECT_EQ(lifted.params.multiplier_shift, 1);
  EXPECT_EQ(lifted.params.slope->negative_multiplier_shift, 14);
  EXPECT_EQ(lifted.params.slope->factor, std::vector<int16_t>{0x0ccd});
}

// RV1106: a LeakyRelu on its own says its slope in registers only. 1638 / 2^14 below zero, 1 above.
TEST(VendorLayerTest, TheSlopeOfALeakyReluAloneIsInRegistersOfTheSmallChips) {
  VendorFile file("rv1106");
  const int32_t x = file.feature("x", TensorKind::kInput, 0.5f, -3);
  const int32_t y = file.feature("y", TensorKind::kOutput, 0.25f, -5);
  file.node("LeakyRelu", {x}, {y});
  file.task(0x18, {{0x4040, 0x100012}, {0x4054, 0xe000000}, {0x4060, 0x22}, {0x4068, 0x6660000}});
  const auto program = file.lift();
  ASSERT_TRUE(program.ok()) << program.status().message();
  const auto& step = std::get<program::OpParams>(program->main_variant().steps[0].params);
  EXPECT_EQ(step.op, "LeakyRelu");
  EXPECT_FLOAT_EQ(std::get<float>(step.attrs.at("alpha")), 1638.0f / 16384);
}

// RK3576 in float16: the batch-norm stage of a depthwise layer has the slope, other layers have it beside the bias.
TEST(VendorLayerTest, ASlopeInFloat16IsInTheTableOfTheStageThatIsOn) {
  for (const bool in_norm : {false, true}) {
    std::vector<uint8_t> table(64);
    table[1] = 0x38;  // 0.5
    VendorFile file =
        depthwise("rk3576", "ConvLeakyRelu",
                  {{0x5024, 0}, {0x5030, 0}, {0x4060, in_norm ? 0xc02u : 0x903u}}, table);
    for (FileTensor& tensor : file.graph().tensors) {
      if (tensor.name == "x" || tensor.name == "y" || tensor.name == "w")
        tensor.dtype = DType::kF16;
      if (tensor.name == "x" || tensor.name == "y") tensor.scale.clear(), tensor.zero_point.clear();
      if (tensor.name == "w") tensor.native_shape = {1, 1, 1, 1, 1, 8};
      if (tensor.name == "b") tensor.dtype = DType::kF32;
    }
    const auto program = file.lift();
    ASSERT_TRUE(program.ok()) << program.status().message();
    const auto& steps = program->main_variant().steps;
    const auto& slope = std::get<program::OpParams>(steps.back().params);
    EXPECT_EQ(slope.op, "LeakyRelu");
    // The other table begins with 0x0ccd, a half of 0.000293.
    EXPECT_NEAR(std::get<float>(slope.attrs.at("alpha")), in_norm ? 0.000293f : 0.5f, 1e-6f);
  }
}

}  // namespace
}  // namespace rk::format
