// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/node_order.h"

#include <queue>
#include <unordered_map>
#include <unordered_set>

namespace rk::frontends {
namespace {

// Over-approximates where a sub-graph hides an outer name by its own: the order is then stricter than needed.
void collect_free_names(const onnx::GraphProto& graph, std::vector<std::string>& out) {
  std::unordered_set<std::string> own;
  for (const auto& input : graph.input()) own.insert(input.name());
  for (const auto& constant : graph.initializer()) own.insert(constant.name());
  for (const auto& node : graph.node()) own.insert(node.output().begin(), node.output().end());
  const auto add = [&](const std::string& name) {
    if (!name.empty() && !own.contains(name)) out.push_back(name);
  };
  for (const auto& node : graph.node()) {
    for (const std::string& name : names_read(node)) add(name);
  }
  for (const auto& output : graph.output()) add(output.name());
}

}  // namespace

std::string node_label(const onnx::NodeProto& node) {
  const std::string& name =
      node.name().empty() && node.output_size() != 0 ? node.output(0) : node.name();
  return str("node '", name, "' (", node.op_type(), ")");
}

std::vector<std::string> names_read(const onnx::NodeProto& node) {
  std::vector<std::string> out;
  for (const std::string& input : node.input()) {
    if (!input.empty()) out.push_back(input);
  }
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) collect_free_names(attribute.g(), out);
  }
  return out;
}

Result<std::vector<const onnx::NodeProto*>> order_nodes(const NodeList& nodes,
                                                        const std::vector<std::string>& wanted,
                                                        const std::set<std::string>& known) {
  std::unordered_map<std::string, int> producer;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes[i].output()) {
      if (output.empty() || known.contains(output)) continue;
      const auto [it, is_new] = producer.emplace(output, i);
      if (!is_new) {
        return invalid_model(str("value '", output, "' is produced twice, by ",
                                 node_label(nodes[it->second]), " and by ", node_label(nodes[i])));
      }
    }
  }

  std::unordered_map<int, std::vector<int>> users;
  std::unordered_map<int, size_t> missing;  // key present: the node is needed
  std::vector<int> to_visit;
  const auto need = [&](const std::string& name) -> const int* {
    const auto it = producer.find(name);
    if (it == producer.end()) return nullptr;
    if (missing.emplace(it->second, 0).second) to_visit.push_back(it->second);
    return &it->second;
  };
  for (const std::string& name : wanted) need(name);
  while (!to_visit.empty()) {
    const int node = to_visit.back();
    to_visit.pop_back();
    for (const std::string& name : names_read(nodes[node])) {
      if (const int* from = need(name)) {
        users[*from].push_back(node);
        ++missing[node];
      }
    }
  }

  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (const auto& [node, count] : missing) {
    if (count == 0) ready.push(node);
  }
  std::vector<const onnx::NodeProto*> out;
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    out.push_back(&nodes[node]);
    for (const int user : users[node]) {
      if (--missing[user] == 0) ready.push(user);
    }
  }
  if (out.size() == missing.size()) return out;
  for (int i = 0; i < nodes.size(); ++i) {
    const auto it = missing.find(i);
    if (it != missing.end() && it->second != 0) {
      return invalid_model(str(node_label(nodes[i]),
                               ": depends on its own output (the graph has "
                               "a cycle)"));
    }
  }
  return out;
}

}  // namespace rk::frontends
