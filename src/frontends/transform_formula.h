// SPDX-License-Identifier: Apache-2.0
// The formulas of onnx_edit: 'ab,c,d[a=2]->a,c,b,1,d' splits, reorders and merges dimensions. Letters stand for
// extents, commas separate dimensions, 1 may be added and dropped; letters of one part multiply.
//
// Note: the left side is the tensor as the model has it, for inputs too; the right side is how callers
// see it afterwards.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace rk::frontends {

// Left to right: reshape to `left_split`, transpose by `permutation`, reshape to `right_dims`. An extent of -1 is only
// known when the model runs; each list has at most one.
struct Transform {
  std::vector<int64_t> left_dims;
  std::vector<int64_t> right_dims;
  std::vector<int64_t> left_split;   // one extent per letter, in the order of the left side
  std::vector<int64_t> right_split;  // the same letters in the order of the right side
  std::vector<int64_t> permutation;  // right_split[k] = left_split[permutation[k]]
};

// For a tensor with these extents, -1 where the model leaves one open. kInvalidArgument quotes the formula.
Result<Transform> parse_transform(std::string_view formula, std::span<const int64_t> dims);

}  // namespace rk::frontends
