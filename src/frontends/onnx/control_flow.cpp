// SPDX-License-Identifier: Apache-2.0
// If, Loop and model-local functions become part of the flat graph: chips run no branches. The condition and the
// number of iterations must therefore be known when the model is imported.
#include "frontends/onnx/importer.h"
#include "frontends/onnx/opset_conversions.h"

namespace rk::frontends {
namespace {

constexpr int64_t kMostIterations = 1024;
constexpr int kDeepestCall = 32;

std::string function_key(const std::string& domain, const std::string& name,
                         const std::string& overload) {
  return str(normalized_domain(domain), '\n', name, '\n', overload);
}

Result<bool> as_condition(const Value& value, const std::string& what) {
  if (value.constant().elements() != 1) {
    return invalid_model(str(what, " is ", to_string(value.type()), ", expected one bool"));
  }
  return value.constant().at_f64(0) != 0;
}

}  // namespace

const onnx::FunctionProto* OnnxImporter::find_function(const onnx::NodeProto& proto) const {
  const auto it = functions_.find(function_key(proto.domain(), proto.op_type(), proto.overload()));
  return it == functions_.end() ? nullptr : it->second;
}

Status OnnxImporter::prepare_names() {
  RK_ASSIGN(opsets_, read_opsets(model_.opset_import()));
  for (const auto& function : model_.functions()) {
    const std::string key = function_key(function.domain(), function.name(), function.overload());
    if (!functions_.emplace(key, &function).second) {
      return invalid_model(str("function '", function.name(), "' of domain '", function.domain(),
                               "' is defined twice"));
    }
    RK_ASSIGN(function_opsets_[key], read_opsets(function.opset_import()));
    function_opsets_[key].insert(opsets_.begin(), opsets_.end());
  }
  main_.opsets = &opsets_;
  RK_TRY(gather_constants(main_, proto_));
  for (const auto& input : proto_.input()) {
    if (!main_.constants.contains(input.name())) model_inputs_.insert(input.name());
  }
  for (const auto* list : {&proto_.value_info(), &proto_.output(), &proto_.input()}) {
    for (const auto& info : *list) declared_[info.name()] = &info.type();
  }
  return ok_status();
}

Status OnnxImporter::gather_constants(Scope& scope, const onnx::GraphProto& graph) {
  const auto add = [&](const onnx::TensorProto& tensor) -> Status {
    if (tensor.name().empty()) return invalid_model("a constant (initializer) has no name");
    if (!scope.constants.emplace(tensor.name(), &tensor).second) {
      return invalid_model(str("two constants are named '", tensor.name(), "'"));
    }
    return ok_status();
  };
  for (const auto& tensor : graph.initializer()) RK_TRY(add(tensor));
  for (const auto& sparse : graph.sparse_initializer()) {
    RK_TRY(add(sparse.values()));  // whose name is the constant's
    scope.sparse_constants[sparse.values().name()] = &sparse;
  }
  return ok_status();
}

Result<std::vector<OnnxImporter::Binding>> OnnxImporter::import_body(Scope& outer,
                                                                     const onnx::GraphProto& body,
                                                                     std::vector<Binding> inputs,
                                                                     Scope inner,
                                                                     const std::string& what) {
  if (static_cast<size_t>(body.input_size()) != inputs.size()) {
    return invalid_model(str(what, ": its body takes ", body.input_size(), " values, ",
                             inputs.size(), " are given"));
  }
  inner.parent = &outer;
  inner.attrs = outer.attrs;
  inner.opsets = outer.opsets;
  inner.depth = outer.depth + 1;
  RK_TRY(gather_constants(inner, body).with_context(what));
  for (size_t i = 0; i < inputs.size(); ++i) {
    inner.values[body.input(static_cast<int>(i)).name()] = inputs[i];
  }
  std::vector<std::string> wanted;
  for (const auto& output : body.output()) wanted.push_back(output.name());
  RK_TRY(import_nodes(inner, body.node(), wanted));
  std::vector<Binding> out;
  for (const std::string& name : wanted) {
    RK_ASSIGN(Binding binding, look_up(inner, name, what));
    out.push_back(std::move(binding));
  }
  return out;
}

Status OnnxImporter::import_if(Scope& scope, const onnx::NodeProto& proto) {
  const std::string label = node_label(proto);
  if (proto.input_size() != 1) return invalid_model(str(label, ": one input expected"));
  RK_ASSIGN(const Binding condition, look_up(scope, proto.input(0), label));
  if (condition.value == nullptr) return invalid_model(str(label, ": has no condition"));
  if (!condition.value->is_constant()) {
    return unsupported(
        str(label, ": its condition '", proto.input(0),
            "' is computed from the model's inputs; only conditions that are known "
            "at conversion are supported. If it depends on one input only, give that "
            "input a fixed value (input_initial_val)"));
  }
  RK_ASSIGN(const bool taken, as_condition(*condition.value, str(label, ": condition")));
  const char* const branch_name = taken ? "then_branch" : "else_branch";
  const onnx::AttributeProto* branch = find_attribute(proto, branch_name, scope.attrs);
  if (branch == nullptr || !branch->has_g()) {
    return invalid_model(str(label, ": has no ", branch_name));
  }
  if (branch->g().output_size() != proto.output_size()) {
    return invalid_model(str(label, ": its ", branch_name, " has ", branch->g().output_size(),
                             " outputs, the node ", proto.output_size()));
  }
  Scope inner;
  inner.prefix = node_name(scope, proto) + "/";
  for (int i = 0; i < proto.output_size(); ++i) {
    inner.result_names[branch->g().output(i).name()] = result_name(scope, proto.output(i));
  }
  RK_ASSIGN(const auto results, import_body(scope, branch->g(), {}, std::move(inner), label));
  for (int i = 0; i < proto.output_size(); ++i) {
    if (!proto.output(i).empty()) scope.values[proto.output(i)] = results[static_cast<size_t>(i)];
  }
  return ok_status();
}

Result<Value*> OnnxImporter::stack_rows(const onnx::NodeProto& proto, const std::string& name,
                                        const std::vector<Value*>& rows, int64_t axis) {
  if (rows.empty()) {
    return unsupported(str(node_label(proto), ": runs zero times, so the shape of its result '",
                           name, "' is not known"));
  }
  NodeDraft draft;
  draft.op = "Concat";
  draft.name = name;
  draft.outputs = {name};
  draft.attrs = {{"axis", axis}};
  Value* const axes = builder_.ints(draft, "/axes", {axis});
  for (Value* row : rows) {
    RK_ASSIGN(Value* const unsqueezed, builder_.emit(draft, "Unsqueeze", "/row", {row, axes}));
    draft.inputs.push_back(unsqueezed);
  }
  RK_ASSIGN(const std::vector<Value*> results, builder_.emit(std::move(draft)));
  return results[0];
}

Status OnnxImporter::import_loop(Scope& scope, const onnx::NodeProto& proto) {
  const std::string label = node_label(proto);
  const onnx::AttributeProto* body = find_attribute(proto, "body", scope.attrs);
  if (body == nullptr || !body->has_g()) return invalid_model(str(label, ": has no body"));
  std::vector<Binding> given;
  for (const std::string& name : proto.input()) {
    RK_ASSIGN(Binding binding, look_up(scope, name, label));
    given.push_back(std::move(binding));
  }
  given.resize(std::max<size_t>(given.size(), 2));
  for (size_t i = 0; i < 2; ++i) {
    if (given[i].value == nullptr || given[i].value->is_constant()) continue;
    return unsupported(str(label, ": its ", i == 0 ? "trip count" : "condition",
                           " is computed from the model's inputs; only loops whose length is known "
                           "at conversion are supported"));
  }
  const size_t carried_count = given.size() - 2;
  const int output_count = body->g().output_size();
  if (output_count < 1 || static_cast<size_t>(output_count - 1) < carried_count ||
      proto.output_size() > output_count - 1) {
    return invalid_model(str(label, ": its body gives ", output_count,
                             " values, expected a "
                             "condition, ",
                             carried_count, " carried values and those of ", proto.output_size(),
                             " outputs"));
  }
  int64_t trips = kMostIterations + 1;
  if (given[0].value != nullptr) {
    if (given[0].value->constant().elements() != 1) {
      return invalid_model(str(label, ": the trip count is ", to_string(given[0].value->type()),
                               ", expected one integer"));
    }
    trips = given[0].value->constant().at_i64(0);
  }
  bool running = true;
  if (given[1].value != nullptr) {
    RK_ASSIGN(running, as_condition(*given[1].value, str(label, ": condition")));
  }

  std::vector<Binding> carried(given.begin() + 2, given.end());
  std::vector<std::vector<Value*>> rows(static_cast<size_t>(output_count) - 1 - carried_count);
  const std::string prefix = node_name(scope, proto);
  for (int64_t trip = 0; running && trip < trips; ++trip) {
    if (trip == kMostIterations) {
      return unsupported(str(label, ": runs more than ", kMostIterations, " times"));
    }
    Scope inner;
    inner.prefix = str(prefix, "/", trip, "/");
    std::vector<Binding> inputs = {
        {builder_.constant(inner.prefix + "trip", Tensor::i64({}, {trip})), nullptr},
        {builder_.constant(inner.prefix + "condition", Tensor::of<uint8_t>(DType::kBool, {}, {1})),
         nullptr}};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    RK_ASSIGN(const auto results, import_body(scope, body->g(), inputs, std::move(inner), label));
    for (size_t i = 0; i < results.size(); ++i) {
      // Carried values may be sequences or absent optionals; the condition and what is collected may not.
      const bool carries = i != 0 && i <= carried_count;
      if (results[i].available() && (carries || results[i].value != nullptr)) continue;
      bind_unavailable(scope, proto,
                       results[i].available() ? str(label, ": a value is missing or a sequence")
                                              : *results[i].why);
      return ok_status();
    }
    if (!results[0].value->is_constant()) {
      return unsupported(str(label,
                             ": whether it goes on is computed from the model's inputs; "
                             "only loops whose length is known at conversion are supported"));
    }
    RK_ASSIGN(running, as_condition(*results[0].value, str(label, ": condition of its body")));
    carried.assign(results.begin() + 1, results.begin() + 1 + static_cast<long>(carried_count));
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i].push_back(results[1 + carried_count + i].value);
    }
  }
  for (int i = 0; i < proto.output_size(); ++i) {
    const std::string& name = proto.output(i);
    const auto index = static_cast<size_t>(i);
    if (name.empty()) continue;
    if (index < carried_count) {
      scope.values[name] = carried[index];
      continue;
    }
    RK_ASSIGN(Value* const stacked,
              stack_rows(proto, result_name(scope, name), rows[index - carried_count]));
    scope.values[name] = {stacked, nullptr};
  }
  return ok_status();
}

Status OnnxImporter::import_call(Scope& scope, const onnx::NodeProto& proto,
                                 const onnx::FunctionProto& function) {
  const std::string label = node_label(proto);
  if (scope.depth >= kDeepestCall) {
    return invalid_model(str(label, ": functions call each other more than ", kDeepestCall,
                             " deep; they must not be recursive"));
  }
  if (proto.input_size() > function.input_size() || proto.output_size() > function.output_size()) {
    return invalid_model(str(label, ": ", proto.input_size(), " inputs and ", proto.output_size(),
                             " outputs found, the function has ", function.input_size(), " and ",
                             function.output_size()));
  }
  Scope inner;
  inner.prefix = node_name(scope, proto) + "/";
  inner.opsets =
      &function_opsets_.at(function_key(function.domain(), function.name(), function.overload()));
  inner.depth = scope.depth + 1;
  for (const auto& attribute : function.attribute_proto()) {
    inner.attrs[attribute.name()] = &attribute;
  }
  for (const auto& named : proto.attribute()) {
    if (const auto* attribute = resolve(named, scope.attrs)) inner.attrs[named.name()] = attribute;
  }
  for (int i = 0; i < function.input_size(); ++i) {
    Binding binding;
    if (i < proto.input_size()) {
      RK_ASSIGN(binding, look_up(scope, proto.input(i), label));
    }
    inner.values[function.input(i)] = std::move(binding);
  }
  std::vector<std::string> wanted;
  for (int i = 0; i < proto.output_size(); ++i) {
    if (proto.output(i).empty()) continue;
    wanted.push_back(function.output(i));
    inner.result_names[function.output(i)] = result_name(scope, proto.output(i));
  }
  RK_TRY(import_nodes(inner, function.node(), wanted));
  for (int i = 0; i < proto.output_size(); ++i) {
    if (proto.output(i).empty()) continue;
    RK_ASSIGN(scope.values[proto.output(i)], look_up(inner, function.output(i), label));
  }
  return ok_status();
}

}  // namespace rk::frontends
