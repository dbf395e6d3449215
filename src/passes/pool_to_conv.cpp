// SPDX-License-Identifier: Apache-2.0
// The mean of a feature as depthwise convolutions, as the vendor's compiler writes it for every chip:
// windows of up to 7 x 7 pixels, one convolution after the other until one pixel is left. All have the
// same weight, whose power is 1 / pixels; borders are zeros, half of them (rounded down) in front.
#include <cmath>

#include "ir/rewrite.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

constexpr int64_t kLargestWindow = 7;

int64_t windows_in(int64_t extent) { return (extent + kLargestWindow - 1) / kLargestWindow; }

int stage_count(int64_t h, int64_t w) {
  int count = 0;
  for (; h * w > 1; ++count) {
    h = windows_in(h);
    w = windows_in(w);
  }
  return count;
}

// One convolution over `x`, the number `stage` of its pool.
NodeSpec stage_spec(Graph& graph, const std::string& pool, int stage, Value& x, float weight) {
  const Shape& in = x.shape();
  const std::string name = str(pool, "_2conv", stage);
  std::vector<int64_t> kernel, begins, ends;
  for (const int axis : {2, 3}) {
    kernel.push_back(std::min(in[axis], kLargestWindow));
    const int64_t border =
        in[axis] > kLargestWindow ? windows_in(in[axis]) * kLargestWindow - in[axis] : 0;
    begins.push_back(border / 2);
    ends.push_back(border - border / 2);
  }
  const Shape shape{in[1], 1, kernel[0], kernel[1]};
  const auto taps = static_cast<size_t>(shape.elements());
  const std::vector<float> zeros(static_cast<size_t>(in[1]), 0.0f);
  Value* weights =
      graph.add_constant(name + "_i1", Tensor::f32(shape, std::vector<float>(taps, weight)));
  Value* bias = graph.add_constant(name + "_i2", Tensor::f32(Shape{in[1]}, zeros));
  const std::vector<int64_t> strides(2, kLargestWindow);
  const std::vector<int64_t> pads{begins[0], begins[1], ends[0], ends[1]};
  return {"Conv",
          name,
          {&x, weights, bias},
          {""},
          {{"kernel_shape", kernel}, {"strides", strides}, {"pads", pads}, {"group", in[1]}}};
}

bool takes(const target::Target& target, const Node& node) {
  return target.refuse(node, DType::kI8).empty() || target.refuse(node, DType::kF16).empty();
}

}  // namespace

Result<size_t> pool_to_conv(Graph& graph, const target::Target& target) {
  return rewrite(graph, chain("GlobalAveragePool"), [&](Match& m) -> Result<Rewrite> {
    Value* x = &m[0].input(0);
    if (x->shape().rank() != 4 || x->dtype() != DType::kF32 || x->shape().elements() == 0)
      return Rewrite::kSkip;
    const int64_t h = x->shape()[2], w = x->shape()[3];
    const int stages = stage_count(h, w);
    if (stages == 0) return Rewrite::kSkip;
    const auto weight =
        static_cast<float>(std::pow(1.0 / static_cast<double>(h * w), 1.0 / stages));
    const std::string name = m[0].name();
    for (int stage = 0; stage + 1 < stages; ++stage) {
      RK_ASSIGN(Node* const node,
                graph.add_node(stage_spec(graph, name, stage, *x, weight), &m[0]));
      if (!takes(target, *node)) return Rewrite::kSkip;  // what was added is swept
      x = &node->output();
    }
    const NodeSpec last = stage_spec(graph, name, stages - 1, *x, weight);
    RK_ASSIGN(Node* const trial, graph.add_node(last, &m[0]));
    const bool taken = takes(target, *trial);
    graph.remove(trial);
    return taken ? m.replace_with(last) : Result<Rewrite>(Rewrite::kSkip);
  });
}

}  // namespace rk::passes
