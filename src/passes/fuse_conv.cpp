// SPDX-License-Identifier: Apache-2.0
// Conv + activation, + Add, + activation become one FusedConv, the unit the NPU runs in one go:
//   y = post_activation(activation(conv(x)) + addend)
// Clip is fused as 0..max only (the chip's ReLU6 stage); other bounds stay a node of their own.
#include <unordered_map>

#include "ir/rewrite.h"
#include "passes/fuse_add.h"
#include "passes/pipeline.h"
#include "target/memory_rules.h"

namespace rk::passes {
namespace {

using target::AddFusion;

struct FusedActivation {
  std::string name;
  AttrMap limits;
};

std::optional<FusedActivation> activation_of(const Node& node) {
  if (node.op() == "Relu") return FusedActivation{"Relu", {}};
  if (node.op() != "Clip") return std::nullopt;
  if (!node.has_input(1) || !node.input(1).is_constant() ||
      node.input(1).constant().at_f64(0) != 0) {
    return std::nullopt;
  }
  if (!node.has_input(2)) return FusedActivation{"Relu", {}};
  if (!node.input(2).is_constant()) return std::nullopt;
  const auto limit = static_cast<float>(node.input(2).constant().at_f64(0));
  if (!(limit > 0)) return std::nullopt;
  return FusedActivation{"Clip", {{"clip_min", 0.0f}, {"clip_max", limit}}};
}

bool is_2d(const Node& conv) { return conv.output().shape().rank() == 4; }

NodeSpec with_attrs(const Node& conv, std::vector<Value*> inputs, const AttrMap& extra) {
  AttrMap attrs = conv.attrs();
  for (const auto& [name, value] : extra) attrs.insert_or_assign(name, value);
  return {"FusedConv", conv.name(), std::move(inputs), {""}, std::move(attrs)};
}

bool takes_addend(const Graph& graph, AddFusion fusion, const Value& value) {
  const Node* node = value.producer();
  if (node == nullptr || value.uses().size() != 1 || graph.is_output(value) || !is_2d(*node))
    return false;
  if (node->op() == "Conv") return true;
  if (node->op() != "FusedConv" || node->has_input(3) || !node->text("post_activation").empty())
    return false;
  return fusion == AddFusion::kAny || node->text("activation").empty();
}

}  // namespace

Result<size_t> fuse_activation(Graph& graph) {
  size_t total = 0;
  for (const std::string_view op : {"Relu", "Clip"}) {
    RK_ASSIGN(const size_t changed,
              rewrite(graph, chain("Conv", op).only_use(), [](Match& m) -> Result<Rewrite> {
                const auto activation = activation_of(m[1]);
                if (!activation || !is_2d(m[0])) return Rewrite::kSkip;
                AttrMap extra = activation->limits;
                extra.emplace("activation", activation->name);
                return m.replace_with(with_attrs(m[0], m[0].inputs(), extra));
              }));
    total += changed;
  }
  return total;
}

namespace {

Result<size_t> fuse_additions(Graph& graph, AddFusion fusion) {
  if (fusion == AddFusion::kNone) return 0;
  std::unordered_map<const Node*, size_t> position;
  for (Node* node : graph.nodes()) position.emplace(node, position.size());
  return rewrite(graph, chain("Add"), [&](Match& m) -> Result<Rewrite> {
    Node& add = m[0];
    Value& a = add.input(0);
    Value& b = add.input(1);
    if (a.shape() != b.shape() || a.is_constant() || b.is_constant()) return Rewrite::kSkip;
    const bool can_a = takes_addend(graph, fusion, a), can_b = takes_addend(graph, fusion, b);
    if (!can_a && !can_b) return Rewrite::kSkip;
    // Both could: the later convolution takes it, so that its result never waits in memory. A node
    // made by this sweep stands where its Add stood, hence behind every original one.
    const auto place = [&](const Value& v) {
      const auto it = position.find(v.producer());
      return it == position.end() ? position.size() : it->second;
    };
    const bool take_a = can_a && (!can_b || place(a) > place(b));
    const Node& conv = *(take_a ? a : b).producer();
    Value* bias = conv.has_input(2) ? &conv.input(2) : nullptr;
    return m.replace_with(
        with_attrs(conv, {&conv.input(0), &conv.input(1), bias, take_a ? &b : &a}, {}));
  });
}

}  // namespace

Result<size_t> fuse_add(Graph& graph) { return fuse_additions(graph, AddFusion::kAny); }

Result<size_t> fuse_add_for_target(Graph& graph, const target::Target& target) {
  return fuse_additions(graph, target::memory_rules(target).add_fusion);
}

Result<size_t> fuse_post_activation(Graph& graph) {
  return rewrite(graph, chain("FusedConv", "Relu").only_use(), [](Match& m) -> Result<Rewrite> {
    if (!m[0].has_input(3) || !m[0].text("post_activation").empty()) return Rewrite::kSkip;
    return m.replace_with(
        with_attrs(m[0], m[0].inputs(), {{"post_activation", std::string("Relu")}}));
  });
}

}  // namespace rk::passes
