// SPDX-License-Identifier: Apache-2.0
// Typed attributes of MaxPool and AveragePool, resolved against the node's shapes, and what both
// share.
#pragma once

#include <algorithm>

#include "ops/shared/window.h"

namespace rk::ops {

struct PoolAttrs {
  Window window;
  bool ceil_mode = false;
  bool count_include_pad = false;  // AveragePool only
};

Result<PoolAttrs> resolve_pool(const Node& node);  // for infer
PoolAttrs pool_attrs(const Node& node);            // for a node of a graph

// The output shape; refuses windows that do not fit.
Result<Shape> pool_output(const Node& node);
std::vector<AttrDef> pool_attr_defs();
Cost pool_cost(const Node& node);

// Calls visit(n_times_c, output index, begin, end) for each output place: the window's taps at
// begin, begin + dilation, ... below end. Begin may lie in the padding; end is cut to the padded
// extent.
struct PoolPlace {
  int64_t index = 0;  // within the output plane
  Extent begin;
  Extent end;
};
template <typename Visit>
void for_each_place(const Window& window, const Extent& in, const Extent& out, Visit visit) {
  PoolPlace place;
  const auto set = [&](int axis, int64_t o) {
    place.begin.at(axis) = o * window.stride.at(axis) - window.pads.begin(axis);
    const int64_t padded = in.at(axis) + window.pads.end(axis);
    const int64_t end = place.begin.at(axis) + window.reach(axis);
    place.end.at(axis) = end < padded ? end : padded;
  };
  for (int64_t d = 0; d < out.d; ++d) {
    set(0, d);
    for (int64_t h = 0; h < out.h; ++h) {
      set(1, h);
      for (int64_t w = 0; w < out.w; ++w) {
        set(2, w);
        visit(place);
        ++place.index;
      }
    }
  }
}

// Calls tap(offset in the input plane) for the window's taps that lie inside the picture. A window may be much larger.
template <typename Tap>
void for_each_tap(const PoolPlace& place, const Window& window, const Extent& in, Tap tap) {
  Extent first, end;
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t begin = place.begin.at(axis), dilation = window.dilation.at(axis);
    first.at(axis) = begin >= 0 ? begin : begin + (dilation - 1 - begin) / dilation * dilation;
    end.at(axis) = std::min(place.end.at(axis), in.at(axis));
  }
  for (int64_t d = first.d; d < end.d; d += window.dilation.d) {
    for (int64_t h = first.h; h < end.h; h += window.dilation.h) {
      for (int64_t w = first.w; w < end.w; w += window.dilation.w) tap((d * in.h + h) * in.w + w);
    }
  }
}

// y = reduce(plane of x, place) for every place of every plane, in f32.
template <typename Reduce>
void pool_f32(const EvalCall& call, const Window& window, Reduce reduce) {
  const Extent in = spatial_extent(call.input(0).shape());
  const Extent out = spatial_extent(call.output(0).shape());
  const float* x = call.input(0).data<float>();
  float* y = call.output(0).mutable_data<float>();
  const int64_t planes = call.input(0).shape()[0] * call.input(0).shape()[1];
  call.parallel_for(planes, 1, [&](IndexRange range) {
    for (int64_t plane = range.begin; plane < range.end; ++plane) {
      const float* from = x + plane * in.product();
      float* to = y + plane * out.product();
      for_each_place(window, in, out, [&](const PoolPlace& place) {
        to[place.index] = static_cast<float>(reduce(from, place));
      });
    }
  });
}

}  // namespace rk::ops
