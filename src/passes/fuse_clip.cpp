// SPDX-License-Identifier: Apache-2.0
// Max and Min with constants of one element, in either order, become Clip.
#include "ir/rewrite.h"
#include "passes/operands.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

Result<Rewrite> fuse(Match& m) {
  if (m[0].input_count() != 2 || m[1].input_count() != 2) return Rewrite::kSkip;
  const auto inner = scalar_operand(m[0]);
  const auto outer = scalar_operand(m[1]);
  if (!inner || !outer) return Rewrite::kSkip;
  const bool low_first = m[0].op() == "Max";
  const double low = low_first ? inner->scalar : outer->scalar;
  const double high = low_first ? outer->scalar : inner->scalar;
  // Crossed bounds give the outer one, Clip gives the upper one.
  if (!(low <= high) || inner->other->type() != m[1].output().type()) return Rewrite::kSkip;
  const auto bound = [&](const char* name, double value) {
    return m.graph().add_constant(m[1].name() + name, Tensor::scalar(static_cast<float>(value)));
  };
  if (inner->other->dtype() != DType::kF32) return Rewrite::kSkip;
  return m.replace_with(
      {"Clip", m[1].name(), {inner->other, bound("_min", low), bound("_max", high)}, {""}, {}});
}

}  // namespace

Result<size_t> fuse_clip(Graph& graph) {
  RK_ASSIGN(const size_t up, rewrite(graph, chain("Max", "Min").only_use().any_input(), fuse));
  RK_ASSIGN(const size_t down, rewrite(graph, chain("Min", "Max").only_use().any_input(), fuse));
  return up + down;
}

}  // namespace rk::passes
