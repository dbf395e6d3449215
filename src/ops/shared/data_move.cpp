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
  std::span<const AxisSource> sources;
  std::span<const std::vector<int64_t>> lists;  // of axes that are short enough
  const Shape& extents;
  Strides in_strides;
  U fill;
  U* to;

  // `base` is negative once an outer axis asked for the fill value.
  void run(int axis, int64_t base) {
    if (axis == extents.rank()) {
      *to++ = base < 0 ? fill : in[base];
      return;
    }
    const auto a = static_cast<size_t>(axis);
    const auto move = [&](int64_t source) {
      run(axis + 1, base < 0 || source < 0 ? -1 : base + source * in_strides[a]);
    };
    if (lists[a].empty()) {
      for (int64_t i = 0; i < extents[axis]; ++i) move(sources[a](i));
    } else {
      for (const int64_t source : lists[a]) move(source);
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

AxisSource listed_source(const std::vector<int64_t>& list) {
  return [&list](int64_t i) {
    const auto at = static_cast<size_t>(i);
    return at < list.size() ? list[at] : -1;
  };
}

void move_indexed(const Tensor& in, std::span<const AxisSource> sources, const uint8_t* fill,
                  Tensor& out) {
  constexpr int64_t kListed = 1 << 16;
  const Shape& extents = out.shape();
  std::vector<std::vector<int64_t>> lists(sources.size());
  for (size_t axis = 0; axis < sources.size(); ++axis) {
    const int64_t extent = extents[static_cast<int>(axis)];
    if (extent > kListed) continue;
    lists[axis].reserve(static_cast<size_t>(extent));
    for (int64_t i = 0; i < extent; ++i) lists[axis].push_back(sources[axis](i));
  }
  with_element_size(in.dtype(), [&](auto tag) {
    using U = decltype(tag);
    if (out.elements() == 0) return;
    IndexedMove<U>{.in = in.data<U>(),
                   .sources = sources,
                   .lists = lists,
                   .extents = extents,
                   .in_strides = row_major_strides(in.shape()),
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
