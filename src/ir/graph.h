// SPDX-License-Identifier: Apache-2.0
// Graph: nodes in execution order over values. A Graph owns its nodes and values; pointers stay
// valid until the object is removed or the graph dies. Every node is checked against its operator's
// schema and inferred when it is made, so later stages read attributes and types without checking.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ir/op_def.h"

namespace rk {

class Graph;
class Node;

struct Use {
  Node* node = nullptr;
  size_t index = 0;  // which input of the node
  bool operator==(const Use&) const = default;
};

class Value {
 public:
  const std::string& name() const { return name_; }
  const TensorType& type() const { return type_; }
  const Shape& shape() const { return type_.shape; }
  DType dtype() const { return type_.dtype; }

  bool is_constant() const { return !constant_.empty(); }
  const Tensor& constant() const { return constant_; }  // only when is_constant()
  Node* producer() const { return producer_; }          // null for inputs and constants
  const std::vector<Use>& uses() const { return uses_; }

  // Set by the quantizer or kept from a pre-quantized model; empty scale means none.
  QuantParams quant;
  bool quantized() const { return !quant.scale.empty(); }

 private:
  friend class Graph;
  std::string name_;
  TensorType type_;
  Tensor constant_;
  Node* producer_ = nullptr;
  std::vector<Use> uses_;
};

class Node {
 public:
  const std::string& name() const { return name_; }
  const OpDef& def() const { return *def_; }
  std::string_view op() const { return def_->name; }
  // "node 'conv1' (Conv)", for messages.
  std::string label() const;

  size_t input_count() const { return inputs_.size(); }
  bool has_input(size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
  Value& input(size_t i) const { return *inputs_[i]; }  // has_input(i) must hold
  const std::vector<Value*>& inputs() const {
    return inputs_;
  }  // null where an optional input is absent
  size_t output_count() const { return outputs_.size(); }
  Value& output(size_t i = 0) const { return *outputs_[i]; }
  const std::vector<Value*>& outputs() const { return outputs_; }

  // Attributes as given, or the schema's default; axes (AttrDef::Meaning) count from the front.
  // Asking for one the schema does not have is a bug.
  bool has_attr(std::string_view attr) const;  // given, or has a default
  int64_t i64(std::string_view attr) const;
  float f32(std::string_view attr) const;
  const std::string& text(std::string_view attr) const;
  const std::vector<int64_t>& ints(std::string_view attr) const;
  const std::vector<float>& floats(std::string_view attr) const;
  const std::vector<std::string>& strings(std::string_view attr) const;
  const Tensor& tensor(std::string_view attr) const;
  const AttrMap& attrs() const { return attrs_; }  // only those given

 private:
  friend class Graph;
  const Attr& attr(std::string_view name) const;
  // Counts axes from the front, in what was given and in defaults. Types must have been inferred.
  void normalize_axes(int output_rank);
  std::string name_;
  const OpDef* def_ = nullptr;
  std::vector<Value*> inputs_;
  std::vector<Value*> outputs_;
  AttrMap attrs_;
  AttrMap defaults_;  // of this node, where they differ from the schema's: axes
};

// What add_node() makes. Absent optional inputs are null; output names must be new in the graph (""
// makes one up).
struct NodeSpec {
  std::string op;
  std::string name;
  std::vector<Value*> inputs;
  std::vector<std::string> outputs;
  AttrMap attrs;
};

class Graph {
 public:
  explicit Graph(const OpRegistry& registry) : registry_(&registry) {}
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;
  Graph clone() const;

  std::string name;

  const OpRegistry& registry() const { return *registry_; }
  Value* find(std::string_view value_name) const;  // null when there is none
  std::vector<Node*> nodes() const;  // a snapshot in execution order: safe while rewriting
  size_t node_count() const { return nodes_.size(); }
  std::vector<Value*> values() const;  // inputs, constants and results, in order of creation
  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  bool is_output(const Value& value) const;
  bool is_input(const Value& value) const;

  // Names are made unique by a suffix where taken, except for inputs, whose duplicate is
  // kInvalidModel.
  Result<Value*> add_input(std::string name, const TensorType& type);
  Value* add_constant(std::string name, Tensor value);
  // Checks schema and attributes, infers the output types, inserts before `before` (null: at the
  // end).
  Result<Node*> add_node(NodeSpec spec, Node* before = nullptr);
  Status add_output(Value* value);
  void set_outputs(std::vector<Value*> outputs) { outputs_ = std::move(outputs); }

  // An input becomes a constant of the same type.
  Status bind_input(Value* input, Tensor value);
  void set_input(Node* node, size_t index,
                 Value* value);  // types must agree; null removes an optional input
  // Every use of `from`, and its place among the graph's outputs, goes to `to`. An output keeps its
  // name.
  void replace_uses(Value* from, Value* to);
  // False where replace_uses would lose an output's name (`to` is an input, a constant or an output
  // itself).
  bool can_replace(const Value& from, const Value& to) const;
  void remove(Node* node);  // its outputs must be unused
  size_t remove_unused();   // dead nodes and constants; returns how many nodes went
  // `inner`, computed from `input` alone, becomes the input in its place, under its name. Quantization goes along.
  Status replace_input(Value* input, Value* inner);
  void remove_input(Value* input);              // must be unused
  void rename(Value* value, std::string name);  // the new name must be free
  std::string unique_name(std::string_view stem) const;
  // Puts the nodes in an order where producers come first; kInvalidModel naming a node when there
  // is a cycle.
  Status sort();

 private:
  void drop_use(Value* value, Node* node, size_t index);
  Value* new_value(std::string name, const TensorType& type);
  void forget(Value* value);

  const OpRegistry* registry_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Value>> values_;
  std::map<std::string, Value*, std::less<>> by_name_;
  std::vector<Value*> inputs_;
  std::vector<Value*> outputs_;
};

// Every invariant of a legal graph, each with its own message. Run after each stage in debug builds
// and on every imported graph.
Status verify(const Graph& graph);

}  // namespace rk
