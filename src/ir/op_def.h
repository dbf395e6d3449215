// SPDX-License-Identifier: Apache-2.0
// What an operator is: one OpDef per file of ops/. No stage switches on operator names; it asks the
// OpDef.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "ir/arg_rule.h"
#include "ir/attr.h"

namespace rk {

class Node;

// How the quantizer treats an operator's outputs.
enum class QuantRule {
  kOwnScale,          // output range is observed
  kSameScaleAsInput,  // moves or selects values: input 0 (all inputs, if several) and outputs share
                      // one scale
  kAccumulate,        // multiplies input 0 with weights (input 1) and accumulates; output range is
                      // observed
  kFixed,             // output range is known: OpDef::fixed_range
  kFloatOnly,         // stays in float
};

// Where an element of the output comes from, for stages that can do without the operator's own code.
enum class Elements {
  kComputed,  // from any elements, by the operator alone
  kUnary,  // from the element of input 0 at its place (other inputs are parameters): a table can replace it
  kBroadcast,  // from the elements of all inputs at its place, after broadcasting
  kView,       // it is that of input 0 at its place in plain order; only the shape differs
  kSelected,  // it is one of input 0, chosen along an axis; the other axes stay (Slice, Gather, Split)
  kMoved,     // it is one of input 0, or of any input where all are of one type
};
inline bool is_move(Elements elements) {
  return elements == Elements::kView || elements == Elements::kSelected ||
         elements == Elements::kMoved;
}

// An input with what it may be, or an output, whose type inference gives.
struct ArgDef {
  enum Kind { kRequired, kOptional, kVariadic };  // kVariadic: one or more, last only
  ArgDef(std::string_view name, Kind kind = kRequired) : name(name), kind(kind) {}
  ArgDef(std::string_view name, const ArgRule& rule, Kind kind = kRequired)
      : name(name), kind(kind), rule(rule) {}

  std::string_view name;
  Kind kind;
  ArgRule rule;
};

// An attribute with its default, or optional without one, or required. `value` also fixes the kind.
struct AttrDef {
  std::string_view name;
  Attr value;
  std::string_view doc;
  enum Presence { kDefault, kOptional, kRequired } presence = kDefault;
  // Axes of input 0 or of output 0 may count from the end in a file; a Graph holds them counted from the front.
  enum Meaning { kPlain, kAxisOfInput, kAxisOfOutput } meaning = kPlain;
};

struct Cost {
  uint64_t macs = 0;  // multiply-accumulates
  uint64_t ops = 0;   // other arithmetic on elements
};

// Type inference of one node: inputs are known, outputs are to be set. All shapes are static.
class InferCall {
 public:
  InferCall(const Node& node, std::vector<TensorType>& outputs) : node(node), outputs_(outputs) {}
  size_t input_count() const;
  bool has_input(size_t i) const;
  const TensorType& input(size_t i) const;
  // The constant's value, when input i is one; null otherwise (also when absent).
  const Tensor* constant(size_t i) const;
  void set_output(size_t i, TensorType type) { outputs_.at(i) = type; }
  size_t output_count() const { return outputs_.size(); }

  const Node& node;

 private:
  std::vector<TensorType>& outputs_;
};

// One evaluation: inputs as computed (null where an optional input is absent), outputs allocated
// with their inferred types. The pool may be used to split work over independent outputs; it may be
// null.
// All values of a float tensor are finite and within.
struct FiniteRange {
  float low = 0, high = 0;
  bool known = false;
};

struct EvalCall {
  const Node& node;
  std::span<const Tensor* const> inputs;
  std::span<Tensor> outputs;
  ThreadPool* pool = nullptr;
  FiniteRange* range = nullptr;  // of output 0, for a kernel that reads all of it anyway to fill

  const Tensor& input(size_t i) const { return *inputs[i]; }
  bool has_input(size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  Tensor& output(size_t i) const { return outputs[i]; }
  // Runs `work` over 0..count, in parallel where there is a pool.
  void parallel_for(int64_t count, int64_t grain,
                    const std::function<void(IndexRange)>& work) const;
};

struct OpDef {
  std::string_view name;
  std::string_view doc;
  std::vector<ArgDef> inputs;
  std::vector<ArgDef> outputs;
  std::vector<AttrDef> attrs;
  Status (*infer)(InferCall& call) = nullptr;
  Status (*reference)(const EvalCall& call) =
      nullptr;  // float; data-moving operators take every dtype
  Cost (*cost)(const Node& node) = nullptr;
  QuantRule quant = QuantRule::kFloatOnly;
  Elements elements = Elements::kComputed;
  std::pair<float, float> fixed_range = {0.0f, 0.0f};  // for QuantRule::kFixed
  // kAccumulate: the axis of the constant input 1 that counts output channels, for per-channel weight scales; -1 where
  // there is none. Null: none.
  int (*weight_axis)(const Node& node) = nullptr;
  // f(s * x) = s * f(x) for s > 0, channel by channel.
  bool homogeneous = false;
  // Outputs depend on the types of the inputs only (Shape, Size): foldable although the data is not
  // known. The reference then gets tensors that have a type but no bytes.
  bool shape_only = false;

  const AttrDef* find_attr(std::string_view attr) const;
};

// Everything about a node that the OpDef says and inference need not repeat: how many inputs and outputs, which
// attributes of which kind, what each input may be (ir/arg_rule.h). Checked when a node is made or verified, and when an
// operator of a Program is bound to stored tensors. `inputs` are null where an optional one is absent.
Status check_schema(const OpDef& def, std::span<const TensorType* const> inputs, size_t outputs,
                    const AttrMap& attrs);

// The operators a graph may use. Made once by ops::registry(); which operators exist is the
// business of ops/.
class OpRegistry {
 public:
  explicit OpRegistry(std::vector<OpDef> defs);
  const OpDef* find(std::string_view name) const;  // null when there is none
  const std::vector<std::unique_ptr<const OpDef>>& all() const { return defs_; }

 private:
  std::vector<std::unique_ptr<const OpDef>> defs_;
  std::map<std::string_view, const OpDef*> by_name_;
};

}  // namespace rk
