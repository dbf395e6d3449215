// SPDX-License-Identifier: Apache-2.0
// The models that cross the wire: int8, several shapes, two inputs with float16, and an operator of a plug-in.
#pragma once

#include "format/writer.h"
#include "runtime/test_program.h"

namespace rk::server_test {

inline std::vector<uint8_t> file_of(const program::Program& program) {
  auto file = format::write_rknn(program);
  RK_ASSERT(file.ok(), "the model of a test can be written");
  return std::move(file).value();
}

inline const Shape kPairShape{1, 6, 4, 5};

// x (int8) -> Softmax over channels (float16); with y (float16) -> sum and difference. The last two by standard
// operators, or by cstPair of tests/matmul/plugin.c.
inline program::Program pair_program(bool custom) {
  runtime::TestProgram p;
  const int32_t x = p.input("x", {DType::kI8, kPairShape, 0.05f, -3});
  const int32_t y = p.input("y", {DType::kF16, kPairShape});
  const int32_t share = p.internal("share", {DType::kF16, kPairShape});
  const int32_t sum = p.output("sum", {DType::kF16, kPairShape});
  const int32_t difference = p.output("difference", {DType::kI8, kPairShape, 0.02f, 5});
  p.step("Softmax", {x}, {share}, program::OpParams{"Softmax", {{"axis", int64_t{1}}}});
  if (custom) {
    p.step("cstPair", {share, y}, {sum, difference}, program::OpParams{"custom.cstPair", {}});
  } else {
    p.step("Add", {share, y}, {sum}, program::OpParams{"Add", {}});
    p.step("Sub", {share, y}, {difference}, program::OpParams{"Sub", {}});
  }
  return p.program;
}

}  // namespace rk::server_test
