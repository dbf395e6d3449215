// SPDX-License-Identifier: Apache-2.0
// Nearest Resize by an integer factor f repeats each pixel f x f times: a depthwise ConvTranspose
// with a kernel of ones and stride f, which the NPU runs. Only where the chip takes that
// ConvTranspose. Linear Resize stays: at the border it repeats the edge, a ConvTranspose would fade
// to zero there.
#include "ir/rewrite.h"
#include "ops/vision/resize.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

// The factor where every output element shows input element i / factor; 0 otherwise.
int64_t repetition(const ops::ResizeAttrs& attrs, const ops::ResizeAxis& axis) {
  if (axis.in == 0 || axis.out % axis.in != 0) return 0;
  const int64_t factor = axis.out / axis.in;
  for (int64_t i = 0; i < axis.out; ++i) {
    if (ops::resize_nearest_index(attrs, axis, i) != i / factor) return 0;
  }
  return factor;
}

NodeSpec repeat_pixels(Graph& graph, const Node& resize, int64_t factor_h, int64_t factor_w) {
  const int64_t channels = resize.input(0).shape()[1];
  const Shape shape{channels, 1, factor_h, factor_w};
  Value* ones = graph.add_constant(
      resize.name() + "_weight",
      Tensor::f32(shape, std::vector<float>(static_cast<size_t>(shape.elements()), 1.0f)));
  const std::vector<int64_t> factors = {factor_h, factor_w};
  return {"ConvTranspose",
          resize.name(),
          {&resize.input(0), ones},
          {""},
          {{"kernel_shape", factors}, {"strides", factors}, {"group", channels}}};
}

}  // namespace

Result<size_t> resize_to_conv_transpose(Graph& graph, const target::Target& target) {
  return rewrite(graph, chain("Resize"), [&](Match& m) -> Result<Rewrite> {
    const Value& x = m[0].input(0);
    const ops::ResizeAttrs attrs = ops::resize_attrs(m[0]);
    if (x.shape().rank() != 4 || x.dtype() != DType::kF32 ||
        attrs.mode != ops::ResizeMode::kNearest || repetition(attrs, attrs.axes[0]) != 1 ||
        repetition(attrs, attrs.axes[1]) != 1)
      return Rewrite::kSkip;
    const int64_t h = repetition(attrs, attrs.axes[2]), w = repetition(attrs, attrs.axes[3]);
    if (h < 1 || w < 1 || h * w == 1) return Rewrite::kSkip;
    const NodeSpec spec = repeat_pixels(graph, m[0], h, w);
    RK_ASSIGN(Node* const trial, graph.add_node(spec, &m[0]));
    const bool taken =
        target.refuse(*trial, DType::kI8).empty() || target.refuse(*trial, DType::kF16).empty();
    graph.remove(trial);
    return taken ? m.replace_with(spec) : Result<Rewrite>(Rewrite::kSkip);
  });
}

}  // namespace rk::passes
