// SPDX-License-Identifier: Apache-2.0
#include "quant/regions.h"

#include <algorithm>
#include <unordered_map>

namespace rk::quant {
namespace {

// Values tied by operators that only move them, each group under one representative.
class Groups {
 public:
  const Value* root(const Value* value) {
    const auto it = parent_.find(value);
    if (it == parent_.end() || it->second == value) return value;
    return parent_[value] = root(it->second);
  }
  void join(const Value* a, const Value* b) {
    if (root(a) != root(b)) parent_[root(a)] = root(b);
  }

 private:
  std::unordered_map<const Value*, const Value*> parent_;
};

struct Facts {
  bool in_accumulator = false;  // an int8 accumulator reads or writes it
  bool is_float = false;
};

bool moves_values(const Node& node) { return node.def().quant == QuantRule::kSameScaleAsInput; }

std::vector<const Value*> activations(const std::vector<Value*>& values) {
  std::vector<const Value*> out;
  for (const Value* value : values) {
    if (value != nullptr && is_activation(*value)) out.push_back(value);
  }
  return out;
}

bool is_float_only_result(const Value& value) {
  return value.producer() != nullptr && value.producer()->def().quant == QuantRule::kFloatOnly;
}

}  // namespace

bool is_activation(const Value& value) {
  return value.dtype() == DType::kF32 && !value.is_constant();
}

bool computes_in_i8(const Node& node, const target::Target* target) {
  if (node.def().quant == QuantRule::kFloatOnly) return false;
  return target == nullptr || target->refuse(node, DType::kI8).empty();
}

std::unordered_set<const Value*> i8_values(const Graph& graph, const target::Target* target) {
  const std::vector<Node*> nodes = graph.nodes();
  Groups groups;
  for (const Node* node : nodes) {
    if (!moves_values(*node)) continue;
    for (const Value* output : activations(node->outputs())) {
      for (const Value* input : activations(node->inputs())) groups.join(input, output);
    }
  }
  std::unordered_map<const Value*, Facts> facts;
  const auto of = [&](const Value* value) -> Facts& { return facts[groups.root(value)]; };
  std::vector<const Node*> light;  // may run in either form
  for (const Node* node : nodes) {
    if (moves_values(*node)) continue;
    const bool i8 = computes_in_i8(*node, target);
    const bool accumulates = node->def().quant == QuantRule::kAccumulate;
    if (i8 && !accumulates) light.push_back(node);
    for (const auto& list : {activations(node->inputs()), activations(node->outputs())}) {
      for (const Value* value : list) {
        if (!i8) of(value).is_float = true;
        if (i8 && accumulates) of(value).in_accumulator = true;
      }
    }
  }
  const auto held_float = [&](const Value* value) {
    return of(value).is_float && !of(value).in_accumulator;
  };
  const auto runs_in_float = [&](const Node* node) {
    return std::ranges::any_of(activations(node->inputs()), held_float) ||
           std::ranges::any_of(activations(node->outputs()), held_float);
  };
  // Float spreads through light operators, forwards by their results and backwards by what only they read.
  for (bool changed = true; changed;) {
    changed = false;
    std::unordered_set<const Value*> read_in_i8;
    for (const Node* node : light) {
      if (runs_in_float(node)) continue;
      for (const Value* input : activations(node->inputs())) read_in_i8.insert(groups.root(input));
    }
    for (const Node* node : light) {
      if (!runs_in_float(node)) continue;
      const auto make_float = [&](const Value* value) {
        if (held_float(value) || of(value).in_accumulator) return;
        of(value).is_float = changed = true;
      };
      for (const Value* output : activations(node->outputs())) make_float(output);
      for (const Value* input : activations(node->inputs())) {
        if (!read_in_i8.contains(groups.root(input))) make_float(input);
      }
    }
  }
  std::unordered_set<const Value*> out;
  for (const Value* value : graph.values()) {
    if (!is_activation(*value) || is_float_only_result(*value)) continue;
    const bool at_border = graph.is_input(*value) || graph.is_output(*value);
    if (!held_float(value) || at_border) out.insert(value);
  }
  return out;
}

}  // namespace rk::quant
