// SPDX-License-Identifier: Apache-2.0
#include "ir/op_def.h"

#include <algorithm>

#include "ir/custom_op.h"
#include "ir/graph.h"

namespace rk {
namespace {

Status check_arity(const OpDef& def, std::span<const TensorType* const> inputs, size_t outputs) {
  const auto bounds = [](const std::vector<ArgDef>& args) {
    size_t least = 0;
    bool open = false;
    for (const ArgDef& arg : args) {
      if (arg.kind == ArgDef::kRequired) ++least;
      if (arg.kind == ArgDef::kVariadic) open = true;
    }
    return std::pair(least, open ? SIZE_MAX : args.size());
  };
  const auto [in_least, in_most] = bounds(def.inputs);
  const auto [out_least, out_most] = bounds(def.outputs);
  if (inputs.size() < in_least || inputs.size() > in_most) {
    return invalid_model(
        str(inputs.size(), " inputs found, ", in_least, " to ", in_most, " expected"));
  }
  if (outputs < std::max<size_t>(out_least, 1) || outputs > out_most) {
    return invalid_model(
        str(outputs, " outputs found, ", out_least, " to ", out_most, " expected"));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ArgDef& arg = def.inputs[std::min(i, def.inputs.size() - 1)];
    if (inputs[i] == nullptr && def.find_attr(kAnyAttribute) == nullptr &&
        arg.kind != ArgDef::kOptional) {
      return invalid_model(str("input ", i, " ('", arg.name, "') is missing"));
    }
  }
  return ok_status();
}

Status check_attrs(const OpDef& def, const AttrMap& attrs) {
  for (const auto& [name, value] : attrs) {
    const AttrDef* schema = def.find_attr(name);
    if (schema == nullptr && def.find_attr(kAnyAttribute) != nullptr) continue;
    if (schema == nullptr)
      return invalid_model(str("attribute '", name, "' is unknown to this operator"));
    if (schema->value.index() != value.index()) {
      return invalid_model(str("attribute '", name, "' is of kind ", attr_kind(value),
                               ", expected ", attr_kind(schema->value)));
    }
  }
  for (const AttrDef& schema : def.attrs) {
    if (schema.presence == AttrDef::kRequired && attrs.find(schema.name) == attrs.end()) {
      return invalid_model(str("attribute '", schema.name, "' is required and missing"));
    }
  }
  return ok_status();
}

}  // namespace

Status check_schema(const OpDef& def, std::span<const TensorType* const> inputs, size_t outputs,
                    const AttrMap& attrs) {
  RK_TRY(check_arity(def, inputs, outputs));
  RK_TRY(check_attrs(def, attrs));
  return check_arguments(def, inputs);
}

size_t InferCall::input_count() const { return node.input_count(); }
bool InferCall::has_input(size_t i) const { return node.has_input(i); }
const TensorType& InferCall::input(size_t i) const { return node.input(i).type(); }
const Tensor* InferCall::constant(size_t i) const {
  return node.has_input(i) && node.input(i).is_constant() ? &node.input(i).constant() : nullptr;
}

void EvalCall::parallel_for(int64_t count, int64_t grain,
                            const std::function<void(IndexRange)>& work) const {
  if (pool != nullptr) {
    pool->parallel_for(count, grain, work);
  } else if (count > 0) {
    work({0, count});
  }
}

const AttrDef* OpDef::find_attr(std::string_view attr) const {
  for (const AttrDef& def : attrs) {
    if (def.name == attr) return &def;
  }
  return nullptr;
}

OpRegistry::OpRegistry(std::vector<OpDef> defs) {
  for (OpDef& def : defs) {
    RK_ASSERT(def.infer != nullptr && def.reference != nullptr,
              "an operator has inference and a reference");
    defs_.push_back(std::make_unique<const OpDef>(std::move(def)));
    const bool is_new = by_name_.emplace(defs_.back()->name, defs_.back().get()).second;
    RK_ASSERT(is_new, "one file per operator name");
  }
}

const OpDef* OpRegistry::find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

}  // namespace rk
