// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/reduce.h"

#include <algorithm>

namespace rk::ops {
namespace {

Result<std::vector<int>> reduced_axes(const Node& node, std::span<const int64_t> given, int rank) {
  if (!given.empty()) return normalize_axes(given, rank);
  std::vector<int> axes;
  for (int axis = 0; axis < rank && node.i64("noop_with_empty_axes") == 0; ++axis)
    axes.push_back(axis);
  return axes;
}

}  // namespace

Status infer_reduce(InferCall& call) {
  RK_TRY(require_number(call, 0));
  return infer_reduce_any(call);
}

Status infer_reduce_any(InferCall& call) {
  RK_TRY(require_range(call.node, "keepdims", 0, 1));
  RK_TRY(require_range(call.node, "noop_with_empty_axes", 0, 1));
  std::vector<int64_t> given;
  if (call.has_input(1)) {
    RK_ASSIGN(given, constant_ints(call, 1));
  }
  const Shape& in = call.input(0).shape;
  RK_ASSIGN(const std::vector<int> axes, reduced_axes(call.node, given, in.rank()));
  std::vector<int64_t> dims;
  for (int axis = 0; axis < in.rank(); ++axis) {
    const bool reduced = std::ranges::find(axes, axis) != axes.end();
    if (!reduced) dims.push_back(in[axis]);
    if (reduced && call.node.i64("keepdims") == 1) dims.push_back(1);
  }
  return set_output(call, 0, call.input(0).dtype, dims);
}

Cost reduce_cost(const Node& node) {
  return {.ops = static_cast<uint64_t>(node.input(0).shape().elements())};
}

OpDef reduce_def(std::string_view name, std::string_view doc, Reference reference) {
  return {
      .name = name,
      .doc = doc,
      .inputs = {{"x", one_of(kFloatTypes | kIntegerTypes | DTypeSet{DType::kBool})},
                 {"axes", integers(), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = {{"keepdims", int64_t{1}, "1: reduced axes stay with extent 1"},
                {"noop_with_empty_axes", int64_t{0}, "1: without axes nothing is reduced"}},
      .infer = infer_reduce,
      .reference = reference,
      .cost = reduce_cost,
      .quant = QuantRule::kOwnScale,
  };
}

Result<Shape> kept_shape(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  const std::vector<int64_t> given =
      call.has_input(1) ? call.input(1).to_i64() : std::vector<int64_t>();
  RK_ASSIGN(const std::vector<int> axes, reduced_axes(call.node, given, in.rank()));
  Shape kept = in;
  for (const int axis : axes) kept[axis] = 1;
  return kept;
}

}  // namespace rk::ops
