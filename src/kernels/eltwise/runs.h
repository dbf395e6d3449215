// SPDX-License-Identifier: Apache-2.0
// The walk over the runs of a broadcast that its variants share. Private to kernels/eltwise; baseline code.
#pragma once

#include <cstdint>

#include "kernels/eltwise/broadcast.h"

namespace rk::kernels {

// A piece of a run: elements from `output` on, and where its operands begin.
struct BroadcastPiece {
  int64_t output, a, b, count;
};

inline int64_t pieces_of_run(const BroadcastShape& shape) {
  return (shape.run + kBroadcastPiece - 1) / kBroadcastPiece;
}

inline BroadcastPiece broadcast_piece(const BroadcastShape& shape, int64_t unit) {
  const int64_t pieces = pieces_of_run(shape);
  const int64_t begin = unit % pieces * kBroadcastPiece;
  int64_t row = unit / pieces;
  const int64_t left = shape.run - begin;
  BroadcastPiece piece = {row * shape.run + begin, 0, 0,
                          left < kBroadcastPiece ? left : kBroadcastPiece};
  for (int axis = shape.axes; axis-- > 0;) {
    const int64_t at = row % shape.extent[axis];
    row /= shape.extent[axis];
    piece.a += at * shape.a_step[axis];
    piece.b += at * shape.b_step[axis];
  }
  if (shape.a == RunOperand::kStream) piece.a += begin;
  if (shape.b == RunOperand::kStream) piece.b += begin;
  return piece;
}

// The element of an operand for place i of a piece.
inline int64_t operand_at(RunOperand operand, int64_t i) {
  return operand == RunOperand::kStream ? i : operand == RunOperand::kBlock ? i % kHostBlock : 0;
}

}  // namespace rk::kernels
