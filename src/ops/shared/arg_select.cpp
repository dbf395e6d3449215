// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/arg_select.h"

#include "ops/shared/reduce.h"

namespace rk::ops {

Status infer_arg_select(InferCall& call) {
  RK_TRY(require_range(call.node, "keepdims", 0, 1));
  const Shape& in = call.input(0).shape;
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), in.rank()));
  if (in[axis] == 0)
    return refuse("input 'x' is ", rk::to_string(in), ", expected an extent above 0 on axis ",
                  axis);
  std::vector<int64_t> dims;
  for (int a = 0; a < in.rank(); ++a) {
    if (a != axis) dims.push_back(in[a]);
    if (a == axis && call.node.i64("keepdims") == 1) dims.push_back(1);
  }
  return set_output(call, 0, DType::kI64, dims);
}

OpDef arg_select_def(std::string_view name, std::string_view doc, Reference reference) {
  return {
      .name = name,
      .doc = doc,
      .inputs = {{"x", numbers()}},
      .outputs = {{"y"}},
      .attrs = {{"axis", int64_t{0}, "axis to search; negative counts from the end",
                 AttrDef::kDefault, AttrDef::kAxisOfInput},
                {"keepdims", int64_t{1}, "1: the axis stays with extent 1"},
                {"select_last_index", int64_t{0}, "1: the last of equal values"}},
      .infer = infer_arg_select,
      .reference = reference,
      .cost = reduce_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
