// SPDX-License-Identifier: Apache-2.0
// A Pad in front of a convolution or a pool becomes the window's own padding, where both say the same:
//   Conv           zeros around the picture are what its pads mean
//   AveragePool    zeros, counted: pads with count_include_pad
//   MaxPool        its pads are below every number, so -inf (or the lowest float), and zeros around a picture that has
//                  nothing below zero
// Exporters write these nodes for the asymmetric padding of TensorFlow; left alone each is a pass over the picture.
#include "passes/fold_pad.h"

#include <algorithm>
#include <limits>

#include "ir/rewrite.h"
#include "ops/nn/conv.h"
#include "ops/shared/pool.h"

namespace rk::passes {
namespace {

// What a Pad adds to the spatial axes of [N,C,...]; begin of each axis, then end of each axis.
struct Border {
  std::vector<int64_t> pads;
  double value = 0;
};

std::optional<Border> border_of(const Node& pad) {
  const Shape& in = pad.input(0).shape();
  if (pad.input(0).dtype() != DType::kF32 || in.rank() < 3 || in.rank() > 5) return std::nullopt;
  if (pad.text("mode") != "constant" || !pad.input(1).is_constant()) return std::nullopt;
  const int rank = in.rank(), spatial = rank - 2;
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  for (int axis = 0; axis < rank; ++axis) axes[static_cast<size_t>(axis)] = axis;
  if (pad.has_input(3)) {
    if (!pad.input(3).is_constant()) return std::nullopt;
    axes = pad.input(3).constant().to_i64();
  }
  const std::vector<int64_t> given = pad.input(1).constant().to_i64();
  Border out{std::vector<int64_t>(static_cast<size_t>(2 * spatial)), 0};
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    const int64_t begin = given[i], end = given[i + axes.size()];
    if (begin < 0 || end < 0) return std::nullopt;  // cuts instead
    if (axis < 2) {
      if (begin != 0 || end != 0) return std::nullopt;
      continue;
    }
    out.pads[static_cast<size_t>(axis - 2)] = begin;
    out.pads[static_cast<size_t>(axis - 2 + spatial)] = end;
  }
  if (pad.has_input(2)) {
    if (!pad.input(2).is_constant()) return std::nullopt;
    out.value = pad.input(2).constant().at_f64(0);
  }
  return out;
}

bool is_never_negative(const Value& value) {
  const Node* const node = value.producer();
  if (node == nullptr) return false;
  const std::string_view op = node->op();
  if (op == "Relu" || op == "Sigmoid" || op == "HardSigmoid" || op == "Softmax" || op == "Abs")
    return true;
  return op == "Clip" && node->has_input(1) && node->input(1).is_constant() &&
         node->input(1).constant().at_f64(0) >= 0;
}

// Pads as the attribute lists them.
std::vector<int64_t> listed(const ops::Window& window) {
  std::vector<int64_t> out;
  for (int i = 0; i < window.spatial_rank; ++i) out.push_back(window.pads.begin(window.lifted(i)));
  for (int i = 0; i < window.spatial_rank; ++i) out.push_back(window.pads.end(window.lifted(i)));
  return out;
}

bool has_pads(const ops::Window& window) {
  return std::ranges::any_of(listed(window), [](int64_t pad) { return pad != 0; });
}

// Each window still sees a pixel: a pool's padding alone has no maximum.
bool every_window_sees_a_pixel(const ops::Window& window, const std::vector<int64_t>& pads) {
  for (size_t i = 0; i < pads.size(); ++i) {
    const int axis = window.lifted(static_cast<int>(i) % window.spatial_rank);
    if (pads[i] >= window.reach(axis)) return false;
  }
  return true;
}

// The window that reads the Pad, and the pads it has already; none where the two mean different things.
std::optional<ops::Window> accepting_window(const Node& reader, const Border& border,
                                            const Value& picture) {
  if (reader.op() == "Conv" || reader.op() == "FusedConv") {
    if (border.value != 0) return std::nullopt;
    return ops::conv_attrs(reader).window;
  }
  if (reader.output_count() > 1) return std::nullopt;  // indices count the padded picture
  const ops::PoolAttrs attrs = ops::pool_attrs(reader);
  if (reader.op() == "AveragePool") {
    const bool counted = attrs.count_include_pad || !has_pads(attrs.window);
    return border.value == 0 && counted ? std::optional(attrs.window) : std::nullopt;
  }
  const bool lowest = border.value <= std::numeric_limits<float>::lowest();
  const bool zeros = border.value == 0 && is_never_negative(picture);
  return lowest || zeros ? std::optional(attrs.window) : std::nullopt;
}

bool is_taken(const target::Target& target, const Node& node) {
  return target.refuse(node, DType::kI8).empty() || target.refuse(node, DType::kF16).empty();
}

Result<Rewrite> fold(Match& m, const target::Target& target) {
  const Node &pad = m[0], &reader = m[1];
  const auto border = border_of(pad);
  // Values of a quantized model: the reader must find the same scale without the Pad.
  if (!border || pad.input(0).quant != pad.output().quant) return Rewrite::kSkip;
  const auto window = accepting_window(reader, *border, pad.input(0));
  if (!window) return Rewrite::kSkip;
  std::vector<int64_t> pads = listed(*window);
  for (size_t i = 0; i < pads.size(); ++i) pads[i] += border->pads[i];
  const bool pools = reader.op() == "MaxPool" || reader.op() == "AveragePool";
  if (pools && !every_window_sees_a_pixel(*window, pads)) return Rewrite::kSkip;

  NodeSpec spec{std::string(reader.op()), reader.name(), reader.inputs(), {""}, reader.attrs()};
  spec.inputs[0] = &pad.input(0);
  spec.attrs["pads"] = pads;
  spec.attrs["auto_pad"] = std::string("NOTSET");
  if (reader.op() == "AveragePool") spec.attrs["count_include_pad"] = int64_t{1};
  RK_ASSIGN(Node* const trial, m.graph().add_node(spec, &m[1]));
  const bool fits = trial->output().shape() == reader.output().shape() &&
                    (is_taken(target, *trial) || !is_taken(target, reader));
  m.graph().remove(trial);
  return fits ? m.replace_with(std::move(spec)) : Result<Rewrite>(Rewrite::kSkip);
}

}  // namespace

Result<size_t> fold_pad(Graph& graph, const target::Target& target) {
  size_t count = 0;
  for (const std::string_view reader : {"Conv", "FusedConv", "AveragePool", "MaxPool"}) {
    RK_ASSIGN(const size_t folded,
              rewrite(graph, chain("Pad", reader), [&](Match& m) { return fold(m, target); }));
    count += folded;
  }
  return count;
}

}  // namespace rk::passes
