// SPDX-License-Identifier: Apache-2.0
// Reshape: the same elements under another shape. In `shape`, -1 is computed and 0 copies the
// input's extent, unless allowzero makes it a real 0.
#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status reshape_infer(InferCall& call) {
  RK_TRY(require_range(call.node, "allowzero", 0, 1));
  RK_ASSIGN(std::vector<int64_t> dims, constant_ints(call, 1));
  const std::vector<int64_t> wanted = dims;
  const Shape& in = call.input(0).shape;
  const auto mismatch = [&] {
    return refuse("input 1 ('shape') is ", to_string(wanted), ", which does not fit the ",
                  in.elements(), " elements of ", rk::to_string(in));
  };
  int unknown = -1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && call.node.i64("allowzero") == 0) {
      if (i >= static_cast<size_t>(in.rank())) return mismatch();
      dims[i] = in[static_cast<int>(i)];
    } else if (dims[i] == -1 && unknown < 0) {
      unknown = static_cast<int>(i);
      dims[i] = 1;
    } else if (dims[i] < 0) {
      return refuse("input 1 ('shape') is ", to_string(wanted),
                    ", expected at most one -1 and no other negative");
    }
  }
  RK_ASSIGN(Shape shape, Shape::make(dims));
  if (unknown >= 0) {
    if (shape.elements() == 0 || in.elements() % shape.elements() != 0) return mismatch();
    shape[unknown] = in.elements() / shape.elements();
  }
  if (shape.elements() != in.elements()) return mismatch();
  return set_output(call, 0, call.input(0).dtype, shape);
}

Status reshape_reference(const EvalCall& call) {
  copy_bytes(call.input(0), call.output(0));
  return ok_status();
}

}  // namespace

OpDef reshape() {
  return {
      .name = "Reshape",
      .doc = "y = x under another shape",
      .inputs = {{"x", anything()}, {"shape", integers()}},
      .outputs = {{"y"}},
      .attrs = {{"allowzero", int64_t{0}, "1: a 0 in shape is an extent of 0, not a copy"}},
      .infer = reshape_infer,
      .reference = reshape_reference,
      .cost = no_cost,
      .quant = QuantRule::kSameScaleAsInput,
      .elements = Elements::kView,
  };
}

}  // namespace rk::ops
