// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/export.h"

#include <limits>

#include "frontends/onnx/rk_onnx.pb.h"

namespace rk::frontends {
namespace {

// The vocabulary the IR speaks, and the IR version of the format that goes with it.
constexpr int64_t kOpset = 23;
constexpr int64_t kIrVersion = 11;

bool is_ours(std::string_view op) { return op.starts_with("ex") || op == "FusedConv"; }

// Elements of less than a byte are packed in files, the first in the low bits.
std::string raw_bytes(const Tensor& tensor) {
  const ByteSpan bytes = tensor.bytes();
  const int bits = bit_width(tensor.dtype());
  if (bits >= 8) return {bytes.begin(), bytes.end()};
  const auto per_byte = static_cast<size_t>(8 / bits);
  std::string out((bytes.size() + per_byte - 1) / per_byte, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int code = (bytes[i] & ((1 << bits) - 1)) << (static_cast<int>(i % per_byte) * bits);
    out[i / per_byte] = static_cast<char>(out[i / per_byte] | code);
  }
  return out;
}

void write_tensor(const Tensor& tensor, const std::string& name, onnx::TensorProto& out) {
  out.set_name(name);
  out.set_data_type(static_cast<int32_t>(tensor.dtype()));
  for (const int64_t extent : tensor.shape().dims()) out.add_dims(extent);
  out.set_raw_data(raw_bytes(tensor));
}

struct AttributeWriter {
  onnx::AttributeProto& out;
  // AttributeProto.type, numbered as in the proto file.
  void operator()(float value) {
    out.set_type(1);
    out.set_f(value);
  }
  void operator()(int64_t value) {
    out.set_type(2);
    out.set_i(value);
  }
  void operator()(const std::string& value) {
    out.set_type(3);
    out.set_s(value);
  }
  void operator()(const Tensor& value) {
    out.set_type(4);
    write_tensor(value, "", *out.mutable_t());
  }
  void operator()(const std::vector<float>& values) {
    out.set_type(6);
    for (const float value : values) out.add_floats(value);
  }
  void operator()(const std::vector<int64_t>& values) {
    out.set_type(7);
    for (const int64_t value : values) out.add_ints(value);
  }
  void operator()(const std::vector<std::string>& values) {
    out.set_type(8);
    for (const std::string& value : values) out.add_strings(value);
  }
};

void write_node(const Node& node, onnx::NodeProto& out) {
  out.set_name(node.name());
  out.set_op_type(std::string(node.op()));
  if (is_ours(node.op())) out.set_domain(std::string(kOwnDomain));
  for (const Value* input : node.inputs()) out.add_input(input == nullptr ? "" : input->name());
  for (const Value* output : node.outputs()) out.add_output(output->name());
  for (const auto& [name, value] : node.attrs()) {
    onnx::AttributeProto& attribute = *out.add_attribute();
    attribute.set_name(name);
    std::visit(AttributeWriter{attribute}, value);
  }
}

void write_type(const Value& value, onnx::ValueInfoProto& out) {
  out.set_name(value.name());
  auto& type = *out.mutable_type()->mutable_tensor_type();
  type.set_elem_type(static_cast<int32_t>(value.dtype()));
  auto& shape = *type.mutable_shape();
  for (const int64_t extent : value.shape().dims()) shape.add_dim()->set_dim_value(extent);
}

}  // namespace

Result<std::vector<uint8_t>> export_onnx_model(const Graph& graph) {
  onnx::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("openrknn");
  model.add_opset_import()->set_version(kOpset);
  auto& own = *model.add_opset_import();
  own.set_domain(std::string(kOwnDomain));
  own.set_version(1);
  onnx::GraphProto& out = *model.mutable_graph();
  out.set_name(graph.name.empty() ? "graph" : graph.name);
  for (const Value* input : graph.inputs()) write_type(*input, *out.add_input());
  for (const Value* output : graph.outputs()) write_type(*output, *out.add_output());
  for (const Value* value : graph.values()) {
    if (value->is_constant())
      write_tensor(value->constant(), value->name(), *out.add_initializer());
    const bool is_inner = value->producer() != nullptr && !graph.is_output(*value);
    if (is_inner) write_type(*value, *out.add_value_info());
  }
  for (const Node* node : graph.nodes()) write_node(*node, *out.add_node());
  const size_t size_bytes = model.ByteSizeLong();
  if (size_bytes > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    return unsupported(str("the graph takes ", size_bytes, " bytes, an ONNX file ends at 2 GiB"));
  }
  std::vector<uint8_t> bytes(size_bytes);
  if (!model.SerializeToArray(bytes.data(), static_cast<int>(bytes.size())))
    return invalid_model("the graph cannot be written as an ONNX file");
  return bytes;
}

}  // namespace rk::frontends
