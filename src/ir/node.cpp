// SPDX-License-Identifier: Apache-2.0
// Reading a node. Attributes were checked against the schema when the node was made, so a wrong
// kind here is a bug.
#include "ir/custom_op.h"
#include "ir/graph.h"

namespace rk {
namespace {

template <typename T>
const T& get(const Attr& value) {
  const T* out = std::get_if<T>(&value);
  RK_ASSERT(out != nullptr, "attribute read with the kind its schema gives");
  return *out;
}

}  // namespace

std::string Node::label() const { return str("node '", name_, "' (", user_name(def_->name), ")"); }

const Attr& Node::attr(std::string_view name) const {
  if (const auto it = attrs_.find(name); it != attrs_.end()) return it->second;
  if (const auto it = defaults_.find(name); it != defaults_.end()) return it->second;
  const AttrDef* def = def_->find_attr(name);
  RK_ASSERT(def != nullptr && def->presence == AttrDef::kDefault,
            "attribute is in the schema and has a value");
  return def->value;
}

bool Node::has_attr(std::string_view name) const {
  if (attrs_.find(name) != attrs_.end()) return true;
  const AttrDef* def = def_->find_attr(name);
  return def != nullptr && def->presence == AttrDef::kDefault;
}

void Node::normalize_axes(int output_rank) {
  for (const AttrDef& schema : def_->attrs) {
    if (schema.meaning == AttrDef::kPlain || !has_attr(schema.name)) continue;
    const int rank = schema.meaning == AttrDef::kAxisOfOutput ? output_rank
                     : has_input(0)                           ? input(0).shape().rank()
                                                              : 0;
    // What lies outside stays: inference let it pass, so the operator does not look at it.
    const auto from_front = [rank](int64_t axis) {
      return axis < 0 && axis >= -rank ? axis + rank : axis;
    };
    const bool given = attrs_.find(schema.name) != attrs_.end();
    Attr value = attr(schema.name);
    if (auto* const axis = std::get_if<int64_t>(&value)) *axis = from_front(*axis);
    if (auto* const axes = std::get_if<std::vector<int64_t>>(&value)) {
      for (int64_t& axis : *axes) axis = from_front(axis);
    }
    (given ? attrs_ : defaults_).insert_or_assign(std::string(schema.name), std::move(value));
  }
}

int64_t Node::i64(std::string_view name) const { return get<int64_t>(attr(name)); }
float Node::f32(std::string_view name) const { return get<float>(attr(name)); }
const std::string& Node::text(std::string_view name) const { return get<std::string>(attr(name)); }
const std::vector<int64_t>& Node::ints(std::string_view name) const {
  return get<std::vector<int64_t>>(attr(name));
}
const std::vector<float>& Node::floats(std::string_view name) const {
  return get<std::vector<float>>(attr(name));
}
const std::vector<std::string>& Node::strings(std::string_view name) const {
  return get<std::vector<std::string>>(attr(name));
}
const Tensor& Node::tensor(std::string_view name) const { return get<Tensor>(attr(name)); }

}  // namespace rk
