// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/sram.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace rk::runtime {
namespace {

const target::Target& chip(const char* name) { return *target::find_target(name).value(); }

TEST(SramTest, ContextsShareThePagesOfTheChip) {
  const target::Target& rk3588 = chip("rk3588");
  ASSERT_EQ(free_sram_bytes(rk3588), 956u * 1024);
  {
    const SramShare first = SramShare::take(rk3588, 5000);
    EXPECT_EQ(first.bytes(), 8192u);
    EXPECT_EQ(free_sram_bytes(rk3588), 956u * 1024 - 8192);
    const SramShare second = SramShare::take(rk3588, 1 << 30);
    EXPECT_EQ(second.bytes(), 956u * 1024 - 8192);
    EXPECT_EQ(SramShare::take(rk3588, 1).bytes(), 0u);
  }
  EXPECT_EQ(free_sram_bytes(rk3588), 956u * 1024);
}

TEST(SramTest, MovingAShareDoesNotReturnIt) {
  const target::Target& rk3588 = chip("rk3588");
  SramShare kept;
  {
    SramShare share = SramShare::take(rk3588, 4096);
    kept = std::move(share);
  }
  EXPECT_EQ(kept.bytes(), 4096u);
  EXPECT_EQ(free_sram_bytes(rk3588), 956u * 1024 - 4096);
}

// The setting is read once in a process, so each is asked in one of its own.
int free_with_setting(const char* setting) {
  setenv("RKNN_SRAM_SIZE", setting, 1);
  const target::Target& rk3588 = chip("rk3588");
  const SramShare share = SramShare::take(rk3588, 1 << 30);
  const uint64_t kib = sram_capacity(rk3588) / 1024;
  const bool all_taken = share.bytes() == sram_capacity(rk3588) && free_sram_bytes(rk3588) == 0;
  return all_taken && kib <= 255 ? static_cast<int>(kib) : 255;
}

TEST(SramDeathTest, TheEnvironmentSetsItsSize) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  using ::testing::ExitedWithCode;
  EXPECT_EXIT(std::_Exit(free_with_setting("65536")), ExitedWithCode(64), "");
  EXPECT_EXIT(std::_Exit(free_with_setting("128K")), ExitedWithCode(128), "");
  EXPECT_EXIT(std::_Exit(free_with_setting("0")), ExitedWithCode(0), "");
  EXPECT_EXIT(std::_Exit(free_with_setting("4Q")), ExitedWithCode(255), "is not a size");
  EXPECT_EXIT(std::_Exit(free_with_setting("-4K")), ExitedWithCode(255), "is not a size");
}

TEST(SramTest, ChipsWithoutSramHaveNoneToGive) {
  EXPECT_EQ(SramShare::take(chip("rk3566"), 4096).bytes(), 0u);
  EXPECT_EQ(free_sram_bytes(chip("rk3566")), 0u);
}

}  // namespace
}  // namespace rk::runtime
