// SPDX-License-Identifier: Apache-2.0
#include "passes/normalization.h"

#include <algorithm>

#include "ops/shared/shape_util.h"

namespace rk::passes {
namespace {

bool keeps_axes(const Node& reduction) { return reduction.i64("keepdims") != 0; }

}  // namespace

std::optional<RootMeanSquare> mean_square(const Graph& graph, const Value& value) {
  const Node* sum = only_from(graph, value, "Add");
  const auto epsilon = sum == nullptr ? std::nullopt : scalar_operand(*sum);
  if (!epsilon) return std::nullopt;
  const Node* mean = only_from(graph, *epsilon->other, "ReduceMean");
  if (mean == nullptr || !keeps_axes(*mean) || !read_once(graph, mean->input(0)))
    return std::nullopt;
  const auto axes = reduced_axes(*mean);
  const Node* square = mean->input(0).producer();
  if (!axes || axes->empty() || square == nullptr) return std::nullopt;
  const bool squares = (square->op() == "Pow" && is_scalar(square->input(1), 2)) ||
                       (square->op() == "Mul" && &square->input(0) == &square->input(1));
  if (!squares || square->input(0).type() != square->output().type()) return std::nullopt;
  return RootMeanSquare{&square->input(0), *axes, static_cast<float>(epsilon->scalar)};
}

std::optional<RootMeanSquare> root_mean_square(const Graph& graph, const Value& value) {
  const Node* root = only_from(graph, value, "Sqrt");
  return root == nullptr ? std::nullopt : mean_square(graph, root->input(0));
}

Value* centered(const Value& value, const std::vector<int64_t>& axes) {
  const Node* difference = from(value, "Sub");
  const Node* mean = difference == nullptr ? nullptr : from(difference->input(1), "ReduceMean");
  if (mean == nullptr || &mean->input(0) != &difference->input(0) || !keeps_axes(*mean))
    return nullptr;
  return reduced_axes(*mean) == axes ? &difference->input(0) : nullptr;
}

int first_of_last_axes(const std::vector<int64_t>& axes, int rank) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != rank - static_cast<int64_t>(axes.size() - i)) return -1;
  }
  return axes.empty() ? -1 : static_cast<int>(axes.front());
}

bool is_all(const Value& value, float wanted) {
  return value.is_constant() && value.dtype() == DType::kF32 &&
         std::ranges::all_of(value.constant().span<float>(), [=](float v) { return v == wanted; });
}

Value* filled_constant(Graph& graph, const std::string& name, int64_t count, float value) {
  return graph.add_constant(
      name, Tensor::f32({count}, std::vector<float>(static_cast<size_t>(count), value)));
}

bool is_parameter(const Value& value, const Value& normalized, int axis) {
  const Shape& full = normalized.shape();
  if (!value.is_constant() || value.dtype() != DType::kF32 ||
      value.shape().rank() > full.rank() - axis)
    return false;
  const auto both = ops::broadcast_shapes(full, value.shape());
  return both.ok() && *both == full;
}

}  // namespace rk::passes
