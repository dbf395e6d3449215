// SPDX-License-Identifier: Apache-2.0
// A product written out from docs/matmul.md: elements by the published formulas, sums in int64 or double. Shares nothing
// with src/runtime/matmul.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/fixed_point.h"
#include "base/half.h"
#include "rknn_matmul_api.h"

namespace rk::matmul_reference {

enum class Element { kI4, kI8, kI16, kI32, kF16, kBf16, kF32 };

struct Type {
  rknn_matmul_type value;
  Element a, b, c;
};
inline const Type kTypes[] = {
    {RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT32, Element::kF16, Element::kF16, Element::kF32},
    {RKNN_INT8_MM_INT8_TO_INT32, Element::kI8, Element::kI8, Element::kI32},
    {RKNN_INT8_MM_INT8_TO_INT8, Element::kI8, Element::kI8, Element::kI8},
    {RKNN_FLOAT16_MM_FLOAT16_TO_FLOAT16, Element::kF16, Element::kF16, Element::kF16},
    {RKNN_FLOAT16_MM_INT8_TO_FLOAT32, Element::kF16, Element::kI8, Element::kF32},
    {RKNN_FLOAT16_MM_INT8_TO_FLOAT16, Element::kF16, Element::kI8, Element::kF16},
    {RKNN_FLOAT16_MM_INT4_TO_FLOAT32, Element::kF16, Element::kI4, Element::kF32},
    {RKNN_FLOAT16_MM_INT4_TO_FLOAT16, Element::kF16, Element::kI4, Element::kF16},
    {RKNN_INT8_MM_INT8_TO_FLOAT32, Element::kI8, Element::kI8, Element::kF32},
    {RKNN_INT4_MM_INT4_TO_INT16, Element::kI4, Element::kI4, Element::kI16},
    {RKNN_INT8_MM_INT4_TO_INT32, Element::kI8, Element::kI4, Element::kI32},
    {RKNN_FLOAT16_MM_INT4_TO_BFLOAT16, Element::kF16, Element::kI4, Element::kBf16},
    {RKNN_INT8_MM_INT4_TO_FLOAT16, Element::kI8, Element::kI4, Element::kF16},
};

inline int bits_of(Element e) {
  switch (e) {
    case Element::kI4:
      return 4;
    case Element::kI8:
      return 8;
    case Element::kI16:
    case Element::kF16:
    case Element::kBf16:
      return 16;
    default:
      return 32;
  }
}
inline bool is_integer(Element e) {
  return e == Element::kI4 || e == Element::kI8 || e == Element::kI16 || e == Element::kI32;
}

// Element number `at` of a matrix.
inline double get(Element e, const uint8_t* data, uint64_t at) {
  switch (e) {
    case Element::kI4: {
      const int nibble = at % 2 == 0 ? data[at / 2] & 15 : data[at / 2] >> 4;
      return nibble > 7 ? nibble - 16 : nibble;
    }
    case Element::kI8:
      return static_cast<int8_t>(data[at]);
    case Element::kI16: {
      int16_t v;
      std::memcpy(&v, data + at * 2, 2);
      return v;
    }
    case Element::kI32: {
      int32_t v;
      std::memcpy(&v, data + at * 4, 4);
      return v;
    }
    case Element::kF32: {
      float v;
      std::memcpy(&v, data + at * 4, 4);
      return v;
    }
    default: {
      uint16_t v;
      std::memcpy(&v, data + at * 2, 2);
      return e == Element::kF16 ? half_to_float(v) : bfloat16_to_float(v);
    }
  }
}

// The published tables, by chip: native blocks, alignments, segments.
struct Chip {
  const char* name;
  int a_i4, a_i8, a_f16;
  int i4_n, i8_n, f16_n;  // subN; subK is 32 but for f16_k
  int f16_k;
  int segment;  // 0: none
  int k_max;    // 0: none
  int i8_align_n, f16_align_n;
};
inline const Chip kChips[] = {
    {"rk3566", 0, 8, 4, 0, 16, 8, 16, 0, 10240, 16, 8},
    {"rk3562", 0, 16, 8, 0, 16, 8, 32, 0, 10240, 16, 8},
    {"rk3576", 32, 16, 8, 64, 32, 16, 32, 4096, 0, 32, 16},
    {"rk3588", 32, 16, 8, 64, 32, 16, 32, 8192, 0, 32, 16},
    {"rv1126b", 32, 16, 8, 64, 32, 16, 32, 4096, 0, 32, 16},
};

// Which row of the tables a combination follows: its own type, or C's where A and B differ.
inline Element block_element(const Type& type) {
  if (type.a == type.b) return type.a;
  return is_integer(type.c) ? Element::kI8 : Element::kF16;
}
inline int sub_n(const Chip& chip, const Type& type) {
  const Element e = block_element(type);
  return e == Element::kI4 ? chip.i4_n : e == Element::kI8 ? chip.i8_n : chip.f16_n;
}
inline int sub_k(const Chip& chip, const Type& type) {
  return block_element(type) == Element::kF16 ? chip.f16_k : 32;
}
inline int align_n(const Chip& chip, const Type& type) {
  const Element e = block_element(type);
  return e == Element::kI4 ? 64 : e == Element::kI8 ? chip.i8_align_n : chip.f16_align_n;
}
inline int row_block(const Chip& chip, Element e) {
  return e == Element::kI4                           ? chip.a_i4
         : e == Element::kI8                         ? chip.a_i8
         : e == Element::kF16 || e == Element::kBf16 ? chip.a_f16
         : e == Element::kI16                        ? 8
                                                     : 4;
}

inline uint64_t place_of_b(const Chip& chip, const Type& type, int layout, uint64_t k, uint64_t n,
                           uint64_t K, uint64_t N) {
  if (layout == RKNN_MM_LAYOUT_NORM) return k * N + n;
  if (layout == RKNN_MM_LAYOUT_TP_NORM) return n * K + k;
  const uint64_t sn = sub_n(chip, type), sk = sub_k(chip, type);
  uint64_t base = 0, rows = K;
  if (chip.segment != 0) {
    const uint64_t segment = chip.segment;
    while (k >= segment) {
      base += segment * ((N + sn - 1) / sn * sn);
      k -= segment;
      rows -= segment;
    }
    if (rows > segment) rows = segment;
  }
  const uint64_t k_blocks = (rows + sk - 1) / sk;
  return base + (((n / sn) * k_blocks + k / sk) * sn + n % sn) * sk + k % sk;
}

inline uint64_t place_of_row(uint64_t block, uint64_t row, uint64_t column, uint64_t rows,
                             uint64_t columns) {
  return block == 0 ? row * columns + column
                    : ((column / block) * rows + row) * block + column % block;
}

// Fills with values of an element type: all integers, halves that are not too large.
inline void fill(Element e, std::vector<uint8_t>& data, std::mt19937& random) {
  if (e != Element::kF16) {
    for (uint8_t& byte : data) byte = static_cast<uint8_t>(random());
    return;
  }
  for (size_t i = 0; i + 1 < data.size(); i += 2) {
    const float value = (static_cast<int>(random() % 4001) - 2000) / 1000.0f;
    const uint16_t half = float_to_half(value);
    std::memcpy(&data[i], &half, 2);
  }
}

}  // namespace rk::matmul_reference
