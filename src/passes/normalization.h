// SPDX-License-Identifier: Apache-2.0
// What the normalization passes share: the root of a mean of squares, and the affine part behind a
// normalization.
#pragma once

#include "ir/rewrite.h"
#include "passes/operands.h"

namespace rk::passes {

// Sqrt(ReduceMean(x^2, axes, keepdims) + epsilon), read by one node only.
struct RootMeanSquare {
  Value* x = nullptr;
  std::vector<int64_t> axes;
  float epsilon = 0;
};
// `value` is the root itself.
std::optional<RootMeanSquare> root_mean_square(const Graph& graph, const Value& value);
// The same, where `value` is the sum under the root.
std::optional<RootMeanSquare> mean_square(const Graph& graph, const Value& value);

// x, where `value` is x - ReduceMean(x, axes, keepdims); null otherwise.
Value* centered(const Value& value, const std::vector<int64_t>& axes);

// The axes are the last ones: the first of them; -1 otherwise.
int first_of_last_axes(const std::vector<int64_t>& axes, int rank);

bool is_all(const Value& value, float wanted);  // a float constant of equal elements
Value* filled_constant(Graph& graph, const std::string& name, int64_t count, float value);

// Behind a normalization over the axes from `axis` on: a constant float parameter that broadcasts
// over those axes only and leaves the result's shape alone.
bool is_parameter(const Value& value, const Value& normalized, int axis);

}  // namespace rk::passes
