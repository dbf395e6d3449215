// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/memory_table.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "base/checked_math.h"
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

struct Amounts {
  uint64_t internal = 0;
  uint64_t weight = 0;
  uint64_t sram = 0;
};

}  // namespace

std::string memory_table(const LoadedModel& model, uint64_t sram_bytes) {
  const program::Variant& variant = model.variant();
  const std::vector<uint64_t> offsets = constant_offsets(variant);
  std::vector<Cells> features, constants;
  Amounts amounts;
  size_t id = 0;
  for (const program::Step& step : variant.steps) {
    ++id;
    const auto add = [&](int32_t index) {
      if (index == program::kNone) return;
      const ProgramTensor& tensor = variant.tensors[static_cast<size_t>(index)];
      const bool constant = tensor.is_constant();
      const uint64_t start =
          constant ? offsets[static_cast<size_t>(index)] : tensor.offset_in_arena;
      const uint64_t hit =
          constant || start >= sram_bytes ? 0 : std::min(tensor.size_bytes, sram_bytes - start);
      (constant ? amounts.weight : amounts.internal) += tensor.size_bytes;
      amounts.sram += hit;
      Cells row = {std::to_string(id),
                   step.type,
                   tensor.name,
                   std::string(table_type_name(tensor.dtype)),
                   table_shape(tensor.shape),
                   table_shape(tensor.native_shape),
                   "| [" + hex(start) + ", " + hex(start + tensor.size_bytes) + ")",
                   hex(tensor.size_bytes)};
      if (!constant) row.push_back("| " + hex(hit));
      (constant ? constants : features).push_back(std::move(row));
    };
    for (const int32_t input : step.inputs) add(input);
    for (const int32_t output : step.outputs) add(output);
  }
  Cells header = {"ID",        "User",        "Tensor",         "DataType",
                  "OrigShape", "NativeShape", "| [Start, End)", "Size"};
  const std::string const_table = draw_table("Const Tensor Information Table", header, constants);
  header.emplace_back("| SramHit");
  const auto kib = [](uint64_t bytes) { return str(bytes / 1024, "KB"); };
  return draw_table("Feature Tensor Information Table", header, features) + const_table +
         str("Total Weight Memory Size: ", model.weight_bytes(), "\n",
             "Total Internal Memory Size: ", model.internal_bytes(), "\n",
             "Predict Internal Memory RW Amount: ", kib(amounts.internal), "\n",
             "Predict Weight Memory RW Amount: ", kib(amounts.weight), "\n",
             "Predict SRAM Hit RW Amount: ", kib(amounts.sram), "\n");
}

}  // namespace rk::runtime
