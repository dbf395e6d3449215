// SPDX-License-Identifier: Apache-2.0
// Unsqueeze: inserts axes of extent 1. The axes count in the output's rank, not the input's. Any
// dtype.
#include <algorithm>

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status unsqueeze_infer(InferCall& call) {
  const Shape& in = call.input(0).shape;
  RK_ASSIGN(const std::vector<int64_t> given, constant_ints(call, 1));
  if (given.size() > static_cast<size_t>(kMaxRank)) {
    return unsupported(
        str("input 1 ('axes') has ", given.size(), " axes; tensors have at most ", kMaxRank));
  }
  const int rank = in.rank() + static_cast<int>(given.size());
  RK_ASSIGN(const std::vector<int> axes, normalize_axes(given, rank));
  std::vector<int64_t> dims;
  for (int axis = 0, from = 0; axis < rank; ++axis) {
    dims.push_back(std::ranges::find(axes, axis) != axes.end() ? 1 : in[from++]);
  }
  return set_output(call, 0, call.input(0).dtype, dims);
}

Status unsqueeze_reference(const EvalCall& call) {
  copy_bytes(call.input(0), call.output(0));
  return ok_status();
}

}  // namespace

OpDef unsqueeze() {
  return {
      .name = "Unsqueeze",
      .doc = "y = x with axes of extent 1 inserted",
      .inputs = {{"x", anything()}, {"axes", integers()}},
      .outputs = {{"y"}},
      .infer = unsqueeze_infer,
      .reference = unsqueeze_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
      .elements = Elements::kView,
  };
}

}  // namespace rk::ops
