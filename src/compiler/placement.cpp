// SPDX-License-Identifier: Apache-2.0
#include "compiler/placement.h"

#include <algorithm>

#include "base/log.h"
#include "compiler/builder.h"
#include "ir/custom_op.h"

namespace rk::compiler {
namespace {

using program::Processor;

void inform(const std::string& text) {
  if (log_enabled(LogLevel::kInfo)) log(LogLevel::kInfo, text);
}

// The dtype the chip would run the node in: int8 when what it computes on and its result are.
DType dtype_of(const Node& node) {
  const auto form = [](const Value& value) {
    // What a chip with int16 takes in it is not published; assumed to be what it takes in int8.
    const bool integer = is_i8(value) || is_i16(value);
    return integer ? DType::kI8 : is_float(value.dtype()) ? DType::kF16 : value.dtype();
  };
  const DType out = node.output_count() == 0 ? DType::kF16 : form(node.output());
  if (!node.has_input(0) || node.input(0).is_constant()) return out;
  const DType in = form(node.input(0));
  return in == out ? out : is_float(node.input(0).dtype()) ? DType::kF16 : in;
}

Processor place_on_cpu(const Node& node, const target::Target& target, const std::string& why) {
  const std::string no_cpu = target.refuse_cpu(node);
  if (no_cpu.empty()) {
    inform(str(node.label(), " runs on the CPU: ", why));
  } else {
    inform(str(node.label(), ": ", why, "; ", no_cpu,
               ". The simulator runs it; the board would refuse the model"));
  }
  return Processor::kCpu;
}

// The type a user knows: what was fused into a convolution does not change it.
std::string_view operator_type(const Node& node) {
  return node.op() == "FusedConv" ? "Conv" : user_name(node.op());
}

}  // namespace

Status check_op_target(const Graph& graph, const CompileOptions& options) {
  const auto nodes = graph.nodes();
  for (const auto& [name, where] : options.op_target) {
    if (where != "npu" && where != "cpu" && where != "gpu" && where != "auto") {
      return invalid_argument(
          str("op_target['", name, "'] is '", where, "', expected 'npu', 'cpu', 'gpu' or 'auto'"));
    }
    const auto is_meant = [&](const Node* node) {
      return node->name() == name || operator_type(*node) == name ||
             std::ranges::any_of(node->outputs(),
                                 [&](const Value* value) { return value->name() == name; });
    };
    if (std::ranges::none_of(nodes, is_meant)) {
      log(LogLevel::kWarning,
          str("op_target names '", name,
              "', which is no node, output or operator type of the optimised graph; ignored"));
    }
  }
  return ok_status();
}

Processor place(const Node& node, const target::Target& target, const CompileOptions& options) {
  std::string_view wish = "auto";
  auto found = options.op_target.find(node.name());
  for (size_t i = 0; found == options.op_target.end() && i < node.output_count(); ++i) {
    found = options.op_target.find(node.output(i).name());
  }
  if (found == options.op_target.end()) {
    found = options.op_target.find(std::string(operator_type(node)));
  }
  if (found != options.op_target.end()) wish = found->second;

  if (wish == "gpu") return Processor::kGpu;
  if (is_custom(node.op())) return Processor::kCpu;  // with the code that the user registers
  if (wish == "cpu") return place_on_cpu(node, target, "op_target says so");
  const std::string reason = target.refuse(node, dtype_of(node));
  if (reason.empty()) return Processor::kNpu;
  if (wish == "npu") {
    log(LogLevel::kWarning,
        str(node.label(), ": op_target asks for the NPU, which cannot take it: ", reason));
  }
  return place_on_cpu(node, target, reason);
}

}  // namespace rk::compiler
