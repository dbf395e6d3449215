// SPDX-License-Identifier: Apache-2.0
// An element-wise operator behind Reshapes and Transposes of a convolution's result moves in front
// of them, where it can fuse into the convolution:  Conv - Transpose - Add - Relu  becomes  Conv -
// Add - Relu - Transpose. It stays where no convolution would gain: moving alone saves nothing.
#include "ir/rewrite.h"
#include "passes/operands.h"
#include "passes/pipeline.h"

namespace rk::passes {
namespace {

bool is_binary(const Node& node) {
  return node.op() == "Add" || node.op() == "Sub" || node.op() == "Mul" || node.op() == "Div";
}

bool is_mover(const Node& node) { return node.op() == "Reshape" || node.op() == "Transpose"; }

// Every input beside `through` is a constant of one element.
bool has_scalar_rest(const Node& node, size_t through) {
  for (size_t i = 0; i < node.input_count(); ++i) {
    if (i != through && node.has_input(i) && !scalar_of(node.input(i))) return false;
  }
  return true;
}

// A function of single elements of one value, with constants at most.
bool is_elementwise(const Node& node, size_t through) {
  if (node.output_count() != 1 || node.output().type() != node.input(through).type()) return false;
  if (is_binary(node)) return node.input(1 - through).is_constant();
  return (node.def().elements == Elements::kUnary || node.op() == "Clip") && through == 0 &&
         has_scalar_rest(node, 0);
}

// The value comes from a convolution, at most through element-wise operators and movers nobody else
// reads.
bool comes_from_conv(const Graph& graph, const Value& value) {
  const Value* at = &value;
  for (int depth = 0; depth < 8; ++depth) {
    const Node* node = at->producer();
    if (node == nullptr || !read_once(graph, *at)) return false;
    if (node->op() == "Conv" || node->op() == "ConvTranspose") return true;
    size_t through = 0;
    if (is_binary(*node) && node->input(0).is_constant()) through = 1;
    if (!is_mover(*node) && !is_elementwise(*node, through)) return false;
    at = &node->input(through);
  }
  return false;
}

// The axes of the input each axis of the output shows, or nothing for a Reshape that mixes them.
// Axes of extent 1 that a Reshape adds or drops do not count.
std::optional<std::vector<int>> shown_axes(const Node& mover) {
  const Shape &in = mover.input(0).shape(), &out = mover.output().shape();
  std::vector<int> axes;
  if (mover.op() == "Transpose") {
    const bool given = mover.has_attr("perm") && !mover.ints("perm").empty();
    for (int i = 0; i < in.rank(); ++i)
      axes.push_back(given ? static_cast<int>(mover.ints("perm")[static_cast<size_t>(i)])
                           : in.rank() - 1 - i);
    return axes;
  }
  int next = 0;
  for (int i = 0; i < out.rank(); ++i) {
    while (next < in.rank() && in[next] == 1 && out[i] != 1) ++next;
    if (next < in.rank() && in[next] == out[i]) {
      axes.push_back(next++);
    } else if (out[i] == 1) {
      axes.push_back(-1);
    } else {
      return std::nullopt;
    }
  }
  while (next < in.rank() && in[next] == 1) ++next;
  return next == in.rank() ? std::optional(axes) : std::nullopt;
}

// The constant as it must be to do in front of the mover what it does behind it; null where that is
// no broadcast.
Value* constant_before(Graph& graph, const Node& mover, const Value& constant) {
  if (constant.shape().elements() == 1)
    return graph.add_constant(constant.name(), constant.constant().reshaped(Shape{}));
  const auto axes = shown_axes(mover);
  const Shape &in = mover.input(0).shape(), &out = mover.output().shape();
  const int lead = out.rank() - constant.shape().rank();
  if (!axes || lead < 0) return nullptr;
  // Only one axis may vary: its elements keep their order wherever the axis goes.
  int varying = -1;
  for (int i = 0; i < constant.shape().rank(); ++i) {
    if (constant.shape()[i] == 1) continue;
    if (varying >= 0) return nullptr;
    varying = (*axes)[static_cast<size_t>(lead + i)];
    if (varying < 0) return nullptr;
  }
  std::vector<int64_t> dims(static_cast<size_t>(in.rank() - varying), 1);
  dims[0] = in[varying];
  if (dims[0] != constant.shape().elements()) return nullptr;
  return graph.add_constant(constant.name(), constant.constant().reshaped(*Shape::make(dims)));
}

Result<Rewrite> move_in_front(Match& m) {
  Graph& graph = m.graph();
  const Node &mover = m[0], &function = m[1];
  const size_t through = m.link(1);
  if (!is_mover(mover) || !is_elementwise(function, through) ||
      !comes_from_conv(graph, mover.input(0)))
    return Rewrite::kSkip;
  std::vector<Value*> inputs = function.inputs();
  inputs[through] = &mover.input(0);
  if (is_binary(function)) {
    Value*& constant = inputs[1 - through];
    constant = constant_before(graph, mover, *constant);
    if (constant == nullptr) return Rewrite::kSkip;
  }
  RK_ASSIGN(
      Node* const moved,
      graph.add_node(
          {std::string(function.op()), function.name(), std::move(inputs), {""}, function.attrs()},
          &m[1]));
  std::vector<Value*> rest = mover.inputs();
  rest[0] = &moved->output();
  return m.replace_with(
      {std::string(mover.op()), mover.name(), std::move(rest), {""}, mover.attrs()});
}

}  // namespace

Result<size_t> move_elementwise(Graph& graph) {
  std::vector<std::string_view> functions = {"Add", "Sub", "Mul", "Div", "Clip"};
  for (const auto& def : graph.registry().all()) {
    if (def->elements == Elements::kUnary && def->name != "Clip") functions.push_back(def->name);
  }
  size_t total = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::string_view mover : {"Reshape", "Transpose"}) {
      for (const std::string_view function : functions) {
        RK_ASSIGN(const size_t moved,
                  rewrite(graph, chain(mover, function).only_use().any_input(), move_in_front));
        total += moved;
        changed = changed || moved > 0;
      }
    }
  }
  return total;
}

}  // namespace rk::passes
