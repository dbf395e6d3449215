// SPDX-License-Identifier: Apache-2.0
// What happens once per model: parsing, choosing inputs and outputs, the final report.
#include <algorithm>
#include <limits>

#include "base/log.h"
#include "base/suggest.h"
#include "frontends/graph_import.h"
#include "frontends/onnx/importer.h"
#include "frontends/onnx/tensor_data.h"

namespace rk::frontends {
namespace {

std::string quoted_list(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += str(out.empty() ? "'" : ", '", name, "'");
  return out;
}

// "[batch,3,?,640]" for messages.
std::string declared_extents(const onnx::TensorShapeProto& shape) {
  std::string out = "[";
  for (int i = 0; i < shape.dim_size(); ++i) {
    const auto& dim = shape.dim(i);
    out += i == 0 ? "" : ",";
    out += dim.has_dim_value()       ? str(dim.dim_value())
           : dim.dim_param().empty() ? "?"
                                     : dim.dim_param();
  }
  return out + "]";
}

// The declared extents with plausible numbers for the open ones.
std::string example_shape(const onnx::TensorShapeProto& shape) {
  if (shape.dim_size() == 0) return "[1,3,224,224]";
  std::string out = "[";
  for (int i = 0; i < shape.dim_size(); ++i) {
    const bool is_open = !shape.dim(i).has_dim_value() || shape.dim(i).dim_value() <= 0;
    const int64_t plausible = i == 0 ? 1 : 224;
    out += str(i == 0 ? "" : ",", is_open ? plausible : shape.dim(i).dim_value());
  }
  return out + "]";
}

// The declared extents, or nothing when one is not a number. Some exporters write 0 or -1 for unknown.
std::optional<std::vector<int64_t>> static_dims(const onnx::TypeProto* type) {
  if (type == nullptr || !type->has_tensor_type() || !type->tensor_type().has_shape()) {
    return std::nullopt;
  }
  std::vector<int64_t> out;
  for (const auto& dim : type->tensor_type().shape().dim()) {
    if (!dim.has_dim_value() || dim.dim_value() <= 0) return std::nullopt;
    out.push_back(dim.dim_value());
  }
  return out;
}

// Where tensors that the file leaves outside are looked for; empty: nowhere.
std::string folder_of(const std::string& path) {
  if (path.empty()) return {};
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

}  // namespace

const onnx::TypeProto* OnnxImporter::declared_type(const std::string& name) const {
  const auto it = declared_.find(name);
  return it == declared_.end() ? nullptr : it->second;
}

Status OnnxImporter::check_option_sizes(size_t input_count) const {
  const auto check = [&](size_t found, std::string_view option) -> Status {
    if (found == 0 || found == input_count) return ok_status();
    return invalid_argument(str(option, " has ", found, " entries, but there are ", input_count,
                                " inputs: ", quoted_list(input_names_)));
  };
  RK_TRY(check(options_.input_shapes.size(), "input_size_list"));
  return check(options_.input_initial_values.size(), "input_initial_val");
}

// "; its inputs are 'x', 'y'", so that nobody has to open the model to learn them.
static std::string own_names(const onnx::GraphProto& graph, std::string_view option) {
  constexpr int kMost = 8;
  std::string names;
  const auto add = [&](const auto& list) {
    for (int i = 0; i < std::min(list.size(), kMost); ++i)
      names += str(names.empty() ? "'" : ", '", list[i].name(), "'");
    if (list.size() > kMost) names += ", ...";
  };
  option == "inputs" ? add(graph.input()) : add(graph.output());
  return names.empty() ? "" : str("; its ", option, " are ", names);
}

Status OnnxImporter::check_names(const std::vector<std::string>& names,
                                 std::string_view option) const {
  if (names.empty()) return ok_status();
  std::vector<std::string> all;
  for (const auto& node : proto_.node()) {
    all.insert(all.end(), node.output().begin(), node.output().end());
  }
  for (const auto& input : proto_.input()) all.push_back(input.name());
  for (const auto& constant : proto_.initializer()) all.push_back(constant.name());
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      return invalid_argument(str("'", name, "' stands twice in '", option, "'"));
    }
    if (!name.empty() && std::ranges::find(all, name) != all.end()) continue;
    std::string advice = close_names(name, all);
    advice = advice.empty() ? own_names(proto_, option) : str("; close names: ", advice);
    for (const auto& node : proto_.node()) {
      if (node.name() != name || node.output_size() == 0) continue;
      advice = str("; a node has this name, its output is '", node.output(0), "'");
    }
    return invalid_argument(
        str("'", option, "' names '", name, "', but the model has no such tensor", advice));
  }
  return ok_status();
}

Result<TensorType> OnnxImporter::inferred_type(const std::string& name) {
  ImportOptions prefix;
  prefix.outputs = {name};
  RK_ASSIGN(const Graph graph, OnnxImporter(model_, base_dir_, prefix, graph_.registry()).run());
  return graph.outputs()[0]->type();
}

Result<TensorType> OnnxImporter::input_type(const std::string& name, size_t index) {
  const std::string what = str("input '", name, "'");
  const onnx::TypeProto* declared = declared_type(name);
  // An optional is taken as present unless the options say otherwise.
  if (declared != nullptr && declared->has_optional_type()) {
    declared = &declared->optional_type().elem_type();
  }
  if (declared != nullptr && declared->has_sequence_type()) {
    return unsupported(str(what, ": it is a sequence; how many elements it holds is not known"));
  }
  TensorType type;
  std::optional<std::vector<int64_t>> dims = static_dims(declared);
  if (declared != nullptr && declared->has_tensor_type()) {
    RK_ASSIGN(type.dtype, import_dtype(declared->tensor_type().elem_type(), what));
  }
  const std::vector<int64_t>* given = nullptr;
  if (index < options_.input_shapes.size() && !options_.input_shapes[index].empty()) {
    given = &options_.input_shapes[index];
  }
  const Tensor* initial = nullptr;
  if (index < options_.input_initial_values.size() && options_.input_initial_values[index]) {
    initial = &*options_.input_initial_values[index];
  }
  const bool is_told = given != nullptr || initial != nullptr;
  // Exporters write a shape without extents for "any shape" as well as for a scalar.
  if (is_told && dims && dims->empty()) dims.reset();
  if (type.dtype == DType::kUndefined || (!dims && !is_told)) {
    // A tensor in the middle of the graph that the file does not describe.
    if (!model_inputs_.contains(name)) {
      if (const auto inferred = inferred_type(name); inferred.ok()) {
        type.dtype = inferred->dtype;
        dims.emplace(inferred->shape.dims().begin(), inferred->shape.dims().end());
      }
    }
    if (type.dtype == DType::kUndefined) type.dtype = DType::kF32;
  }
  if (given != nullptr) {
    if (dims && dims->size() != given->size()) {
      return invalid_argument(str(what, ": input_size_list gives ", given->size(),
                                  " extents, the model says ", dims->size()));
    }
    shapes_overridden_ |= !dims || *dims != *given;
    dims = *given;
  } else if (initial != nullptr && !dims) {
    dims.emplace(initial->shape().dims().begin(), initial->shape().dims().end());
    shapes_overridden_ = true;
  }
  if (!dims) {
    const bool has_shape = declared != nullptr && declared->tensor_type().has_shape();
    const onnx::TensorShapeProto none;
    const auto& shape = has_shape ? declared->tensor_type().shape() : none;
    return invalid_argument(str(what, ": its shape is not fixed in the model (",
                                has_shape ? declared_extents(shape) : "no shape at all",
                                "); pass it in input_size_list, for example input_size_list=[",
                                example_shape(shape), "]"));
  }
  auto shape = Shape::make(*dims);
  if (!shape.ok()) return shape.status().with_context(what);
  type.shape = *shape;
  return type;
}

Status OnnxImporter::add_inputs() {
  input_names_ = options_.inputs;
  if (input_names_.empty()) {
    for (const auto& input : proto_.input()) {
      if (!main_.constants.contains(input.name())) input_names_.push_back(input.name());
    }
  }
  RK_TRY(check_option_sizes(input_names_.size()));
  // Ending earlier leaves inputs behind that nothing needs; one whose shape is open must not be asked for.
  std::set<std::string> needed(input_names_.begin(), input_names_.end());
  if (options_.inputs.empty() && !options_.outputs.empty()) {
    std::set<std::string> known = needed;
    for (const auto& [name, tensor] : main_.constants) known.insert(name);
    RK_ASSIGN(const auto order, order_nodes(proto_.node(), output_names_, known));
    needed = {output_names_.begin(), output_names_.end()};
    for (const onnx::NodeProto* node : order) {
      for (std::string& name : names_read(*node)) needed.insert(std::move(name));
    }
  }
  for (size_t i = 0; i < input_names_.size(); ++i) {
    if (needed.contains(input_names_[i])) RK_TRY(add_input(input_names_[i], i));
  }
  return ok_status();
}

Status OnnxImporter::add_input(const std::string& name, size_t index) {
  const onnx::TypeProto* declared = declared_type(name);
  if (options_.container_inputs.contains(name) && declared != nullptr) {
    return add_container_input(name, *declared);
  }
  RK_ASSIGN(TensorType type, input_type(name, index));
  main_.constants.erase(name);
  if (index < options_.input_initial_values.size() && options_.input_initial_values[index]) {
    RK_ASSIGN(Tensor initial, initial_value(*options_.input_initial_values[index], name, type));
    main_.values[name] = {builder_.constant(name, std::move(initial)), nullptr, nullptr};
    return ok_status();
  }
  type.dtype = computing_dtype(type.dtype);
  RK_ASSIGN(Value* const input, graph_.add_input(name, type));
  main_.values[name] = {input, nullptr, nullptr};
  return ok_status();
}

Status OnnxImporter::add_container_input(const std::string& name, const onnx::TypeProto& type) {
  const std::vector<TensorType>& types = options_.container_inputs.at(name);
  const bool optional = type.has_optional_type();
  const onnx::TypeProto& inner = optional ? type.optional_type().elem_type() : type;
  if (optional && types.empty()) {
    main_.values[name] = {};
    return ok_status();
  }
  std::vector<Binding> elements;
  for (size_t i = 0; i < types.size(); ++i) {
    const TensorType element{computing_dtype(types[i].dtype), types[i].shape};
    RK_ASSIGN(Value* const value, graph_.add_input(str(name, "_", i), element));
    elements.push_back({value, nullptr, nullptr});
  }
  if (!inner.has_sequence_type()) {
    return invalid_argument(str("input '", name, "' is no sequence, but 'container_inputs' gives ",
                                types.size(), " elements"));
  }
  main_.values[name] = {nullptr, nullptr, std::make_shared<std::vector<Binding>>(elements)};
  return ok_status();
}

Status OnnxImporter::add_output(const std::string& name, Value* value) {
  if (value->name() != name || graph_.is_output(*value)) {
    // The name may have gone to a value inside a function or a loop.
    if (Value* other = graph_.find(name)) graph_.rename(other, graph_.unique_name(name + "/inner"));
    const bool is_free = !graph_.is_output(*value) && !graph_.is_input(*value) &&
                         std::ranges::find(output_names_, value->name()) == output_names_.end();
    if (is_free) {
      graph_.rename(value, name);
    } else {
      RK_ASSIGN(const Node* copy, graph_.add_node({"Identity", name, {value}, {name}, {}}));
      value = &copy->output();
    }
  }
  return graph_.add_output(value);
}

Status OnnxImporter::add_outputs() {
  std::vector<std::pair<std::string, Binding>> found;
  std::string first_reason;
  for (const std::string& name : output_names_) {
    RK_ASSIGN(Binding binding, look_up(main_, name, str("output '", name, "'")));
    if (!binding.available() && first_reason.empty()) first_reason = *binding.why;
    found.emplace_back(name, std::move(binding));
  }
  if (!first_reason.empty()) {
    constexpr size_t kMostLines = 30;
    if (unsupported_.empty()) return unsupported(first_reason);
    if (unsupported_.size() == 1) return unsupported(unsupported_[0]);
    std::string message = str(unsupported_.size(), " nodes cannot be imported:");
    for (size_t i = 0; i < std::min(unsupported_.size(), kMostLines); ++i) {
      message += str("\n  ", unsupported_[i]);
    }
    if (unsupported_.size() > kMostLines) {
      message += str("\n  and ", unsupported_.size() - kMostLines, " more");
    }
    return unsupported(std::move(message));
  }
  for (auto& [name, binding] : found) {
    if (binding.is_sequence()) {
      for (size_t i = 0; i < binding.elements->size(); ++i) {
        Value* const element = (*binding.elements)[i].value;
        if (element == nullptr) {
          return unsupported(str("output '", name, "': element ", i, " is no tensor"));
        }
        RK_TRY(add_output(str(name, "_", i), element));
      }
      continue;
    }
    const onnx::TypeProto* declared = declared_type(name);
    if (binding.is_absent() && declared != nullptr && declared->has_optional_type()) continue;
    if (binding.value == nullptr) return invalid_model(str("output '", name, "' has no value"));
    RK_TRY(add_output(name, binding.value));
  }
  return ok_status();
}

Result<Graph> OnnxImporter::run() {
  graph_.name = proto_.name();
  RK_TRY(prepare_names());
  RK_TRY(check_names(options_.inputs, "inputs"));
  RK_TRY(check_names(options_.outputs, "outputs"));
  output_names_ = options_.outputs;
  if (output_names_.empty()) {
    for (const auto& output : proto_.output()) output_names_.push_back(output.name());
  }
  if (output_names_.empty()) return invalid_model("the model's graph has no outputs");
  RK_TRY(add_inputs());
  RK_TRY(import_nodes(main_, proto_.node(), output_names_));
  RK_TRY(add_outputs());
  for (Value* count : counts_) {
    log(LogLevel::kInfo, str("output '", count->name(), "' says how many entries of '",
                             count->producer()->output().name(), "' are real"));
    RK_TRY(add_output(count->name(), count));
  }
  graph_.remove_unused();
  RK_TRY(verify(graph_));
  return std::move(graph_);
}

Result<Imported> import_onnx_files(std::span<const ModelFile> files, const ImportOptions& options,
                                   const OpRegistry& registry) {
  const ByteSpan bytes = files[0].bytes;
  onnx::ModelProto model;
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    return invalid_model("an ONNX file cannot be larger than 2 GiB");
  }
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return invalid_model(str("the ", bytes.size(),
                             " bytes are no ONNX model: the file is "
                             "truncated, damaged, nested too deep or of another format"));
  }
  if (!model.has_graph()) {
    return invalid_model(
        "the file holds no ONNX graph; a TensorFlow .pb belongs to "
        "load_tensorflow, a .caffemodel to load_caffe");
  }
  RK_ASSIGN(Graph graph, OnnxImporter(model, folder_of(files[0].path), options, registry).run());
  return Imported{std::move(graph), {}};
}

}  // namespace rk::frontends
