// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/data_move.h"

#include <cstring>

namespace rk::ops {
namespace {

// Calls body(U{}) with an unsigned type of the dtype's size.
template <typename Body>
void with_element_size(DType dtype, Body body) {
  switch (byte_size(dtype)) {
    case 1:
      return body(uint8_t{});
    case 2:
      return body(uint16_t{});
    case 4:
      return body(uint32_t{});
    default:
      return body(uint64_t{});
  }
}

template <typename U>
struct IndexedMove {
  const U* in;
  std::span<const std::vector<int64_t>> sources;
  Strides in_strides;
  int rank;
  U fill;
  U* to;

  // `base` is negative once an outer axis asked for the fill value.
  void run(int axis, int64_t base) {
    if (axis == rank) {
      *to++ = base < 0 ? fill : in[base];
      return;
    }
    const int64_t stride = in_strides[static_cast<size_t>(axis)];
    for (const int64_t source : sources[static_cast<size_t>(axis)]) {
      run(axis + 1, base < 0 || source < 0 ? -1 : base + source * stride);
    }
  }
};

}  // namespace

void move_view(const Tensor& in, int64_t offset, const Strides& strides, Tensor& out) {
  with_element_size(in.dtype(), [&](auto tag) {
    using U = decltype(tag);
    if (out.elements() == 0) return;
    const U* from = in.data<U>() + offset;
    U* to = out.mutable_data<U>();
    for_each_row<1>(out.shape(), {strides},
                    [&](const auto& offsets, const auto& steps, int64_t count) {
                      const U* row = from + offsets[0];
                      for (int64_t i = 0; i < count; ++i) *to++ = row[i * steps[0]];
                    });
  });
}

void move_indexed(const Tensor& in, std::span<const std::vector<int64_t>> sources,
                  const uint8_t* fill, Tensor& out) {
  with_element_size(in.dtype(), [&](auto tag) {
    using U = decltype(tag);
    if (out.elements() == 0) return;
    IndexedMove<U>{.in = in.data<U>(),
                   .sources = sources,
                   .in_strides = row_major_strides(in.shape()),
                   .rank = out.shape().rank(),
                   .fill = fill == nullptr ? U{0} : load<U>(fill),
                   .to = out.mutable_data<U>()}
        .run(0, 0);
  });
}

void copy_bytes(const Tensor& in, Tensor& out) {
  if (out.size_bytes() == 0) return;
  std::memcpy(out.mutable_data<uint8_t>(), in.data<uint8_t>(), out.size_bytes());
}

AxisSplit split_at(const Shape& shape, int axis) {
  return {.outer = extent_product(shape, 0, axis),
          .extent = shape[axis],
          .inner = extent_product(shape, axis + 1, shape.rank())};
}

}  // namespace rk::ops
