// SPDX-License-Identifier: Apache-2.0
#include "target/registers.h"

#include <gtest/gtest.h>

namespace rk::target {
namespace {

TEST(RegistersTest, CommandWordsSplitIntoTargetValueAndRegister) {
  const RegisterCommand command = RegisterCommand::decode(0x0201'60008000'100cULL);
  EXPECT_EQ(command.target, 0x0201);
  EXPECT_EQ(command.value, 0x60008000u);
  EXPECT_EQ(command.offset, 0x100c);
  EXPECT_EQ(unit_of_target(command.target), "CNA");
  EXPECT_EQ(unit_of_target(0x1234), "");
}

TEST(RegistersTest, FieldsAreFoundByOffsetAndDescribedFromTheLowestBit) {
  const Register* const found = find_register(0x100c);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->unit, "CNA");
  EXPECT_EQ(found->name, "CONV_CON1");
  EXPECT_EQ(describe_fields(*found, 0x60008003),
            "CONV_MODE=3 ARGB_IN=8 GROUP_LINE_OFF=1 NONALIGN_DMA=1");
  EXPECT_EQ(describe_fields(*found, 0), "0");
  EXPECT_EQ(find_register(0x0002), nullptr);
}

TEST(RegistersTest, FieldsCoverAllThirtyTwoBits) {
  EXPECT_EQ(reg::CNA_WEIGHT_SIZE0__WEIGHT_BYTES.get(0xffffffffu), 0xffffffffu);
  EXPECT_EQ(reg::DPU_OUT_CVT_SHIFT__CVT_TYPE.get(0x80000000u), 1u);
  EXPECT_EQ(reg::DPU_DST_SURF_STRIDE__DST_SURF_STRIDE.get(0x40000u), 0x4000u);
}

TEST(RegistersTest, AFileKeepsValuesUntilTheyAreWrittenAgain) {
  RegisterFile file;
  EXPECT_EQ(file.get(reg::DPU_OUT_CVT_OFFSET), 0u);
  file.write({0x1001, 0xfffffffb, reg::DPU_OUT_CVT_OFFSET});
  EXPECT_EQ(file.get_signed(reg::DPU_OUT_CVT_OFFSET), -5);
  file.write({0x1001, 1, 0xfffc});  // outside the register space: ignored
  EXPECT_EQ(file.get(0xfffc), 0u);
}

TEST(RegistersTest, AUnitAlternatesBetweenTwoBanksWithItsTasks) {
  constexpr uint32_t kCna = 1, kDpu = 8;
  RegisterFile file;
  file.write({0x1001, 0xe, reg::DPU_S_POINTER});
  file.write({0x1001, 11, reg::DPU_OUT_CVT_SCALE});
  file.finish_task(kDpu);
  EXPECT_EQ(file.get(reg::DPU_OUT_CVT_SCALE), 0u);
  file.write({0x1001, 22, reg::DPU_OUT_CVT_SCALE});
  file.finish_task(kDpu);
  EXPECT_EQ(file.get(reg::DPU_OUT_CVT_SCALE), 11u);
  file.finish_task(kCna);  // the DPU has no part in it
  EXPECT_EQ(file.get(reg::DPU_OUT_CVT_SCALE), 11u);
  file.finish_task(kDpu);
  EXPECT_EQ(file.get(reg::DPU_OUT_CVT_SCALE), 22u);
}

TEST(RegistersTest, LaterChipsMoveTheOutputConverter) {
  ASSERT_NE(conv_registers("rk3576"), nullptr);
  EXPECT_EQ(conv_registers("rk3588")->output_offset, 0x4080);
  EXPECT_EQ(conv_registers("rk3576")->output_offset, 0x40ac);
  EXPECT_EQ(conv_registers("rk3562")->multiplier_shift.offset, 0x4054);
  EXPECT_EQ(conv_registers("rk1808"), nullptr);
}

}  // namespace
}  // namespace rk::target
