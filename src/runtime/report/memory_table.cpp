// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/memory_table.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "base/checked_math.h"
#include "program/memory.h"
#include "runtime/report/text_table.h"

namespace rk::runtime {
namespace {

using program::ProgramTensor;

std::string hex(uint64_t value) {
  std::ostringstream out;
  out << "0x" << std::hex << std::setw(8) << std::setfill('0') << value;
  return out.str();
}

// Constants lie one after another, each from a multiple of 64 on.
std::vector<uint64_t> constant_offsets(const program::Variant& variant) {
  std::vector<uint64_t> offsets(variant.tensors.size(), 0);
  uint64_t next = 0;
  for (size_t i = 0; i < variant.tensors.size(); ++i) {
    if (!variant.tensors[i].is_constant()) continue;
    offsets[i] = next;
    next += align_up<uint64_t>(variant.tensors[i].size_bytes, 64);
  }
  return offsets;
}

}  // namespace

std::string memory_table(const LoadedModel& model, uint64_t sram_bytes) {
  const program::Variant& variant = model.variant();
  const std::vector<uint64_t> offsets = constant_offsets(variant);
  const auto is_border = [&](int32_t index) {
    return std::ranges::find(variant.inputs, index) != variant.inputs.end() ||
           std::ranges::find(variant.outputs, index) != variant.outputs.end();
  };
  uint64_t peak = 0;
  for (size_t i = 0; i < variant.tensors.size(); ++i) {
    const ProgramTensor& tensor = variant.tensors[i];
    if (tensor.is_constant() || is_border(static_cast<int32_t>(i))) continue;
    peak = std::max(peak, tensor.offset_in_arena + tensor.size_bytes);
  }
  std::vector<Cells> features, constants;
  // A tensor has its row where it is read; the star is at the end of the internal memory.
  const auto add_row = [&](size_t id, const std::string& user, int32_t index) {
    const ProgramTensor& tensor = variant.tensors[static_cast<size_t>(index)];
    const bool constant = tensor.is_constant(), border = is_border(index);
    const uint64_t start = constant ? offsets[static_cast<size_t>(index)] : tensor.offset_in_arena;
    const uint64_t end = start + tensor.size_bytes;
    const bool at_peak = !constant && !border && end == peak;
    Cells row = {
        std::to_string(id),
        user,
        tensor.name,
        std::string(table_type_name(tensor.dtype)),
        table_shape(tensor.shape),
        table_shape(tensor.native_shape),
        "| " + hex(start) + (at_peak ? "*" : " ") + hex(end) + " " + hex(tensor.size_bytes)};
    if (!constant)
      row.push_back(border ? "| \\" : "| " + hex(program::bytes_in_sram(tensor, sram_bytes)));
    (constant ? constants : features).push_back(std::move(row));
  };
  size_t id = 0;
  for (const program::Step& step : variant.steps) {
    ++id;
    for (const int32_t input : step.inputs)
      if (input != program::kNone) add_row(id, step.type, input);
  }
  for (const int32_t output : variant.outputs) add_row(++id, "OutputOperator", output);
  Cells header = {"ID",
                  "User",
                  "Tensor",
                  "DataType",
                  "OrigShape",
                  "NativeShape",
                  "|     [Start       End)       Size"};
  const std::string const_table = draw_table("Const Tensor Information Table", header, constants);
  header.emplace_back("|    SramHit");
  const std::string sram = sram_bytes == 0 ? ""
                                           : str("Total allocated Internal SRAM Size: ", sram_bytes,
                                                 ", Addr: [", hex(0), ", ", hex(sram_bytes), ")\n");
  const program::MemoryTraffic traffic = program::memory_traffic(variant, sram_bytes);
  return sram + draw_table("Feature Tensor Information Table", header, features) + const_table +
         str("Total Weight Memory Size: ", model.weight_bytes(), "\n",
             "Total Internal Memory Size: ", model.internal_bytes(), "\n",
             "Predict Internal Memory RW Amount: ", traffic.feature_bytes, "\n",
             "Predict Weight Memory RW Amount: ", traffic.constant_bytes, "\n",
             "Predict SRAM Hit RW Amount: ", traffic.sram_bytes, "\n");
}

}  // namespace rk::runtime
