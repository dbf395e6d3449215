// SPDX-License-Identifier: Apache-2.0
#include "tests/vendor/register_run.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/half.h"
#include "emulator/emulator.h"
#include "format/vendor_model.h"

namespace rk::vendor {
namespace {

using emulator::Core;
using emulator::Emulator;
using format::FileGraph;
using format::FileNode;
using format::FileTensor;
using format::Task;

// Elements of a model input as the file stores them, [N, C, H, W].
Result<std::vector<uint8_t>> stored_input(const FileGraph& graph, size_t i, const NpyArray& array) {
  const FileTensor& tensor = graph.tensors[static_cast<size_t>(graph.inputs[i])];
  const auto item = static_cast<size_t>(array.item_size);
  const size_t count = array.bytes.size() / item;
  size_t expected = 1;
  for (const int32_t extent : tensor.shape) expected *= static_cast<size_t>(std::max(extent, 1));
  if (tensor.dtype != DType::kF16 || count != expected)
    return unsupported(str("input ", i, " is not float16 or of another size"));
  const bool picture = array.kind == 'u' && item == 1 && tensor.shape.size() == 4;
  if (!picture && (array.kind != 'f' || item != 4)) return unsupported("an input of this type");
  const size_t channels = picture ? static_cast<size_t>(tensor.shape[1]) : 1;
  const size_t pixels = count / channels;
  std::vector<uint8_t> out(count * 2);
  for (size_t k = 0; k < count; ++k) {
    float value = 0;
    size_t to = k;
    if (picture) {
      const size_t channel = k % channels;
      value = array.bytes[k];
      if (i < graph.normalize.size() && channel < graph.normalize[i].mean.size() &&
          channel < graph.normalize[i].std.size()) {
        value = (value - graph.normalize[i].mean[channel]) / graph.normalize[i].std[channel];
      }
      to = channel * pixels + k / channels;
    } else {
      std::memcpy(&value, array.bytes.data() + 4 * k, sizeof value);
    }
    const uint16_t half = float_to_half(value);
    std::memcpy(out.data() + 2 * to, &half, sizeof half);
  }
  return out;
}

class Walk {
 public:
  Walk(const format::FileModel& model, Emulator& emulator)
      : graph_(model.graphs.front()), emulator_(emulator) {}

  Status set_inputs(const std::vector<NpyArray>& arrays) {
    if (arrays.size() != graph_.inputs.size()) return unsupported("another number of inputs");
    for (size_t i = 0; i < arrays.size(); ++i) {
      RK_ASSIGN(const std::vector<uint8_t> stored, stored_input(graph_, i, arrays[i]));
      RK_TRY(emulator_.store(graph_.inputs[i], stored));
      written_.insert(graph_.inputs[i]);
    }
    return ok_status();
  }

  Status run(RegisterRun& result) {
    const format::Lane& lane = emulator_.lists().schedules().front().lanes.front();
    const std::vector<Task>& tasks = emulator_.lists().tasks();
    size_t at = lane.first_task;
    const size_t end = std::min(tasks.size(), lane.first_task + lane.task_count);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const size_t first = at;
      while (at < end && tasks[at].node == i) ++at;
      RK_TRY(run_node(graph_.nodes[i], std::span<const Task>(tasks).subspan(first, at - first)));
      result.tasks += at - first;
    }
    if (at != end) return invalid_model("tasks are not in the order of the nodes");
    return ok_status();
  }

 private:
  Status run_node(const FileNode& node, std::span<const Task> tasks) {
    if (node.type == "OutputOperator") return ok_status();
    if (tasks.empty()) {
      if (node.type == "InputOperator") return ok_status();
      return unsupported(str("node '", node.name, "' has no tasks"));
    }
    for (const int32_t operand : node.inputs) {
      if (operand <= 0) continue;
      const FileTensor& tensor = graph_.tensors[static_cast<size_t>(operand)];
      const bool computed = tensor.kind == program::TensorKind::kInternal ||
                            tensor.kind == program::TensorKind::kOutput;
      if (computed && !written_.contains(operand) && !is_scratch(tensor))
        return unsupported(str("no task wrote '", tensor.name, "'"));
    }
    for (const Task& task : tasks) RK_TRY(emulator_.run(task, core_).status());
    written_.insert(node.outputs.begin(), node.outputs.end());
    return ok_status();
  }

  static bool is_scratch(const FileTensor& tensor) {
    return tensor.name.find("_exSecondary") != std::string::npos ||
           tensor.name.ends_with("_compute_zone");
  }

  const FileGraph& graph_;
  Emulator& emulator_;
  Core core_;
  std::set<int32_t> written_;
};

}  // namespace

Result<RegisterRun> run_registers(ByteSpan file, const std::vector<NpyArray>& inputs) {
  RK_ASSIGN(const format::FileModel model, format::read_model(file));
  RK_ASSIGN(Emulator emulator, Emulator::create(model, TieRule::kEven));
  if (emulator.lists().schedules().empty()) return unsupported("it has no register lists");
  Walk walk(model, emulator);
  RegisterRun result;
  RK_TRY(walk.set_inputs(inputs));
  RK_TRY(walk.run(result));
  for (const int32_t output : model.graphs.front().outputs) {
    const FileTensor& tensor = model.graphs.front().tensors[static_cast<size_t>(output)];
    if (tensor.dtype != DType::kF16) return unsupported("an output that is not float16");
    RK_ASSIGN(const std::vector<uint8_t> bytes, emulator.load(output));
    std::vector<double>& values = result.outputs.emplace_back();
    for (size_t i = 0; i + 1 < bytes.size(); i += 2)
      values.push_back(static_cast<double>(half_to_float(load<uint16_t>(bytes.data() + i))));
  }
  return result;
}

}  // namespace rk::vendor
