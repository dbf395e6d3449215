// SPDX-License-Identifier: Apache-2.0
// Split: cuts one axis into parts, of the lengths in `split` or as equal as possible (the last one
// smaller).
#include <algorithm>

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status split_infer(InferCall& call) {
  const Shape& in = call.input(0).shape;
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), in.rank()));
  const auto parts = static_cast<int64_t>(call.output_count());
  std::vector<int64_t> lengths;
  if (call.has_input(1)) {
    RK_ASSIGN(lengths, constant_ints(call, 1));
  } else {
    if (call.node.has_attr("num_outputs") && call.node.i64("num_outputs") != parts) {
      return refuse("attribute 'num_outputs' is ", call.node.i64("num_outputs"), ", the node has ",
                    parts, " outputs");
    }
    const int64_t length = (in[axis] + parts - 1) / parts;
    int64_t left = in[axis];
    for (int64_t i = 0; i < parts; ++i) {
      lengths.push_back(std::min(length, left));
      left -= lengths.back();
    }
  }
  if (lengths.size() != call.output_count()) {
    return refuse("input 1 ('split') has ", lengths.size(), " values, the node has ", parts,
                  " outputs");
  }
  int64_t left = in[axis];
  for (const int64_t length : lengths) {
    if (length < 0 || length > left) left = -1;
    if (left < 0) break;
    left -= length;
  }
  if (left != 0) {
    return refuse("input 1 ('split') is ", to_string(lengths), ", expected lengths that add up to ",
                  in[axis]);
  }
  for (size_t i = 0; i < lengths.size(); ++i) {
    Shape part = in;
    part[axis] = lengths[i];
    RK_TRY(set_output(call, i, call.input(0).dtype, part));
  }
  return ok_status();
}

Status split_reference(const EvalCall& call) {
  const Shape& in = call.input(0).shape();
  RK_ASSIGN(const int axis, normalize_axis(call.node.i64("axis"), in.rank()));
  const Strides strides = row_major_strides(in);
  int64_t start = 0;
  for (Tensor& part : call.outputs) {
    move_view(call.input(0), start * strides[static_cast<size_t>(axis)], strides, part);
    start += part.shape()[axis];
  }
  return ok_status();
}

}  // namespace

OpDef split() {
  return {
      .name = "Split",
      .doc = "the outputs are x cut along an axis",
      .inputs = {{"x", anything()}, {"split", integers(), ArgDef::kOptional}},
      .outputs = {{"parts", ArgDef::kVariadic}},
      .attrs = {{"axis", int64_t{0}, "axis to cut; negative counts from the end", AttrDef::kDefault,
                 AttrDef::kAxisOfInput},
                {"num_outputs", int64_t{1},
                 "number of equal parts; the node's outputs where not given", AttrDef::kOptional}},
      .infer = split_infer,
      .reference = split_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
      .elements = Elements::kSelected,
  };
}

}  // namespace rk::ops
