// SPDX-License-Identifier: Apache-2.0
// Attributes that forward() sets: what a module keeps between calls.
#include "frontends/torchscript/importer.h"

#include <algorithm>

namespace rk::frontends::torchscript {
namespace {

// The attribute that a node reads or sets; null: the node does neither, or not in the way of answer.h.
const Datum* attribute_path(const TorchNode& node) {
  const bool gets = node.kind == "state::get";
  if ((!gets && node.kind != "state::set") || !node.constant) return nullptr;
  const Datum& datum = *node.constant;
  if (gets && (datum.kind != Datum::Kind::kTuple || datum.items.size() != 2)) return nullptr;
  const Datum& path = gets ? datum.items[0] : datum;
  return path.kind == Datum::Kind::kText ? &path : nullptr;
}

bool is_unchanged(const Item& start, const Item& now) {
  if (start.kind != now.kind || now.is_list()) return false;
  return start.value == now.value && start.text == now.text;
}

bool same_number(const Item& a, const Item& b) {
  return a.kind == b.kind && a.as_double() == b.as_double();
}

}  // namespace

std::string Importer::next_name(const std::string& path) { return path + "_next"; }

void Importer::gather_attributes(const TorchBlock& block) {
  for (const TorchNode& node : block.nodes) {
    if (const Datum* path = attribute_path(node); path != nullptr && node.kind == "state::get") {
      attribute_data_.emplace(path->text, &node.constant->items[1]);
    }
    for (const TorchBlock& inner : node.blocks) gather_attributes(inner);
  }
}

// A tensor that forward() keeps between calls.
Status Importer::add_attribute_input(const std::string& path, const Datum& datum, size_t index) {
  if (datum.kind != Datum::Kind::kTensor) {
    return invalid_argument(str("'inputs' names '", path, "', an attribute that is no tensor"));
  }
  std::vector<int64_t> own = datum.tensor->dims;
  if (std::ranges::find(own, 0) != own.end()) own.clear();
  const auto& shapes = import_.options().input_shapes;
  if (index < shapes.size() && !shapes[index].empty()) own.clear();  // the caller knows the rank
  RK_ASSIGN(const std::vector<int64_t> dims, import_.input_dims(path, index, own));
  if (dims.empty() && !datum.tensor->dims.empty()) {
    return invalid_argument(str("attribute '", path,
                                "' is empty before the first call; "
                                "input_size_list must hold its shape"));
  }
  RK_ASSIGN(const Shape shape, Shape::make(dims));
  const DType dtype = computing_dtype(datum.tensor->dtype);
  RK_ASSIGN(Value* const value, import_.add_input(path, index, {dtype, shape}));
  Item item = Item::of_tensor(value);
  item.storage = next_storage_++;
  attributes_[path] = {.start = item, .now = item, .is_input = true};
  return ok_status();
}

Result<Importer::Attribute*> Importer::attribute(const TorchNode& node) {
  const Datum* const path = attribute_path(node);
  if (path == nullptr) return invalid_model("names no attribute");
  const auto [it, is_new] = attributes_.try_emplace(path->text);
  if (!is_new) return &it->second;
  if (const auto number = numbers_.find(path->text); number != numbers_.end()) {
    it->second.start = number->second;
  } else if (const auto datum = attribute_data_.find(path->text); datum != attribute_data_.end()) {
    RK_ASSIGN(it->second.start, item_of(*datum->second, path->text));
  }
  if (it->second.start.is_tensor()) it->second.start.storage = next_storage_++;
  it->second.now = it->second.start;
  return &it->second;
}

Status Importer::check_attributes() {
  for (auto& [path, found] : attributes_) {
    if (!found.is_set) continue;
    if (!found.is_read && !found.is_input) continue;
    if (found.now.kind == Item::Kind::kLost) {
      return import_.has_unsupported() ? import_.unsupported_error() : unsupported(found.now.text);
    }
    if (found.is_kept()) {
      if (!found.now.is_tensor() || found.now.value->type() != found.start.value->type()) {
        return invalid_argument(
            str("attribute '", path, "' is ", to_string(found.start.value->type()), " before and ",
                found.now.is_tensor() ? to_string(found.now.value->type()) : "no tensor",
                " after a call; give the latter in input_size_list"));
      }
      by_name_[next_name(path)] = found.now;
    } else if (!found.is_input && !found.now.is_number() && !is_unchanged(found.start, found.now)) {
      return unsupported(
          str("forward() keeps '", path, "' between calls",
              found.now.is_tensor() ? str(" (", to_string(found.now.value->type()), ")") : "",
              ". Name it in inputs, with its shape in input_size_list: then its next value is the "
              "output '",
              next_name(path), "'. With a value in input_initial_val every call begins with that"));
    }
  }
  return ok_status();
}

std::map<std::string, Item> Importer::changed_numbers() const {
  std::map<std::string, Item> out;
  for (const auto& [path, found] : attributes_) {
    const bool changed = found.is_read && found.is_set && found.now.is_number();
    if (changed && !same_number(found.start, found.now)) out[path] = found.now;
  }
  return out;
}

}  // namespace rk::frontends::torchscript
