// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/case_data.h"

#include <algorithm>

#include "base/file.h"
#include "base/json.h"
#include "frontends/onnx/rk_onnx.pb.h"
#include "frontends/onnx/tensor_data.h"
#include "quant/samples.h"

namespace rk::conformance {
namespace {

namespace fs = std::filesystem;

constexpr int kString = 8;  // TensorProto.data_type

template <typename Proto>
Result<Proto> read_proto(const fs::path& path) {
  RK_ASSIGN(const auto bytes, read_file(path.string()));
  Proto out;
  if (!out.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return invalid_model(str(path.filename().string(), " cannot be parsed"));
  }
  return out;
}

bool has_text(const onnx::TypeProto& type) {
  if (type.has_sequence_type()) return has_text(type.sequence_type().elem_type());
  if (type.has_optional_type()) return has_text(type.optional_type().elem_type());
  return type.tensor_type().elem_type() == kString;
}

bool is_sequence(const onnx::TypeProto& type) {
  return type.has_sequence_type() ||
         (type.has_optional_type() && is_sequence(type.optional_type().elem_type()));
}

bool trains(const onnx::NodeProto& node) {
  if (node.domain() == "ai.onnx.preview.training") return true;
  return std::ranges::any_of(node.attribute(), [](const auto& attribute) {
    return attribute.name() == "training_mode" && attribute.i() != 0;
  });
}

Scope scope_of(const onnx::ModelProto& model, const std::string& name) {
  const onnx::GraphProto& graph = model.graph();
  // Dropout is told by an input, so only the name says it.
  if (name.starts_with("test_training_") || std::ranges::any_of(graph.node(), trains)) {
    return Scope::kTraining;
  }
  for (const auto* list : {&graph.input(), &graph.output()}) {
    for (const auto& value : *list) {
      if (has_text(value.type())) return Scope::kText;
    }
  }
  const auto makes_sequence = [](const auto& value) { return is_sequence(value.type()); };
  return std::ranges::any_of(graph.output(), makes_sequence) ? Scope::kSequenceOutput
                                                             : Scope::kInference;
}

// The array in the shape the model declares: some tests give a single sample where only the type
// matters (CastLike).
Result<Tensor> in_declared_shape(Tensor tensor, const onnx::TypeProto& type) {
  std::vector<int64_t> dims;
  for (const auto& dim : type.tensor_type().shape().dim()) {
    if (!dim.has_dim_value()) return tensor;
    dims.push_back(dim.dim_value());
  }
  RK_ASSIGN(const Shape shape, Shape::make(dims));
  if (shape.rank() == tensor.shape().rank() || tensor.elements() != 1) return tensor;
  return Tensor::try_make({tensor.dtype(), shape});
}

// The bytes under the dtype the model declares, where the file could not say it.
Result<Tensor> as_declared(Tensor tensor, const onnx::TypeProto& type) {
  const auto declared = dtype_from_onnx(type.tensor_type().elem_type());
  const bool is_raw = tensor.dtype() == DType::kU16 || tensor.dtype() == DType::kU8;
  if (!declared || *declared == tensor.dtype() || !is_raw ||
      byte_size(*declared) != byte_size(tensor.dtype())) {
    return tensor;
  }
  return Tensor::from_bytes({*declared, tensor.shape()}, tensor.bytes());
}

Result<Item> read_item(const fs::path& path, const onnx::TypeProto& declared);

Result<Item> sequence_item(const onnx::SequenceProto& proto) {
  Item out;
  out.is_sequence = true;
  for (const auto& element : proto.tensor_values()) {
    RK_ASSIGN(Tensor tensor, frontends::import_tensor(element, "", "element"));
    out.tensors.push_back(std::move(tensor));
  }
  return out;
}

Result<Item> optional_item(const onnx::OptionalProto& proto) {
  if (proto.has_sequence_value()) return sequence_item(proto.sequence_value());
  Item out;
  if (proto.has_tensor_value()) {
    RK_ASSIGN(Tensor tensor, frontends::import_tensor(proto.tensor_value(), "", "value"));
    out.tensors.push_back(std::move(tensor));
  }
  return out;
}

Result<Item> read_item(const fs::path& path, const onnx::TypeProto& declared) {
  if (declared.has_sequence_type()) {
    RK_ASSIGN(const auto proto, read_proto<onnx::SequenceProto>(path));
    return sequence_item(proto);
  }
  if (declared.has_optional_type()) {
    RK_ASSIGN(const auto proto, read_proto<onnx::OptionalProto>(path));
    return optional_item(proto);
  }
  RK_ASSIGN(const auto proto, read_proto<onnx::TensorProto>(path));
  RK_ASSIGN(Tensor stored, frontends::import_tensor(proto, "", path.filename().string()));
  RK_ASSIGN(Tensor typed, as_declared(std::move(stored), declared));
  RK_ASSIGN(Tensor tensor, in_declared_shape(std::move(typed), declared));
  return Item{{std::move(tensor)}, false};
}

Result<Item> read_npy_item(const fs::path& path) {
  RK_ASSIGN(Tensor tensor, quant::load_npy_tensor(path.string()));
  return Item{{std::move(tensor)}, false};
}

using ValueList = google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>;

Status read_items(const CaseSource& source, const ValueList& values, std::string_view stem,
                  const std::vector<std::string>& files, std::vector<Item>& out) {
  for (int i = 0; i < values.size(); ++i) {
    if (!source.outputs.empty()) {
      if (static_cast<size_t>(i) >= files.size()) return ok_status();
      const fs::path path = source.folder / files[static_cast<size_t>(i)];
      RK_ASSIGN(Item item, path.extension() == ".npy" ? read_npy_item(path)
                                                      : read_item(path, values[i].type()));
      out.push_back(std::move(item));
      continue;
    }
    const fs::path path = source.folder / "test_data_set_0" / str(stem, "_", i, ".pb");
    if (!fs::exists(path)) return ok_status();
    RK_ASSIGN(Item item, read_item(path, values[i].type()));
    out.push_back(std::move(item));
  }
  return ok_status();
}

}  // namespace

std::vector<CaseSource> find_node_tests(const fs::path& folder) {
  std::vector<CaseSource> out;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (fs::exists(entry.path() / "model.onnx")) {
      out.push_back({.name = entry.path().filename(), .folder = entry.path()});
    }
  }
  std::ranges::sort(out, {}, &CaseSource::name);
  return out;
}

Result<std::vector<CaseSource>> find_layers(const fs::path& folder) {
  RK_ASSIGN(const auto bytes, read_file((folder / "index.json").string()));
  RK_ASSIGN(const Json root,
            parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  const auto texts = [](const Json& entry, std::string_view key) {
    std::vector<std::string> out;
    for (const Json& text : *entry.find(key)->as_array()) out.push_back(*text.as_string());
    return out;
  };
  std::vector<CaseSource> out;
  for (const Json& entry : *root.find("cases")->as_array()) {
    CaseSource source;
    source.name = *entry.find("name")->as_string();
    source.folder = folder / source.name;
    source.model_file = texts(entry, "files").at(0);
    source.inputs = texts(entry, "inputs");
    source.outputs = texts(entry, "outputs");
    out.push_back(std::move(source));
  }
  return out;
}

Status read_case(const CaseSource& source, Case& out) {
  out.name = source.name;
  out.model = source.folder / source.model_file;
  RK_ASSIGN(const auto model, read_proto<onnx::ModelProto>(out.model));
  const onnx::GraphProto& graph = model.graph();
  out.op = graph.node_size() == 1 ? graph.node(0).op_type() : "(several)";
  out.scope = scope_of(model, source.name);
  out.quantized = std::ranges::any_of(graph.node(), [](const onnx::NodeProto& node) {
    return node.op_type().starts_with("Q") || node.op_type().ends_with("Integer");
  });
  // Constants may stand among the inputs; those are no arrays of the case.
  ValueList inputs;
  for (const auto& input : graph.input()) {
    const bool is_constant = std::ranges::any_of(
        graph.initializer(), [&](const auto& tensor) { return tensor.name() == input.name(); });
    if (!is_constant || source.outputs.empty()) *inputs.Add() = input;
  }
  for (const auto& input : inputs) out.input_names.push_back(input.name());
  for (const auto& output : graph.output()) out.output_names.push_back(output.name());
  if (out.scope == Scope::kText) return unsupported("strings are not supported");
  RK_TRY(read_items(source, inputs, "input", source.inputs, out.inputs));
  return read_items(source, graph.output(), "output", source.outputs, out.outputs);
}

}  // namespace rk::conformance
