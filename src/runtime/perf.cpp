// SPDX-License-Identifier: Apache-2.0
#include "runtime/perf.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <sstream>

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

// The table's own spelling of types, which is not that of get_type_string.
std::string_view type_name(DType dtype) {
  switch (dtype) {
    case DType::kU8:
      return "UINT8";
    case DType::kI8:
      return "INT8";
    case DType::kI16:
      return "INT16";
    case DType::kF16:
      return "FLOAT16";
    case DType::kF32:
      return "FLOAT";
    case DType::kI32:
      return "INT32";
    case DType::kI64:
      return "INT64";
    case DType::kBool:
      return "BOOL";
    default:
      return "UNKNOW";
  }
}

// "(1,3,224,224)".
std::string shape_text(const Shape& shape) {
  std::string out = "(";
  for (const int64_t extent : shape.dims())
    out += (out.size() > 1 ? "," : "") + std::to_string(extent);
  return out + ")";
}

struct Row {
  std::vector<std::string> cells;
};

// Left-aligned columns, each as wide as its widest cell, within rules.
std::string draw(const std::string& title, const std::vector<std::string>& header,
                 const std::vector<Row>& rows) {
  std::vector<size_t> widths;
  for (const std::string& cell : header) widths.push_back(cell.size());
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.cells.size(); ++i)
      widths[i] = std::max(widths[i], row.cells[i].size());
  }
  std::ostringstream out;
  size_t total = 0;
  for (const size_t width : widths) total += width + 3;
  const std::string rule(total, '-');
  const auto line = [&](const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i)
      out << std::left << std::setw(static_cast<int>(widths[i] + 3)) << cells[i];
    out << "\n";
  };
  out << rule << "\n"
      << std::string(total > title.size() ? (total - title.size()) / 2 : 0, ' ') << title << "\n"
      << rule << "\n";
  line(header);
  out << rule << "\n";
  for (const Row& row : rows) line(row.cells);
  out << rule << "\n";
  return out.str();
}

struct Total {
  int64_t calls = 0;
  int64_t by_processor_us[3] = {0, 0, 0};
  int64_t sum_us() const { return by_processor_us[0] + by_processor_us[1] + by_processor_us[2]; }
};

}  // namespace

std::string perf_table(const Session& session) {
  const program::Variant& variant = session.model().variant();
  const std::vector<int64_t>& durations = session.step_durations_us();
  std::vector<Row> rows;
  std::map<std::string, Total> totals;
  int64_t total_us = 0;
  uint64_t total_bytes = 0;
  const auto tensor = [&](int32_t i) -> const program::ProgramTensor& {
    return variant.tensors[static_cast<size_t>(i)];
  };
  const auto io_row = [&](const char* type, int32_t index, bool input) {
    const program::ProgramTensor& t = tensor(index);
    rows.push_back(
        {{std::to_string(rows.size() + 1), type, std::string(type_name(t.dtype)), "CPU",
          input ? "\\" : shape_text(t.shape), input ? shape_text(t.shape) : "\\", "0/0/0", "0",
          "\\", std::to_string(t.size_bytes / 1024), std::string(type) + ":" + t.name}});
  };
  for (const int32_t input : variant.inputs) io_row("InputOperator", input, true);
  for (size_t i = 0; i < variant.steps.size() && i < durations.size(); ++i) {
    const program::Step& step = variant.steps[i];
    std::string inputs;
    uint64_t bytes = 0;
    for (const int32_t index : step.inputs) {
      if (index == program::kNone) continue;
      inputs += (inputs.empty() ? "" : ",") + shape_text(tensor(index).shape);
      bytes += tensor(index).size_bytes;
    }
    for (const int32_t index : step.outputs) bytes += tensor(index).size_bytes;
    const program::ProgramTensor& out = tensor(step.outputs.front());
    rows.push_back(
        {{std::to_string(rows.size() + 1), step.type, std::string(type_name(out.dtype)),
          std::string(processor_name(step.processor)), inputs, shape_text(out.shape), "0/0/0",
          std::to_string(durations[i]), "\\", std::to_string(bytes / 1024), step.name}});
    Total& total = totals[step.type];
    ++total.calls;
    total.by_processor_us[static_cast<size_t>(step.processor)] += durations[i];
    total_us += durations[i];
    total_bytes += bytes;
  }
  for (const int32_t output : variant.outputs) io_row("OutputOperator", output, false);

  std::string text =
      draw("Network Layer Information Table",
           {"ID", "OpType", "DataType", "Target", "InputShape", "OutputShape",
            "Cycles(DDR/NPU/Total)", "Time(us)", "MacUsage(%)", "RW(KB)", "FullName"},
           rows);
  text += str("Total Operator Elapsed Per Frame Time(us): ", total_us, "\n",
              "Total Memory Read/Write Per Frame Size(KB): ", total_bytes / 1024, "\n");
  std::vector<std::pair<std::string, Total>> ranking(totals.begin(), totals.end());
  std::stable_sort(ranking.begin(), ranking.end(), [](const auto& a, const auto& b) {
    return a.second.sum_us() > b.second.sum_us();
  });
  std::vector<Row> ranked;
  for (const auto& [type, total] : ranking) {
    std::ostringstream ratio;
    const double share =
        total_us == 0 ? 0
                      : 100.0 * static_cast<double>(total.sum_us()) / static_cast<double>(total_us);
    ratio << std::fixed << std::setprecision(2) << share << "%";
    ranked.push_back(
        {{type, std::to_string(total.calls), std::to_string(total.by_processor_us[0]),
          std::to_string(total.by_processor_us[1]), std::to_string(total.by_processor_us[2]),
          std::to_string(total.sum_us()), ratio.str()}});
  }
  return text + draw("Operator Time Consuming Ranking Table",
                     {"OpType", "CallNumber", "CPUTime(us)", "GPUTime(us)", "NPUTime(us)",
                      "TotalTime(us)", "TimeRatio(%)"},
                     ranked);
}

}  // namespace rk::runtime
