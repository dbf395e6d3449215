// SPDX-License-Identifier: Apache-2.0
#include "toolkit/plugins.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "base/log.h"
#include "ir/flat_attr.h"
#include "openrknn_plugin.h"
#include "ops/registry.h"

namespace rk::toolkit {
namespace {

struct Runtime {
  decltype(&openrknn_plugin_types) types = nullptr;
  decltype(&openrknn_plugin_infer) infer = nullptr;
  decltype(&openrknn_plugin_compute) compute = nullptr;

  bool complete() const { return types != nullptr && infer != nullptr && compute != nullptr; }
};

// The runtime library, loaded when a plug-in folder exists and not before. Its symbols are global, because plug-ins call
// rknn_custom_op_get_op_attr without always naming the library that has it.
const Runtime& runtime_library() {
  static const Runtime loaded = [] {
    Runtime out;
    void* const library = dlopen("librknnrt.so", RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) return out;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    };
    find(out.types, "openrknn_plugin_types");
    find(out.infer, "openrknn_plugin_infer");
    find(out.compute, "openrknn_plugin_compute");
    return out;
  }();
  return loaded;
}

bool has_folder() {
  if (const char* const list = secure_getenv("RKNN_OP_PLUGIN_DIR"); list != nullptr && *list != 0)
    return true;
  std::error_code ignored;
  return std::filesystem::is_directory("/usr/lib/rknpu/op_plugins", ignored);
}

openrknn_tensor described(const Value* value, const TensorType* type, void* data) {
  openrknn_tensor out{};
  out.name = value == nullptr ? "" : value->name().c_str();
  if (type == nullptr) return out;
  out.type = static_cast<int32_t>(type->dtype);
  out.data = data;
  for (const int64_t extent : type->shape.dims()) {
    if (out.n_dims < OPENRKNN_MAX_DIMS) out.dims[out.n_dims++] = extent;
  }
  return out;
}

// A node for the runtime; it points into the graph's node and into what it holds itself.
class Call {
 public:
  Call(const std::string& type, const Node& node) : type_(type), name_(node.name()) {
    for (const auto& [name, attr] : node.attrs()) values_.emplace_back(&name, flat_attr(attr));
    for (const auto& [name, value] : values_) {
      attrs_.push_back({name->c_str(), static_cast<int32_t>(value.dtype), value.count,
                        value.bytes.size(), value.bytes.data()});
    }
  }
  openrknn_node node() {
    return {type_.c_str(),  name_.c_str(),
            attrs_.data(),  static_cast<uint32_t>(attrs_.size()),
            inputs.data(),  static_cast<uint32_t>(inputs.size()),
            outputs.data(), static_cast<uint32_t>(outputs.size())};
  }
  std::vector<openrknn_tensor> inputs, outputs;

 private:
  std::string type_, name_;
  std::vector<std::pair<const std::string*, FlatAttr>> values_;
  std::vector<openrknn_attr> attrs_;
};

Status failed(const std::string& type, const Node& node, const char* what, int code) {
  return invalid_argument(str("node '", node.name(), "': ", what, " of the plug-in for '", type,
                              "' failed with ", code, ", see the log"));
}

Status check_ranks(const Node& node) {
  for (const Value* input : node.inputs()) {
    if (input != nullptr && input->shape().rank() > OPENRKNN_MAX_DIMS)
      return unsupported(str("node '", node.name(), "': input '", input->name(), "' has ",
                             input->shape().rank(), " dimensions, plug-ins take at most ",
                             OPENRKNN_MAX_DIMS));
  }
  return ok_status();
}

ops::CustomOp plugin_op(const std::string& type) {
  ops::CustomOp out;
  out.type = type;
  out.infer = [type](const Node& node, size_t count) -> Result<std::vector<TensorType>> {
    RK_TRY(check_ranks(node));
    Call call(type, node);
    for (const Value* input : node.inputs())
      call.inputs.push_back(described(input, input == nullptr ? nullptr : &input->type(), nullptr));
    call.outputs.resize(count);
    const openrknn_node about = call.node();
    if (const int code = runtime_library().infer(&about); code != 0)
      return failed(type, node, "shape inference", code);
    std::vector<TensorType> types;
    for (const openrknn_tensor& output : call.outputs) {
      const auto dtype = dtype_from_onnx(output.type);
      if (!dtype) return failed(type, node, "shape inference", -1);
      RK_ASSIGN(const Shape shape, Shape::make({output.dims, output.dims + output.n_dims}));
      // Graphs compute in float32, whatever float the model says.
      types.push_back({is_float(*dtype) ? DType::kF32 : *dtype, shape});
    }
    return types;
  };
  out.compute = [type](const EvalCall& eval) -> Status {
    RK_TRY(check_ranks(eval.node));
    Call call(type, eval.node);
    for (size_t i = 0; i < eval.inputs.size(); ++i) {
      const Tensor* const input = eval.inputs[i];
      call.inputs.push_back(
          described(eval.node.inputs()[i], input == nullptr ? nullptr : &input->type(),
                    input == nullptr ? nullptr : const_cast<uint8_t*>(input->bytes().data())));
    }
    for (size_t i = 0; i < eval.outputs.size(); ++i) {
      Tensor& output = eval.outputs[i];
      call.outputs.push_back(
          described(eval.node.outputs()[i], &output.type(), output.mutable_data<uint8_t>()));
    }
    const openrknn_node about = call.node();
    const int code = runtime_library().compute(&about);
    return code == 0 ? ok_status() : failed(type, eval.node, "computing", code);
  };
  return out;
}

}  // namespace

std::vector<ops::CustomOp> plugin_ops() {
  std::vector<ops::CustomOp> out;
  if (!has_folder()) return out;
  const Runtime& runtime = runtime_library();
  if (!runtime.complete()) {
    log(LogLevel::kWarning,
        "operators of plug-in libraries are not used in conversion: librknnrt.so is not found");
    return out;
  }
  std::vector<const char*> types(runtime.types(nullptr, 0));
  const uint32_t count = runtime.types(types.data(), static_cast<uint32_t>(types.size()));
  if (types.size() > count) types.resize(count);
  for (const char* const type : types) {
    if (type != nullptr && ops::registry().find(type) == nullptr) out.push_back(plugin_op(type));
  }
  return out;
}

}  // namespace rk::toolkit
