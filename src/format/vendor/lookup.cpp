// SPDX-License-Identifier: Apache-2.0
#include "format/vendor/lookup.h"

#include <algorithm>
#include <array>

namespace rk::format {
namespace {

using program::kLookupEntries;
using program::LookupStage;
using target::RegisterFile;
namespace reg = target::reg;

constexpr uint16_t kTableSelect = 0x4100, kTableEntry = 0x4104;
constexpr uint32_t kUpload = 0x20000, kHighTable = 0x10000;  // bits of kTableSelect

// Entries that one list writes. A list of RK3566 writes one more, which repeats the second.
void collect_tables(const TaskLists& lists, const Task& task, LoadedTask& out) {
  std::vector<int16_t>* to = nullptr;
  for (uint64_t i = 0; i < task.command_count; ++i) {
    const target::RegisterCommand command = lists.command(task.first_word + i);
    if (command.offset == kTableSelect) {
      to = nullptr;
      if ((command.value & kUpload) == 0) continue;
      to = (command.value & kHighTable) != 0 ? &out.high : &out.low;
      to->clear();
    } else if (command.offset == kTableEntry && to != nullptr && to->size() < kLookupEntries) {
      to->push_back(static_cast<int16_t>(command.value));
    }
  }
}

ScaleShift slope_of(const RegisterFile& r, const target::RegisterField& scale,
                    const target::RegisterField& shift) {
  return {static_cast<int32_t>(r.get(scale)), static_cast<int32_t>(r.get(shift))};
}

// Multiplier, addend and shift from the record in memory that some chips keep them in: four rows of 16 bytes for i32
// addend, the same again, i16 multiplier, u8 shift and u8 shift of negative values.
Status read_record(LiftContext& c, const Task& task, LookupStage& stage, int64_t& addend) {
  const auto address = c.lists.address_of(task, c.registers->lookup.record_table);
  const ByteSpan bytes = address ? c.bytes(address->tensor) : ByteSpan();
  constexpr size_t kRecord = 64, kMultiplier = 32, kShift = 48;
  if (!address || uint64_t{address->addend} + kRecord > bytes.size()) {
    return unsupported("the record with the multiplier of its lookup table is missing");
  }
  const uint8_t* const record = bytes.data() + address->addend;
  addend = load<int32_t>(record);
  stage.multiplier = load<int16_t>(record + kMultiplier);
  stage.shift = record[kShift];
  return ok_status();
}

}  // namespace

bool is_lookup_activation(std::string_view name) {
  for (const std::string_view known :
       {"Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "ExSwish", "ExGelu", "ExMish", "Elu",
        "Softplus", "exSwish", "exGelu", "exMish"}) {
    if (name == known) return true;
  }
  return false;
}

LoadedTask next_with_tables(LiftContext& c, uint32_t units) {
  LoadedTask out;
  while (const Task* const task = c.tasks.next()) {
    collect_tables(c.lists, *task, out);
    if ((task->units & units) != units) continue;
    out.task = task;
    break;
  }
  return out;
}

Result<LookupStage> read_lookup_stage(LiftContext& c, const LoadedTask& loaded) {
  const RegisterFile& r = c.tasks.registers();
  const target::LookupRegisters& where = c.registers->lookup;
  if (loaded.low.size() != kLookupEntries || loaded.high.size() != kLookupEntries) {
    return unsupported(str("its lookup tables have ", loaded.low.size(), " and ",
                           loaded.high.size(), " entries, expected ", kLookupEntries, " each"));
  }
  LookupStage stage;
  int64_t addend = 0;
  if (where.record_table != 0) {
    RK_TRY(read_record(c, *loaded.task, stage, addend));
  } else {
    stage.multiplier = static_cast<int16_t>(r.get(where.multiplier));
    stage.shift = static_cast<int32_t>(r.get(where.shift));
    addend = r.get_signed(where.addend);
  }
  stage.addend = where.addend_first ? addend * stage.multiplier : addend;
  stage.start = r.get_signed(where.start);
  stage.end = r.get_signed(where.end);
  stage.entry_shift = static_cast<int32_t>(r.get(where.entry_shift));
  stage.low = loaded.low;
  stage.high = loaded.high;
  stage.below = slope_of(r, where.below_scale, where.below_shift);
  stage.above = slope_of(r, where.above_scale, where.above_shift);
  return stage;
}

int64_t look_up(const LookupStage& stage, int64_t v) {
  const int64_t t = scale_round(v * stage.multiplier + stage.addend, 1, stage.shift);
  if (t < stage.start) {
    return stage.low.front() + scale_round(t - stage.start, stage.below.scale, stage.below.shift);
  }
  if (t > stage.end) {
    return stage.high.back() + scale_round(t - stage.end, stage.above.scale, stage.above.shift);
  }
  const std::vector<int16_t>& table = t < 0 ? stage.low : stage.high;
  const int64_t distance = t < 0 ? t - stage.start : t;
  const auto entry = static_cast<size_t>(distance >> stage.entry_shift);
  const int64_t rest = distance & ((int64_t{1} << stage.entry_shift) - 1);
  if (entry + 1 >= table.size()) return table.back();
  return table[entry] +
         scale_round(int64_t{table[entry + 1]} - table[entry], rest, stage.entry_shift);
}

// An int8 node of its own: all 256 results at once.
Status lift_activation(LiftContext& c) {
  RK_ASSIGN(const std::vector<int32_t> operands, c.operands(1));
  const int32_t in = operands[0], out = c.output();
  // RV1103 and RV1106 have these stages where RK3588 has them.
  const bool placed =
      c.registers != nullptr &&
      (c.registers->has_stages || c.registers->lookup.table_off.offset == reg::DPU_EW_CFG);
  const bool known = placed && c.is_i8(in) && c.is_i8(out) && is_lookup_activation(c.node().type);
  if (!known) return lift_operator(c);
  const LoadedTask loaded = next_with_tables(c, kUnitDpu | kUnitDpuRdma);
  const auto is_table = [&](const LoadedTask& l) {
    const RegisterFile& r = c.tasks.registers();
    return l.task != nullptr && !r.is_on(c.registers->lookup.table_off) &&
           !r.is_on(reg::DPU_EW_CFG__EW_BYPASS) && r.is_on(reg::DPU_BS_CFG__BS_BYPASS);
  };
  // The first task only loads the table; the one after it (the last list of a table, on RK3566) computes.
  LoadedTask work = loaded;
  while (work.task != nullptr && !is_table(work)) {
    const LoadedTask next = next_with_tables(c, kUnitDpu | kUnitDpuRdma);
    work.task = next.task;
    if (!next.low.empty()) work.low = next.low;
    if (!next.high.empty()) work.high = next.high;
  }
  if (work.task == nullptr) return lift_operator(c);
  const Result<LookupStage> stage = read_lookup_stage(c, work);
  if (!stage.ok() || stage->shift > 62 || stage->entry_shift > 16) return lift_operator(c);
  const RegisterFile& r = c.tasks.registers();
  const ScaleShift scale{static_cast<int32_t>(r.get(c.registers->output_scale)),
                         static_cast<int32_t>(r.get(c.registers->output_shift))};
  const int64_t zero_point = r.get_signed(c.registers->output_offset);
  program::TableParams p;
  p.function = c.node().type;
  for (int x = -128; x < 128; ++x) {
    const int64_t v = scale_round(look_up(*stage, x), scale.scale, scale.shift);
    p.table.push_back(saturate_i8(v + zero_point));
  }
  c.add_step({in}, {out}, std::move(p));
  return ok_status();
}

}  // namespace rk::format
