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
#include "program/stages.h"
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
  size_t variant_index = 0;
  NodeTasks tasks;
  const std::vector<bool>& was_coded;  // by tensor: weights that the file keeps compressed
  std::vector<bool> written =
      {};  // tensors of the file that hold a value: model inputs, results so far
  size_t node_index = 0;
  std::vector<Attribute> attributes =
      {};  // of the node: its parameter table, then what only its document has

  program::Variant& variant() { return program.variants[variant_index]; }
  const FileNode& node() const { return graph.nodes[node_index]; }
  const program::ProgramTensor& tensor(int32_t i) {
    return variant().tensors[static_cast<size_t>(i)];
  }
  // The node's operands in ONNX's order: the compiler's scratch and helper tensors are left out, kNone stands where an
  // optional operand is absent (not at the end). Refused when one is of a kind, type or layout nobody has decoded.
  Result<std::vector<int32_t>> operands();
  // The first `least` of which must be there.
  Result<std::vector<int32_t>> operands(size_t least);
  // The node's results; a tensor of its own stands for one that nothing reads.
  int32_t output(size_t i = 0);
  bool had_code(int32_t weight) const {
    const auto i = static_cast<size_t>(weight);
    return i < was_coded.size() && was_coded[i];
  }
  bool is_i8(int32_t i) { return tensor(i).dtype == DType::kI8 && tensor(i).quantized(); }
  ByteSpan bytes(int32_t i);  // of a constant
  // A constant operand as operators take it: row-major, its numbers real or with scale and zero point. Other tensors
  // stay what they are.
  Result<int32_t> plain(int32_t i);
  Result<std::vector<float>> floats(int32_t i);  // of a constant, as real numbers

  int32_t add_constant(const std::string& name, DType dtype, const Shape& shape,
                       std::vector<uint8_t> bytes);
  int32_t add_integers(const std::string& name, const std::vector<int64_t>& values);
  int32_t add_floats(const std::string& name, const Shape& shape, const std::vector<float>& values);
  // A value that the chip's memory plan does not know; it takes dtype and quantization of `like`.
  int32_t add_internal(const std::string& name, int32_t like, const Shape& shape);
  int32_t add_internal_f32(const std::string& name, const Shape& shape);
  program::Step& add_step(std::vector<int32_t> inputs, std::vector<int32_t> outputs,
                          program::StepParams params);
  void add_operator(std::string_view op, std::vector<int32_t> inputs, int32_t output,
                    AttrMap attrs = {});

  // Attributes of the node.
  const Attribute* find(std::string_view name) const;
  std::optional<int64_t> integer(std::string_view name) const;
  std::optional<double> real(std::string_view name) const;
  std::optional<std::vector<int64_t>> integers(std::string_view name) const;
  std::optional<std::string> text(std::string_view name) const;
};

Status lift_conv(LiftContext& context);  // Conv, ConvRelu, ConvClip, ConvAdd, ConvTranspose, ...
Status lift_sum(LiftContext& context);   // Add, AddRelu
Status lift_concat(LiftContext& context);
Status lift_split(LiftContext& context);
Status lift_resize(LiftContext& context);
Status lift_pool(LiftContext& context);        // MaxPool, AveragePool and the global ones
Status lift_activation(LiftContext& context);  // Sigmoid, exSwish, LeakyRelu, ...
Status lift_operator(
    LiftContext& context);                 // by the IR's definition: Reshape, ArgMax, Softmax, ...
Status lift_norm(LiftContext& context);    // exNorm
Status lift_matmul(LiftContext& context);  // exMatMul
Status lift_attention(LiftContext& context);  // exSDPAttention
Status lift_softmax(LiftContext& context);    // exSoftmax13
Status lift_recurrent(LiftContext& context);  // LSTM, exLSTM, GRU, exGRU
Status lift_custom(LiftContext& context);

// Operands with constants as operators take them, and the results up to the last that anything
// reads.
Result<std::vector<int32_t>> plain_operands(LiftContext& context);
std::vector<int32_t> outputs_of(LiftContext& context);

// Attributes in the IR's form.
AttrMap to_attrs(const std::vector<Attribute>& attributes);

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
// From the node's attributes.
Result<Window> attribute_window(const LiftContext& context, const Shape& in, const Shape& out);

// For operators whose constants are not in the registers (docs/fidelity.md, "Vendor files").
inline Result<program::InputStage> derived_input_stage(const program::ProgramTensor& in,
                                                       const program::ProgramTensor& out,
                                                       double factor = 1) {
  return program::input_stage(program::affine_of(in), program::affine_of(out), factor);
}
inline program::OutputStage derived_output_stage(const program::ProgramTensor& out) {
  return program::output_stage(program::affine_of(out));
}

}  // namespace rk::format
