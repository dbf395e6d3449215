// SPDX-License-Identifier: Apache-2.0
// Nodes and names. What happens once per model is in import.cpp, expansion in control_flow.cpp.
#include "frontends/onnx/importer.h"

#include "base/log.h"
#include "frontends/onnx/export.h"
#include "frontends/onnx/opset_conversions.h"
#include "frontends/onnx/tensor_data.h"
#include "ops/registry.h"
#include "ops/shared/bounded.h"
#include "ops/shared/custom.h"

namespace rk::frontends {
namespace {

constexpr size_t kMostExpandedNodes = 100000;
constexpr int64_t kNewestOpset = 28;

bool is_flex_attention(const onnx::NodeProto& proto) {
  return proto.domain() == "ai.onnx.preview" && proto.op_type() == "FlexAttention";
}

}  // namespace

OnnxImporter::OnnxImporter(const onnx::ModelProto& model, std::string base_dir,
                           const ImportOptions& options, const OpRegistry& registry)
    : model_(model),
      proto_(model.graph()),
      base_dir_(std::move(base_dir)),
      options_(options),
      graph_(registry),
      builder_(graph_) {}

Result<OnnxImporter::Opsets> OnnxImporter::read_opsets(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) const {
  Opsets out;
  for (const auto& import : imports) {
    const std::string domain = normalized_domain(import.domain());
    if (import.version() < 1) {
      return invalid_model(
          str("opset version ", import.version(), " of domain '", domain, "' is not a version"));
    }
    out[domain] = std::max(out[domain], int64_t{import.version()});
  }
  if (const auto it = out.find(""); it != out.end() && it->second > kNewestOpset) {
    log(LogLevel::kWarning, str("the model uses opset ", it->second, ", newer than ", kNewestOpset,
                                "; operators are read as of opset ", kNewestOpset));
  }
  return out;
}

Result<int64_t> OnnxImporter::opset_of(const Scope& scope, const std::string& domain,
                                       const std::string& what) const {
  const auto it = scope.opsets->find(domain);
  if (it != scope.opsets->end()) return it->second;
  if (!domain.empty()) return int64_t{1};
  // Files of before IR version 3 import no operator set; they mean the first.
  if (model_.ir_version() < 3) return int64_t{1};
  return invalid_model(str(what,
                           ": the model does not say which version of the ONNX operators "
                           "it uses (opset_import is missing)"));
}

std::string OnnxImporter::result_name(const Scope& scope, const std::string& name) const {
  const auto it = scope.result_names.find(name);
  return it != scope.result_names.end() ? it->second : scope.prefix + name;
}

std::string OnnxImporter::node_name(const Scope& scope, const onnx::NodeProto& proto) const {
  if (proto.name().empty() && proto.output_size() != 0) return result_name(scope, proto.output(0));
  return scope.prefix + proto.name();
}

Result<OnnxImporter::Binding> OnnxImporter::look_up(Scope& scope, const std::string& name,
                                                    const std::string& reader) {
  if (name.empty()) return Binding{};
  for (Scope* at = &scope; at != nullptr; at = at->parent) {
    if (const auto it = at->values.find(name); it != at->values.end()) return it->second;
    if (const auto it = at->constants.find(name); it != at->constants.end()) {
      const std::string what = str("constant '", name, "'");
      const auto sparse = at->sparse_constants.find(name);
      auto tensor = sparse == at->sparse_constants.end()
                        ? import_tensor(*it->second, base_dir_, what)
                        : import_sparse_tensor(*sparse->second, base_dir_, what);
      Binding binding;
      if (tensor.ok()) {
        binding.value = builder_.constant(result_name(*at, name), std::move(tensor).value());
      } else if (tensor.status().code() == Code::kUnsupported) {
        binding.why = std::make_shared<const std::string>(tensor.status().message());
      } else {
        return tensor.status();
      }
      at->values[name] = binding;
      return binding;
    }
  }
  if (model_inputs_.contains(name)) {
    return invalid_argument(str(reader, ": needs the model's input '", name,
                                "', which 'inputs' does not list; add it or cut behind it"));
  }
  return invalid_model(str(reader, ": reads '", name,
                           "', which is neither an input nor a constant nor the output of a node"));
}

Status OnnxImporter::import_nodes(Scope& scope, const NodeList& nodes,
                                  const std::vector<std::string>& wanted) {
  std::set<std::string> known;
  for (const auto& [name, binding] : scope.values) known.insert(name);
  for (const auto& [name, tensor] : scope.constants) known.insert(name);
  RK_ASSIGN(const auto order, order_nodes(nodes, wanted, known));
  for (const onnx::NodeProto* node : order) RK_TRY(import_node(scope, *node));
  return ok_status();
}

Status OnnxImporter::import_node(Scope& scope, const onnx::NodeProto& proto) {
  if (scope.depth > 0 && ++expanded_nodes_ > kMostExpandedNodes) {
    return unsupported(str(node_label(proto),
                           ": If, Loop and functions of this model expand to "
                           "more than ",
                           kMostExpandedNodes, " nodes"));
  }
  // Whatever the node needs and does not get makes its results unavailable, too.
  for (const std::string& name : proto.input()) {
    RK_ASSIGN(const Binding binding, look_up(scope, name, node_label(proto)));
    if (binding.available()) continue;
    if (!is_known(proto)) note_unsupported(scope, proto, "not supported");
    bind_unavailable(scope, proto, *binding.why);
    return ok_status();
  }
  const Status status = dispatch(scope, proto);
  if (status.code() != Code::kUnsupported) return status;
  note_unsupported(scope, proto, status.message());
  bind_unavailable(scope, proto, status.message());
  return ok_status();
}

bool OnnxImporter::is_known(const onnx::NodeProto& proto) const {
  if (find_function(proto) != nullptr) return true;
  const std::string domain = normalized_domain(proto.domain());
  if (converts_operator(domain, proto.op_type())) return true;
  const std::string& op = proto.op_type();
  if (graph_.registry().find(custom_name(op)) != nullptr) return true;
  if (domain == kOwnDomain) return graph_.registry().find(op) != nullptr;
  if (is_flex_attention(proto)) return true;
  if (!domain.empty()) {
    // Operators the user registered go by their name alone; a standard name in a foreign domain is something else.
    return ops::registry().find(op) == nullptr && graph_.registry().find(op) != nullptr;
  }
  return op == "Constant" || op == "If" || op == "Loop" || op == "Scan" ||
         find_container_op(op) != nullptr || graph_.registry().find(op) != nullptr;
}

Status OnnxImporter::dispatch(Scope& scope, const onnx::NodeProto& proto) {
  if (const onnx::FunctionProto* function = find_function(proto)) {
    return import_call(scope, proto, *function);
  }
  const std::string& op = proto.op_type();
  if (!is_known(proto)) return unsupported("not supported");
  if (normalized_domain(proto.domain()).empty()) {
    if (op == "Constant") return import_constant(scope, proto);
    if (op == "If") return import_if(scope, proto);
    if (op == "Loop") return import_loop(scope, proto);
    if (op == "Scan") return import_scan(scope, proto);
    if (const ContainerOp container = find_container_op(op))
      return (this->*container)(scope, proto);
    if (op == "Identity" && touches_containers(scope, proto)) return import_optional(scope, proto);
  }
  if (is_flex_attention(proto)) return import_flex_attention(scope, proto);
  return import_operator(scope, proto);
}

Result<NodeDraft> OnnxImporter::draft_of(Scope& scope, const onnx::NodeProto& proto) {
  NodeDraft draft;
  draft.op = proto.op_type();
  draft.name = node_name(scope, proto);
  RK_ASSIGN(draft.opset, opset_of(scope, normalized_domain(proto.domain()), node_label(proto)));
  for (const std::string& name : proto.input()) {
    RK_ASSIGN(const Binding binding, look_up(scope, name, node_label(proto)));
    if (binding.is_sequence()) {
      return unsupported(str(node_label(proto), ": its input '", name, "' is a sequence"));
    }
    draft.inputs.push_back(binding.value);
  }
  for (const std::string& name : proto.output()) {
    draft.outputs.push_back(name.empty() ? "" : result_name(scope, name));
  }
  RK_ASSIGN(draft.attrs, import_attributes(proto, scope.attrs, base_dir_, node_label(proto)));
  return draft;
}

Status OnnxImporter::import_operator(Scope& scope, const onnx::NodeProto& proto) {
  RK_ASSIGN(NodeDraft draft, draft_of(scope, proto));
  // The user's functions see the node as the model has it; a mark on a standard operator is put on its newest form.
  const std::string custom = custom_name(proto.op_type());
  const OpDef* const own = graph_.registry().find(custom);
  if (own == nullptr || !ops::takes_any_attribute(*own))
    RK_TRY(convert_to_newest(normalized_domain(proto.domain()), draft, builder_));
  if (own != nullptr && draft.op == proto.op_type()) draft.op = custom;
  if (graph_.registry().find(draft.op) == nullptr) return unsupported("not supported");
  const OpDef& def = *graph_.registry().find(draft.op);
  const bool counted = !draft.outputs.empty() && ops::may_be_padded(def, draft.inputs);
  if (counted) {
    draft.outputs.resize(def.outputs.size());
    draft.outputs.back() = draft.outputs[0] + "/count";
  }
  const std::vector<Value*> extra = draft.extra_results;
  RK_ASSIGN(std::vector<Value*> results, builder_.emit(std::move(draft)));
  if (counted && !results.back()->is_constant()) counts_.push_back(results.back());
  results.insert(results.end(), extra.begin(), extra.end());
  return bind_results(scope, proto, results);
}

Status OnnxImporter::import_constant(Scope& scope, const onnx::NodeProto& proto) {
  RK_ASSIGN(NodeDraft draft, draft_of(scope, proto));
  const std::string label = node_label(proto);
  if (draft.attrs.size() != 1 || draft.outputs.size() != 1) {
    return invalid_model(str(label, ": one attribute and one output expected, ", draft.attrs.size(),
                             " and ", draft.outputs.size(), " found"));
  }
  const auto& [name, attr] = *draft.attrs.begin();
  Tensor tensor;
  if (const auto* value = std::get_if<Tensor>(&attr)) {
    tensor = *value;
  } else if (const auto* f = std::get_if<float>(&attr)) {
    tensor = Tensor::scalar(*f);
  } else if (const auto* i = std::get_if<int64_t>(&attr)) {
    tensor = Tensor::i64({}, {*i});
  } else if (const auto* floats = std::get_if<std::vector<float>>(&attr)) {
    tensor = Tensor::f32({static_cast<int64_t>(floats->size())}, *floats);
  } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&attr)) {
    tensor = Tensor::i64({static_cast<int64_t>(ints->size())}, *ints);
  } else {
    return unsupported(str(label, ": text constants ('", name, "') are not supported"));
  }
  return bind_results(scope, proto, {builder_.constant(draft.outputs[0], std::move(tensor))});
}

Status OnnxImporter::bind_results(Scope& scope, const onnx::NodeProto& proto,
                                  const std::vector<Value*>& results) {
  for (int i = 0; i < proto.output_size(); ++i) {
    const std::string& name = proto.output(i);
    if (name.empty()) continue;
    Binding binding;
    if (static_cast<size_t>(i) < results.size()) {
      binding.value = results[static_cast<size_t>(i)];
      if (scope.depth == 0) compare_with_declared(name, *binding.value);
    } else {
      binding.why = std::make_shared<const std::string>(
          str(node_label(proto), ": output ", i, " '", name, "' is not offered"));
    }
    scope.values[name] = binding;
  }
  return ok_status();
}

void OnnxImporter::bind_unavailable(Scope& scope, const onnx::NodeProto& proto,
                                    const std::string& why) {
  const auto shared = std::make_shared<const std::string>(why);
  for (const std::string& name : proto.output()) {
    if (!name.empty()) scope.values[name] = {nullptr, shared};
  }
}

std::string OnnxImporter::cut_advice(Scope& scope, const onnx::NodeProto& proto) {
  if (scope.depth != 0) return {};
  std::string names;
  for (const std::string& name : proto.input()) {
    const auto it = scope.values.find(name);
    if (it == scope.values.end() || it->second.value == nullptr) continue;
    if (it->second.value->is_constant() || graph_.is_input(*it->second.value)) continue;
    names += str(names.empty() ? "'" : ", '", name, "'");
  }
  return names.empty() ? "" : str("; cut the graph before it with outputs=[", names, "]");
}

void OnnxImporter::note_unsupported(Scope& scope, const onnx::NodeProto& proto,
                                    const std::string& message) {
  if (!noted_.insert(&proto).second) return;  // a Loop meets the same node again
  const std::string domain = normalized_domain(proto.domain());
  const auto opset = opset_of(scope, domain, "");
  const std::string name = node_name(scope, proto);
  const std::string label = str("node '", name, "' (", proto.op_type(), ", ",
                                domain.empty() ? "" : str("domain '", domain, "', "), "opset ",
                                opset.ok() ? *opset : 0, ")");
  // Messages of lower layers begin with this label or a shorter one of their own.
  std::string_view reason = message;
  for (const std::string& own :
       {str(label, ": "), str("node '", name, "' (", proto.op_type(), "): ")}) {
    if (reason.starts_with(own)) reason.remove_prefix(own.size());
  }
  // Classical machine learning behind or before a network.
  const std::string_view advice =
      domain == "ai.onnx.ml"
          ? " (of 'ai.onnx.ml', numbers are taken, texts and maps are not; export the model "
            "without them and run them in the application)"
          : "";
  unsupported_.push_back(str(label, ": ", reason, advice, cut_advice(scope, proto)));
}

void OnnxImporter::compare_with_declared(const std::string& name, const Value& value) {
  const onnx::TypeProto* declared = declared_type(name);
  if (declared == nullptr || !declared->has_tensor_type()) return;
  const auto& tensor = declared->tensor_type();
  const auto dtype = dtype_from_onnx(tensor.elem_type());
  bool differs = dtype && *dtype != DType::kUndefined &&
                 computing_dtype(*dtype) != computing_dtype(value.dtype());
  std::string extents;
  if (tensor.has_shape() && !shapes_overridden_) {
    const auto& dims = tensor.shape().dim();
    differs |= dims.size() != value.shape().rank();
    for (int i = 0; i < dims.size(); ++i) {
      const bool fixed = dims[i].has_dim_value() && dims[i].dim_value() >= 0;
      extents += str(i == 0 ? "" : ",", fixed ? str(dims[i].dim_value()) : "?");
      differs |= fixed && i < value.shape().rank() && dims[i].dim_value() != value.shape()[i];
    }
  }
  if (!differs) return;
  log(LogLevel::kWarning,
      str("the model says that '", name, "' is ", dtype ? to_string(*dtype) : "?", "[", extents,
          "], but it is ", to_string(value.type()), "; the model's remark is ignored"));
}

}  // namespace rk::frontends
