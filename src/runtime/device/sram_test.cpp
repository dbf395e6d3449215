// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/sram.h"

#include <gtest/gtest.h>

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

TEST(SramTest, ChipsWithoutSramHaveNoneToGive) {
  EXPECT_EQ(SramShare::take(chip("rk3566"), 4096).bytes(), 0u);
  EXPECT_EQ(free_sram_bytes(chip("rk3566")), 0u);
}

}  // namespace
}  // namespace rk::runtime
