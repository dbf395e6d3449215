// SPDX-License-Identifier: Apache-2.0
// The Focus stem of YOLOv5 (every second pixel, four ways, stacked on channels, then a convolution)
// and SpaceToDepth in front of a convolution become one convolution with a kernel and stride b
// times as large:
//   block (r, t) of channel c at (a, b') is x[c, b*a + r, b*b' + t], so w[q*C + c, i, j] moves to
//   w[c, b*i + r, b*j + t].
// The strided slices would run on the CPU; the larger kernel runs on the NPU.
#include <algorithm>

#include "ir/rewrite.h"
#include "ops/nn/conv.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

// One stacked part: pixels (row, column) modulo the block.
struct Part {
  int64_t row = 0, column = 0;
};

struct Blocks {
  Value* source = nullptr;
  int64_t block = 0;
  std::vector<Part> parts;  // in order of the stacked channels
};

// Start of a slice along each axis when it takes every second element of H or W and all of the
// others.
struct Steps {
  int64_t start[2] = {0, 0};
  int64_t step[2] = {1, 1};
};

std::optional<Steps> steps_of(const Node& slice) {
  for (size_t i = 1; i < 5; ++i) {
    if (!slice.has_input(i) || !slice.input(i).is_constant()) return std::nullopt;
  }
  const auto at = [&](size_t i) { return slice.input(i).constant().to_i64(); };
  const std::vector<int64_t> starts = at(1), axes = at(3), steps = at(4);
  const Shape &in = slice.input(0).shape(), &shape = slice.output().shape();
  if (in.rank() != 4) return std::nullopt;
  Steps out;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<int>(axes[i] < 0 ? axes[i] + in.rank() : axes[i]);
    if (axis < 2) {
      if (shape[axis] != in[axis]) return std::nullopt;
      continue;
    }
    const bool runs_to_end = steps[i] >= 1 && starts[i] >= 0 && starts[i] < steps[i] &&
                             shape[axis] == (in[axis] - starts[i] + steps[i] - 1) / steps[i];
    if (!runs_to_end) return std::nullopt;
    out.start[axis - 2] = starts[i];
    out.step[axis - 2] = steps[i];
  }
  return out;
}

// Follows up to two slices (one per axis, in either order) back to their source.
std::optional<Part> part_of(const Graph& graph, const Value& value, Value*& source, int64_t block) {
  Part out;
  int64_t step[2] = {1, 1};
  Value* at = nullptr;
  const Value* current = &value;
  for (int depth = 0; depth < 2 && (step[0] == 1 || step[1] == 1); ++depth) {
    const Node* slice = current->producer();
    if (slice == nullptr || slice->op() != "Slice" || graph.is_output(*current)) break;
    const auto steps = steps_of(*slice);
    if (!steps) return std::nullopt;
    for (int axis = 0; axis < 2; ++axis) {
      if (steps->step[axis] == 1) continue;
      if (step[axis] != 1) return std::nullopt;
      step[axis] = steps->step[axis];
      (axis == 0 ? out.row : out.column) = steps->start[axis];
    }
    at = &slice->input(0);
    current = at;
  }
  if (at == nullptr || step[0] != block || step[1] != block) return std::nullopt;
  if (source != nullptr && source != at) return std::nullopt;
  source = at;
  return out;
}

std::optional<Blocks> stacked_slices(const Graph& graph, const Node& concat) {
  constexpr int64_t kBlock = 2;
  if (concat.i64("axis") != 1 && concat.i64("axis") != -3) return std::nullopt;
  Blocks out{.block = kBlock};
  for (const Value* input : concat.inputs()) {
    const auto part = part_of(graph, *input, out.source, kBlock);
    if (!part) return std::nullopt;
    out.parts.push_back(*part);
  }
  return out;
}

Blocks space_to_depth(const Node& node) {
  Blocks out{.source = &node.input(0), .block = node.i64("blocksize")};
  for (int64_t row = 0; row < out.block; ++row) {
    for (int64_t column = 0; column < out.block; ++column) out.parts.push_back({row, column});
  }
  return out;
}

// The stacked form loses nothing only where the block divides the extents.
bool divides(const Blocks& blocks) {
  const Shape& shape = blocks.source->shape();
  return shape.rank() == 4 && shape[2] % blocks.block == 0 && shape[3] % blocks.block == 0;
}

Tensor spread_weights(const Tensor& weight, const Blocks& blocks) {
  const Shape& old = weight.shape();
  const int64_t channels = blocks.source->shape()[1], b = blocks.block;
  Tensor out = Tensor::make({DType::kF32, {old[0], channels, old[2] * b, old[3] * b}});
  auto* to = out.mutable_data<float>();
  std::fill_n(to, out.elements(), 0.0f);
  const float* w = weight.data<float>();
  for (int64_t o = 0; o < old[0]; ++o) {
    for (size_t q = 0; q < blocks.parts.size(); ++q) {
      const Part& part = blocks.parts[q];
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t i = 0; i < old[2]; ++i) {
          for (int64_t j = 0; j < old[3]; ++j) {
            const int64_t row = b * i + part.row, column = b * j + part.column;
            // Two parts of the same pixels add up.
            to[((o * channels + c) * old[2] * b + row) * old[3] * b + column] += *w++;
          }
        }
      }
    }
  }
  return out;
}

Result<Rewrite> fold(Match& m, const std::optional<Blocks>& blocks) {
  const Node& conv = m[1];
  if (!blocks || !divides(*blocks) || !conv.input(1).is_constant()) return Rewrite::kSkip;
  const ops::ConvAttrs attrs = ops::conv_attrs(conv);
  const ops::Window& window = attrs.window;
  const Value& weight = conv.input(1);
  const bool plain = attrs.group == 1 && window.dilation.h == 1 && window.dilation.w == 1 &&
                     weight.dtype() == DType::kF32 && !weight.quantized();
  if (!plain) return Rewrite::kSkip;
  const int64_t b = blocks->block;
  Value* spread = m.graph().add_constant(weight.name(), spread_weights(weight.constant(), *blocks));
  std::vector<Value*> inputs = {blocks->source, spread};
  if (conv.has_input(2)) inputs.push_back(&conv.input(2));
  const AttrMap wider = {
      {"kernel_shape", std::vector<int64_t>{window.kernel.h * b, window.kernel.w * b}},
      {"strides", std::vector<int64_t>{window.stride.h * b, window.stride.w * b}},
      {"pads", std::vector<int64_t>{window.pads.top * b, window.pads.left * b,
                                    window.pads.bottom * b, window.pads.right * b}}};
  return m.replace_with({"Conv", conv.name(), std::move(inputs), {""}, wider});
}

}  // namespace

Result<size_t> fold_focus(Graph& graph) {
  RK_ASSIGN(const size_t focus, rewrite(graph, chain("Concat", "Conv").only_use(), [](Match& m) {
              return fold(m, stacked_slices(m.graph(), m[0]));
            }));
  RK_ASSIGN(const size_t stacked, rewrite(graph, chain("SpaceToDepth", "Conv").only_use(),
                                          [](Match& m) { return fold(m, space_to_depth(m[0])); }));
  return focus + stacked;
}

}  // namespace rk::passes
