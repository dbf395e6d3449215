// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/device.h"

#include <gtest/gtest.h>

namespace rk::runtime {
namespace {

const target::Target& chip(std::string_view name) { return *target::find_target(name).value(); }

TEST(CoreMaskTest, ThreeCoresTakeEveryDocumentedMask) {
  for (const uint32_t mask : {0u, 1u, 2u, 4u, 3u, 7u, 0xffffu}) {
    EXPECT_TRUE(check_core_mask(chip("rk3588"), mask, false).ok()) << mask;
  }
  for (const uint32_t mask : {5u, 6u, 8u, 0x10000u}) {
    EXPECT_EQ(check_core_mask(chip("rk3588"), mask, false).code(), Code::kUnsupported) << mask;
  }
}

TEST(CoreMaskTest, TwoCoresHaveNoThird) {
  for (const uint32_t mask : {0u, 1u, 2u, 3u, 0xffffu}) {
    EXPECT_TRUE(check_core_mask(chip("rk3576"), mask, false).ok()) << mask;
  }
  for (const uint32_t mask : {4u, 7u})
    EXPECT_FALSE(check_core_mask(chip("rk3576"), mask, false).ok()) << mask;
}

TEST(CoreMaskTest, SingleCoreChipsRefuseTheCall) {
  EXPECT_EQ(check_core_mask(chip("rk3566"), 0, false).code(), Code::kTargetMismatch);
}

TEST(DeviceTest, ModelsOfTheSameFamilyRunOnTheChosenBoard) {
  const Device device{target::find_target("rk3568").value(), false};
  EXPECT_TRUE(chip_for_model(device, "rk3566").ok());
  const auto other = chip_for_model(device, "rk3588");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.status().code(), Code::kTargetMismatch);
  EXPECT_NE(other.status().message().find("rk3588"), std::string::npos);
}

TEST(DeviceTest, EnvironmentNamesTheBoard) {
  setenv("RKNN_TARGET", "no such chip", 1);
  EXPECT_EQ(device_from_environment().status().code(), Code::kInvalidArgument);
  setenv("RKNN_TARGET", "RK3588", 1);
  setenv("RKNN_STRICT", "1", 1);
  const Device device = device_from_environment().value();
  EXPECT_EQ(device.chip, &chip("rk3588"));
  EXPECT_TRUE(device.strict);
  unsetenv("RKNN_TARGET");
  unsetenv("RKNN_STRICT");
  EXPECT_EQ(device_from_environment().value().chip, nullptr);
}

TEST(DeviceTest, BoardsNameTheirChip) {
  using namespace std::string_view_literals;
  const target::Target* const chip =
      chip_of_board("rockchip,rk3588-evb1-lp4-v10\0rockchip,rk3588\0"sv);
  ASSERT_NE(chip, nullptr);
  EXPECT_EQ(chip->name, "rk3588");
  EXPECT_EQ(chip_of_board("radxa,rock-5b\0rockchip,rk3588s\0"sv), chip);
  EXPECT_EQ(chip_of_board("raspberrypi,4-model-b\0brcm,bcm2711\0"sv), nullptr);
  EXPECT_EQ(chip_of_board(""sv), nullptr);
}

}  // namespace
}  // namespace rk::runtime
