// SPDX-License-Identifier: Apache-2.0
// Pooling, and the windows that pooling and convolutions share.
#include <algorithm>

#include "format/vendor/lift_context.h"

namespace rk::format {
namespace {

using program::kNone;
using program::OpParams;
using program::PoolKind;
using program::PoolParams;

int64_t pad_same(int64_t in, int64_t out, int64_t window, int64_t stride) {
  return std::max<int64_t>(0, (out - 1) * stride + window - in);
}

Result<program::Extent2> extent_of(const std::vector<int64_t>& values, std::string_view what) {
  if (values.empty()) return program::Extent2{1, 1};
  constexpr int64_t kMost = 1 << 15;
  if (values.size() != 2 || values[0] < 1 || values[1] < 1 || values[0] > kMost ||
      values[1] > kMost) {
    return unsupported(str(what, " has ", values.size(), " extents or one out of range; two of 1..",
                           kMost, " are known"));
  }
  return program::Extent2{static_cast<int32_t>(values[0]), static_cast<int32_t>(values[1])};
}

// Extra room at the end, as ceil_mode makes it: the output extent rules.
int32_t reach(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t before,
              int64_t after) {
  return static_cast<int32_t>(std::max(after, (out - 1) * stride + kernel - before - in));
}

// What the step form does not have (dilation, a change of scale): the operator itself.
Status add_pool_operator(LiftContext& c, const Window& w, int32_t in, int32_t out, bool average) {
  AttrMap attrs;
  attrs["kernel_shape"] = std::vector<int64_t>{w.kernel.h, w.kernel.w};
  attrs["strides"] = std::vector<int64_t>{w.stride.h, w.stride.w};
  attrs["pads"] = std::vector<int64_t>{w.pads.top, w.pads.left, w.pads.bottom, w.pads.right};
  attrs["ceil_mode"] = c.integer("ceil_mode").value_or(0);
  if (average) {
    attrs["count_include_pad"] = c.integer("count_include_pad").value_or(0);
  } else {
    attrs["dilations"] = std::vector<int64_t>{w.dilation.h, w.dilation.w};
  }
  c.add_operator(average ? "AveragePool" : "MaxPool", {in}, out, std::move(attrs));
  return ok_status();
}

Result<Window> pool_window(LiftContext& c, int32_t in, int32_t out) {
  const Shape in_shape = c.tensor(in).shape, out_shape = c.tensor(out).shape;
  if (!c.node().type.starts_with("Global")) {
    if (!c.integers("kernel_shape"))
      return unsupported("its kernel_shape is not among the node's parameters");
    return attribute_window(c, in_shape, out_shape);
  }
  WindowTexts texts;
  texts.kernel = {in_shape[2], in_shape[3]};
  return make_window(texts, in_shape, out_shape);
}

}  // namespace

Result<Window> make_window(const WindowTexts& texts, const Shape& in, const Shape& out) {
  Window w;
  RK_ASSIGN(w.kernel, extent_of(texts.kernel, "kernel_shape"));
  RK_ASSIGN(w.stride, extent_of(texts.stride, "strides"));
  RK_ASSIGN(w.dilation, extent_of(texts.dilation, "dilations"));
  if (texts.auto_pad.starts_with("SAME")) {
    const int64_t y =
        pad_same(in[2], out[2], int64_t{w.kernel.h - 1} * w.dilation.h + 1, w.stride.h);
    const int64_t x =
        pad_same(in[3], out[3], int64_t{w.kernel.w - 1} * w.dilation.w + 1, w.stride.w);
    const bool upper = texts.auto_pad == "SAME_UPPER";
    const auto less_y = static_cast<int32_t>(y / 2), less_x = static_cast<int32_t>(x / 2);
    const auto more_y = static_cast<int32_t>(y - y / 2), more_x = static_cast<int32_t>(x - x / 2);
    w.pads = upper ? program::Pads2{less_y, less_x, more_y, more_x}
                   : program::Pads2{more_y, more_x, less_y, less_x};
    return w;
  }
  if (texts.auto_pad == "VALID" || texts.pads.empty()) return w;
  if (texts.pads.size() != 4) return unsupported(str(texts.pads.size(), " pads, four are known"));
  for (const int64_t pad : texts.pads) {
    if (pad < 0 || pad > (1 << 15)) return unsupported(str("pad ", pad));
  }
  w.pads = {static_cast<int32_t>(texts.pads[0]), static_cast<int32_t>(texts.pads[1]),
            static_cast<int32_t>(texts.pads[2]), static_cast<int32_t>(texts.pads[3])};
  return w;
}

Result<Window> attribute_window(const LiftContext& c, const Shape& in, const Shape& out) {
  WindowTexts texts;
  texts.kernel = c.integers("kernel_shape").value_or(std::vector<int64_t>());
  texts.stride = c.integers("strides").value_or(std::vector<int64_t>());
  texts.dilation = c.integers("dilations").value_or(std::vector<int64_t>());
  texts.pads = c.integers("pads").value_or(std::vector<int64_t>());
  texts.auto_pad = c.text("auto_pad").value_or("");
  return make_window(texts, in, out);
}

Status lift_pool(LiftContext& c) {
  RK_ASSIGN(const std::vector<int32_t> operands, c.operands(1));
  const int32_t in = operands[0], out = c.output();
  const std::string& type = c.node().type;
  if (c.tensor(in).shape.rank() != 4 || c.tensor(out).shape.rank() != 4) {
    return unsupported("only two-dimensional pooling is decoded");
  }
  const bool average = type == "AveragePool" || type == "GlobalAveragePool";
  if (!average && type != "MaxPool" && type != "GlobalMaxPool") {
    return unsupported("this kind of pooling is not decoded");
  }
  RK_ASSIGN(const Window w, pool_window(c, in, out));
  const Shape in_shape = c.tensor(in).shape, out_shape = c.tensor(out).shape;
  const bool integer = c.is_i8(in) && c.is_i8(out);
  const bool half = c.tensor(in).dtype == DType::kF16 && c.tensor(out).dtype == DType::kF16;
  const bool same_scale = c.tensor(in).scale == c.tensor(out).scale &&
                          c.tensor(in).zero_point == c.tensor(out).zero_point;
  if (w.dilation != program::Extent2{1, 1} || (!integer && !half) ||
      (integer && !average && !same_scale)) {
    return add_pool_operator(c, w, in, out, average);
  }
  PoolParams p;
  p.kind = average ? PoolKind::kAverage : PoolKind::kMax;
  p.kernel = w.kernel;
  p.stride = w.stride;
  p.pads = w.pads;
  p.pads.bottom =
      reach(in_shape[2], out_shape[2], w.kernel.h, w.stride.h, w.pads.top, w.pads.bottom);
  p.pads.right =
      reach(in_shape[3], out_shape[3], w.kernel.w, w.stride.w, w.pads.left, w.pads.right);
  p.count_include_pad = c.integer("count_include_pad").value_or(0) != 0;
  if (p.count_include_pad && (p.pads.bottom != w.pads.bottom || p.pads.right != w.pads.right)) {
    // What ceil_mode adds at the end never counts, the pads do: the step form cannot say so.
    return add_pool_operator(c, w, in, out, average);
  }
  if (average && integer) {
    const int64_t count = int64_t{w.kernel.h} * w.kernel.w;
    if (count > (1 << 16)) return unsupported(str("a window of ", count, " elements"));
    for (int64_t n = 1; n <= count; ++n) {
      RK_ASSIGN(const program::InputStage stage,
                derived_input_stage(c.tensor(in), c.tensor(out), 1.0 / static_cast<double>(n)));
      p.by_count.push_back(stage);
    }
    p.output = derived_output_stage(c.tensor(out));
  }
  c.add_step({in}, {out}, std::move(p));
  return ok_status();
}

}  // namespace rk::format
