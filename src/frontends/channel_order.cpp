// SPDX-License-Identifier: Apache-2.0
#include "frontends/channel_order.h"

#include <algorithm>

namespace rk::frontends {
namespace {

NodeDraft around(const Value& value) {
  NodeDraft draft;
  draft.name = value.name();
  return draft;
}

}  // namespace

bool can_be_first(int rank) { return rank == 4 || rank == 5; }

int64_t first_axis(int64_t axis, int64_t rank) {
  if (axis == 0) return 0;
  return axis == rank - 1 ? 1 : axis + 1;
}

std::vector<int64_t> to_first(int rank) {
  std::vector<int64_t> perm = {0, rank - 1};
  for (int64_t axis = 1; axis < rank - 1; ++axis) perm.push_back(axis);
  return perm;
}

std::vector<int64_t> to_last(int rank) {
  std::vector<int64_t> perm = {0};
  for (int64_t axis = 2; axis < rank; ++axis) perm.push_back(axis);
  perm.push_back(1);
  return perm;
}

std::vector<int64_t> first_order(const std::vector<int64_t>& per_axis) {
  std::vector<int64_t> out;
  for (const int64_t axis : to_first(static_cast<int>(per_axis.size()))) {
    out.push_back(per_axis[static_cast<size_t>(axis)]);
  }
  return out;
}

Shape first_shape(const Shape& file_shape) {
  Shape out = file_shape;
  for (int axis = 0; axis < file_shape.rank(); ++axis) {
    out[static_cast<int>(first_axis(axis, file_shape.rank()))] = file_shape[axis];
  }
  return out;
}

Shape Held::shape() const {
  if (last != nullptr) return last->shape();
  if (flat != nullptr) return flat->shape();
  Shape out = first->shape();
  for (int axis = 0; axis < out.rank(); ++axis) {
    out[axis] = first->shape()[static_cast<int>(first_axis(axis, out.rank()))];
  }
  return out;
}

DType Held::dtype() const {
  return (last != nullptr ? last : first != nullptr ? first : flat)->dtype();
}

Result<Value*> reshaped(GraphBuilder& builder, Value* value, const std::vector<int64_t>& dims,
                        const std::string& suffix) {
  if (std::ranges::equal(value->shape().dims(), dims)) return value;
  const NodeDraft draft = around(*value);
  return builder.emit(draft, "Reshape", suffix,
                      {value, builder.ints(draft, suffix + "/shape", dims)});
}

Result<Value*> transposed(GraphBuilder& builder, Value* value, const std::vector<int64_t>& perm,
                          const std::string& suffix) {
  const Shape& shape = value->shape();
  std::vector<int64_t> dims, moving;
  for (const int64_t axis : perm) {
    dims.push_back(shape[static_cast<int>(axis)]);
    if (dims.back() != 1) moving.push_back(axis);
  }
  if (std::ranges::is_sorted(perm)) return value;
  if (std::ranges::is_sorted(moving)) return reshaped(builder, value, dims, suffix);
  return builder.emit(around(*value), "Transpose", suffix, {value}, {{"perm", perm}});
}

Result<Value*> as_last(GraphBuilder& builder, Held& held) {
  if (held.last != nullptr) return held.last;
  if (held.first != nullptr) {
    RK_ASSIGN(held.last,
              transposed(builder, held.first, to_last(held.first->shape().rank()), "/nhwc"));
    return held.last;
  }
  RK_ASSERT(held.flat != nullptr, "a tensor that is bound has a value");
  const Shape picture = first_shape(held.picture);
  RK_ASSIGN(Value* const first,
            reshaped(builder, held.flat, {picture.dims().begin(), picture.dims().end()}, "/nchw"));
  RK_ASSIGN(Value* const last, transposed(builder, first, to_last(picture.rank()), "/nhwc"));
  const Shape& flat = held.flat->shape();
  RK_ASSIGN(held.last, reshaped(builder, last, {flat.dims().begin(), flat.dims().end()}, "/flat"));
  return held.last;
}

Result<Value*> as_first(GraphBuilder& builder, Held& held) {
  if (held.first != nullptr) return held.first;
  RK_ASSIGN(Value* const last, as_last(builder, held));
  const int rank = last->shape().rank();
  RK_ASSERT(can_be_first(rank), "only ranks 4 and 5 are held channels first");
  RK_ASSIGN(held.first, transposed(builder, last, to_first(rank), "/nchw"));
  return held.first;
}

}  // namespace rk::frontends
