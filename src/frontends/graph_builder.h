// SPDX-License-Identifier: Apache-2.0
// Adds nodes to the graph being imported and folds at once what is already known, so that Shape-Gather-Concat-Reshape
// chains have become constants by the time a shape depends on them.
//
// Constants keep the file's dtype while they are folded (a scale computed in double stays double); where one meets a
// node that stays, float16, bfloat16 and double become float32, which is what graphs compute in.
#pragma once

#include <optional>
#include <unordered_map>

#include "ir/graph.h"

namespace rk::frontends {

// One operator on its way into the graph: what the file says, after conversion to the newest form.
struct NodeDraft {
  std::string op;
  std::string name;
  int64_t opset = 0;
  std::vector<Value*> inputs;  // null where an optional input is absent
  std::vector<std::string> outputs;
  AttrMap attrs;
  // Results behind the node's own outputs that the conversion could give itself.
  std::vector<Value*> extra_results;

  bool has_input(size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  // Fills up with absent inputs where needed.
  void set_input(size_t i, Value* value);
  // Takes the attribute out; nothing when it is not there. Of another kind: kInvalidModel.
  template <typename T>
  Result<std::optional<T>> take(std::string_view attr);
};

class GraphBuilder {
 public:
  explicit GraphBuilder(Graph& graph) : graph_(graph) {}

  Graph& graph() { return graph_; }
  const OpRegistry& registry() const { return graph_.registry(); }

  // The results, as many as outputs are named. Names that are taken get a suffix.
  Result<std::vector<Value*>> emit(NodeDraft draft);
  // One node with one result, for conversions that need several; the name is the draft's plus `suffix`.
  Result<Value*> emit(const NodeDraft& around, std::string_view op, std::string_view suffix,
                      std::vector<Value*> inputs, AttrMap attrs = {});

  Value* constant(const std::string& name, Tensor tensor) {
    return graph_.add_constant(name, std::move(tensor));
  }
  // Zeros for a constant that the file describes without holding its bytes: a small file must not take all memory.
  Result<Tensor> described(const TensorType& type);
  Value* ints(const NodeDraft& around, std::string_view suffix, std::vector<int64_t> values);
  Value* scalar(const NodeDraft& around, std::string_view suffix, float value);

 private:
  bool foldable(const OpDef& def, const NodeDraft& draft) const;
  Result<std::vector<Value*>> fold(const NodeDraft& draft);
  Value* narrowed(Value* value);

  Graph& graph_;
  uint64_t folded_bytes_ = 0;
  uint64_t described_bytes_ = 0;
  std::unordered_map<const Value*, Value*> narrowed_;
};

// float16, bfloat16 and double -> float32; others stay.
DType computing_dtype(DType dtype);

template <typename T>
Result<std::optional<T>> NodeDraft::take(std::string_view attr) {
  const auto it = attrs.find(attr);
  if (it == attrs.end()) return std::optional<T>();
  T* value = std::get_if<T>(&it->second);
  if (value == nullptr) {
    return invalid_model(str("node '", name, "' (", op, "): attribute '", attr, "' is of kind ",
                             attr_kind(it->second), ", expected ", attr_kind(Attr(T{}))));
  }
  std::optional<T> out(std::move(*value));
  attrs.erase(it);
  return out;
}

}  // namespace rk::frontends
