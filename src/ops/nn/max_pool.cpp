// SPDX-License-Identifier: Apache-2.0
// MaxPool: the largest value of each window, padding never chosen. The optional second output holds
// flat indices into the whole input tensor, batch and channel included.
#include <algorithm>
#include <limits>

#include "ops/shared/elementwise.h"
#include "ops/shared/pool.h"

namespace rk::ops {
namespace {

Status max_pool_infer(InferCall& call) {
  RK_TRY(require_range(call.node, "storage_order", 0, 1));
  RK_ASSIGN(const Shape shape, pool_output(call.node));
  RK_TRY(set_output(call, 0, call.input(0).dtype, shape));
  return set_output(call, 1, DType::kI64, shape);
}

// Offset within a plane when the spatial axes are stored last axis outermost.
int64_t column_major(int64_t offset, const Extent& in) {
  const int64_t w = offset % in.w;
  const int64_t h = offset / in.w % in.h;
  const int64_t d = offset / (in.w * in.h);
  return (w * in.h + h) * in.d + d;
}

template <typename T>
void pool_planes(const EvalCall& call) {
  const Window window = pool_attrs(call.node).window;
  const Extent in = spatial_extent(call.input(0).shape());
  const Extent out = spatial_extent(call.output(0).shape());
  const bool by_column = call.node.i64("storage_order") == 1;
  const T* x = call.input(0).data<T>();
  T* y = call.output(0).mutable_data<T>();
  int64_t* indices = call.outputs.size() > 1 ? call.output(1).mutable_data<int64_t>() : nullptr;
  const int64_t planes = call.input(0).shape()[0] * call.input(0).shape()[1];
  call.parallel_for(planes, 1, [&](IndexRange range) {
    for (int64_t plane = range.begin; plane < range.end; ++plane) {
      const T* from = x + plane * in.product();
      const int64_t to = plane * out.product();
      for_each_place(window, in, out, [&](const PoolPlace& place) {
        T best = std::numeric_limits<T>::has_infinity
                     ? static_cast<T>(-std::numeric_limits<T>::infinity())
                     : std::numeric_limits<T>::lowest();
        int64_t where = -1;
        for_each_tap(place, window, in, [&](int64_t offset) {
          if (where >= 0 && !(from[offset] > best)) return;
          best = from[offset];
          where = offset;
        });
        y[to + place.index] = best;
        if (indices == nullptr) return;
        indices[to + place.index] =
            where < 0 ? -1 : plane * in.product() + (by_column ? column_major(where, in) : where);
      });
    }
  });
}

Status max_pool_compute(const EvalCall& call) {
  return with_number_type(call.input(0).dtype(), [&](auto tag) {
    pool_planes<decltype(tag)>(call);
    return ok_status();
  });
}

Status max_pool_reference(const EvalCall& call) { return halves_as_f32(call, max_pool_compute); }

}  // namespace

Result<PoolAttrs> resolve_pool(const Node& node) {
  const Shape& in = node.input(0).shape();
  if (in.rank() < 3 || in.rank() > 5) {
    return refuse("input 'x' is ", to_string(in), ", expected rank 3 to 5: [N,C,spatial...]");
  }
  const std::vector<int64_t>& kernel = node.ints("kernel_shape");
  if (kernel.size() != static_cast<size_t>(in.rank() - 2)) {
    return refuse("attribute 'kernel_shape' is ", to_string(kernel), ", expected ", in.rank() - 2,
                  " values, one per spatial axis");
  }
  RK_TRY(require_range(node, "ceil_mode", 0, 1));
  PoolAttrs attrs;
  RK_ASSIGN(attrs.window, resolve_window(node, kernel, in));
  // Beyond this a window could hold nothing but padding.
  for (int axis = 0; axis < 3; ++axis) {
    const Window& window = attrs.window;
    if (window.pads.begin(axis) >= window.reach(axis) ||
        window.pads.end(axis) >= window.reach(axis)) {
      return refuse(
          "attribute 'pads' has ", window.pads.begin(axis), " and ", window.pads.end(axis),
          " on one axis, expected less than the dilated kernel extent ", window.reach(axis));
    }
  }
  attrs.ceil_mode = node.i64("ceil_mode") == 1;
  if (node.def().find_attr("count_include_pad") != nullptr) {
    RK_TRY(require_range(node, "count_include_pad", 0, 1));
    attrs.count_include_pad = node.i64("count_include_pad") == 1;
  }
  return attrs;
}

PoolAttrs pool_attrs(const Node& node) { return resolve_pool(node).value(); }

Result<Shape> pool_output(const Node& node) {
  RK_ASSIGN(const PoolAttrs attrs, resolve_pool(node));
  const Shape& in = node.input(0).shape();
  RK_ASSIGN(const Extent out, window_output(attrs.window, spatial_extent(in), attrs.ceil_mode));
  return Shape::make(picture_dims(in[0], in[1], out, attrs.window.spatial_rank));
}

std::vector<AttrDef> pool_attr_defs() {
  std::vector<AttrDef> attrs = window_attrs();
  attrs.front().presence = AttrDef::kRequired;
  attrs.push_back({"ceil_mode", int64_t{0}, "1: a last window may reach past the padded end"});
  return attrs;
}

Cost pool_cost(const Node& node) {
  const Extent kernel = pool_attrs(node).window.kernel, in = spatial_extent(node.input(0).shape());
  auto ops = static_cast<uint64_t>(node.output().shape().elements());
  for (int axis = 0; axis < 3; ++axis)  // no more taps than the picture has places
    ops *= static_cast<uint64_t>(std::min(kernel.at(axis), in.at(axis)));
  return {.ops = ops};
}

OpDef max_pool() {
  std::vector<AttrDef> attrs = pool_attr_defs();
  attrs.push_back(
      {"storage_order", int64_t{0}, "order of the indices: 0 row-major, 1 column-major"});
  return {
      .name = "MaxPool",
      .doc = "y = largest value of each window",
      .inputs = {{"x", numbers()}},
      .outputs = {{"y"}, {"indices", ArgDef::kOptional}},
      .attrs = std::move(attrs),
      .infer = max_pool_infer,
      .reference = max_pool_reference,
      .cost = pool_cost,
      .quant = QuantRule::kSameScaleAsInput,
      .homogeneous = true,
  };
}

}  // namespace rk::ops
