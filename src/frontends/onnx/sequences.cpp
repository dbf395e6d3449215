// SPDX-License-Identifier: Apache-2.0
// Sequences and optionals. Chips know tensors only, so a container is a list that lives while the
// model is imported: its length and every position into it must be known then, and its operators
// leave no node behind.
#include <algorithm>

#include "frontends/onnx/importer.h"

namespace rk::frontends {
namespace {

constexpr int64_t kMostPieces = 4096;

int64_t int_attribute(const onnx::NodeProto& proto, std::string_view name, int64_t otherwise,
                      const AttrBindings& bindings) {
  const onnx::AttributeProto* attribute = find_attribute(proto, name, bindings);
  return attribute == nullptr ? otherwise : int64_t{attribute->i()};
}

}  // namespace

OnnxImporter::ContainerOp OnnxImporter::find_container_op(const std::string& op) {
  struct Row {
    std::string_view op;
    ContainerOp import;
  };
  static constexpr Row kRows[] = {
      {"ConcatFromSequence", &OnnxImporter::import_concat_from_sequence},
      {"Optional", &OnnxImporter::import_optional},
      {"OptionalGetElement", &OnnxImporter::import_optional},
      {"OptionalHasElement", &OnnxImporter::import_optional_has_element},
      {"SequenceAt", &OnnxImporter::import_sequence_at},
      {"SequenceConstruct", &OnnxImporter::import_sequence_construct},
      {"SequenceEmpty", &OnnxImporter::import_sequence_construct},
      {"SequenceErase", &OnnxImporter::import_sequence_erase},
      {"SequenceInsert", &OnnxImporter::import_sequence_insert},
      {"SequenceLength", &OnnxImporter::import_sequence_length},
      {"SequenceMap", &OnnxImporter::import_sequence_map},
      {"SplitToSequence", &OnnxImporter::import_split_to_sequence},
  };
  const auto it = std::ranges::find(kRows, std::string_view(op), &Row::op);
  return it == std::end(kRows) ? nullptr : it->import;
}

Result<std::vector<OnnxImporter::Binding>> OnnxImporter::bindings_of(Scope& scope,
                                                                     const onnx::NodeProto& proto) {
  std::vector<Binding> out;
  for (const std::string& name : proto.input()) {
    RK_ASSIGN(Binding binding, look_up(scope, name, node_label(proto)));
    out.push_back(std::move(binding));
  }
  return out;
}

bool OnnxImporter::touches_containers(Scope& scope, const onnx::NodeProto& proto) {
  const auto inputs = bindings_of(scope, proto);
  return inputs.ok() && inputs->size() == 1 && inputs->front().value == nullptr;
}

Result<std::vector<OnnxImporter::Binding>> OnnxImporter::sequence_of(Scope& scope,
                                                                     const onnx::NodeProto& proto,
                                                                     int input) {
  if (input >= proto.input_size()) {
    return invalid_model(str(node_label(proto), ": input ", input, " is missing"));
  }
  RK_ASSIGN(const Binding binding, look_up(scope, proto.input(input), node_label(proto)));
  if (!binding.is_sequence()) {
    return invalid_model(
        str(node_label(proto), ": its input '", proto.input(input), "' is no sequence"));
  }
  return *binding.elements;
}

Result<size_t> OnnxImporter::position_of(Scope& scope, const onnx::NodeProto& proto, int input,
                                         size_t count, size_t absent) {
  if (input >= proto.input_size() || proto.input(input).empty()) return absent;
  RK_ASSIGN(const Binding binding, look_up(scope, proto.input(input), node_label(proto)));
  if (binding.value == nullptr || !binding.value->is_constant() ||
      binding.value->constant().elements() != 1) {
    return unsupported(str(node_label(proto), ": the position '", proto.input(input),
                           "' must be one number that is known at conversion"));
  }
  const int64_t given = binding.value->constant().at_i64(0);
  const auto extent = static_cast<int64_t>(count);
  if (given < -extent || given >= extent + (absent == count ? 1 : 0)) {
    return invalid_model(
        str(node_label(proto), ": position ", given, " in a sequence of ", count, " elements"));
  }
  return static_cast<size_t>(given < 0 ? given + extent : given);
}

Status OnnxImporter::import_sequence_construct(Scope& scope, const onnx::NodeProto& proto) {
  RK_ASSIGN(std::vector<Binding> elements, bindings_of(scope, proto));
  if (proto.output_size() != 1) return invalid_model(str(node_label(proto), ": needs one output"));
  scope.values[proto.output(0)] = {
      nullptr, nullptr, std::make_shared<const std::vector<Binding>>(std::move(elements))};
  return ok_status();
}

Status OnnxImporter::import_sequence_at(Scope& scope, const onnx::NodeProto& proto) {
  RK_ASSIGN(const std::vector<Binding> elements, sequence_of(scope, proto, 0));
  // No position is "absent" here: one behind the end is refused.
  RK_ASSIGN(const size_t position, position_of(scope, proto, 1, elements.size(), 0));
  if (position >= elements.size() || proto.output_size() != 1) {
    return invalid_model(str(node_label(proto), ": takes an element of an empty sequence"));
  }
  scope.values[proto.output(0)] = elements[position];
  return ok_status();
}

Status OnnxImporter::import_sequence_insert(Scope& scope, const onnx::NodeProto& proto) {
  RK_ASSIGN(std::vector<Binding> elements, sequence_of(scope, proto, 0));
  if (proto.input_size() < 2 || proto.output_size() != 1) {
    return invalid_model(str(node_label(proto), ": has nothing to insert"));
  }
  RK_ASSIGN(Binding added, look_up(scope, proto.input(1), node_label(proto)));
  RK_ASSIGN(const size_t position, position_of(scope, proto, 2, elements.size(), elements.size()));
  elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(position), std::move(added));
  scope.values[proto.output(0)] = {
      nullptr, nullptr, std::make_shared<const std::vector<Binding>>(std::move(elements))};
  return ok_status();
}

Status OnnxImporter::import_sequence_erase(Scope& scope, const onnx::NodeProto& proto) {
  RK_ASSIGN(std::vector<Binding> elements, sequence_of(scope, proto, 0));
  if (elements.empty() || proto.output_size() != 1) {
    return invalid_model(str(node_label(proto), ": erases from an empty sequence"));
  }
  const size_t last = elements.size() - 1;
  RK_ASSIGN(const size_t position, position_of(scope, proto, 1, elements.size(), last));
  elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(position));
  scope.values[proto.output(0)] = {
      nullptr, nullptr, std::make_shared<const std::vector<Binding>>(std::move(elements))};
  return ok_status();
}

Status OnnxImporter::import_sequence_length(Scope& scope, const onnx::NodeProto& proto) {
  RK_ASSIGN(const std::vector<Binding> elements, sequence_of(scope, proto, 0));
  const auto length = static_cast<int64_t>(elements.size());
  return bind_results(
      scope, proto,
      {builder_.constant(result_name(scope, proto.output(0)), Tensor::i64({}, {length}))});
}

Status OnnxImporter::import_concat_from_sequence(Scope& scope, const onnx::NodeProto& proto) {
  RK_ASSIGN(const std::vector<Binding> elements, sequence_of(scope, proto, 0));
  std::vector<Value*> values;
  for (const Binding& element : elements) values.push_back(element.value);
  if (values.empty() || std::ranges::find(values, nullptr) != values.end()) {
    return invalid_model(str(node_label(proto), ": joins an empty or nested sequence"));
  }
  const int64_t axis = int_attribute(proto, "axis", 0, scope.attrs);
  const std::string name = result_name(scope, proto.output(0));
  if (int_attribute(proto, "new_axis", 0, scope.attrs) != 0) {
    const int64_t rank = values[0]->shape().rank() + 1;
    RK_ASSIGN(Value* const stacked, stack_rows(proto, name, values, axis < 0 ? axis + rank : axis));
    return bind_results(scope, proto, {stacked});
  }
  NodeDraft draft;
  draft.op = "Concat";
  draft.name = node_name(scope, proto);
  draft.inputs = std::move(values);
  draft.outputs = {name};
  draft.attrs = {{"axis", axis}};
  RK_ASSIGN(const std::vector<Value*> results, builder_.emit(std::move(draft)));
  return bind_results(scope, proto, results);
}

Status OnnxImporter::import_split_to_sequence(Scope& scope, const onnx::NodeProto& proto) {
  const std::string label = node_label(proto);
  RK_ASSIGN(const std::vector<Binding> inputs, bindings_of(scope, proto));
  if (inputs.empty() || inputs[0].value == nullptr || proto.output_size() != 1) {
    return invalid_model(str(label, ": has nothing to split"));
  }
  const Shape& shape = inputs[0].value->shape();
  int64_t axis = int_attribute(proto, "axis", 0, scope.attrs);
  if (axis < 0) axis += shape.rank();
  if (axis < 0 || axis >= shape.rank()) {
    return invalid_model(str(label, ": splits an axis that ", to_string(shape), " does not have"));
  }
  const int64_t extent = shape[static_cast<int>(axis)];
  const bool given = inputs.size() > 1 && !inputs[1].is_absent();
  std::vector<int64_t> sizes;
  if (given) {
    if (inputs[1].value == nullptr || !inputs[1].value->is_constant()) {
      return unsupported(str(label, ": the sizes must be known at conversion"));
    }
    sizes = inputs[1].value->constant().to_i64();
  }
  const bool is_list = given && inputs[1].value->shape().rank() == 1;
  if (!is_list) {
    const int64_t size = !given ? 1 : sizes.empty() ? 0 : sizes[0];
    if (size <= 0) return invalid_model(str(label, ": splits into pieces of ", size));
    if (extent / size > kMostPieces) {
      return unsupported(str(label, ": splits ", extent, " indices into pieces of ", size,
                             ", more than ", kMostPieces));
    }
    sizes.clear();
    for (int64_t at = 0; at < extent; at += size) sizes.push_back(std::min(size, extent - at));
  }
  NodeDraft draft;
  draft.op = "Split";
  draft.name = node_name(scope, proto);
  draft.attrs = {{"axis", axis}};
  const std::string name = result_name(scope, proto.output(0));
  for (size_t i = 0; i < sizes.size(); ++i) draft.outputs.push_back(str(name, "/", i));
  draft.inputs = {inputs[0].value, builder_.ints(draft, "/sizes", sizes)};
  RK_ASSIGN(std::vector<Value*> pieces, builder_.emit(draft));
  // Pieces of one lose their axis where that is asked for.
  const bool squeezes = !given && int_attribute(proto, "keepdims", 1, scope.attrs) == 0;
  Value* const axes = builder_.ints(draft, "/axes", {axis});
  std::vector<Binding> elements;
  for (Value* piece : pieces) {
    if (squeezes) {
      RK_ASSIGN(piece, builder_.emit(draft, "Squeeze", "/squeezed", {piece, axes}));
    }
    elements.push_back({piece, nullptr, nullptr});
  }
  scope.values[proto.output(0)] = {
      nullptr, nullptr, std::make_shared<const std::vector<Binding>>(std::move(elements))};
  return ok_status();
}

Status OnnxImporter::import_sequence_map(Scope& scope, const onnx::NodeProto& proto) {
  const std::string label = node_label(proto);
  const onnx::AttributeProto* body = find_attribute(proto, "body", scope.attrs);
  if (body == nullptr || !body->has_g()) return invalid_model(str(label, ": has no body"));
  RK_ASSIGN(const std::vector<Binding> inputs, bindings_of(scope, proto));
  RK_ASSIGN(const std::vector<Binding> first, sequence_of(scope, proto, 0));
  if (proto.output_size() > body->g().output_size()) {
    return invalid_model(str(label, ": its body gives ", body->g().output_size(), " values, ",
                             proto.output_size(), " are wanted"));
  }
  std::vector<std::vector<Binding>> out(static_cast<size_t>(proto.output_size()));
  for (size_t i = 0; i < first.size(); ++i) {
    std::vector<Binding> given;
    for (const Binding& input : inputs) {
      if (input.is_sequence() && i >= input.elements->size()) {
        return invalid_model(str(label, ": its sequences differ in length"));
      }
      given.push_back(input.is_sequence() ? (*input.elements)[i] : input);
    }
    Scope inner;
    inner.prefix = str(node_name(scope, proto), "/", i, "/");
    RK_ASSIGN(const auto results,
              import_body(scope, body->g(), std::move(given), std::move(inner), label));
    for (size_t k = 0; k < out.size(); ++k) {
      if (!results[k].available()) {
        bind_unavailable(scope, proto, *results[k].why);
        return ok_status();
      }
      out[k].push_back(results[k]);
    }
  }
  for (size_t k = 0; k < out.size(); ++k) {
    scope.values[proto.output(static_cast<int>(k))] = {
        nullptr, nullptr, std::make_shared<const std::vector<Binding>>(std::move(out[k]))};
  }
  return ok_status();
}

// Optional, OptionalGetElement and Identity of a container: the result is what went in.
Status OnnxImporter::import_optional(Scope& scope, const onnx::NodeProto& proto) {
  RK_ASSIGN(const std::vector<Binding> inputs, bindings_of(scope, proto));
  if (proto.output_size() != 1) return invalid_model(str(node_label(proto), ": needs one output"));
  const Binding given = inputs.empty() ? Binding{} : inputs[0];
  if (proto.op_type() == "OptionalGetElement" && given.is_absent()) {
    return invalid_model(str(node_label(proto), ": takes the element of an absent optional"));
  }
  scope.values[proto.output(0)] = given;
  return ok_status();
}

Status OnnxImporter::import_optional_has_element(Scope& scope, const onnx::NodeProto& proto) {
  RK_ASSIGN(const std::vector<Binding> inputs, bindings_of(scope, proto));
  if (proto.output_size() != 1) return invalid_model(str(node_label(proto), ": needs one output"));
  const bool has = !inputs.empty() && !inputs[0].is_absent();
  return bind_results(scope, proto,
                      {builder_.constant(result_name(scope, proto.output(0)),
                                         Tensor::of<uint8_t>(DType::kBool, {}, {has}))});
}

}  // namespace rk::frontends
