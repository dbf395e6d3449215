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
  for (const char* part : {"Feature Tensor Information Table", "Const Tensor Information Table",
                           "OrigShape", "NativeShape", "SramHit", "image", "scores.weight",
                           "(1,3,2,4)", "| 0x00000000 0x", "OutputOperator"})
    EXPECT_TRUE(has(part)) << part << "\n" << text;
  EXPECT_TRUE(has(str("Total Weight Memory Size: ", (*model)->weight_bytes(), "\n"))) << text;
  EXPECT_TRUE(has(str("Total Internal Memory Size: ", (*model)->internal_bytes(), "\n"))) << text;
}

size_t times(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Three steps; every tensor has 256 bytes: x from 0, a from 256, b from 512, y from 768.
program::Program chain() {
  TestProgram p;
  const TestProgram::Type type{DType::kI8, {1, 32, 2, 4}, 1.0f, 0};
  const int32_t x = p.input("x", type), a = p.internal("a", type), b = p.internal("b", type),
                y = p.output("y", type);
  p.step("Neg", {x}, {a}, program::OpParams{"Neg", {}});
  p.step("Neg", {a}, {b}, program::OpParams{"Neg", {}});
  p.step("Neg", {b}, {y}, program::OpParams{"Neg", {}});
  return std::move(p.program);
}

TEST(MemoryTableTest, ATensorHasOneRowWhereItIsRead) {
  const auto model = LoadedModel::from_program(chain(), {});
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::string text = memory_table(**model, 0);
  EXPECT_EQ(times(text, " b "), 1u) << text;
  EXPECT_EQ(times(text, "| 0x00000200*0x00000300 0x00000100"), 1u)
      << "b ends where the internal memory does\n"
      << text;
  EXPECT_EQ(times(text, "| \\"), 2u) << "x and y\n" << text;
}

TEST(MemoryTableTest, WhatLiesInSramIsCounted) {
  const auto model = LoadedModel::from_program(chain(), {});
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::string text = memory_table(**model, 640);
  const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has("Total allocated Internal SRAM Size: 640, Addr: [0x00000000, 0x00000280)\n"))
      << text;
  // a whole, b half; each is written and read.
  EXPECT_TRUE(has("Predict SRAM Hit RW Amount: 768\n")) << text;
  EXPECT_TRUE(has("Predict Internal Memory RW Amount: 1536\n")) << text;
}

}  // namespace
}  // namespace rk::runtime
