// SPDX-License-Identifier: Apache-2.0
// Formats whose pictures are NHWC (TFLite, TensorFlow): a tensor of such a file is held in the file's order (channels
// last), in the graph's (channels first), or both. Layers for pictures ask for channels first, layers that depend on the
// order of elements (Reshape, ...) for channels last; the Transpose between is made when somebody asks, and once. So a
// network that stays with pictures gets none.
//
// Invariant: both forms of a Held have the same elements; only the order of axes differs. Axis numbers of the file are
// mapped with first_axis().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontends/graph_builder.h"

namespace rk::frontends {

// One tensor of the file. Ranks 4 and 5 can be held channels first, all others are as in the file.
struct Held {
  Value* last = nullptr;   // axes as in the file
  Value* first = nullptr;  // N, C, then the rest
  // A picture [N,H,W,C] that the file flattened to [N,H*W*C], flattened from channels first instead: for a matrix
  // multiplication whose constant weights can be reordered. `picture` is the file's shape before flattening.
  Value* flat = nullptr;
  Shape picture;
  // Computed channels first: layers that do not care go on in this order.
  bool is_first = false;

  static Held in_file_order(Value* value) { return {value, nullptr, nullptr, {}, false}; }
  static Held channels_first(Value* value) { return {nullptr, value, nullptr, {}, true}; }
  bool present() const { return last != nullptr || first != nullptr || flat != nullptr; }
  // The shape in the file's order.
  Shape shape() const;
  DType dtype() const;
};

bool can_be_first(int rank);  // 4 and 5
int64_t first_axis(int64_t axis,
                   int64_t rank);         // axis of the file (not negative) -> axis channels first
std::vector<int64_t> to_first(int rank);  // Transpose's perm, file -> channels first
std::vector<int64_t> to_last(int rank);   // and back
Shape first_shape(const Shape& file_shape);  // its extents channels first
// One entry per axis of the file -> one per axis channels first.
std::vector<int64_t> first_order(const std::vector<int64_t>& per_axis);

// The forms, made when they are not there. `held` remembers them.
Result<Value*> as_last(GraphBuilder& builder, Held& held);
Result<Value*> as_first(GraphBuilder& builder, Held& held);
// Transpose, or Reshape where only axes of extent 1 move; nothing for the identity.
Result<Value*> transposed(GraphBuilder& builder, Value* value, const std::vector<int64_t>& perm,
                          const std::string& suffix);
Result<Value*> reshaped(GraphBuilder& builder, Value* value, const std::vector<int64_t>& dims,
                        const std::string& suffix);

}  // namespace rk::frontends
