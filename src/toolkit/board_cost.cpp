// SPDX-License-Identifier: Apache-2.0
#include "toolkit/board_cost.h"

#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <sstream>

#include "base/file.h"
#include "target/target.h"

namespace rk::toolkit {
namespace {

constexpr size_t kLabelWidth = 24;
constexpr size_t kColumnWidth = 40;

std::string fixed(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

std::string mib(uint64_t bytes) { return fixed(static_cast<double>(bytes) / 1048576, 2) + " MiB"; }

std::string padded(std::string text, size_t width) {
  if (text.size() >= width) text.resize(width - 1);
  text.resize(width, ' ');
  return text;
}

std::string_view bound_of(const LayerCost& layer) {
  return bound_by(layer.processor, layer.cost.counted);
}

}  // namespace

Result<BoardCost> board_cost(const program::Program& program, const program::CostOptions& options) {
  RK_ASSIGN(const target::Target* const target, target::find_target(program.target));
  const program::Variant& variant = program.main_variant();
  if (options.cores < 1 || options.cores > target->npu_cores) {
    return invalid_argument(
        str("cores ", options.cores, "; ", target->name, " has ", target->npu_cores));
  }
  const program::ProgramCost cost = program::cost_of(*target, variant, options);
  BoardCost out{.chip = std::string(target->name),
                .cores = options.cores,
                .npu_mhz = options.npu_mhz > 0 ? options.npu_mhz : target->time.npu_mhz,
                .fitted = target->time.fitted,
                .us = cost.us,
                .fps = cost.fps(),
                .memory = program::memory_of(*target, program)};
  out.integers = std::ranges::any_of(variant.tensors, [](const program::ProgramTensor& tensor) {
    return tensor.quantized() && !tensor.is_constant();
  });
  for (size_t i = 0; i < variant.steps.size(); ++i) {
    const program::Step& step = variant.steps[i];
    const bool reads = !step.inputs.empty() && step.inputs[0] != program::kNone;
    const int32_t data = reads ? step.inputs[0] : step.outputs[0];
    out.layers.push_back({step.type, step.name, step.processor,
                          variant.tensors[static_cast<size_t>(data)].dtype, cost.steps[i]});
  }
  return out;
}

Result<Calibration> read_calibration(const std::string& path) {
  RK_ASSIGN(const std::vector<uint8_t> bytes, read_file(path));
  std::istringstream in(std::string(bytes.begin(), bytes.end()));
  Calibration calibration;
  size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || number == 1) {
      if (number == 1 && line != "chip,type,predicted_us,measured_us")
        return invalid_argument(str("'", path, "' begins with '", line.substr(0, 80),
                                    "'; expected the header chip,type,predicted_us,measured_us"));
      continue;
    }
    std::istringstream cells(line);
    std::string chip, type, predicted, measured;
    std::getline(cells, chip, ',');
    std::getline(cells, type, ',');
    std::getline(cells, predicted, ',');
    std::getline(cells, measured);
    char* end = nullptr;
    const double p = std::strtod(predicted.c_str(), &end);
    const bool p_ok = end != predicted.c_str() && *end == '\0' && p > 0 && p < 1e12;
    const double m = std::strtod(measured.c_str(), &end);
    const bool m_ok = end != measured.c_str() && *end == '\0' && m > 0 && m < 1e12;
    if (!p_ok || !m_ok || chip.empty() || type.empty()) {
      return invalid_argument(
          str("'", path, "' line ", number, ": '", line.substr(0, 80),
              "'; expected chip,type,predicted_us,measured_us with times above 0"));
    }
    RK_ASSIGN(const target::Target* const target, target::find_target(chip));
    Measured& sum = calibration[{std::string(target->name), type}];
    sum.predicted_us += p;
    sum.measured_us += m;
  }
  return calibration;
}

void calibrate(const Calibration& calibration, BoardCost& cost) {
  const auto factor = [&](const std::string& type) {
    auto found = calibration.find({cost.chip, type});
    if (found == calibration.end()) found = calibration.find({cost.chip, "*"});
    return found == calibration.end() ? 1.0
                                      : found->second.measured_us / found->second.predicted_us;
  };
  for (LayerCost& layer : cost.layers) {
    const double us = layer.cost.us * factor(layer.type);
    cost.us += us - layer.cost.us;
    layer.cost.us = us;
  }
  cost.fps = cost.us > 0 ? 1e6 / cost.us : 0;
}

std::string side_by_side(std::span<const BoardCost> costs, size_t dearest) {
  std::ostringstream out;
  const auto line = [&](const std::string& label, const auto& cell) {
    out << padded(label, kLabelWidth);
    for (const BoardCost& cost : costs) out << padded(cell(cost), kColumnWidth);
    out << "\n";
  };
  line("", [](const BoardCost& c) { return str(c.chip, c.integers ? " int8" : " float16"); });
  line("frames per second", [](const BoardCost& c) { return fixed(c.fps, 1); });
  line("time of a frame", [](const BoardCost& c) { return fixed(c.us / 1000, 2) + " ms"; });
  line("NPU", [](const BoardCost& c) {
    return str(c.cores, c.cores == 1 ? " core, " : " cores, ", c.npu_mhz, " MHz");
  });
  line("rests on", [](const BoardCost& c) {
    return std::string(c.fitted ? "published rates of this chip" : "rates of another chip");
  });
  line("weights", [](const BoardCost& c) { return mib(c.memory.weight_bytes); });
  line("internal tensors", [](const BoardCost& c) { return mib(c.memory.internal_bytes); });
  line("commands and tasks", [](const BoardCost& c) { return mib(c.memory.command_bytes); });
  line("memory in all", [](const BoardCost& c) { return mib(c.memory.total()); });
  std::vector<std::vector<const LayerCost*>> ranked;
  for (const BoardCost& cost : costs) {
    std::vector<const LayerCost*>& layers = ranked.emplace_back();
    for (const LayerCost& layer : cost.layers) layers.push_back(&layer);
    std::ranges::stable_sort(
        layers, [](const LayerCost* a, const LayerCost* b) { return a->cost.us > b->cost.us; });
  }
  for (size_t i = 0; i < dearest; ++i) {
    line(str("layer ", i + 1), [&](const BoardCost& c) {
      const auto& layers = ranked[static_cast<size_t>(&c - costs.data())];
      if (i >= layers.size()) return std::string();
      const LayerCost& layer = *layers[i];
      return str(fixed(layer.cost.us, 0), " us ", bound_of(layer), " ", layer.name);
    });
  }
  return out.str();
}

std::string_view bound_by(program::Processor processor, const target::NpuCost& counted) {
  if (processor != program::Processor::kNpu) return "CPU";
  return counted.npu_cycles == 0 || counted.memory_bound() ? "DDR" : "MAC";
}

std::string layers_csv(std::span<const BoardCost> costs) {
  std::ostringstream out;
  out << "chip,type,bound,dtype,ddr_cycles,npu_cycles,read_bytes,written_bytes,us,name\n";
  for (const BoardCost& c : costs) {
    for (const LayerCost& layer : c.layers) {
      const target::NpuCost& n = layer.cost.counted;
      out << c.chip << "," << layer.type << "," << bound_of(layer) << "," << to_string(layer.dtype)
          << "," << n.ddr_cycles << "," << n.npu_cycles << "," << n.read_bytes << ","
          << n.written_bytes << "," << fixed(layer.cost.us, 1) << "," << layer.name << "\n";
    }
  }
  return out.str();
}

std::string to_csv(std::span<const BoardCost> costs) {
  std::ostringstream out;
  out << "chip,dtype,cores,fps,us,weight_bytes,internal_bytes,command_bytes\n";
  for (const BoardCost& c : costs) {
    out << c.chip << "," << (c.integers ? "int8" : "float16") << "," << c.cores << ","
        << fixed(c.fps, 2) << "," << fixed(c.us, 0) << "," << c.memory.weight_bytes << ","
        << c.memory.internal_bytes << "," << c.memory.command_bytes << "\n";
  }
  return out.str();
}

}  // namespace rk::toolkit
