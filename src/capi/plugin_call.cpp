// SPDX-License-Identifier: Apache-2.0
// openrknn_plugin.h: operators of plug-in libraries for callers without a context.
#include <algorithm>
#include <cstring>
#include <set>

#include "capi/custom_op.h"
#include "capi/guard.h"

namespace rk::capi {
namespace {

using Attrs = std::vector<std::pair<std::string, FlatAttr>>;

constexpr uint32_t kMaxTensors = 1024, kMaxAttrs = 1024;

std::string type_of(const rknn_custom_op& op) {
  return {op.op_type, strnlen(op.op_type, sizeof op.op_type)};
}

Status check(const openrknn_node* node) {
  if (node == nullptr || node->op_type == nullptr || node->node_name == nullptr)
    return invalid_argument("node, its op_type or its name is NULL");
  if (node->n_inputs > kMaxTensors || node->n_outputs > kMaxTensors || node->n_attrs > kMaxAttrs)
    return invalid_argument(str("node '", node->node_name, "' has ", node->n_inputs, " inputs, ",
                                node->n_outputs, " outputs and ", node->n_attrs,
                                " attributes; at most ", kMaxTensors, " of each"));
  if ((node->n_inputs != 0 && node->inputs == nullptr) ||
      (node->n_outputs != 0 && node->outputs == nullptr) ||
      (node->n_attrs != 0 && node->attrs == nullptr))
    return invalid_argument(str("node '", node->node_name, "': a list is NULL"));
  return ok_status();
}

Result<Plugin> find_plugin(const openrknn_node& node) {
  for (const Plugin& plugin : plugin_operators()) {
    if (type_of(plugin.op) == node.op_type) return plugin;
  }
  return unsupported(
      str("node '", node.node_name, "': no plug-in library has the operator '", node.op_type, "'"));
}

Result<TensorType> tensor_type(const openrknn_tensor& tensor) {
  const auto dtype = dtype_from_onnx(tensor.type);
  if (!dtype || tensor.n_dims > OPENRKNN_MAX_DIMS)
    return invalid_argument(
        str("type ", tensor.type, " with ", tensor.n_dims, " dimensions is none that ONNX has"));
  RK_ASSIGN(const Shape shape, Shape::make({tensor.dims, tensor.dims + tensor.n_dims}));
  return TensorType{*dtype, shape};
}

std::shared_ptr<runtime::CustomNode> bare_node(const openrknn_node& node) {
  auto out = std::make_shared<runtime::CustomNode>();
  out->name = node.node_name;
  out->type = node.op_type;
  return out;
}

Result<Attrs> attributes(const openrknn_node& node) {
  Attrs out;
  for (uint32_t i = 0; i < node.n_attrs; ++i) {
    const openrknn_attr& attr = node.attrs[i];
    const auto dtype = dtype_from_onnx(attr.type);
    if (attr.name == nullptr || !dtype || (attr.size != 0 && attr.data == nullptr) ||
        attr.size != uint64_t{attr.n_elems} * byte_size(*dtype))
      return invalid_argument(str("attribute ", i, " of node '", node.node_name,
                                  "' has a type, size and data that do not agree"));
    const auto* const bytes = static_cast<const uint8_t*>(attr.data);
    out.emplace_back(attr.name, FlatAttr{*dtype, attr.n_elems, {bytes, bytes + attr.size}});
  }
  out.emplace_back("name", flat_attr(std::string(node.node_name)));
  return out;
}

// The node's tensors in memory of their own, as callbacks expect it: with a file descriptor where a GPU may want one.
Status add_operands(const openrknn_tensor* tensors, uint32_t count, bool copy,
                    std::vector<runtime::CustomOperand>& out) {
  for (uint32_t i = 0; i < count; ++i) {
    runtime::CustomOperand operand;
    operand.name = tensors[i].name == nullptr ? "" : tensors[i].name;
    if (tensors[i].type != 0) {
      RK_ASSIGN(operand.type, tensor_type(tensors[i]));
      RK_ASSIGN(const uint64_t size_bytes, checked_byte_size(operand.type));
      if (size_bytes != 0 && tensors[i].data == nullptr)
        return invalid_argument(str("tensor '", operand.name, "' has no data"));
      RK_ASSIGN(operand.memory, runtime::DeviceMemory::allocate(std::max<uint64_t>(size_bytes, 1)));
      if (copy && size_bytes != 0) std::memcpy(operand.memory->data(), tensors[i].data, size_bytes);
    }
    out.push_back(std::move(operand));
  }
  return ok_status();
}

Status infer(const openrknn_node& node) {
  RK_ASSIGN(const Plugin plugin, find_plugin(node));
  if (plugin.infer_shapes == nullptr) {
    if (node.n_inputs == 0 || node.inputs[0].type == 0)
      return unsupported(str("node '", node.node_name, "': the plug-in for '", node.op_type,
                             "' exports no openrknn_infer_shapes, and the node has no first input "
                             "to take the shape of"));
    for (uint32_t i = 0; i < node.n_outputs; ++i) {
      node.outputs[i].type = node.inputs[0].type;
      node.outputs[i].n_dims = node.inputs[0].n_dims;
      std::copy_n(node.inputs[0].dims, OPENRKNN_MAX_DIMS, node.outputs[i].dims);
    }
    return ok_status();
  }
  RK_ASSIGN(Attrs attrs, attributes(node));
  const int code = infer_once(plugin.op, bare_node(node), std::move(attrs),
                              [&](rknn_custom_op_context* context) {
                                return plugin.infer_shapes(context, node.inputs, node.n_inputs,
                                                           node.outputs, node.n_outputs);
                              });
  if (code != 0)
    return invalid_argument(str("node '", node.node_name, "': openrknn_infer_shapes of '",
                                node.op_type, "' returned ", code));
  for (uint32_t i = 0; i < node.n_outputs; ++i) {
    const auto type = tensor_type(node.outputs[i]);
    if (!type.ok())
      return type.status().with_context(str("node '", node.node_name,
                                            "': openrknn_infer_shapes of '", node.op_type,
                                            "', output ", i));
  }
  return ok_status();
}

Status compute(const openrknn_node& node) {
  RK_ASSIGN(const Plugin plugin, find_plugin(node));
  RK_ASSIGN(Attrs attrs, attributes(node));
  const auto custom = bare_node(node);
  RK_TRY(add_operands(node.inputs, node.n_inputs, true, custom->inputs));
  RK_TRY(add_operands(node.outputs, node.n_outputs, false, custom->outputs));
  RK_TRY(compute_once(plugin.op, custom, std::move(attrs)));
  for (uint32_t i = 0; i < node.n_outputs; ++i) {
    const runtime::CustomOperand& output = custom->outputs[i];
    if (output.memory == nullptr) continue;
    RK_ASSIGN(const uint64_t size_bytes, checked_byte_size(output.type));
    if (size_bytes != 0) std::memcpy(node.outputs[i].data, output.memory->data(), size_bytes);
  }
  return ok_status();
}

}  // namespace
}  // namespace rk::capi

uint32_t openrknn_plugin_types(const char** types, uint32_t capacity) {
  uint32_t count = 0;
  rk::capi::guarded("openrknn_plugin_types", [&]() -> rk::Status {
    // Never freed: the texts stay the caller's.
    static std::mutex mutex;
    static auto* const names = new std::set<std::string>;
    const std::lock_guard lock(mutex);
    for (const rk::capi::Plugin& plugin : rk::capi::plugin_operators()) {
      const auto name = names->insert(rk::capi::type_of(plugin.op)).first;
      if (types != nullptr && count < capacity) types[count] = name->c_str();
      ++count;
    }
    return rk::ok_status();
  });
  return count;
}

int openrknn_plugin_infer(const openrknn_node* node) {
  return rk::capi::guarded("openrknn_plugin_infer", [&]() -> rk::Status {
    RK_TRY(rk::capi::check(node));
    return rk::capi::infer(*node);
  });
}

int openrknn_plugin_compute(const openrknn_node* node) {
  return rk::capi::guarded("openrknn_plugin_compute", [&]() -> rk::Status {
    RK_TRY(rk::capi::check(node));
    return rk::capi::compute(*node);
  });
}
