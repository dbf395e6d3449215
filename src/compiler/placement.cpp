// SPDX-License-Identifier: Apache-2.0
#include "compiler/placement.h"

#include <algorithm>

#include "base/log.h"
#include "compiler/builder.h"
#include "ir/custom_op.h"
#include "target/operator_table.h"

namespace rk::compiler {
namespace {

using program::Processor;

void inform(const std::string& text) {
  if (log_enabled(LogLevel::kInfo)) log(LogLevel::kInfo, text);
}

// The CPU takes it, or nothing on the board does.
Placement on_cpu(const Node& node, const target::Target& target, std::string why) {
  const std::string no_cpu = target.refuse_cpu(node);
  if (no_cpu.empty())
    return {Placement::Where::kCpu, str("CPU operators of ", target.name), std::move(why)};
  return {Placement::Where::kUnsupported, str("none: ", no_cpu), std::move(why)};
}

// The type a user knows: what was fused into a convolution does not change it.
std::string_view operator_type(const Node& node) {
  return node.op() == "FusedConv" ? "Conv" : user_name(node.op());
}

// What op_target says of the node: by name, by output, by operator type.
std::string_view wish_for(const Node& node, const CompileOptions& options) {
  auto found = options.op_target.find(node.name());
  for (size_t i = 0; found == options.op_target.end() && i < node.output_count(); ++i) {
    found = options.op_target.find(node.output(i).name());
  }
  if (found == options.op_target.end()) {
    found = options.op_target.find(std::string(operator_type(node)));
  }
  return found == options.op_target.end() ? std::string_view("auto") : found->second;
}

}  // namespace

Status check_op_target(const Graph& graph, const CompileOptions& options) {
  const auto nodes = graph.nodes();
  for (const auto& entry : options.op_target) {
    const std::string &name = entry.first, &where = entry.second;
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
              "', which is not a node, output or operator type of the optimized graph; ignored"));
    }
  }
  return ok_status();
}

Processor Placement::processor() const {
  return where == Where::kNpu   ? Processor::kNpu
         : where == Where::kGpu ? Processor::kGpu
                                : Processor::kCpu;
}

DType placement_dtype(const Node& node) {
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

Placement decide_placement(const Node& node, const target::Target& target,
                           const CompileOptions& options) {
  const std::string_view wish = wish_for(node, options);
  if (wish == "gpu") return {Placement::Where::kGpu, "op_target", "op_target says so"};
  if (is_custom(node.op()))
    return {Placement::Where::kCpu, "custom operators", "the user's own code runs it"};
  if (wish == "cpu") return on_cpu(node, target, "op_target says so");
  const std::string reason = target.refuse(node, placement_dtype(node));
  if (!reason.empty()) return on_cpu(node, target, reason);
  return {Placement::Where::kNpu, target::row_in_words(*target.find(node.op())), ""};
}

Processor place(const Node& node, const target::Target& target, const CompileOptions& options) {
  const Placement found = decide_placement(node, target, options);
  if (found.where == Placement::Where::kNpu || found.where == Placement::Where::kGpu)
    return found.processor();
  if (wish_for(node, options) == "npu") {
    log(LogLevel::kWarning,
        str(node.label(), ": op_target asks for the NPU, which cannot take it: ", found.reason));
  }
  if (found.where == Placement::Where::kCpu) {
    inform(str(node.label(), " runs on the CPU: ", found.reason));
  } else {
    inform(str(node.label(), ": ", found.reason, "; ", target.refuse_cpu(node),
               ". The simulator runs it; the board would refuse the model"));
  }
  return found.processor();
}

}  // namespace rk::compiler
