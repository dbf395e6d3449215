// SPDX-License-Identifier: Apache-2.0
// cost_check FOLDER [WORDS]: every layer row of the compiler's tables (CHIP_DTYPE_MODEL.txt) counted again from its
// shapes. Prints one FIGURE line per chip, type and column, with WORDS before the chip. RK_COST_ROWS=1 also prints the
// rows that differ.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "program/cost.h"
#include "target/conv_traffic.h"
#include "target/memory_rules.h"
#include "target/target.h"

namespace {

using rk::DType;
using rk::Shape;

struct Row {
  std::string type, dtype;
  std::vector<Shape> inputs;
  Shape output;
  double ddr = 0, npu = 0, total = 0, read_kb = 0;
  bool writes_output = false;
  const Row* reads_output = nullptr;  // the row that wrote it
};

std::vector<Shape> shapes_in(const std::string& text) {
  static const std::regex shape(R"(\(([\d,]+)\))"), number(R"(\d+)");
  std::vector<Shape> result;
  for (std::sregex_iterator it(text.begin(), text.end(), shape), end; it != end; ++it) {
    const std::string inner = (*it)[1];
    std::vector<int64_t> dims;
    for (std::sregex_iterator n(inner.begin(), inner.end(), number); n != end; ++n)
      dims.push_back(std::stoll(n->str()));
    const auto made = Shape::make(dims);
    if (made.ok()) result.push_back(*made);
  }
  return result;
}

bool is_output(const std::string& line) {
  return line.find("OutputOperator:") != std::string::npos;
}

// A layer row; empty for every other line. The sparse column is there on some chips only.
std::optional<Row> parse(const std::string& line) {
  static const std::regex form(
      R"(^\d+\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\d+)/(\d+)/(\d+)(?:\s+\d+%)?\s+([\d.]+)\s+\S.*$)");
  std::smatch m;
  if (!std::regex_match(line, m, form) || m[3] != "NPU") return std::nullopt;
  Row row{.type = m[1], .dtype = m[2], .inputs = shapes_in(m[4])};
  const std::vector<Shape> out = shapes_in(m[5]);
  if (out.size() != 1 || row.inputs.empty()) return std::nullopt;
  row.output = out[0];
  row.ddr = std::stod(m[6]);
  row.npu = std::stod(m[7]);
  row.total = std::stod(m[8]);
  row.read_kb = std::stod(m[9]);
  return row;
}

// Of what a row writes in float16.
int copies(const rk::target::Target& target, const Row& row) {
  if (row.dtype == "INT8") return 1;
  const auto form = rk::program::activation_form({.type = row.type});
  if (form == rk::program::ActivationForm::kTable)
    return rk::target::memory_rules(target).table_copies_f16;
  return form == rk::program::ActivationForm::kGate
             ? rk::target::memory_rules(target).gate_copies_f16
             : 1;
}

// Marks the rows that write outputs, the last of an output's shape before it, and those that read what these wrote.
void mark_outputs(std::vector<Row>& rows, const std::vector<std::pair<size_t, Shape>>& outputs) {
  const auto last_of = [&](const Shape& shape, size_t before) -> Row* {
    for (size_t i = before; i-- > 0;)
      if (rows[i].output == shape) return &rows[i];
    return nullptr;
  };
  for (const auto& [before, shape] : outputs) {
    for (size_t i = before; i-- > 0;) {
      if (rows[i].output != shape || rows[i].writes_output) continue;
      rows[i].writes_output = true;
      break;
    }
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row* const writer = last_of(rows[i].inputs[0], i);
    if (writer != nullptr && writer->writes_output) rows[i].reads_output = writer;
  }
}

// Weights of a transposed convolution are [in, out / groups, ...].
int64_t groups_of(const Row& row) {
  const bool transposed = row.type.find("ConvTranspose") != std::string::npos;
  const int64_t channels = transposed ? row.output[1] : row.inputs[0][1];
  return std::max<int64_t>(1, channels / std::max<int64_t>(1, row.inputs[1][1]));
}

rk::target::NpuCost count(const rk::target::Target& target, const Row& row,
                          const std::vector<Shape>& model_inputs) {
  const DType dtype = row.dtype == "INT8" ? DType::kI8 : DType::kF16;
  const Shape& in = row.inputs[0];
  if (row.type == "exMatMul" && row.inputs.size() > 1 && in.rank() == 4) {
    // [batch, k, 1, m] by [batch, k, 1, n] gives [batch, n, 1, m].
    return matmul_cost(target, dtype, in[0], row.output[3], in[1], row.output[1]);
  }
  if (row.total == 0 || row.inputs.size() < 2 || row.inputs[1].rank() != 4) {
    rk::target::NpuCost cost;
    for (const Shape& input : row.inputs)
      cost.read_bytes += counted_feature_bytes(target, dtype, input);
    return cost;
  }
  const Shape& weight = row.inputs[1];
  const bool depthwise = weight[0] == 1 && row.output[1] == weight[1] && row.output[1] != 1;
  const bool is_input = std::ranges::find(model_inputs, in) != model_inputs.end();
  const rk::target::ConvGeometry geometry = {
      .dtype = dtype,
      .batch = in[0],
      .in_channels = in[1],
      .in_h = in[2],
      .in_w = in[3],
      .out_channels = row.output[1],
      .out_h = row.output[2],
      .out_w = row.output[3],
      .kernel_h = weight[2],
      .kernel_w = weight[3],
      .group = depthwise ? in[1] : groups_of(row),
      .picture = is_input && (in[1] == 1 || in[1] == 3 || in[1] == 4),
      .has_bias = row.inputs.size() > 2,
      .has_addend = row.type.find("Add") != std::string::npos};
  return conv_cost(
      target, geometry,
      {.writes_output = row.writes_output,
       .written_copies = copies(target, row),
       .reads_output = row.reads_output != nullptr,
       .read_copies = row.reads_output == nullptr ? 1 : copies(target, *row.reads_output)});
}

struct Tally {
  size_t conv = 0, conv_exact = 0, rows = 0, rows_exact = 0, ddr = 0, read = 0;
};

bool near(double value, double expected, double share, double absolute) {
  return std::abs(value - expected) <= std::max(absolute, share * expected);
}

void add(const rk::target::Target& target, const Row& row, const std::vector<Shape>& model_inputs,
         Tally& tally) {
  const rk::target::NpuCost cost = count(target, row, model_inputs);
  const bool exact = static_cast<double>(cost.npu_cycles) == row.npu;
  ++tally.rows;
  tally.rows_exact += exact;
  if (row.total == 0) return;
  ++tally.conv;
  tally.conv_exact += exact;
  const bool ddr = near(static_cast<double>(cost.ddr_cycles), row.ddr, 0.03, 1);
  const bool read = near(static_cast<double>(cost.read_bytes) / 1024, row.read_kb + 0.5, 0.01, 1.5);
  tally.ddr += ddr;
  tally.read += read;
  if ((!exact || !ddr || !read) && std::getenv("RK_COST_ROWS") != nullptr) {
    std::printf("%s %s %s %s -> %s: NPU %llu of %.0f, DDR %llu of %.0f, KB %.1f of %.0f\n",
                target.name.data(), row.type.c_str(), to_string(row.inputs[0]).c_str(),
                to_string(row.inputs[1]).c_str(), to_string(row.output).c_str(),
                static_cast<unsigned long long>(cost.npu_cycles), row.npu,
                static_cast<unsigned long long>(cost.ddr_cycles), row.ddr,
                static_cast<double>(cost.read_bytes) / 1024, row.read_kb);
  }
}

std::string share_of(size_t part, size_t all) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f %% (%zu of %zu)",
                all == 0 ? 0.0 : 100.0 * double(part) / double(all), part, all);
  return text;
}

bool judge(const std::string& name, size_t part, size_t all, double bar) {
  const bool ok = all != 0 && 100.0 * double(part) / double(all) >= bar;
  std::printf("FIGURE %s | %s | >= %.0f %% | %s\n", name.c_str(), share_of(part, all).c_str(), bar,
              ok ? "ok" : "SHORT");
  return ok;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  const std::string prefix = argc == 3 ? std::string(argv[2]) + " " : "";
  std::map<std::string, Tally> tallies;
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    const std::string name = entry.path().stem().string();
    const size_t first = name.find('_'), second = name.find('_', first + 1);
    if (second == std::string::npos) continue;
    const auto target = rk::target::find_target(name.substr(0, first));
    if (!target.ok()) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(), target.status().message().c_str());
      return 1;
    }
    ++files;
    std::ifstream in(entry.path());
    std::vector<Shape> model_inputs;
    std::vector<Row> rows;
    std::vector<std::pair<size_t, Shape>> outputs;  // rows before it, shape
    for (std::string line; std::getline(in, line);) {
      if (line.find("InputOperator") != std::string::npos) {
        const std::vector<Shape> shapes = shapes_in(line);
        model_inputs.insert(model_inputs.end(), shapes.begin(), shapes.end());
      }
      if (is_output(line)) {
        const std::vector<Shape> shapes = shapes_in(line);
        if (!shapes.empty()) outputs.emplace_back(rows.size(), shapes[0]);
      } else if (const auto row = parse(line)) {
        rows.push_back(*row);
      }
    }
    mark_outputs(rows, outputs);
    for (const Row& row : rows)
      add(**target, row, model_inputs, tallies[prefix + name.substr(0, second)]);
  }
  std::printf("%zu tables\n", files);
  bool ok = files != 0;
  for (const auto& [name, tally] : tallies) {
    ok &= judge(name + ": NPU cycles of convolution rows equal", tally.conv_exact, tally.conv, 97);
    ok &= judge(name + ": NPU cycles of all rows equal", tally.rows_exact, tally.rows, 90);
    ok &= judge(name + ": DDR cycles within 3 %", tally.ddr, tally.conv, 95);
    ok &= judge(name + ": RW(KB) within 1 KB or 1 %", tally.read, tally.conv, 97);
  }
  return ok ? 0 : 1;
}
