// SPDX-License-Identifier: Apache-2.0
#include "ir/graph.h"

#include <algorithm>
#include <unordered_map>

#include "ir/custom_op.h"

namespace rk {
namespace {

std::vector<const TensorType*> types_of(const std::vector<Value*>& values) {
  std::vector<const TensorType*> out;
  for (const Value* value : values) out.push_back(value == nullptr ? nullptr : &value->type());
  return out;
}

}  // namespace

Value* Graph::find(std::string_view value_name) const {
  const auto it = by_name_.find(value_name);
  return it == by_name_.end() ? nullptr : it->second;
}

std::vector<Node*> Graph::nodes() const {
  std::vector<Node*> out;
  out.reserve(nodes_.size());
  for (const auto& node : nodes_) out.push_back(node.get());
  return out;
}

std::vector<Value*> Graph::values() const {
  std::vector<Value*> out;
  out.reserve(values_.size());
  for (const auto& value : values_) out.push_back(value.get());
  return out;
}

bool Graph::is_output(const Value& value) const {
  return std::ranges::find(outputs_, &value) != outputs_.end();
}

bool Graph::is_input(const Value& value) const {
  return std::ranges::find(inputs_, &value) != inputs_.end();
}

std::string Graph::unique_name(std::string_view stem) const {
  std::string name(stem.empty() ? "value" : stem);
  for (int i = 1; by_name_.contains(name); ++i) name = str(stem.empty() ? "value" : stem, "_", i);
  return name;
}

Value* Graph::new_value(std::string name, const TensorType& type) {
  values_.push_back(std::make_unique<Value>());
  Value* value = values_.back().get();
  value->name_ = std::move(name);
  value->type_ = type;
  by_name_.emplace(value->name_, value);
  return value;
}

Result<Value*> Graph::add_input(std::string name, const TensorType& type) {
  if (name.empty()) return invalid_model("a graph input has no name");
  if (by_name_.contains(name)) return invalid_model(str("two values are named '", name, "'"));
  Value* value = new_value(std::move(name), type);
  inputs_.push_back(value);
  return value;
}

Value* Graph::add_constant(std::string name, Tensor tensor) {
  Value* value = new_value(unique_name(name), tensor.type());
  value->constant_ = std::move(tensor);
  return value;
}

Result<Node*> Graph::add_node(NodeSpec spec, Node* before) {
  const OpDef* def = registry_->find(spec.op);
  const std::string label = str("node '", spec.name, "' (", user_name(spec.op), ")");
  if (def == nullptr) return unsupported(str(label, ": there is no such operator"));
  RK_TRY(check_schema(*def, types_of(spec.inputs), spec.outputs.size(), spec.attrs)
             .with_context(label));
  for (const std::string& output : spec.outputs) {
    if (!output.empty() && by_name_.contains(output)) {
      return invalid_model(
          str(label, ": output '", output, "' is already the name of another value"));
    }
  }

  auto node = std::make_unique<Node>();
  node->name_ = std::move(spec.name);
  node->def_ = def;
  node->inputs_ = std::move(spec.inputs);
  node->attrs_ = std::move(spec.attrs);
  std::vector<TensorType> types(spec.outputs.size());
  InferCall call(*node, types);
  RK_TRY(def->infer(call).with_context(label));
  node->normalize_axes(types[0].shape.rank());

  for (size_t i = 0; i < types.size(); ++i) {
    RK_TRY(checked_byte_size(types[i]).status().with_context(label));
    std::string name =
        spec.outputs[i].empty() ? unique_name(node->name_) : std::move(spec.outputs[i]);
    // Two equal names among the outputs of one node are only seen here.
    if (by_name_.contains(name)) name = unique_name(name);
    Value* value = new_value(std::move(name), types[i]);
    value->producer_ = node.get();
    node->outputs_.push_back(value);
  }
  for (size_t i = 0; i < node->inputs_.size(); ++i) {
    if (node->inputs_[i] != nullptr) node->inputs_[i]->uses_.push_back({node.get(), i});
  }
  Node* out = node.get();
  auto place = nodes_.end();
  if (before != nullptr) {
    place = std::ranges::find_if(nodes_, [&](const auto& n) { return n.get() == before; });
  }
  nodes_.insert(place, std::move(node));
  return out;
}

Status Graph::add_output(Value* value) {
  if (is_output(*value))
    return invalid_model(str("value '", value->name(), "' is an output twice"));
  outputs_.push_back(value);
  return ok_status();
}

Status Graph::bind_input(Value* input, Tensor value) {
  if (value.type() != input->type()) {
    return invalid_argument(str("initial value of input '", input->name(), "' is ",
                                to_string(value.type()), ", the input is ",
                                to_string(input->type())));
  }
  std::erase(inputs_, input);
  input->constant_ = std::move(value);
  return ok_status();
}

void Graph::drop_use(Value* value, Node* node, size_t index) {
  if (value != nullptr) std::erase(value->uses_, Use{node, index});
}

void Graph::set_input(Node* node, size_t index, Value* value) {
  if (index >= node->inputs_.size()) node->inputs_.resize(index + 1, nullptr);
  drop_use(node->inputs_[index], node, index);
  node->inputs_[index] = value;
  if (value != nullptr) value->uses_.push_back({node, index});
}

bool Graph::can_replace(const Value& from, const Value& to) const {
  if (from.type() != to.type()) return false;
  return !is_output(from) || (to.producer() != nullptr && !is_output(to));
}

void Graph::replace_uses(Value* from, Value* to) {
  RK_ASSERT(from != to && can_replace(*from, *to), "a replacement keeps type and output names");
  const std::vector<Use> uses = from->uses_;
  for (const Use& use : uses) set_input(use.node, use.index, to);
  if (!is_output(*from)) return;
  const std::string name = from->name_;
  rename(from, unique_name(name + "_replaced"));
  rename(to, name);
  std::ranges::replace(outputs_, from, to);
}

void Graph::rename(Value* value, std::string name) {
  RK_ASSERT(!by_name_.contains(name), "the new name is free");
  by_name_.erase(value->name_);
  value->name_ = std::move(name);
  by_name_.emplace(value->name_, value);
}

void Graph::forget(Value* value) {
  by_name_.erase(value->name_);
  std::erase_if(values_, [&](const auto& v) { return v.get() == value; });
}

void Graph::remove(Node* node) {
  for (Value* output : node->outputs_) {
    RK_ASSERT(output->uses_.empty() && !is_output(*output), "a removed node's outputs are unused");
  }
  for (size_t i = 0; i < node->inputs_.size(); ++i) drop_use(node->inputs_[i], node, i);
  for (Value* output : node->outputs_) forget(output);
  std::erase_if(nodes_, [&](const auto& n) { return n.get() == node; });
}

Status Graph::replace_input(Value* input, Value* inner) {
  const auto place = std::ranges::find(inputs_, input);
  if (place == inputs_.end())
    return invalid_argument(str("value '", input->name(), "' is not an input"));
  Node* node = inner->producer_;
  const std::string name = input->name_;
  rename(input, unique_name(name + "_replaced"));
  Value* replacement = new_value(name, inner->type_);
  replacement->quant = inner->quant;
  *place = replacement;
  replace_uses(inner, replacement);
  remove(node);
  forget(input);
  return ok_status();
}

void Graph::remove_input(Value* input) {
  RK_ASSERT(input->uses_.empty() && !is_output(*input), "a removed input is unused");
  std::erase(inputs_, input);
  forget(input);
}

size_t Graph::remove_unused() {
  // One sweep from the back reaches a fixed point: users stand behind producers.
  std::unordered_set<const Node*> dead;
  std::unordered_set<const Value*> gone;
  for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) {
    Node* node = it->get();
    const bool used = std::ranges::any_of(
        node->outputs_, [&](Value* v) { return !v->uses_.empty() || is_output(*v); });
    if (used) continue;
    for (size_t i = 0; i < node->inputs_.size(); ++i) drop_use(node->inputs_[i], node, i);
    for (Value* output : node->outputs_) gone.insert(output);
    dead.insert(node);
  }
  for (const auto& value : values_) {
    if (value->is_constant() && value->uses_.empty() && !is_output(*value))
      gone.insert(value.get());
  }
  std::erase_if(nodes_, [&](const auto& node) { return dead.contains(node.get()); });
  for (const Value* value : gone) by_name_.erase(value->name_);
  std::erase_if(values_, [&](const auto& value) { return gone.contains(value.get()); });
  return dead.size();
}

Status Graph::sort() {
  std::unordered_map<const Node*, size_t> missing;
  std::vector<Node*> ready;
  for (const auto& node : nodes_) {
    size_t count = 0;
    for (const Value* input : node->inputs_)
      count += input != nullptr && input->producer_ != nullptr;
    missing[node.get()] = count;
  }
  // Stable: among ready nodes the earlier one goes first.
  std::unordered_map<const Node*, size_t> position;
  for (size_t i = 0; i < nodes_.size(); ++i) position[nodes_[i].get()] = i;
  std::map<size_t, Node*> queue;
  for (const auto& node : nodes_) {
    if (missing[node.get()] == 0) queue.emplace(position[node.get()], node.get());
  }
  std::vector<size_t> order;
  while (!queue.empty()) {
    Node* node = queue.begin()->second;
    order.push_back(queue.begin()->first);
    queue.erase(queue.begin());
    for (Value* output : node->outputs_) {
      for (const Use& use : output->uses_) {
        if (--missing[use.node] == 0) queue.emplace(position[use.node], use.node);
      }
    }
  }
  if (order.size() != nodes_.size()) {
    for (const auto& node : nodes_) {
      if (missing[node.get()] != 0)
        return invalid_model(str(node->label(), ": is part of a cycle"));
    }
  }
  std::vector<std::unique_ptr<Node>> sorted;
  sorted.reserve(nodes_.size());
  for (const size_t i : order) sorted.push_back(std::move(nodes_[i]));
  nodes_ = std::move(sorted);
  return ok_status();
}

Graph Graph::clone() const {
  Graph out(*registry_);
  out.name = name;
  std::unordered_map<const Value*, Value*> values;
  for (const auto& value : values_) {
    Value* copy = out.new_value(value->name_, value->type_);
    copy->constant_ = value->constant_;
    copy->quant = value->quant;
    values[value.get()] = copy;
  }
  const auto mapped = [&](const Value* value) {
    return value == nullptr ? nullptr : values.at(value);
  };
  for (const auto& node : nodes_) {
    auto copy = std::make_unique<Node>();
    copy->name_ = node->name_;
    copy->def_ = node->def_;
    copy->attrs_ = node->attrs_;
    copy->defaults_ = node->defaults_;
    for (size_t i = 0; i < node->inputs_.size(); ++i) {
      Value* input = mapped(node->inputs_[i]);
      copy->inputs_.push_back(input);
      if (input != nullptr) input->uses_.push_back({copy.get(), i});
    }
    for (const Value* output : node->outputs_) {
      copy->outputs_.push_back(mapped(output));
      copy->outputs_.back()->producer_ = copy.get();
    }
    out.nodes_.push_back(std::move(copy));
  }
  for (const Value* value : inputs_) out.inputs_.push_back(mapped(value));
  for (const Value* value : outputs_) out.outputs_.push_back(mapped(value));
  return out;
}

}  // namespace rk
