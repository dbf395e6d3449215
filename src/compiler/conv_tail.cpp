// SPDX-License-Identifier: Apache-2.0
#include "compiler/conv_tail.h"

#include <algorithm>
#include <cmath>

#include "base/fixed_point.h"
#include "compiler/builder.h"
#include "compiler/placement.h"
#include "ops/nn/conv.h"
#include "target/conv_traffic.h"
#include "target/memory_rules.h"

namespace rk::compiler {
namespace {

using target::ActivationFusion;

constexpr float kSlopeOne = 16384;

bool is_one(float x) { return std::fabs(x - 1) < 1e-4F; }

// The node's function as a table; empty where no table stands for it.
std::optional<program::LookupSpec> lookup_of(const Node& node) {
  const program::LookupFunction* const function = program::find_lookup_function(node.op());
  if (function == nullptr) return std::nullopt;
  program::LookupSpec out{.function = function};
  const std::string_view op = node.op();
  if (op == "Elu") return is_one(node.f32("alpha")) ? std::optional(out) : std::nullopt;
  if (op == "exGelu" || op == "Gelu")
    return node.text("approximate") == "tanh" ? std::nullopt : std::optional(out);
  if (op == "HardSigmoid") {
    out.alpha = node.f32("alpha");
    out.beta = node.f32("beta");
    const bool rises = out.alpha > 0 && std::isfinite(out.alpha) && std::isfinite(out.beta);
    return rises ? std::optional(out) : std::nullopt;
  }
  if (op == "exSwish") {
    // The table ends where x * sigmoid(x) is flat; with a smaller beta it is not.
    out.beta = node.f32("beta");
    return out.beta >= 1 && out.beta <= 2 ? std::optional(out) : std::nullopt;
  }
  return out;
}

std::optional<int16_t> slope_factor(double factor) {
  if (!(factor >= -32768 && factor <= 32767)) return std::nullopt;
  return static_cast<int16_t>(factor);
}

// One slope, or one per channel; empty where the node is no slope or its numbers do not fit.
std::vector<int16_t> slope_of(const Node& node) {
  std::vector<double> slopes;
  if (node.op() == "LeakyRelu") slopes = {round_even(double{node.f32("alpha")} * kSlopeOne)};
  if (node.op() == "Abs") slopes = {-kSlopeOne};
  if (node.op() == "PRelu" && node.input(1).is_constant()) {
    const Shape& shape = node.input(1).shape();
    const Shape& out = node.output().shape();
    const int axis = shape.rank() - (out.rank() - 1);  // of the slopes' channels
    const bool by_channel =
        out.rank() > 1 && axis >= 0 && shape[axis] == shape.elements() && shape[axis] == out[1];
    if (shape.elements() != 1 && !by_channel) return {};
    for (const float slope : node.input(1).constant().to_f32())
      slopes.push_back(std::trunc(slope * kSlopeOne));  // as the vendor's compiler does
  }
  std::vector<int16_t> out;
  for (const double slope : slopes) {
    const auto factor = slope_factor(slope);
    if (!factor) return {};
    out.push_back(*factor);
  }
  return out;
}

// Repeats pixels: a Resize to the chip.
bool is_resize(const Node& node, const ops::ConvAttrs& attrs) {
  const ops::Window& w = attrs.window;
  return node.op() == "ConvTranspose" && attrs.group > 1 && attrs.group == attrs.in_channels &&
         w.kernel.h == w.stride.h && w.kernel.w == w.stride.w;
}

bool may_be_followed(const Node& node, const target::Target& target) {
  if (node.op() == "Gemm" || node.op() == "MatMul") return node.input(1).is_constant();
  const bool transposed = node.op() == "ConvTranspose";
  if (node.op() != "Conv" && !transposed) return false;
  if (node.output().shape().rank() != 4) return false;
  const ops::ConvAttrs attrs = transposed
                                   ? static_cast<ops::ConvAttrs>(ops::conv_transpose_attrs(node))
                                   : ops::conv_attrs(node);
  const target::ConvGeometry geometry{
      .in_channels = attrs.in_channels, .out_channels = attrs.out_channels, .group = attrs.group};
  return !is_resize(node, attrs) && !target::runs_by_group(target, geometry);
}

// The only reader of the node's result.
const Node* only_reader(const Graph& graph, const Node& node) {
  const Value& value = node.output();
  if (node.output_count() != 1 || value.uses().size() != 1 || graph.is_output(value))
    return nullptr;
  return value.uses().front().node;
}

class Finder {
 public:
  Finder(const Graph& graph, const target::Target& target, const CompileOptions& options)
      : graph_(graph), target_(target), options_(options), rules_(target::memory_rules(target)) {}

  // The last node of the tail comes with it. An Add of `taken` ends another one.
  std::optional<std::pair<const Node*, ConvTail>> tail_of(
      const Node& conv, const std::map<const Node*, ConvTail>& taken) const {
    if (rules_.activation_fusion == ActivationFusion::kNone || !in_integers(conv) ||
        !may_be_followed(conv, target_) || !conv.input(1).quantized())
      return std::nullopt;
    const Node* const activation = only_reader(graph_, conv);
    if (activation == nullptr || &activation->input(0) != &conv.output() ||
        !in_integers(*activation))
      return std::nullopt;
    ConvTail tail{.conv = &conv, .output = &activation->output()};
    if (rules_.activation_fusion == ActivationFusion::kAny) tail.lookup = lookup_of(*activation);
    const bool one_slope = rules_.activation_fusion == ActivationFusion::kOneSlope;
    if (!one_slope || activation->op() != "PRelu") tail.slope = slope_of(*activation);
    if (!tail.lookup && tail.slope.empty()) return std::nullopt;
    const std::string_view op = activation->op() == "Abs" ? "LeakyRelu" : activation->op();
    const bool transposed = conv.op() == "ConvTranspose";
    tail.suffix = tail.lookup && !transposed ? tail.lookup->function->suffix : op;
    if (tail.lookup || transposed || one_slope || conv.op() != "Conv") return {{activation, tail}};
    const Node* const add = only_reader(graph_, *activation);
    if (add == nullptr || add->op() != "Add" || taken.contains(add) || !in_integers(*add))
      return {{activation, tail}};
    const Value& other = add->input(&add->input(0) == &activation->output() ? 1 : 0);
    const bool joins = !other.is_constant() && is_i8(other) &&
                       other.shape() == activation->output().shape() && !in_depthwise(conv);
    if (!joins) return {{activation, tail}};
    tail.addend = &other;
    tail.output = &add->output();
    tail.suffix += "Add";
    return {{add, tail}};
  }

 private:
  // int8 in and out, on the NPU.
  bool in_integers(const Node& node) const {
    return node.has_input(0) && node.output_count() == 1 && is_i8(node.output()) &&
           !node.input(0).is_constant() && is_i8(node.input(0)) &&
           !options_.float_layers.contains(node.output().name()) &&
           decide_placement(node, target_, options_).where == Placement::Where::kNpu;
  }
  bool in_depthwise(const Node& conv) const {
    const ops::ConvAttrs attrs = ops::conv_attrs(conv);
    return attrs.group > 1 && attrs.group == attrs.in_channels && !rules_.depthwise_add;
  }

  const Graph& graph_;
  const target::Target& target_;
  const CompileOptions& options_;
  const target::MemoryRules& rules_;
};

}  // namespace

ConvTails::ConvTails(const Graph& graph, const target::Target& target,
                     const CompileOptions& options) {
  const Finder finder(graph, target, options);
  for (const Node* node : graph.nodes()) {
    auto found = finder.tail_of(*node, tails_);
    if (!found) continue;
    const Node* const last = found->first;
    tails_.insert(std::move(*found));
    for (const Node* const part : parts_of(*last))
      if (part != last) earlier_.insert(part);
  }
}

const ConvTail* ConvTails::ending_at(const Node& node) const {
  const auto found = tails_.find(&node);
  return found == tails_.end() ? nullptr : &found->second;
}

std::vector<const Node*> ConvTails::parts_of(const Node& node) const {
  const ConvTail* const tail = ending_at(node);
  if (tail == nullptr) return {&node};
  std::vector<const Node*> parts = {tail->conv};
  while (parts.back() != &node) parts.push_back(parts.back()->output().uses().front().node);
  return parts;
}

}  // namespace rk::compiler
