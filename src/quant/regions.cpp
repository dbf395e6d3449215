// SPDX-License-Identifier: Apache-2.0
#include "quant/regions.h"

#include <algorithm>
#include <unordered_map>

namespace rk::quant {
namespace {

struct Facts {
  bool in_accumulator = false;  // an int8 accumulator reads or writes it
  bool is_float = false;
  bool asked_float =
      false;  // an input of the user's list, or a layer of it computes it, moved or not
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

bool is_named(const Node& node, const FloatLayers& names) {
  return std::ranges::any_of(node.outputs(),
                             [&](const Value* value) { return names.contains(value->name()); });
}

bool is_activation(const Value& value) {
  return value.dtype() == DType::kF32 && !value.is_constant();
}

bool computes_in_i8(const Node& node, const target::Target* target,
                    const FloatLayers& float_layers) {
  if (node.def().quant == QuantRule::kFloatOnly || is_named(node, float_layers)) return false;
  return target == nullptr || target->refuse(node, DType::kI8).empty();
}

std::unordered_set<const Value*> i8_values(const Graph& graph, const target::Target* target,
                                           const FloatLayers& float_layers) {
  std::unordered_map<const Value*, Facts> facts;
  const auto of = [&](const Value* value) -> Facts& { return facts[value]; };
  for (const Value* input : graph.inputs()) {
    if (float_layers.contains(input->name())) of(input) = {.is_float = true, .asked_float = true};
  }
  std::vector<const Node*> light;  // may run in either form
  for (const Node* node : graph.nodes()) {
    const std::vector<const Value*> inputs = activations(node->inputs());
    const std::vector<const Value*> outputs = activations(node->outputs());
    const bool named = is_named(*node, float_layers);
    const bool moved = moves_values(*node) && std::ranges::any_of(inputs, [&](const Value* value) {
                         return of(value).asked_float;
                       });
    for (const Value* value : outputs) of(value).asked_float = named || moved;
    const bool i8 = (moves_values(*node) && !named) || computes_in_i8(*node, target, float_layers);
    const bool accumulates = node->def().quant == QuantRule::kAccumulate;
    if (i8 && !accumulates) light.push_back(node);
    for (const auto& list : {inputs, outputs}) {
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
      for (const Value* input : activations(node->inputs())) read_in_i8.insert(input);
    }
    for (const Node* node : light) {
      if (!runs_in_float(node)) continue;
      const auto make_float = [&](const Value* value) {
        if (held_float(value) || of(value).in_accumulator) return;
        of(value).is_float = changed = true;
      };
      for (const Value* output : activations(node->outputs())) make_float(output);
      for (const Value* input : activations(node->inputs())) {
        if (!read_in_i8.contains(input)) make_float(input);
      }
    }
  }
  std::unordered_set<const Value*> out;
  for (const Value* value : graph.values()) {
    if (!is_activation(*value) || is_float_only_result(*value)) continue;
    const bool at_border =
        (graph.is_input(*value) || graph.is_output(*value)) && !of(value).asked_float;
    if (!held_float(value) || at_border) out.insert(value);
  }
  return out;
}

}  // namespace rk::quant
