// SPDX-License-Identifier: Apache-2.0
// An OpDef holds plain functions, so the user's are found by the definition's address; entries come and go with the
// registry that owns the definitions.
#include "ops/shared/custom.h"

#include <map>
#include <mutex>
#include <set>

#include "ops/registry.h"

namespace rk::ops {
namespace {

struct Table {
  std::mutex mutex;
  std::map<const OpDef*, std::shared_ptr<const CustomOp>> by_def;
};

Table& table() {
  static Table instance;
  return instance;
}

Result<std::shared_ptr<const CustomOp>> functions_of(const Node& node) {
  const std::lock_guard lock(table().mutex);
  const auto it = table().by_def.find(&node.def());
  if (it == table().by_def.end())
    return unsupported(str(node.label(), ": the functions of this operator are gone"));
  return it->second;
}

Status infer_custom(InferCall& call) {
  RK_ASSIGN(const auto op, functions_of(call.node));
  RK_ASSIGN(const std::vector<TensorType> types, op->infer(call.node, call.output_count()));
  if (types.size() < call.output_count()) {
    return invalid_argument(str("shape_infer of the custom operator '", op->type, "' gives ",
                                types.size(), " output(s), the node has ", call.output_count()));
  }
  for (size_t i = 0; i < call.output_count(); ++i) call.set_output(i, types[i]);
  return ok_status();
}

Status compute_custom(const EvalCall& call) {
  RK_ASSIGN(const auto op, functions_of(call.node));
  return op->compute(call);
}

struct CustomRegistry {
  std::vector<std::shared_ptr<const CustomOp>> operators;
  std::vector<std::string> names;  // OpDef::name points here
  std::unique_ptr<const OpRegistry> registry;

  ~CustomRegistry() {
    if (registry == nullptr) return;  // refused half-way
    const std::lock_guard lock(table().mutex);
    for (const std::string& name : names) table().by_def.erase(registry->find(name));
  }
};

Result<OpDef> definition(const CustomOp& op) {
  OpDef def;
  if (op.is_mark()) {
    const OpDef* const standard = registry().find(op.type);
    if (standard == nullptr) {
      return invalid_argument(str("custom operator '", op.type,
                                  "' is no standard operator: it needs shape_infer and compute"));
    }
    def = *standard;
  } else {
    if (!op.infer || !op.compute)
      return invalid_argument(
          str("custom operator '", op.type, "' needs both shape_infer and compute, or neither"));
    def.doc = "brought along by the user";
    def.inputs = {{"inputs", ArgDef::kVariadic}};
    def.outputs = {{"outputs", ArgDef::kVariadic}};
    def.attrs = {{kAnyAttribute, int64_t{0}, "whatever the model has", AttrDef::kOptional}};
    def.infer = infer_custom;
    def.reference = compute_custom;
  }
  def.quant = QuantRule::kFloatOnly;
  def.elements = Elements::kComputed;
  def.homogeneous = false;
  return def;
}

}  // namespace

bool takes_any_attribute(const OpDef& def) { return def.find_attr(kAnyAttribute) != nullptr; }

Result<std::shared_ptr<const OpRegistry>> with_custom(std::vector<CustomOp> operators) {
  const auto out = std::make_shared<CustomRegistry>();
  for (const CustomOp& op : operators) out->names.push_back(custom_name(op.type));
  std::vector<OpDef> defs;
  for (const auto& def : registry().all()) defs.push_back(*def);
  std::set<std::string> seen;
  for (size_t i = 0; i < operators.size(); ++i) {
    if (operators[i].type.empty()) return invalid_argument("a custom operator has no op_type");
    if (!seen.insert(operators[i].type).second)
      return invalid_argument(str("custom operator '", operators[i].type, "' is given twice"));
    RK_ASSIGN(OpDef def, definition(operators[i]));
    def.name = out->names[i];
    defs.push_back(std::move(def));
    out->operators.push_back(std::make_shared<const CustomOp>(std::move(operators[i])));
  }
  out->registry = std::make_unique<const OpRegistry>(std::move(defs));
  const std::lock_guard lock(table().mutex);
  for (size_t i = 0; i < out->names.size(); ++i)
    table().by_def[out->registry->find(out->names[i])] = out->operators[i];
  return std::shared_ptr<const OpRegistry>(out, out->registry.get());
}

}  // namespace rk::ops
