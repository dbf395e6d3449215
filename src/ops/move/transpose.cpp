// SPDX-License-Identifier: Apache-2.0
// Transpose: output axis i is input axis perm[i]. Without perm the axes are reversed. Any dtype.
#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Result<std::vector<int>> permutation(const Node& node, int rank) {
  std::vector<int> perm;
  if (!node.has_attr("perm")) {
    for (int axis = rank - 1; axis >= 0; --axis) perm.push_back(axis);
    return perm;
  }
  const std::vector<int64_t>& given = node.ints("perm");
  if (given.size() != static_cast<size_t>(rank)) {
    return refuse("attribute 'perm' is ", to_string(given), ", expected ", rank, " axes");
  }
  return normalize_axes(given, rank);
}

Status transpose_infer(InferCall& call) {
  const Shape& in = call.input(0).shape;
  RK_ASSIGN(const std::vector<int> perm, permutation(call.node, in.rank()));
  std::vector<int64_t> dims;
  for (const int axis : perm) dims.push_back(in[axis]);
  return set_output(call, 0, call.input(0).dtype, dims);
}

Status transpose_reference(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  RK_ASSIGN(const std::vector<int> perm, permutation(call.node, in.rank()));
  const Strides own = row_major_strides(in);
  Strides strides{};
  for (size_t i = 0; i < perm.size(); ++i) strides[i] = own[static_cast<size_t>(perm[i])];
  move_view(call.input(0), 0, strides, call.output(0));
  return ok_status();
}

}  // namespace

OpDef transpose() {
  return {
      .name = "Transpose",
      .doc = "y = x with its axes permuted",
      .inputs = {{"x", anything()}},
      .outputs = {{"y"}},
      .attrs = {{"perm", std::vector<int64_t>{},
                 "input axis of each output axis; reversed where not given", AttrDef::kOptional,
                 AttrDef::kAxisOfInput}},
      .infer = transpose_infer,
      .reference = transpose_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
      .elements = Elements::kMoved,
  };
}

}  // namespace rk::ops
