// SPDX-License-Identifier: Apache-2.0
// The seven nodes exporters write for layer normalisation become one LayerNormalization, whose insides are then never
// held in int8:
//   d = x - ReduceMean(x);  y = d / Sqrt(ReduceMean(d ^ 2) + epsilon) [* scale] [+ bias]
#include <algorithm>

#include "ir/rewrite.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

bool is_scalar(const Value& value, double wanted) {
  return value.is_constant() && value.shape().elements() == 1 &&
         value.constant().at_f64(0) == wanted;
}

// The producer of `value` if it is `op` and the value has no other reader.
const Node* only_from(const Graph& graph, const Value& value, std::string_view op) {
  const Node* node = value.producer();
  if (node == nullptr || node->op() != op || value.uses().size() != 1 || graph.is_output(value))
    return nullptr;
  return node;
}

// The first reduced axis when the node averages over the last axes, keeping them; -1 otherwise.
int mean_axis(const Node& node) {
  const Shape& shape = node.input(0).shape();
  if (node.i64("keepdims") == 0 || !node.has_input(1) || !node.input(1).is_constant()) return -1;
  std::vector<int64_t> axes = node.input(1).constant().to_i64();
  for (int64_t& axis : axes) axis += axis < 0 ? shape.rank() : 0;
  std::ranges::sort(axes);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != shape.rank() - static_cast<int64_t>(axes.size() - i)) return -1;
  }
  return axes.empty() ? -1 : static_cast<int>(axes.front());
}

struct Normalisation {
  Value* x = nullptr;
  int axis = -1;
  float epsilon = 0;
};

// Matches backwards from the Div.
std::optional<Normalisation> normalisation_of(const Graph& graph, const Node& div) {
  const Node* root = only_from(graph, div.input(1), "Sqrt");
  const Node* sum = root == nullptr ? nullptr : only_from(graph, root->input(0), "Add");
  if (sum == nullptr) return std::nullopt;
  const size_t constant = sum->input(1).is_constant() ? 1 : 0;
  const Value& epsilon = sum->input(constant);
  if (!epsilon.is_constant() || epsilon.shape().elements() != 1) return std::nullopt;
  const Node* variance = only_from(graph, sum->input(1 - constant), "ReduceMean");
  const Node* square = variance == nullptr ? nullptr : variance->input(0).producer();
  const Node* difference = div.input(0).producer();
  if (square == nullptr || difference == nullptr || difference->op() != "Sub") return std::nullopt;
  const bool squares = (square->op() == "Pow" && is_scalar(square->input(1), 2)) ||
                       (square->op() == "Mul" && &square->input(0) == &square->input(1));
  if (!squares || &square->input(0) != &div.input(0)) return std::nullopt;
  const Node* mean = difference->input(1).producer();
  if (mean == nullptr || mean->op() != "ReduceMean" || &mean->input(0) != &difference->input(0))
    return std::nullopt;
  const int axis = mean_axis(*mean);
  if (axis < 0 || axis != mean_axis(*variance)) return std::nullopt;
  return Normalisation{&difference->input(0), axis,
                       static_cast<float>(epsilon.constant().at_f64(0))};
}

// Broadcasts over the normalised axes only: nothing in front of them.
bool is_parameter(const Value& value, const Shape& x, int axis) {
  return value.is_constant() && value.dtype() == DType::kF32 &&
         value.shape().rank() <= x.rank() - axis;
}

bool is_all_ones(const Value& value) {
  return value.is_constant() && value.dtype() == DType::kF32 &&
         std::ranges::all_of(value.constant().span<float>(), [](float v) { return v == 1.0f; });
}

}  // namespace

Result<size_t> fuse_layer_norm(Graph& graph) {
  RK_ASSIGN(
      const size_t made, rewrite(graph, chain("Div"), [](Match& m) -> Result<Rewrite> {
        const auto found = normalisation_of(m.graph(), m[0]);
        if (!found || found->x->dtype() != DType::kF32) return Rewrite::kSkip;
        const Shape& x = found->x->shape();
        Tensor ones = Tensor::make({DType::kF32, {x[x.rank() - 1]}});
        std::fill_n(ones.mutable_data<float>(), ones.elements(), 1.0f);
        Value* scale = m.graph().add_constant(m[0].name() + "_scale", std::move(ones));
        return m.replace_with({"LayerNormalization",
                               m[0].name(),
                               {found->x, scale},
                               {""},
                               {{"axis", int64_t{found->axis}}, {"epsilon", found->epsilon}}});
      }));
  // The affine part: only onto what was made above or stood there without a scale of its own.
  RK_ASSIGN(
      const size_t scaled,
      rewrite(
          graph, chain("LayerNormalization", "Mul").only_use().any_input(),
          [](Match& m) -> Result<Rewrite> {
            Value& scale = m[1].input(1 - m.link(1));
            const Shape& x = m[0].input(0).shape();
            if (!is_all_ones(m[0].input(1)) || m[0].has_input(2) || m[0].output_count() != 1 ||
                !is_parameter(scale, x, static_cast<int>(m[0].i64("axis")))) {
              return Rewrite::kSkip;
            }
            return m.replace_with(
                {"LayerNormalization", m[0].name(), {&m[0].input(0), &scale}, {""}, m[0].attrs()});
          }));
  RK_ASSIGN(const size_t biased,
            rewrite(graph, chain("LayerNormalization", "Add").only_use().any_input(),
                    [](Match& m) -> Result<Rewrite> {
                      Value& bias = m[1].input(1 - m.link(1));
                      const int axis = static_cast<int>(m[0].i64("axis"));
                      if (m[0].has_input(2) || m[0].output_count() != 1 || axis < 0 ||
                          !is_parameter(bias, m[0].input(0).shape(), axis)) {
                        return Rewrite::kSkip;
                      }
                      return m.replace_with({"LayerNormalization",
                                             m[0].name(),
                                             {&m[0].input(0), &m[0].input(1), &bias},
                                             {""},
                                             m[0].attrs()});
                    }));
  return made + scaled + biased;
}

}  // namespace rk::passes
