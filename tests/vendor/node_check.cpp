// SPDX-License-Identifier: Apache-2.0
#include "tests/vendor/node_check.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/half.h"
#include "emulator/emulator.h"
#include "tests/vendor/session_run.h"

namespace rk::vendor {
namespace {

using emulator::Core;
using emulator::Emulator;
using emulator::TaskResult;
using format::FileGraph;
using format::FileNode;
using format::FileTensor;
using format::Task;

// The order of sums differs. An activation comes from a table on the chip and from its formula in the lifted step: the
// tables of the corpus are up to 8.2e-3 (Gelu) away from their functions.
constexpr double kFloatBar = 2e-3, kTableError = 8.2e-3;
// Normalizations take a root by two steps of Newton's method between bfloat16 numbers, of which the
// lifted step knows nothing. The table of exp ends at 2^-15 and not at 0: 320 keys that should
// weigh nothing take 1 % of the sum from the others and bring as much of their own.
constexpr double kRootBar = 1.0 / 128, kAttentionBar = 2e-2;

double float_bar(const FileNode& node) {
  if (node.type == "exNorm") return kRootBar;
  return node.type == "exSDPAttention" ? kAttentionBar : kFloatBar;
}

// The lifted step has the function and not the chip's way to it: int8 results may be a step off.
bool is_by_definition(const FileNode& node) { return node.type == "exNorm"; }

// Stored elements of a model input: any int8; for float16 numbers between -2 and 2.
std::vector<uint8_t> random_elements(const FileTensor& tensor, std::mt19937& random) {
  size_t count = 1;
  for (const int32_t extent : tensor.shape) count *= static_cast<size_t>(std::max(extent, 1));
  std::vector<uint8_t> out(count * byte_size(tensor.dtype));
  for (uint8_t& byte : out) byte = static_cast<uint8_t>(random());
  if (tensor.dtype == DType::kF16) {
    for (size_t i = 0; i < out.size(); i += 2) {
      const auto half = static_cast<uint16_t>((random() & 0x83ff) | (random() % 8 + 8) << 10);
      std::memcpy(out.data() + i, &half, sizeof half);
    }
  }
  return out;
}

class FileCheck {
 public:
  FileCheck(std::string name, std::string kind, const std::vector<uint8_t>& file, Report& report,
            PlainOperands plain)
      : name_(std::move(name)),
        kind_(std::move(kind)),
        file_(file),
        report_(report),
        plain_operands_(plain) {}

  Status run() {
    RK_ASSIGN(model_, format::read_model(ByteSpan(file_)));
    RK_TRY(count_tasks_of_other_chips());
    RK_ASSIGN(Emulator made, Emulator::create(model_, TieRule::kEven));
    if (made.lists().schedules().empty()) return unsupported("it has no register lists");
    const FileGraph& graph = model_.graphs.front();
    std::mt19937 random(7);
    std::vector<std::vector<uint8_t>> inputs;
    for (const int32_t i : graph.inputs) {
      inputs.push_back(random_elements(graph.tensors[static_cast<size_t>(i)], random));
      values_[i] = inputs.back();
    }
    RunResult ran;
    const Status status = run_with_tensors(file_, inputs, ran);
    if (!status.ok())
      ++report_.not_compared[kind_ + ": the file does not run: " + status.message().substr(0, 80)];
    for (const auto& [tensor, stored] : ran.tensors) {
      const ByteSpan bytes = stored.bytes();
      values_[tensor].assign(bytes.begin(), bytes.end());
    }
    return walk(made, graph);
  }

 private:
  // Their registers are not modeled; the table says how many tasks that are.
  Status count_tasks_of_other_chips() {
    if (emulator::knows_chip(model_.platform) || model_.graphs.empty()) return ok_status();
    const FileGraph& graph = model_.graphs.front();
    RK_ASSIGN(const format::TaskLists lists, format::TaskLists::read(model_, graph));
    if (lists.schedules().empty()) return ok_status();
    const format::Lane& lane = lists.schedules().front().lanes.front();
    report_.kinds[kind_ + " all nodes"].tasks += lane.task_count;
    return ok_status();
  }

  Status walk(Emulator& emulator, const FileGraph& graph) {
    const format::Lane& lane = emulator.lists().schedules().front().lanes.front();
    const std::vector<Task>& tasks = emulator.lists().tasks();
    Core core;
    size_t at = lane.first_task;
    const size_t end = std::min(tasks.size(), lane.first_task + lane.task_count);
    while (at < end) {
      const size_t node = tasks[at].node;
      size_t last = at;
      while (last < end && tasks[last].node == node) ++last;
      if (node >= graph.nodes.size()) return invalid_model("a task of a node that does not exist");
      run_node(emulator, core, graph.nodes[node],
               std::span<const Task>(tasks).subspan(at, last - at));
      at = last;
    }
    return ok_status();
  }

  void run_node(Emulator& emulator, Core& core, const FileNode& node, std::span<const Task> tasks) {
    Tally& tally = report_.kinds[kind_ + " " + node.type];
    std::vector<int32_t> operands = node.inputs;
    // Its tasks fill the rows of the model's input up to the aligned width.
    if (node.type == "InputOperator") operands = node.outputs;
    bool plain = false;  // the runtime brings such an operand into the form that the tasks read
    for (const int32_t operand : operands) {
      const auto known = values_.find(operand);
      if (known == values_.end()) continue;
      // A tensor of another layout stays as the tasks left it.
      (void)emulator.store(operand, known->second);
      plain |= node.type != "InputOperator" &&
               plain_operands_ == PlainOperands::kLaidOutByRuntime &&
               model_.graphs.front().tensors[static_cast<size_t>(operand)].layout !=
                   program::Layout::kNc1hwc2;
    }
    size_t executed = 0, done = 0;
    std::vector<TaskResult> results;
    for (const Task& task : tasks) {
      const auto result = emulator.run(task, core);
      executed += result.ok();
      if (result.ok()) results.push_back(*result);
      done += result.ok() && *result == TaskResult::kDone;
      if (!result.ok())
        ++report_.not_modeled[kind_ + " " + node.type + ": " + result.status().message()];
    }
    for (Tally* sum : {&tally, &report_.total}) {
      sum->tasks += tasks.size();
      sum->executed += executed;
    }
    if (executed != tasks.size() || done == 0) return;
    if (plain || !writes_outputs(emulator, node, tasks)) {
      ++report_.not_compared[kind_ + " " + node.type +
                             (plain ? ": an operand that the runtime lays out"
                                    : ": its results are written by the runtime")];
      return;
    }
    const bool has_table = std::any_of(results.begin(), results.end(), [](TaskResult result) {
      return result == TaskResult::kTableLoad;
    });
    compare(emulator, node, tasks.size(), has_table, tally);
  }

  void record(const Tally& one, const FileNode& node, size_t tasks, Tally& tally) {
    const bool equal = one.different + one.far_floats == 0;
    for (Tally* sum : {&tally, &report_.total}) {
      sum->bytes += one.bytes;
      sum->different += one.different;
      sum->floats += one.floats;
      sum->far_floats += one.far_floats;
      sum->worst = std::max(sum->worst, one.worst);
      ++sum->nodes;
      sum->equal_nodes += equal;
      sum->compared += tasks;
    }
    if (!equal) {
      report_.differences.push_back(
          str(name_, ": ", node.name, " (", node.type, "): ", one.different, " of ", one.bytes,
              " bytes, ", one.far_floats, " of ", one.floats, " floats (", one.worst, ")"));
    }
  }

  static bool writes_outputs(const Emulator& emulator, const FileNode& node,
                             std::span<const Task> tasks) {
    return std::all_of(node.outputs.begin(), node.outputs.end(), [&](int32_t output) {
      return std::any_of(tasks.begin(), tasks.end(), [&](const Task& task) {
        const auto by_ppu = emulator.lists().address_of(task, target::reg::PPU_DST_BASE_ADDR);
        const auto by_dpu = emulator.written_by(task);
        return (by_dpu && by_dpu->tensor == output) || (by_ppu && by_ppu->tensor == output);
      });
    });
  }

  void compare(Emulator& emulator, const FileNode& node, size_t tasks, bool has_table,
               Tally& tally) {
    for (const int32_t output : node.outputs) {
      const auto wanted = values_.find(output);
      const auto got = output < 0 ? Result<std::vector<uint8_t>>(unsupported("no output"))
                                  : emulator.load(output);
      if (wanted == values_.end() || !got.ok() || got->size() != wanted->second.size()) {
        const std::string why = wanted == values_.end() ? std::string("no step computes its result")
                                : got.ok()              ? std::string("another size")
                                           : std::string("its result is not a feature");
        ++report_.not_compared[kind_ + " " + node.type + ": " + why];
        return;
      }
      const FileTensor& tensor = model_.graphs.front().tensors[static_cast<size_t>(output)];
      Tally one;
      if (tensor.dtype == DType::kF16) {
        compare_halves(*got, wanted->second, {float_bar(node), has_table ? kTableError : 0}, one);
      } else if (is_by_definition(node)) {
        one.floats = got->size();
        for (size_t i = 0; i < got->size(); ++i) {
          const int off =
              std::abs(static_cast<int8_t>((*got)[i]) - static_cast<int8_t>(wanted->second[i]));
          one.far_floats += off > 1;
        }
      } else {
        one.bytes = got->size();
        for (size_t i = 0; i < got->size(); ++i) one.different += (*got)[i] != wanted->second[i];
      }
      record(one, node, output == node.outputs.back() ? tasks : 0, tally);
    }
  }

  struct FloatBar {
    double of_peak = 0, absolute = 0;
  };

  static void compare_halves(const std::vector<uint8_t>& got, const std::vector<uint8_t>& wanted,
                             const FloatBar& bar, Tally& tally) {
    const auto at = [](const std::vector<uint8_t>& bytes, size_t i) {
      return static_cast<double>(half_to_float(load<uint16_t>(bytes.data() + i)));
    };
    double peak = 0;
    for (size_t i = 0; i < wanted.size(); i += 2) {
      if (std::isfinite(at(wanted, i))) peak = std::max(peak, std::abs(at(wanted, i)));
    }
    for (size_t i = 0; i < wanted.size(); i += 2) {
      const double a = at(got, i), b = at(wanted, i);
      ++tally.floats;
      if (a == b || (a != a && b != b)) continue;
      const double off = std::isfinite(a - b) && peak > 0 ? std::abs(a - b) / peak : 1e9;
      if (std::abs(a - b) <= bar.absolute + bar.of_peak * peak) continue;
      tally.worst = std::max(tally.worst, off);
      ++tally.far_floats;
    }
  }

  std::string name_, kind_;
  const std::vector<uint8_t>& file_;
  Report& report_;
  PlainOperands plain_operands_;
  format::FileModel model_;
  std::map<int32_t, std::vector<uint8_t>> values_;
};

}  // namespace

Status check_nodes(const std::string& name, const std::string& kind,
                   const std::vector<uint8_t>& file, Report& report, PlainOperands plain) {
  return FileCheck(name, kind, file, report, plain).run();
}

}  // namespace rk::vendor
