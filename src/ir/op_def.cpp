// SPDX-License-Identifier: Apache-2.0
#include "ir/op_def.h"

#include "ir/graph.h"

namespace rk {

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
