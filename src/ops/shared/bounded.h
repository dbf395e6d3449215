// SPDX-License-Identifier: Apache-2.0
// Operators whose result size depends on data (NonZero, Compress, Unique, NonMaxSuppression, TopK
// with k of run time). Shapes are static, so the result has the largest size it can have: the real
// entries come first, the rest is filled, indices with -1 and values with 0. The last output,
// "count", i64[1], says how many entries are real. Where the input that decides is constant (k of
// TopK, condition of Compress) the size is exact and nothing is counted; where everything is
// constant the importer folds the node.
#pragma once

#include <algorithm>
#include <span>

#include "ops/shared/shape_util.h"

namespace rk::ops {

inline constexpr std::string_view kCountOutput = "count";
inline constexpr int64_t kNoIndex = -1;

inline ArgDef count_output() { return {kCountOutput, ArgDef::kOptional}; }

inline bool has_data_dependent_size(const OpDef& def) {
  return !def.outputs.empty() && def.outputs.back().name == kCountOutput;
}

// Whether a node of `def` with these inputs may fill less than the room its result has.
inline bool may_be_padded(const OpDef& def, std::span<Value* const> inputs) {
  if (!has_data_dependent_size(def)) return false;
  for (size_t i = 0; i < std::min(inputs.size(), def.inputs.size()); ++i) {
    const std::string_view name = def.inputs[i].name;
    const bool decides = name == "k" || name == "condition";
    if (decides && inputs[i] != nullptr && inputs[i]->is_constant()) return false;
  }
  return true;
}

inline Status set_count_type(InferCall& call) {
  const size_t last = call.node.def().outputs.size() - 1;
  return set_output(call, last, DType::kI64, Shape{1});
}

inline void store_count(const EvalCall& call, int64_t count) {
  const size_t last = call.node.def().outputs.size() - 1;
  if (call.outputs.size() > last) *call.output(last).mutable_data<int64_t>() = count;
}

inline void fill_indices(Tensor& tensor) {
  std::fill_n(tensor.mutable_data<int64_t>(), tensor.elements(), kNoIndex);
}

inline void fill_zero(Tensor& tensor) {
  std::fill_n(tensor.mutable_data<uint8_t>(), tensor.size_bytes(), uint8_t{0});
}

}  // namespace rk::ops
