// SPDX-License-Identifier: Apache-2.0
// Steps that the application's code computes. Its tensors are plain, in the model's order: float32 where the model stores
// reals of any kind, else the stored type. Each has memory of its own with a file descriptor, as a GPU would import it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attr.h"
#include "program/program.h"
#include "runtime/device/memory.h"
#include "runtime/host/plan.h"

namespace rk::runtime {

struct CustomOperand {
  int32_t tensor = program::kNone;  // none: an optional input that the node does not have
  std::string name;
  TensorType type;
  bool constant = false;
  std::shared_ptr<DeviceMemory> memory;  // null where there is no tensor
};

struct CustomNode {
  size_t step = 0;  // of the variant
  std::string name;
  std::string type;  // as the application knows it
  AttrMap attrs;
  bool has_built_in = false;  // the library has an operator of this type
  bool on_gpu = false;        // the application's code uses OpenCL
  std::vector<CustomOperand> inputs, outputs;
};

// Nodes of an operator type, custom or standard; the constants' memory is filled.
Result<std::vector<std::shared_ptr<CustomNode>>> find_custom_nodes(const program::Variant& variant,
                                                                   const host::HostPlan& plan,
                                                                   std::string_view type);

// Converts the inputs into the node's memory, calls `compute`, converts the outputs back.
host::StepFunction custom_step(const program::Variant& variant, std::shared_ptr<CustomNode> node,
                               std::function<Status()> compute);

// Types of the custom operators that a variant needs, each once.
std::vector<std::string> custom_types(const program::Variant& variant);

}  // namespace rk::runtime
