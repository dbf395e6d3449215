// SPDX-License-Identifier: Apache-2.0
// Unique: the distinct slices along an axis (or elements), where each is first met, which of them
// every slice is, and how often each occurs. Room for all of them to differ; see bounded.h.
#include <cmath>
#include <numeric>
#include <type_traits>

#include "ops/shared/bounded.h"
#include "ops/shared/data_move.h"
#include "ops/shared/elementwise.h"

namespace rk::ops {
namespace {

struct View {
  Shape shape;
  int axis = 0;
};

Result<View> view_of(const Node& node, const Shape& in) {
  if (!node.has_attr("axis")) return View{Shape{in.elements()}, 0};
  RK_ASSIGN(const int axis, normalize_axis(node.i64("axis"), in.rank()));
  return View{in, axis};
}

struct Groups {
  std::vector<int64_t> first;    // per distinct slice
  std::vector<int64_t> count;    // likewise
  std::vector<int64_t> inverse;  // per slice
};

template <typename T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

// -1, 0 or 1: slice a before, equal to or behind slice b. A NaN is behind everything and equal to
// none.
template <typename T>
int compare_slices(const T* x, const AxisSplit& split, int64_t a, int64_t b) {
  for (int64_t o = 0; o < split.outer; ++o) {
    const T* row = x + o * split.extent * split.inner;
    for (int64_t i = 0; i < split.inner; ++i) {
      const T va = row[a * split.inner + i], vb = row[b * split.inner + i];
      if (va == vb) continue;
      const bool nan_a = is_nan(va), nan_b = is_nan(vb);
      if (nan_a && nan_b) return a == b ? 0 : a < b ? -1 : 1;
      if (nan_a || nan_b) return nan_a ? 1 : -1;
      return va < vb ? -1 : 1;
    }
  }
  return 0;
}

template <typename T>
Groups group(const Tensor& in, const View& view, bool sorted) {
  const AxisSplit split = split_at(view.shape, view.axis);
  const T* x = in.data<T>();
  const auto extent = static_cast<size_t>(split.extent);
  std::vector<int64_t> order(extent);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::sort(order, [&](int64_t a, int64_t b) {
    const int relation = compare_slices(x, split, a, b);
    return relation != 0 ? relation < 0 : a < b;
  });
  Groups out;
  out.inverse.resize(extent);
  for (size_t i = 0; i < extent; ++i) {
    if (i == 0 || compare_slices(x, split, order[i - 1], order[i]) != 0) {
      out.first.push_back(order[i]);
      out.count.push_back(0);
    }
    ++out.count.back();
    out.inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(out.first.size()) - 1;
  }
  if (sorted) return out;
  // In order of first occurrence instead.
  std::vector<size_t> by_first(out.first.size());
  std::iota(by_first.begin(), by_first.end(), size_t{0});
  std::ranges::sort(by_first, {}, [&](size_t i) { return out.first[i]; });
  Groups met;
  std::vector<int64_t> rank(by_first.size());
  for (size_t i = 0; i < by_first.size(); ++i) {
    met.first.push_back(out.first[by_first[i]]);
    met.count.push_back(out.count[by_first[i]]);
    rank[by_first[i]] = static_cast<int64_t>(i);
  }
  for (const int64_t g : out.inverse) met.inverse.push_back(rank[static_cast<size_t>(g)]);
  return met;
}

Result<Groups> groups_of(const Node& node, const Tensor& in) {
  RK_ASSIGN(const View view, view_of(node, in.shape()));
  const bool sorted = node.i64("sorted") != 0;
  const DType dtype = in.dtype() == DType::kBool ? DType::kU8 : in.dtype();
  if (is_float(dtype) && dtype != DType::kF64) {
    return group<float>(in.cast(DType::kF32), view, sorted);
  }
  Groups out;
  RK_TRY(with_number_type(dtype, [&](auto tag) {
    out = group<decltype(tag)>(in, view, sorted);
    return ok_status();
  }));
  return out;
}

Status unique_infer(InferCall& call) {
  RK_ASSIGN(View view, view_of(call.node, call.input(0).shape));
  const int64_t extent = view.shape[view.axis];
  int64_t most = extent;
  if (const Tensor* known = call.constant(0)) {
    RK_ASSIGN(const Groups groups, groups_of(call.node, *known));
    most = static_cast<int64_t>(groups.first.size());
  }
  view.shape[view.axis] = most;
  RK_TRY(set_output(call, 0, call.input(0).dtype, view.shape));
  RK_TRY(set_output(call, 1, DType::kI64, Shape{most}));
  RK_TRY(set_output(call, 2, DType::kI64, Shape{extent}));
  RK_TRY(set_output(call, 3, DType::kI64, Shape{most}));
  return set_count_type(call);
}

void store_list(const EvalCall& call, size_t output, const std::vector<int64_t>& values) {
  if (call.outputs.size() <= output) return;
  fill_indices(call.output(output));
  std::ranges::copy(values, call.output(output).mutable_data<int64_t>());
}

Status unique_reference(const EvalCall& call) {
  RK_ASSIGN(const View view, view_of(call.node, call.input(0).shape()));
  RK_ASSIGN(const Groups groups, groups_of(call.node, call.input(0)));
  std::vector<AxisSource> sources(static_cast<size_t>(view.shape.rank()), std::identity());
  sources[static_cast<size_t>(view.axis)] = listed_source(groups.first);  // then filled with zero
  move_indexed(call.input(0).reshaped(view.shape), sources, nullptr, call.output(0));
  store_list(call, 1, groups.first);
  store_list(call, 2, groups.inverse);
  store_list(call, 3, groups.count);
  store_count(call, static_cast<int64_t>(groups.first.size()));
  return ok_status();
}

Cost unique_cost(const Node& node) {
  return {.ops = static_cast<uint64_t>(node.input(0).shape().elements())};
}

}  // namespace

OpDef unique() {
  return {
      .name = "Unique",
      .doc =
          "distinct slices of x with first index, inverse and occurrences; unused entries hold "
          "0 or -1",
      .inputs = {{"x", anything()}},
      .outputs = {{"y"},
                  {"indices", ArgDef::kOptional},
                  {"inverse_indices", ArgDef::kOptional},
                  {"counts", ArgDef::kOptional},
                  count_output()},
      .attrs = {{"axis", int64_t{0}, "axis of the slices; absent: x is flattened",
                 AttrDef::kOptional, AttrDef::kAxisOfInput},
                {"sorted", int64_t{1}, "1: ascending; 0: in order of first occurrence"}},
      .infer = unique_infer,
      .reference = unique_reference,
      .cost = unique_cost,
      .quant = QuantRule::kFloatOnly,
  };
}

}  // namespace rk::ops
