// SPDX-License-Identifier: Apache-2.0
#include "target/matmul.h"

namespace rk::target {
namespace {

constexpr MatmulType kTypes[] = {
    {1, "FLOAT16_MM_FLOAT16_TO_FLOAT32", DType::kF16, DType::kF16, DType::kF32},
    {2, "INT8_MM_INT8_TO_INT32", DType::kI8, DType::kI8, DType::kI32},
    {3, "INT8_MM_INT8_TO_INT8", DType::kI8, DType::kI8, DType::kI8},
    {4, "FLOAT16_MM_FLOAT16_TO_FLOAT16", DType::kF16, DType::kF16, DType::kF16},
    {5, "FLOAT16_MM_INT8_TO_FLOAT32", DType::kF16, DType::kI8, DType::kF32},
    {6, "FLOAT16_MM_INT8_TO_FLOAT16", DType::kF16, DType::kI8, DType::kF16},
    {7, "FLOAT16_MM_INT4_TO_FLOAT32", DType::kF16, DType::kI4, DType::kF32},
    {8, "FLOAT16_MM_INT4_TO_FLOAT16", DType::kF16, DType::kI4, DType::kF16},
    {9, "INT8_MM_INT8_TO_FLOAT32", DType::kI8, DType::kI8, DType::kF32},
    {10, "INT4_MM_INT4_TO_INT16", DType::kI4, DType::kI4, DType::kI16},
    {11, "INT8_MM_INT4_TO_INT32", DType::kI8, DType::kI4, DType::kI32},
    {12, "FLOAT16_MM_INT4_TO_BFLOAT16", DType::kF16, DType::kI4, DType::kBF16},
    {15, "INT8_MM_INT4_TO_FLOAT16", DType::kI8, DType::kI4, DType::kF16},
};

}  // namespace

std::span<const MatmulType> matmul_types() { return kTypes; }

const MatmulType* find_matmul_type(int value) {
  for (const MatmulType& type : kTypes) {
    if (type.value == value) return &type;
  }
  return nullptr;
}

const MatmulElement& MatmulRules::element(const MatmulType& type) const {
  if (type.a == type.b) {
    return type.a == DType::kI4 ? i4 : type.a == DType::kI8 ? i8 : f16;
  }
  return is_float(type.c) ? f16 : i8;
}

}  // namespace rk::target
