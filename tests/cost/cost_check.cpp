// SPDX-License-Identifier: Apache-2.0
// cost_check FOLDER: every layer row of the compiler's tables (CHIP_DTYPE_MODEL.txt) counted again from its shapes. Prints
// one FIGURE line per chip, type and column.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "target/cost.h"
#include "target/target.h"

namespace {

using rk::DType;
using rk::Shape;

struct Row {
  std::string type, dtype;
  std::vector<Shape> inputs;
  Shape output;
  double ddr = 0, npu = 0, total = 0, read_kb = 0;
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
  return conv_cost(
      target,
      {.dtype = dtype,
       .batch = in[0],
       .in_channels = in[1],
       .in_h = in[2],
       .in_w = in[3],
       .out_channels = row.output[1],
       .out_h = row.output[2],
       .out_w = row.output[3],
       .kernel_h = weight[2],
       .kernel_w = weight[3],
       .group = depthwise ? in[1] : std::max<int64_t>(1, in[1] / std::max<int64_t>(1, weight[1])),
       .picture = is_input && (in[1] == 1 || in[1] == 3 || in[1] == 4),
       .has_bias = row.inputs.size() > 2,
       .has_addend = row.type.find("Add") != std::string::npos});
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
  tally.ddr += near(static_cast<double>(cost.ddr_cycles), row.ddr, 0.03, 1);
  tally.read += near(static_cast<double>(cost.read_bytes) / 1024, row.read_kb + 0.5, 0.01, 1.5);
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
  if (argc != 2) return 2;
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
    for (std::string line; std::getline(in, line);) {
      if (line.find("InputOperator") != std::string::npos) {
        const std::vector<Shape> shapes = shapes_in(line);
        model_inputs.insert(model_inputs.end(), shapes.begin(), shapes.end());
      }
      if (const auto row = parse(line))
        add(**target, *row, model_inputs, tallies[name.substr(0, second)]);
    }
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
