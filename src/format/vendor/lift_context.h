// SPDX-License-Identifier: Apache-2.0
// What the lifting of one node sees, and the functions that lift each kind of node. A lift function adds steps (and
// constants or intermediate tensors of its own) or returns why it cannot; it never guesses.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "format/bson.h"
#include "format/vendor/tasks.h"
#include "format/vendor_model.h"
#include "program/native_layout.h"
#include "program/program.h"
#include "target/registers.h"
#include "target/target.h"

namespace rk::format {

struct LiftContext {
  const FileModel& model;
  const FileGraph& graph;
  const target::Target& chip;
  const target::ConvRegisters* registers;  // null: not known for this chip
  const TaskLists& lists;
  program::Program& program;
  NodeTasks tasks;
  size_t node_index = 0;
  std::vector<Attribute> attributes;  // of the node

  program::Variant& variant() { return program.variants.front(); }
  const FileNode& node() const { return graph.nodes[node_index]; }
  const program::ProgramTensor& tensor(int32_t i) {
    return variant().tensors[static_cast<size_t>(i)];
  }
  // The node's operand, kNone when it is absent, the dummy or an empty placeholder.
  int32_t input(size_t i);
  bool is_i8(int32_t i) { return tensor(i).dtype == DType::kI8 && tensor(i).quantized(); }
  ByteSpan bytes(int32_t i);  // of a constant

  int32_t add_constant(const std::string& name, DType dtype, const Shape& shape,
                       std::vector<uint8_t> bytes);
  // A value that the chip's memory plan does not know; it takes dtype and quantisation of `like`.
  int32_t add_internal(const std::string& name, int32_t like, const Shape& shape);
  program::Step& add_step(std::vector<int32_t> inputs, std::vector<int32_t> outputs,
                          program::StepParams params);

  // Attributes of the node's BSON document.
  const Attribute* find(std::string_view name) const;
  std::optional<int64_t> integer(std::string_view name) const;
  std::optional<std::vector<int64_t>> integers(std::string_view name) const;
  std::optional<std::string> text(std::string_view name) const;
};

Status lift_conv(LiftContext& context);  // Conv, ConvRelu, ConvClip, ConvAdd, ConvAddRelu, ...
Status lift_sum(LiftContext& context);   // Add, AddRelu
Status lift_concat(LiftContext& context);
Status lift_resize(LiftContext& context);
Status lift_pool(LiftContext& context);  // MaxPool, AveragePool and the global ones
Status lift_operator(
    LiftContext& context);  // by the IR's definition: Reshape, ArgMax, Softmax, ...
Status lift_custom(LiftContext& context);

// Kernel, stride, pads of a node as two extents each; pads given by name are resolved with the extents.
struct Window {
  program::Extent2 kernel, stride, dilation;
  program::Pads2 pads;
};
struct WindowTexts {
  std::string auto_pad;
  std::vector<int64_t> kernel, stride, dilation, pads;
};
Result<Window> make_window(const WindowTexts& texts, const Shape& in, const Shape& out);

// The derived rule for operators whose constants are not in the registers: operands in a unit 2^10 finer than the
// output's scale (docs/fidelity.md, "Vendor files").
inline constexpr double kFineUnit = 1024;
Result<program::InputStage> derived_input_stage(const program::ProgramTensor& in,
                                                const program::ProgramTensor& out,
                                                double factor = 1);
program::OutputStage derived_output_stage(const program::ProgramTensor& out);

}  // namespace rk::format
