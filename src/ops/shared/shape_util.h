// SPDX-License-Identifier: Apache-2.0
// Axes, broadcasting and strides, and the checks that infer functions share. Messages here do not
// name the node: the graph puts its label in front. Numbers that come from attributes or constants
// are hostile; nothing here overflows.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace rk::ops {

// In elements, one per axis; 0 on an axis that is broadcast.
using Strides = std::array<int64_t, kMaxRank>;

// kInvalidModel with the joined arguments as message.
template <typename... Args>
Status refuse(const Args&... args) {
  return invalid_model(str(args...));
}

std::string to_string(std::span<const int64_t> values);  // "[1,2,3]"

// -rank..rank-1 becomes 0..rank-1.
Result<int> normalize_axis(int64_t axis, int rank);
// The same for several, which must be distinct.
Result<std::vector<int>> normalize_axes(std::span<const int64_t> axes, int rank);

// Numpy rules: aligned at the last axis, extents equal or 1.
Result<Shape> broadcast_shapes(const Shape& a, const Shape& b);
Strides row_major_strides(const Shape& shape);
// Strides for reading `from` at the indices of `to`, which it broadcasts to.
Strides broadcast_strides(const Shape& from, const Shape& to);

// Product of the extents of axes [begin, end).
int64_t extent_product(const Shape& shape, int begin, int end);

std::string_view input_name(const InferCall& call, size_t i);
// The integers of input i, which must be a constant because a shape depends on it.
Result<std::vector<int64_t>> constant_ints(const InferCall& call, size_t i);
// The same for one integer.
Result<int64_t> constant_int(const InferCall& call, size_t i);
// Input i as a number, which must be a constant of one element.
Result<double> constant_number(const InferCall& call, size_t i);

// Makes the shape and sets the output, if the node has an output i at all.
Status set_output(InferCall& call, size_t i, DType dtype, std::span<const int64_t> dims);
Status set_output(InferCall& call, size_t i, DType dtype, const Shape& shape);

Status require_float(const InferCall& call, size_t i);
Status require_bool(const InferCall& call, size_t i);
Status require_index(const InferCall& call, size_t i);   // i32 or i64
Status require_number(const InferCall& call, size_t i);  // not bool
Status require_integer(const InferCall& call, size_t i);
Status require_same_dtype(const InferCall& call, size_t i, size_t j);
Status require_rank(const InferCall& call, size_t i, int least, int most = kMaxRank);
Status require_shape(const InferCall& call, size_t i, const Shape& shape);
// The text attribute is one of `allowed`.
Status require_one_of(const Node& node, std::string_view attr,
                      std::initializer_list<std::string_view> allowed);
// The int attribute is in least..most.
Status require_range(const Node& node, std::string_view attr, int64_t least, int64_t most);

// Calls row(offsets, steps, count) for every innermost row of `shape`, in row-major order:
// offsets[n] is where the row starts in tensor n, steps[n] the distance between its elements. A
// scalar is one row of one element.
template <size_t N, typename Row>
void for_each_row(const Shape& shape, const std::array<Strides, N>& strides, Row row) {
  if (shape.elements() == 0) return;
  const int last = shape.rank() - 1;
  const int64_t count = last < 0 ? 1 : shape[last];
  std::array<int64_t, N> offsets{};
  std::array<int64_t, N> steps{};
  for (size_t n = 0; n < N && last >= 0; ++n) steps[n] = strides[n][static_cast<size_t>(last)];
  std::array<int64_t, kMaxRank> index{};
  for (;;) {
    row(offsets, steps, count);
    int axis = last - 1;
    for (; axis >= 0; --axis) {
      const auto a = static_cast<size_t>(axis);
      for (size_t n = 0; n < N; ++n) offsets[n] += strides[n][a];
      if (++index[a] < shape[axis]) break;
      for (size_t n = 0; n < N; ++n) offsets[n] -= strides[n][a] * shape[axis];
      index[a] = 0;
    }
    if (axis < 0) return;
  }
}

}  // namespace rk::ops
