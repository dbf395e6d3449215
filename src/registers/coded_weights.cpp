// SPDX-License-Identifier: Apache-2.0
#include "registers/coded_weights.h"

#include <algorithm>

#include "base/checked_math.h"

namespace rk::registers {
namespace {

namespace reg = target::reg;

uint32_t field_of(const RegisterTask& task, const target::RegisterField& field) {
  const Command* const command = task.find(field.offset);
  return command == nullptr ? 0U : field.get(command->value);
}

bool is_dense_int8(const RegisterTask& task) {
  return !task.weights_in_rows && field_of(task, reg::CNA_CONV_CON1__CONV_MODE) == 0 &&
         field_of(task, reg::CNA_CONV_CON1__IN_PRECISION) == 0;
}

// Weights of convolutions, and nothing else to any node.
bool is_weight_only(const format::FileGraph& graph, size_t tensor) {
  bool found = false;
  for (const format::FileNode& node : graph.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != static_cast<int32_t>(tensor)) continue;
      if (i != 1 || !node.type.starts_with("Conv")) return false;
      found = true;
    }
  }
  return found;
}

void write(RegisterTask& list, uint16_t offset, uint32_t value, Operand operand = Operand::kNone) {
  for (Command& command : list.commands) {
    if (command.offset == offset) command = {offset, value, operand};
  }
}

}  // namespace

void WeightUsers::add(BoundTask& bound) {
  const bool dense = is_dense_int8(bound.task);
  for (const Command& command : bound.listed.commands) {
    if (command.operand == Operand::kNone) continue;
    const std::string& name = bound.tensor(command.operand);
    const bool whole = command.operand == Operand::kWeight &&
                       command.offset == reg::CNA_DCOMP_ADDR0 && command.value == 0;
    if (dense && whole) {
      lists_[name].push_back(&bound.listed);
    } else {
      refused_.insert(name);
    }
  }
}

std::vector<size_t> WeightUsers::codable_tensors(const format::FileGraph& graph, uint32_t buffer,
                                                 uint64_t size_bytes) const {
  std::vector<size_t> out;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const format::FileTensor& tensor = graph.tensors[i];
    if (tensor.buffer != buffer) continue;
    const bool is_weight = tensor.kind == program::TensorKind::kNpuConstant &&
                           tensor.dtype == DType::kI8 && tensor.layout == program::Layout::kWeight;
    if (!is_weight || refused_.contains(tensor.name) || !lists_.contains(tensor.name) ||
        !is_weight_only(graph, i))
      return {};
    const auto native = program::native_weight_bytes(tensor.native_shape);
    if (!native.ok() || *native != size_bytes) return {};
    out.push_back(i);
  }
  return out;
}

const std::vector<RegisterTask*>& WeightUsers::lists(const std::string& tensor) const {
  return lists_.at(tensor);
}

void code_list(const target::WeightCodeRegisters& registers, const program::CodedWeights& code,
               RegisterTask& list) {
  write(list, reg::CNA_DCOMP_CTRL, registers.control);
  write(list, reg::CNA_DCOMP_REGNUM, registers.number);
  for (size_t i = 0; i < registers.begins.size(); ++i)
    write(list, registers.begins[i], code.streams[i].begin, Operand::kWeight);
  for (size_t i = 0; i < registers.lengths.size(); ++i) {
    const program::CodedStream& stream = code.streams[i];
    const uint32_t bytes = stream.header_bytes + stream.data_bytes;
    write(list, registers.lengths[i], ceil_div(bytes, registers.unit_bytes) - 1);
  }
}

void code_tensor(const program::CodedWeights& code, format::FileTensor& tensor) {
  tensor.dtype = DType::kUndefined;
  tensor.layout = program::Layout::kPlain;
  tensor.size_bytes = static_cast<uint32_t>(code.bytes.size());
  tensor.is_coded = 1;
  for (const program::CodedStream& stream : code.streams) {
    tensor.stream_data.push_back(stream.data_bytes);
    tensor.stream_begins.push_back(stream.begin);
    tensor.stream_headers.push_back(stream.header_bytes);
  }
}

}  // namespace rk::registers
