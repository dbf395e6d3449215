// SPDX-License-Identifier: Apache-2.0
// Compress: the slices along an axis whose condition holds; without an axis, elements of the
// flattened input. Room for as many as the condition has entries; see bounded.h.
#include "ops/shared/bounded.h"
#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

// The input as it is compressed: along `axis` of `shape`.
struct View {
  Shape shape;
  int axis = 0;
};

Result<View> view_of(const Node& node, const Shape& in) {
  if (!node.has_attr("axis")) return View{Shape{in.elements()}, 0};
  RK_ASSIGN(const int axis, normalize_axis(node.i64("axis"), in.rank()));
  return View{in, axis};
}

std::vector<int64_t> chosen(const Tensor& condition, int64_t extent) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < std::min(condition.elements(), extent); ++i) {
    if (condition.at_f64(i) != 0) out.push_back(i);
  }
  return out;
}

Status compress_infer(InferCall& call) {
  RK_ASSIGN(View view, view_of(call.node, call.input(0).shape));
  const int64_t extent = view.shape[view.axis];
  const Tensor* known = call.constant(1);
  view.shape[view.axis] = known != nullptr ? static_cast<int64_t>(chosen(*known, extent).size())
                                           : std::min(extent, call.input(1).shape[0]);
  RK_TRY(set_output(call, 0, call.input(0).dtype, view.shape));
  return set_count_type(call);
}

Status compress_reference(const EvalCall& call) {
  RK_ASSIGN(const View view, view_of(call.node, call.input(0).shape()));
  const std::vector<int64_t> rows = chosen(call.input(1), view.shape[view.axis]);
  std::vector<AxisSource> sources(static_cast<size_t>(view.shape.rank()), std::identity());
  sources[static_cast<size_t>(view.axis)] = listed_source(rows);  // then filled with zero
  move_indexed(call.input(0).reshaped(view.shape), sources, nullptr, call.output(0));
  store_count(call, static_cast<int64_t>(rows.size()));
  return ok_status();
}

}  // namespace

OpDef compress() {
  return {
      .name = "Compress",
      .doc = "the slices of x whose condition holds, in front; what is unused holds 0",
      .inputs = {{"x", anything()}, {"condition", booleans().rank(1)}},
      .outputs = {{"y"}, count_output()},
      .attrs = {{"axis", int64_t{0}, "axis of the slices; absent: x is flattened",
                 AttrDef::kOptional, AttrDef::kAxisOfInput}},
      .infer = compress_infer,
      .reference = compress_reference,
      .cost = no_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
