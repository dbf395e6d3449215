// SPDX-License-Identifier: Apache-2.0
// What the lists of an int8 matrix product or attention do with their numbers, stage by stage.
// Attention is a product (the scores, rounded to int8), a softmax of halves by lookup table
// (rounded to int8 again), and a second product.
#pragma once

#include <optional>
#include <vector>

#include "format/vendor/lift_context.h"

namespace rk::format {

// sum of feature * (matrix + offset), scaled twice with a rounding in between, plus the zero point.
struct ProductStage {
  std::optional<program::InputStage> conversion;  // of the feature, before it is multiplied
  int32_t offset = 0;
  ScaleShift before{1, 0};
  program::OutputStage output;
  bool operator==(const ProductStage&) const = default;
};

// Every intermediate number is a half: t = (x + addend) * unit, less the row's largest, exp from
// the table, divided by the row's sum, times factor, plus the zero point.
struct SoftmaxStage {
  float addend = 0, unit = 0;
  float table_multiplier = 0, table_addend = 0;
  int32_t table_exponent = 0;  // an entry counts 2^-exponent
  program::LookupStage table;  // low, high, start, end, entry_shift, below, above
  float factor = 0, zero_point = 0;
  bool subtracts = false, divides = false;
  bool operator==(const SoftmaxStage&) const = default;

  bool complete() const {
    return unit != 0 && table_multiplier != 0 && factor != 0 && subtracts && divides;
  }
  // exp of score code x where the row's largest is `largest`, as half bits.
  uint16_t exponential(int x, int largest) const;
};

// The exponentials of all pairs of codes, as halves: a row for each largest, from -128 on.
inline constexpr int kSoftmaxCodes = 256;
std::vector<uint8_t> exponential_table(const SoftmaxStage& stage);

struct ProductLists {
  // Of the first list that multiplies.
  bool multiplies = false;
  int32_t offset = 0;
  ScaleShift output;
  // Of every list that converts its feature; absent where none does or they disagree.
  std::optional<program::InputStage> conversion;
  // Of the lists that write the node's result, and of the others. Absent where a list does anything
  // else, or they disagree.
  std::optional<ProductStage> result, scores;
  std::optional<SoftmaxStage> softmax;
};

// Walks the node's tasks to their end.
ProductLists read_product_lists(LiftContext& context);

}  // namespace rk::format
