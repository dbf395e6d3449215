// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/perf.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <sstream>

#include "program/core_split.h"
#include "program/cost.h"
#include "program/native_layout.h"
#include "target/sparse.h"

namespace rk::runtime {
namespace {

using program::Processor;

std::string_view processor_name(Processor processor) {
  switch (processor) {
    case Processor::kCpu:
      return "CPU";
    case Processor::kGpu:
      return "GPU";
    case Processor::kNpu:
      return "NPU";
  }
  return "?";
}

struct Total {
  int64_t calls = 0;
  int64_t by_processor_us[3] = {0, 0, 0};
  int64_t sum_us() const { return by_processor_us[0] + by_processor_us[1] + by_processor_us[2]; }
};

using StepDurations = std::vector<int64_t>;

struct RowFacts {
  std::string type;
  DType dtype = DType::kUndefined;
  Processor processor = Processor::kNpu;
  std::string input_shapes;
  std::string output_shape;
  target::NpuCost counted;
  target::Sparsity sparsity = target::Sparsity::kNone;
  double mac_usage = 0;
  int64_t us = 0;
  std::string work_load;
  size_t tasks = 0;  // at least one per core that computes
  std::string name;
  Cells more;
};

// "50.0%/50.0%/0.0% - Up:50.0%": each core's part of the rows, and what the busiest one is spared; without rows `only`
// has all of a step on the NPU.
std::string work_load(int cores, int only, std::span<const int32_t> rows, bool on_npu) {
  int64_t all = 0, most = 0;
  for (const int32_t count : rows) {
    all += count;
    most = std::max<int64_t>(most, count);
  }
  std::ostringstream out;
  out << std::fixed << std::setprecision(1);
  for (int core = 0; core < cores; ++core) {
    double share = on_npu && core == only ? 100 : 0;
    if (all != 0) {
      const bool named = static_cast<size_t>(core) < rows.size();
      share = named ? 100.0 * rows[static_cast<size_t>(core)] / static_cast<double>(all) : 0;
    }
    out << (core == 0 ? "" : "/") << share << "%";
  }
  const double spared =
      all == 0 ? 0 : 100.0 * static_cast<double>(all - most) / static_cast<double>(all);
  out << " - Up:" << spared << "%";
  return out.str();
}

// "23.46", or a dash for steps without multiplications.
std::string percent(double share) {
  if (share == 0) return "\\";
  std::ostringstream out;
  out << std::fixed << std::setprecision(2) << 100 * share;
  return out.str();
}

// The clocks that times are predicted for, as the board prints those it has pinned.
std::string clock_lists(const target::Target& chip) {
  std::ostringstream out;
  out << "CPU Current Frequency List:\n";
  for (const int mhz : chip.time.cpu_mhz)
    if (mhz != 0) out << "    - " << mhz * 1000 << "\n";
  out << "NPU Current Frequency List:\n    - " << int64_t{chip.time.npu_mhz} * 1000000 << "\n";
  out << "DDR Current Frequency List:\n";
  if (chip.time.ddr_mhz != 0) out << "    - " << int64_t{chip.time.ddr_mhz} * 1000000 << "\n";
  return out.str();
}

std::string times_line(const target::Target& chip, int cores, PerfTimes times) {
  if (times == PerfTimes::kHost) {
    return "Times are measured on this machine, not on the chip; cycles and RW(KB) are counted for "
           "the chip.\n";
  }
  return str("Times are predicted for ", chip.name, " at ", chip.time.npu_mhz, " MHz on ", cores,
             cores == 1 ? " core" : " cores",
             chip.time.fitted ? " (fitted to published frame rates"
                              : " (no published frame rates of this chip: taken over from another",
             "; docs/board-model.md).\n");
}

// What applications give: the NPU takes the pixels of a quantized picture as they are.
DType fed_dtype(const program::ProgramTensor& input) {
  const bool picture = program::is_picture(input.shape) && input.dtype == DType::kI8;
  return picture ? DType::kU8 : input.dtype;
}

}  // namespace

std::string perf_table(const Session& session, const PerfOptions& options) {
  const LoadedModel& model = session.model();
  const PerfTimes times = options.times;
  const program::Variant& variant = options.variant ? *options.variant : session.variant();
  const bool in_force = &variant == &session.variant();
  const StepDurations& durations = session.step_durations_us();
  const int cores = model.chip().npu_cores;
  const bool has_sparse = target::has_sparse_weights(model.chip());
  const program::ProgramCost cost =
      program::cost_of(model.chip(), variant, {.cores = session.cores()});
  const bool predicted = times == PerfTimes::kPredicted;
  std::vector<Cells> rows;
  std::map<std::string, Total> totals;
  int64_t total_us = 0;
  uint64_t total_bytes = 0;
  const auto tensor = [&](int32_t i) -> const program::ProgramTensor& {
    return variant.tensors[static_cast<size_t>(i)];
  };
  const auto add_row = [&](RowFacts facts) {
    Cells cells = {std::to_string(rows.size() + 1),
                   facts.type,
                   std::string(table_type_name(facts.dtype)),
                   std::string(processor_name(facts.processor)),
                   facts.input_shapes,
                   facts.output_shape,
                   str(facts.counted.ddr_cycles, "/", facts.counted.npu_cycles, "/",
                       facts.counted.total_cycles())};
    if (has_sparse) cells.emplace_back(target::to_string(facts.sparsity));
    cells.push_back(std::to_string(facts.us));
    cells.push_back(percent(facts.mac_usage));
    if (cores > 1) cells.push_back(facts.work_load);
    cells.push_back(std::to_string(facts.tasks));
    cells.push_back(std::to_string(facts.counted.read_bytes / 1024));
    cells.push_back(facts.name);
    cells.insert(cells.end(), facts.more.begin(), facts.more.end());
    rows.push_back(std::move(cells));
    Total& total = totals[facts.type];
    ++total.calls;
    total.by_processor_us[static_cast<size_t>(facts.processor)] += facts.us;
    total_us += facts.us;
    total_bytes += facts.counted.read_bytes;
  };
  const auto io_row = [&](const char* type, int32_t index, int64_t us, bool input) {
    const program::ProgramTensor& t = tensor(index);
    RowFacts facts{
        .type = type, .dtype = input ? fed_dtype(t) : t.dtype, .processor = Processor::kCpu};
    facts.input_shapes = input ? "\\" : table_shape(t.shape);
    facts.output_shape = input ? table_shape(t.shape) : "\\";
    facts.us = predicted ? 0 : us;
    facts.work_load = work_load(cores, 0, {}, false);
    facts.name = std::string(type) + ":" + t.name;
    add_row(std::move(facts));
  };
  for (size_t i = 0; i < variant.inputs.size(); ++i)
    io_row("InputOperator", variant.inputs[i], session.input_durations_us()[i], true);
  for (size_t i = 0; i < variant.steps.size() && (predicted || i < durations.size()); ++i) {
    const program::Step& step = variant.steps[i];
    const program::ProgramTensor& out = tensor(step.outputs.front());
    RowFacts facts{.type = step.type,
                   .dtype = out.dtype,
                   .processor = in_force ? session.processor(i) : step.processor};
    // The type a step computes on: that of what it reads.
    const auto read = std::ranges::find_if(step.inputs, [&](int32_t index) {
      return index != program::kNone && !tensor(index).is_constant();
    });
    if (read != step.inputs.end()) {
      const bool is_input = std::ranges::find(variant.inputs, *read) != variant.inputs.end();
      facts.dtype = is_input ? fed_dtype(tensor(*read)) : tensor(*read).dtype;
    }
    for (const int32_t index : step.inputs) {
      if (index == program::kNone) continue;
      facts.input_shapes +=
          (facts.input_shapes.empty() ? "" : ",") + table_shape(tensor(index).shape);
    }
    facts.output_shape = table_shape(out.shape);
    facts.counted = cost.steps[i].counted;
    facts.sparsity = step.sparsity;
    facts.mac_usage = cost.steps[i].mac_usage;
    facts.us = predicted ? std::llround(cost.steps[i].us) : durations[i];
    const int only = session.first_core();
    const auto by_core = only == 0 ? program::rows_by_core(step.core_rows, session.cores())
                                   : std::span<const int32_t>();
    facts.work_load = work_load(cores, only, by_core, step.processor == Processor::kNpu);
    if (step.processor == Processor::kNpu)
      facts.tasks = static_cast<size_t>(
          std::max<int64_t>(1, std::ranges::count_if(by_core, [](int32_t n) { return n > 0; })));
    facts.name = step.name;
    if (i < options.rows_of_steps.size()) facts.more = options.rows_of_steps[i];
    add_row(std::move(facts));
  }
  for (size_t i = 0; i < variant.outputs.size(); ++i)
    io_row("OutputOperator", variant.outputs[i], session.output_durations_us()[i], false);

  Cells header = {
      "ID", "OpType", "DataType", "Target", "InputShape", "OutputShape", "Cycles(DDR/NPU/Total)"};
  if (has_sparse) header.emplace_back("SparseRatio");
  header.insert(header.end(), {"Time(us)", "MacUsage(%)"});
  if (cores > 1) header.emplace_back(cores > 2 ? "WorkLoad(0/1/2)" : "WorkLoad(0/1)");
  header.insert(header.end(), {"TaskNumber", "RW(KB)", "FullName"});
  header.insert(header.end(), options.more_columns.begin(), options.more_columns.end());
  std::string text = predicted ? clock_lists(model.chip()) : std::string();
  text += times_line(model.chip(), session.cores(), times);
  text += draw_table("Network Layer Information Table", header, rows);
  text += str("Total Operator Elapsed Per Frame Time(us): ", total_us, "\n",
              "Total Memory Read/Write Per Frame Size(KB): ", total_bytes / 1024, "\n");
  std::vector<std::pair<std::string, Total>> ranking(totals.begin(), totals.end());
  std::stable_sort(ranking.begin(), ranking.end(), [](const auto& a, const auto& b) {
    return a.second.sum_us() > b.second.sum_us();
  });
  std::vector<Cells> ranked;
  for (const auto& [type, total] : ranking) {
    std::ostringstream ratio;
    const double share =
        total_us == 0 ? 0
                      : 100.0 * static_cast<double>(total.sum_us()) / static_cast<double>(total_us);
    ratio << std::fixed << std::setprecision(2) << share << "%";
    ranked.push_back({type, std::to_string(total.calls), std::to_string(total.by_processor_us[0]),
                      std::to_string(total.by_processor_us[1]),
                      std::to_string(total.by_processor_us[2]), std::to_string(total.sum_us()),
                      ratio.str()});
  }
  return text + draw_table("Operator Time Consuming Ranking Table",
                           {"OpType", "CallNumber", "CPUTime(us)", "GPUTime(us)", "NPUTime(us)",
                            "TotalTime(us)", "TimeRatio(%)"},
                           ranked);
}

}  // namespace rk::runtime
