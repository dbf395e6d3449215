// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/memory_table.h"

#include <gtest/gtest.h>

#include "runtime/test_program.h"

namespace rk::runtime {
namespace {

TEST(MemoryTableTest, TensorsPlacesAndTotalsAreListed) {
  const auto model = LoadedModel::from_program(picture_program(), {});
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::string text = memory_table(**model, 0);
  const auto has = [&](const std::string& part) { return text.find(part) != std::string::npos; };
  for (const char* part :
       {"Feature Tensor Information Table", "Const Tensor Information Table", "OrigShape",
        "NativeShape", "SramHit", "image", "scores.weight", "(1,3,2,4)", "[0x00000000, "})
    EXPECT_TRUE(has(part)) << part << "\n" << text;
  EXPECT_TRUE(has(str("Total Weight Memory Size: ", (*model)->weight_bytes(), "\n"))) << text;
  EXPECT_TRUE(has(str("Total Internal Memory Size: ", (*model)->internal_bytes(), "\n"))) << text;
}

TEST(MemoryTableTest, WhatLiesInSramIsCounted) {
  const auto model = LoadedModel::from_program(picture_program(), {});
  ASSERT_TRUE(model.ok());
  // The input lies at 0 with 96 bytes; 32 of them are within the first 32.
  EXPECT_NE(memory_table(**model, 32).find("| 0x00000020"), std::string::npos);
  EXPECT_EQ(memory_table(**model, 0).find("| 0x00000020"), std::string::npos);
}

}  // namespace
}  // namespace rk::runtime
