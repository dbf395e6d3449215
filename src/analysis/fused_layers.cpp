// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analysis/accuracy.h"

namespace rk::analysis {
namespace {

// What computes nothing: whoever looks for a layer does not look for these.
bool passes_through(const Node& node) {
  constexpr std::string_view kNames[] = {"Identity", "Dropout", "Cast", "QuantizeLinear",
                                         "DequantizeLinear"};
  return std::ranges::find(kNames, node.op()) != std::end(kNames);
}

// Values computed from what the application feeds; extents of a shape are constants by now.
std::unordered_set<const Value*> fed_values(const Graph& model) {
  std::unordered_set<const Value*> out;
  for (const Value* input : model.inputs()) out.insert(input);
  for (const Node* node : model.nodes()) {
    if (node->op() == "Shape" || node->op() == "Size") continue;
    const bool fed = std::ranges::any_of(node->inputs(), [&](const Value* value) {
      return value != nullptr && out.contains(value);
    });
    if (fed) out.insert(node->outputs().begin(), node->outputs().end());
  }
  return out;
}

}  // namespace

void name_fused_layers(const Graph& model, AccuracyReport& report) {
  std::unordered_map<std::string_view, size_t> row_of;
  for (size_t i = 0; i < report.layers.size(); ++i) row_of.emplace(report.layers[i].name, i);
  // The first row that is computed from a value: its own, or one that it was fused into.
  std::unordered_map<const Value*, size_t> ends_in;
  const std::vector<Node*> nodes = model.nodes();
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    for (const Value* value : (*it)->outputs()) {
      size_t first = report.layers.size();
      if (const auto own = row_of.find(value->name()); own != row_of.end()) {
        first = own->second;
      } else {
        for (const Use& use : value->uses()) {
          for (const Value* next : use.node->outputs()) {
            const auto found = ends_in.find(next);
            if (found != ends_in.end()) first = std::min(first, found->second);
          }
        }
      }
      if (first < report.layers.size()) ends_in[value] = first;
    }
  }
  const auto fed = fed_values(model);
  for (const Node* node : nodes) {
    if (passes_through(*node)) continue;
    for (const Value* value : node->outputs()) {
      const auto row = ends_in.find(value);
      const bool has_own = row_of.contains(value->name());
      if (has_own || row == ends_in.end() || !fed.contains(value) || value->dtype() != DType::kF32)
        continue;
      report.layers[row->second].fused.push_back({std::string(node->op()), value->name()});
    }
  }
}

}  // namespace rk::analysis
