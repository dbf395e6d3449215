// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/custom_step.h"

#include <algorithm>
#include <mutex>

#include "ir/custom_op.h"
#include "ops/registry.h"
#include "runtime/host/select.h"

namespace rk::runtime {
namespace {

using program::ProgramTensor;

ElementView plain_view(const ProgramTensor& stored, const CustomOperand& operand) {
  ElementView view{operand.type.dtype, 0, 0, nchw_strides(picture_extents(stored.shape)),
                   operand.memory->data()};
  if (operand.type.dtype == stored.dtype) {
    view.scale = stored.scale;
    view.zero_point = stored.zero_point;
  }
  return view;
}

Result<CustomOperand> operand_of(const program::Variant& variant, int32_t index) {
  CustomOperand out;
  out.tensor = index;
  if (index == program::kNone) return out;
  const ProgramTensor& tensor = variant.tensors[static_cast<size_t>(index)];
  out.name = tensor.name;
  out.type = {host::operator_dtype(tensor), tensor.shape};
  out.constant = tensor.is_constant();
  RK_ASSIGN(const uint64_t size_bytes, checked_byte_size(out.type));
  RK_ASSIGN(out.memory, DeviceMemory::allocate(std::max<uint64_t>(size_bytes, 1)));
  return out;
}

Status fill_constant(const program::Variant& variant, const host::HostPlan& plan,
                     const CustomOperand& operand) {
  const auto index = static_cast<size_t>(operand.tensor);
  const ProgramTensor& tensor = variant.tensors[index];
  const host::HostTensor& host = plan.tensors[index];
  if (tensor.shape.elements() == 0) return ok_status();
  if (host.constant.size() == 0)
    return unsupported(str("constant '", tensor.name,
                           "' was packed for the built-in operator: a custom one cannot read it"));
  const ElementView from =
      host::host_view(tensor, host, const_cast<uint8_t*>(host.constant.data()));
  convert(picture_extents(tensor.shape), from, plain_view(tensor, operand), {}, nullptr);
  return ok_status();
}

}  // namespace

Result<std::vector<std::shared_ptr<CustomNode>>> find_custom_nodes(const program::Variant& variant,
                                                                   const host::HostPlan& plan,
                                                                   std::string_view type) {
  std::vector<std::shared_ptr<CustomNode>> out;
  for (size_t i = 0; i < variant.steps.size(); ++i) {
    const program::Step& step = variant.steps[i];
    const auto* const params = std::get_if<program::OpParams>(&step.params);
    if (params == nullptr || user_name(params->op) != type) continue;
    auto node = std::make_shared<CustomNode>();
    node->step = i;
    node->name = step.name;
    node->type = std::string(type);
    node->attrs = params->attrs;
    node->has_built_in = ops::registry().find(type) != nullptr;
    for (const int32_t input : step.inputs) {
      RK_ASSIGN(CustomOperand operand, operand_of(variant, input));
      if (operand.constant) RK_TRY(fill_constant(variant, plan, operand));
      node->inputs.push_back(std::move(operand));
    }
    for (const int32_t output : step.outputs) {
      RK_ASSIGN(CustomOperand operand, operand_of(variant, output));
      node->outputs.push_back(std::move(operand));
    }
    out.push_back(std::move(node));
  }
  return out;
}

host::StepFunction custom_step(const program::Variant& variant, std::shared_ptr<CustomNode> node,
                               std::function<Status()> compute) {
  const auto busy = std::make_shared<std::mutex>();
  return [&variant, busy, node = std::move(node),
          compute = std::move(compute)](const host::StepCall& call) -> Status {
    // Samples of a batch run side by side and share the node's memory.
    const std::lock_guard lock(*busy);
    const auto stored = [&](const CustomOperand& operand) {
      const auto index = static_cast<size_t>(operand.tensor);
      return host::host_view(variant.tensors[index], call.tensors[index],
                             call.data<uint8_t>(operand.tensor));
    };
    const auto tensor = [&](const CustomOperand& operand) -> const ProgramTensor& {
      return variant.tensors[static_cast<size_t>(operand.tensor)];
    };
    for (const CustomOperand& operand : node->inputs) {
      if (operand.tensor == program::kNone || operand.constant) continue;
      convert(picture_extents(tensor(operand).shape), stored(operand),
              plain_view(tensor(operand), operand), {}, call.pool);
    }
    RK_TRY(compute());
    for (const CustomOperand& operand : node->outputs) {
      if (operand.tensor == program::kNone) continue;
      convert(picture_extents(tensor(operand).shape), plain_view(tensor(operand), operand),
              stored(operand), {}, call.pool);
    }
    return ok_status();
  };
}

std::vector<std::string> custom_types(const program::Variant& variant) {
  std::vector<std::string> out;
  for (const program::Step& step : variant.steps) {
    const auto* const params = std::get_if<program::OpParams>(&step.params);
    if (params == nullptr || !is_custom(params->op)) continue;
    std::string type(user_name(params->op));
    if (std::find(out.begin(), out.end(), type) == out.end()) out.push_back(std::move(type));
  }
  return out;
}

}  // namespace rk::runtime
