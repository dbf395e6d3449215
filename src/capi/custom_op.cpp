// SPDX-License-Identifier: Apache-2.0
// rknn_custom_op.h: operators of the application, called in place of the steps of their type.
#include "capi/custom_op.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "base/file.h"
#include "base/log.h"
#include "capi/attributes.h"
#include "capi/context.h"
#include "capi/guard.h"
#include "ir/flat_attr.h"
#include "runtime/gpu/opencl.h"

namespace rk::capi {

struct CustomInstance {
  rknn_custom_op op{};
  std::shared_ptr<runtime::CustomNode> node;
  rknn_custom_op_context context{};
  std::vector<rknn_custom_op_tensor> inputs, outputs;
  std::unique_ptr<runtime::GpuKernel> gpu;
  bool built_in = false;  // init asked for the library's own implementation

  // Answers of rknn_custom_op_get_op_attr: the bytes of each attribute that was asked for.
  std::map<std::string, FlatAttr, std::less<>> attrs;
};

namespace {

using runtime::CustomOperand;

// Nodes by internal_ctx, so that a context that is not ours, or gone, is not followed.
struct Table {
  std::mutex mutex;
  std::map<uint64_t, CustomInstance*> instances;
  // Two libraries with such a table may be in one process: their numbers differ.
  uint64_t last = reinterpret_cast<uintptr_t>(this);
};
Table& table() {
  static auto* const table = new Table;
  return *table;
}

std::string text_of(const char* text, size_t capacity) { return {text, strnlen(text, capacity)}; }

rknn_custom_op_tensor to_c(const CustomOperand& operand, size_t index) {
  rknn_custom_op_tensor out{};
  rknn_tensor_attr& attr = out.attr;
  attr.index = static_cast<uint32_t>(index);
  copy_text(attr.name, sizeof attr.name, operand.name);
  attr.fmt = RKNN_TENSOR_UNDEFINED;
  attr.qnt_type = RKNN_TENSOR_QNT_NONE;
  attr.scale = 1.0f;
  out.mem.fd = -1;
  if (operand.memory == nullptr) return out;
  const auto dims = operand.type.shape.dims();
  attr.n_dims = static_cast<uint32_t>(dims.size());
  for (size_t i = 0; i < dims.size() && i < RKNN_MAX_DIMS; ++i)
    attr.dims[i] = static_cast<uint32_t>(dims[i]);
  if (dims.size() == 4) attr.fmt = RKNN_TENSOR_NCHW;
  attr.n_elems = static_cast<uint32_t>(operand.type.shape.elements());
  attr.size = static_cast<uint32_t>(attr.n_elems * byte_size(operand.type.dtype));
  attr.size_with_stride = attr.size;
  attr.type = to_rknn_type(operand.type.dtype);
  out.mem.virt_addr = operand.memory->data();
  out.mem.phys_addr = operand.memory->phys_addr();
  out.mem.fd = operand.memory->fd();
  out.mem.size = attr.size;
  return out;
}

void get_attr(CustomInstance& instance, std::string_view name, rknn_custom_op_attr& out) {
  auto it = instance.attrs.find(name);
  if (it == instance.attrs.end()) {
    const auto attr = instance.node->attrs.find(name);
    if (attr != instance.node->attrs.end()) {
      it = instance.attrs.emplace(std::string(name), flat_attr(attr->second)).first;
    } else if (name == "name") {
      it = instance.attrs.emplace("name", flat_attr(instance.node->name)).first;
    } else {
      return;
    }
  }
  out.dtype = to_rknn_type(it->second.dtype);
  out.n_elems = it->second.count;
  out.data = it->second.bytes.data();
}

Status check(const rknn_custom_op& op) {
  const std::string type = text_of(op.op_type, sizeof op.op_type);
  if (type.empty()) return invalid_argument("a custom operator has no op_type");
  if (op.compute == nullptr)
    return invalid_argument(str("custom operator '", type, "' has no compute callback"));
  if (op.target != RKNN_TARGET_TYPE_CPU && op.target != RKNN_TARGET_TYPE_GPU)
    return invalid_argument(str("custom operator '", type, "': target ",
                                static_cast<int>(op.target), " is not 1 (CPU) or 2 (GPU)"));
  if (op.compute_native != nullptr)
    log(LogLevel::kWarning, str("custom operator '", type, "': compute_native is never called"));
  return ok_status();
}

constexpr uint64_t kMaxSourceBytes = uint64_t{16} << 20;

Result<std::string> gpu_source(const rknn_custom_op& op) {
  if (op.target != RKNN_TARGET_TYPE_GPU) return std::string();
  if (op.cl_kernel_source == nullptr)
    return invalid_argument(str("GPU operator '", op.op_type, "' has no cl_kernel_source"));
  if (op.cl_source_size > kMaxSourceBytes)
    return invalid_argument(str("GPU operator '", op.op_type, "': cl_source_size ",
                                op.cl_source_size, " is beyond ", kMaxSourceBytes, " bytes"));
  if (op.cl_source_size != 0) return std::string(op.cl_kernel_source, op.cl_source_size);
  auto file = read_file(op.cl_kernel_source);
  if (!file.ok())
    return file.status().with_context(
        str("GPU operator '", op.op_type, "', cl_kernel_source as a path (cl_source_size is 0)"));
  return std::string(file->begin(), file->end());
}

Status call_failed(const CustomInstance& instance, const char* callback, int code) {
  return unsupported(str("node '", instance.node->name, "': callback ", callback,
                         " of the custom operator '", instance.node->type, "' returned ", code));
}

void end(CustomInstance& instance) {
  if (instance.op.destroy != nullptr) {
    if (const int code = instance.op.destroy(&instance.context); code != 0)
      log(LogLevel::kWarning, call_failed(instance, "destroy", code).message());
  }
  const std::lock_guard lock(table().mutex);
  table().instances.erase(instance.context.internal_ctx);
}

// Ends a list in the reverse order.
void end_all(std::vector<std::unique_ptr<CustomInstance>>& instances) {
  while (!instances.empty()) {
    end(*instances.back());
    instances.pop_back();
  }
}

Status compute(CustomInstance& instance) {
  const auto call = [&](auto* callback, const char* name) -> Status {
    if (callback == nullptr) return ok_status();
    const int code = callback(
        &instance.context, instance.inputs.data(), static_cast<uint32_t>(instance.inputs.size()),
        instance.outputs.data(), static_cast<uint32_t>(instance.outputs.size()));
    return code == 0 ? ok_status() : call_failed(instance, name, code);
  };
  RK_TRY(call(instance.op.prepare, "prepare"));
  return call(instance.op.compute, "compute");
}

// A node with its operator, known to rknn_custom_op_get_op_attr.
Result<std::unique_ptr<CustomInstance>> make_instance(const rknn_custom_op& op,
                                                      const std::string& source,
                                                      std::shared_ptr<runtime::CustomNode> node) {
  auto instance = std::make_unique<CustomInstance>();
  instance->op = op;
  instance->node = std::move(node);
  instance->node->on_gpu = op.target == RKNN_TARGET_TYPE_GPU;
  instance->context.target = op.target;
  if (op.target == RKNN_TARGET_TYPE_GPU) {
    auto kernel =
        runtime::GpuKernel::make({text_of(op.cl_kernel_name, sizeof op.cl_kernel_name), source,
                                  text_of(op.cl_build_options, sizeof op.cl_build_options)});
    if (!kernel.ok())
      return kernel.status().with_context(str("custom operator '", instance->node->type, "'"));
    instance->gpu = std::move(kernel).value();
    instance->context.gpu_ctx = {instance->gpu->context(), instance->gpu->queue(),
                                 instance->gpu->kernel()};
  }
  for (size_t i = 0; i < instance->node->inputs.size(); ++i)
    instance->inputs.push_back(to_c(instance->node->inputs[i], i));
  for (size_t i = 0; i < instance->node->outputs.size(); ++i)
    instance->outputs.push_back(to_c(instance->node->outputs[i], i));
  const std::lock_guard lock(table().mutex);
  instance->context.internal_ctx = ++table().last;
  table().instances[table().last] = instance.get();
  return instance;
}

// 0 or, where the operator asks for the library's own implementation, that code; any other is a failure.
Status call_init(CustomInstance& instance) {
  if (instance.op.init == nullptr) return ok_status();
  const int code = instance.op.init(
      &instance.context, instance.inputs.data(), static_cast<uint32_t>(instance.inputs.size()),
      instance.outputs.data(), static_cast<uint32_t>(instance.outputs.size()));
  instance.built_in = code == RKNN_WARNING_SKIP_CUSTOM_OP_COMPUTE;
  if (code != 0 && !instance.built_in) return call_failed(instance, "init", code);
  if (instance.built_in && !instance.node->has_built_in)
    return unsupported(str("node '", instance.node->name, "': init of the custom operator '",
                           instance.node->type, "' asks for the library's own implementation (",
                           code, "), which has none of this type"));
  return ok_status();
}

}  // namespace

CustomOps::CustomOps() = default;
CustomOps::~CustomOps() { clear(); }
void CustomOps::clear() { end_all(instances_); }

// Makes and initializes the nodes of one operator; what was made stays in `made`, also on failure.
Status CustomOps::attach(runtime::Session& session, const Operator& one,
                         std::vector<std::unique_ptr<CustomInstance>>& made) {
  const std::string type = text_of(one.op.op_type, sizeof one.op.op_type);
  RK_ASSIGN(const auto nodes, session.custom_nodes(type));
  if (nodes.empty())
    log(LogLevel::kWarning, str("the model has no node of the custom operator '", type, "'"));
  for (const auto& node : nodes) {
    RK_ASSIGN(std::unique_ptr<CustomInstance> instance, make_instance(one.op, one.source, node));
    made.push_back(std::move(instance));
    RK_TRY(call_init(*made.back()));
  }
  return ok_status();
}

Status compute_once(const rknn_custom_op& op, std::shared_ptr<runtime::CustomNode> node,
                    std::vector<std::pair<std::string, FlatAttr>> attrs) {
  RK_TRY(check(op));
  RK_ASSIGN(const std::string source, gpu_source(op));
  RK_ASSIGN(const std::unique_ptr<CustomInstance> instance,
            make_instance(op, source, std::move(node)));
  for (auto& [name, value] : attrs) instance->attrs.emplace(std::move(name), std::move(value));
  Status status = call_init(*instance);
  if (status.ok()) status = compute(*instance);
  end(*instance);
  return status;
}

int infer_once(const rknn_custom_op& op, std::shared_ptr<runtime::CustomNode> node,
               std::vector<std::pair<std::string, FlatAttr>> attrs,
               const std::function<int(rknn_custom_op_context*)>& infer) {
  // No kernel of a GPU operator is built for a question about shapes.
  rknn_custom_op plain = op;
  plain.target = RKNN_TARGET_TYPE_CPU;
  plain.destroy = nullptr;
  const auto instance = make_instance(plain, "", std::move(node));
  if (!instance.ok()) return to_rknn_error(instance.status().code());
  for (auto& [name, value] : attrs) (*instance)->attrs.emplace(std::move(name), std::move(value));
  const int code = infer(&(*instance)->context);
  end(**instance);
  return code;
}

void CustomOps::remove(runtime::Session& session, std::string_view type) {
  std::erase_if(operators_, [&](const Operator& one) {
    return text_of(one.op.op_type, sizeof one.op.op_type) == type;
  });
  for (auto it = instances_.begin(); it != instances_.end();) {
    if ((*it)->node->type != type) {
      ++it;
      continue;
    }
    session.remove_custom(*(*it)->node);
    end(**it);
    it = instances_.erase(it);
  }
}

Status CustomOps::add(runtime::Session& session, std::span<const rknn_custom_op> operators) {
  std::vector<Operator> wanted;
  for (const rknn_custom_op& op : operators) {
    RK_TRY(check(op));
    const std::string type = text_of(op.op_type, sizeof op.op_type);
    const auto is_same = [&](const Operator& one) {
      return text_of(one.op.op_type, sizeof one.op.op_type) == type;
    };
    const auto known = std::find_if(operators_.begin(), operators_.end(), is_same);
    if ((known != operators_.end() && !known->plugin) ||
        std::any_of(wanted.begin(), wanted.end(), is_same))
      return invalid_argument(str("custom operator '", type, "' is registered twice"));
    RK_ASSIGN(std::string source, gpu_source(op));
    wanted.push_back({op, std::move(source), false});
    // The texts are the caller's again; what they point at was copied.
    wanted.back().op.cl_kernel_source = nullptr;
  }
  std::vector<std::unique_ptr<CustomInstance>> made;
  for (const Operator& one : wanted) {
    if (Status status = attach(session, one, made); !status.ok()) {
      end_all(made);
      return status;
    }
  }
  for (Operator& one : wanted) {
    remove(session, text_of(one.op.op_type, sizeof one.op.op_type));
    operators_.push_back(std::move(one));
  }
  for (auto& instance : made) {
    CustomInstance* const placed = instance.get();
    if (!placed->built_in) session.set_custom(placed->node, [placed] { return compute(*placed); });
    instances_.push_back(std::move(instance));
  }
  return ok_status();
}

void CustomOps::add_plugins(runtime::Session& session) {
  const std::vector<std::string> needed = runtime::custom_types(session.variant());
  if (needed.empty() || !session.model().can_run()) return;
  for (const Plugin& plugin : plugin_operators()) {
    const rknn_custom_op& op = plugin.op;
    const std::string type = text_of(op.op_type, sizeof op.op_type);
    const bool known = std::any_of(operators_.begin(), operators_.end(), [&](const Operator& one) {
      return text_of(one.op.op_type, sizeof one.op.op_type) == type;
    });
    if (known || std::find(needed.begin(), needed.end(), type) == needed.end()) continue;
    if (const Status status = add(session, {&op, 1}); !status.ok()) {
      log(LogLevel::kWarning, str("plug-in for '", type, "' is not used: ", status.message()));
    } else {
      operators_.back().plugin = true;
    }
  }
}

Status CustomOps::renew(runtime::Session& session) {
  clear();
  std::vector<std::unique_ptr<CustomInstance>> made;
  for (const Operator& one : operators_) {
    if (Status status = attach(session, one, made); !status.ok()) {
      end_all(made);
      return status;
    }
  }
  for (auto& instance : made) {
    CustomInstance* const placed = instance.get();
    if (!placed->built_in) session.set_custom(placed->node, [placed] { return compute(*placed); });
    instances_.push_back(std::move(instance));
  }
  return ok_status();
}

}  // namespace rk::capi

int rknn_register_custom_ops(rknn_context ctx, rknn_custom_op* op, uint32_t custom_op_num) {
  return rk::capi::guarded("rknn_register_custom_ops", [&]() -> rk::Status {
    RK_ASSIGN(const auto locked, rk::capi::find_context(ctx));
    if (op == nullptr || custom_op_num == 0)
      return rk::invalid_argument("op is NULL or custom_op_num is 0");
    if (custom_op_num > rk::capi::kMaxCustomOps)
      return rk::invalid_argument(
          rk::str("custom_op_num ", custom_op_num, " is beyond ", rk::capi::kMaxCustomOps));
    return locked->custom_ops.add(locked.session(), {op, custom_op_num});
  });
}

void rknn_custom_op_get_op_attr(rknn_custom_op_context* op_ctx, const char* attr_name,
                                rknn_custom_op_attr* op_attr) {
  if (op_attr == nullptr) return;
  // Callers do not clear the structure and test n_elems: an attribute that does not exist has none.
  op_attr->n_elems = 0;
  op_attr->data = nullptr;
  if (op_ctx == nullptr || attr_name == nullptr) return;
  rk::capi::guarded("rknn_custom_op_get_op_attr", [&]() -> rk::Status {
    const std::string_view name(attr_name, strnlen(attr_name, RKNN_MAX_NAME_LEN));
    rk::capi::copy_text(op_attr->name, sizeof op_attr->name, name);
    const std::lock_guard lock(rk::capi::table().mutex);
    const auto it = rk::capi::table().instances.find(op_ctx->internal_ctx);
    if (it == rk::capi::table().instances.end())
      return rk::invalid_argument("op_ctx is not that of a node: use the one a callback was given");
    rk::capi::get_attr(*it->second, name, *op_attr);
    return rk::ok_status();
  });
}
