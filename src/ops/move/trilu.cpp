// SPDX-License-Identifier: Apache-2.0
// Trilu: the upper or lower triangle of each matrix of the last two axes, zero elsewhere. k moves
// the diagonal to the right. Any dtype.
#include <algorithm>
#include <cstring>

#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

Status trilu_infer(InferCall& call) {
  RK_TRY(require_range(call.node, "upper", 0, 1));
  if (call.has_input(1) && call.input(1).shape.elements() != 1) {
    return refuse("input 1 ('k') is ", rk::to_string(call.input(1)), ", expected one i64");
  }
  return infer_same_as_input(call);
}

Status trilu_reference(const EvalCall& call) {
  copy_bytes(call.input(0), call.output(0));
  const Shape& shape = call.input(0).shape();
  const int64_t rows = shape[shape.rank() - 2];
  const int64_t columns = shape[shape.rank() - 1];
  const int64_t k =
      std::clamp<int64_t>(call.has_input(1) ? call.input(1).at_i64(0) : 0, -rows, columns);
  const bool upper = call.node.i64("upper") == 1;
  const size_t element = byte_size(call.input(0).dtype());
  uint8_t* y = call.output(0).mutable_data<uint8_t>();
  for (int64_t row = 0; row < extent_product(shape, 0, shape.rank() - 1); ++row) {
    // The diagonal's column; upper keeps it and what is right of it, lower it and what is left.
    const int64_t diagonal = row % rows + k;
    const int64_t begin = upper ? 0 : std::clamp<int64_t>(diagonal + 1, 0, columns);
    const int64_t end = upper ? std::clamp<int64_t>(diagonal, 0, columns) : columns;
    if (end > begin) {
      std::memset(y + static_cast<size_t>(row * columns + begin) * element, 0,
                  static_cast<size_t>(end - begin) * element);
    }
  }
  return ok_status();
}

}  // namespace

OpDef trilu() {
  return {
      .name = "Trilu",
      .doc = "y = one triangle of x, zero elsewhere",
      .inputs = {{"x", anything().rank(2, kMaxRank)},
                 {"k", one_of({DType::kI64}), ArgDef::kOptional}},
      .outputs = {{"y"}},
      .attrs = {{"upper", int64_t{1}, "1: upper triangle; 0: lower"}},
      .infer = trilu_infer,
      .reference = trilu_reference,
      .cost = no_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
