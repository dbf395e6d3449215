// SPDX-License-Identifier: Apache-2.0
// Squeeze: drops axes of extent 1, all of them when no axes are given. Any dtype.
#include <algorithm>

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status squeeze_infer(InferCall& call) {
  const Shape& in = call.input(0).shape;
  std::vector<int> axes;
  if (call.has_input(1)) {
    RK_ASSIGN(const std::vector<int64_t> given, constant_ints(call, 1));
    RK_ASSIGN(axes, normalize_axes(given, in.rank()));
    for (const int axis : axes) {
      if (in[axis] != 1) {
        return refuse("input 1 ('axes') names axis ", axis, " of ", rk::to_string(in),
                      ", expected extent 1");
      }
    }
  } else {
    for (int axis = 0; axis < in.rank(); ++axis) {
      if (in[axis] == 1) axes.push_back(axis);
    }
  }
  std::vector<int64_t> dims;
  for (int axis = 0; axis < in.rank(); ++axis) {
    if (std::ranges::find(axes, axis) == axes.end()) dims.push_back(in[axis]);
  }
  return set_output(call, 0, call.input(0).dtype, dims);
}

Status squeeze_reference(const EvalCall& call) {
  copy_bytes(call.input(0), call.output(0));
  return ok_status();
}

}  // namespace

OpDef squeeze() {
  return {
      .name = "Squeeze",
      .doc = "y = x without the given axes of extent 1",
      .inputs = {{"x", anything()}, {"axes", integers(), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .infer = squeeze_infer,
      .reference = squeeze_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
      .elements = Elements::kView,
  };
}

}  // namespace rk::ops
