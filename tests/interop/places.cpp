// SPDX-License-Identifier: Apache-2.0
#include "tests/interop/places.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "emulator/emulator.h"
#include "target/rk3562_registers.h"
#include "tests/vendor/session_run.h"

namespace rk::interop {
namespace {

using emulator::Emulator;
using format::FileGraph;
using format::FileNode;
using format::FileTensor;
using format::Task;
namespace reg = target::reg;

bool is_feature(const FileTensor& tensor) {
  using program::TensorKind;
  return tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kOutput ||
         tensor.kind == TensorKind::kInternal;
}

struct Span {
  size_t tensor = 0, first = 0, last = 0;  // nodes
};

// By the order of nodes: operators of inputs come first, those of outputs last.
std::vector<Span> spans(const FileGraph& graph) {
  std::map<int32_t, Span> by_tensor;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const auto* list : {&graph.nodes[n].inputs, &graph.nodes[n].outputs}) {
      for (const int32_t i : *list) {
        if (i < 0 || !is_feature(graph.tensors[static_cast<size_t>(i)])) continue;
        by_tensor.try_emplace(i, Span{static_cast<size_t>(i), n, n}).first->second.last = n;
      }
    }
  }
  std::vector<Span> out;
  for (const auto& [tensor, span] : by_tensor) out.push_back(span);
  return out;
}

void count_shared(const std::string& name, const FileGraph& graph, PlaceReport& report) {
  const std::vector<Span> all = spans(graph);
  report.features += all.size();
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (all[i].first > all[j].last || all[j].first > all[i].last) continue;
      const FileTensor& a = graph.tensors[all[i].tensor];
      const FileTensor& b = graph.tensors[all[j].tensor];
      const uint64_t a_end = uint64_t{a.offset_in_internal} + a.size_bytes;
      const uint64_t b_end = uint64_t{b.offset_in_internal} + b.size_bytes;
      if (a.offset_in_internal >= b_end || b.offset_in_internal >= a_end) continue;
      ++report.pairs_shared;
      report.findings.push_back(str(name, ": '", a.name, "' and '", b.name, "' share bytes"));
    }
  }
}

class WholeRun {
 public:
  WholeRun(std::string name, const format::FileModel& model, const vendor::RunResult& program,
           PlaceReport& report)
      : name_(std::move(name)), model_(model), program_(program), report_(report) {}

  // `alone` has what one core gave, if this is a schedule of several.
  Status run(size_t schedule, const std::vector<std::vector<uint8_t>>& inputs,
             const std::map<int32_t, std::vector<uint8_t>>& alone) {
    alone_ = &alone;
    RK_ASSIGN(Emulator made, Emulator::create(model_, TieRule::kEven, emulator::Places::kOfFile));
    emulator_ = std::move(made);
    const FileGraph& graph = model_.graphs.front();
    lanes_ = emulator_->lists().schedules()[schedule].lanes;
    cores_.assign(lanes_.size(), {});
    for (size_t i = 0; i < inputs.size(); ++i) {
      RK_TRY(emulator_->store(graph.inputs[i], inputs[i]));
      keep(graph.inputs[i]);
    }
    for (size_t n = 0; n < graph.nodes.size(); ++n) RK_TRY(run_node(n, graph.nodes[n]));
    ++report_.runs;
    return ok_status();
  }

  std::map<int32_t, std::vector<uint8_t>> take_values() { return std::move(values_); }

 private:
  void keep(int32_t tensor) {
    if (auto bytes = emulator_->load(tensor); bytes.ok()) values_[tensor] = std::move(*bytes);
  }

  Status run_node(size_t index, const FileNode& node) {
    for (const int32_t operand : node.inputs) {
      const auto known = values_.find(operand);
      if (known == values_.end()) continue;
      RK_ASSIGN(const std::vector<uint8_t> now, emulator_->load(operand));
      ++report_.operands;
      if (now == known->second) continue;
      ++report_.spoiled;
      report_.findings.push_back(
          str(name_, ": '", name_of(operand), "' changed before ", node.name));
    }
    RK_ASSIGN(const size_t ran, run_tasks(index));
    for (const int32_t output : node.outputs) {
      const auto wanted = program_.tensors.find(output);
      if (ran == 0 && wanted != program_.tensors.end() && node.type != "InputOperator")
        (void)emulator_->store(output, wanted->second.bytes());
      keep(output);
      if (reads_halves(node)) behind_halves_.insert(output);
      if (ran != 0 && wanted != program_.tensors.end()) compare(output, wanted->second);
      if (ran != 0) compare_with_one_core(output);
    }
    return ok_status();
  }

  // Sums of a row are the same whichever core has it, so float16 numbers are, too.
  void compare_with_one_core(int32_t output) {
    const auto one = alone_->find(output);
    const auto now = values_.find(output);
    if (one == alone_->end() || now == values_.end()) return;
    ++report_.shared_results;
    if (one->second == now->second) return;
    ++report_.shared_unlike;
    report_.findings.push_back(
        str(name_, ": '", name_of(output), "' on ", lanes_.size(), " cores is not that of one"));
  }

  // Its results follow from float16 numbers, which are near the Program's and not the same.
  bool reads_halves(const FileNode& node) const {
    return std::ranges::any_of(node.inputs, [&](int32_t input) {
      return behind_halves_.contains(input) ||
             (values_.contains(input) &&
              model_.graphs.front().tensors[static_cast<size_t>(input)].dtype == DType::kF16);
    });
  }

  Result<size_t> run_tasks(size_t node) {
    size_t ran = 0;
    for (size_t core = 0; core < lanes_.size(); ++core) {
      format::Lane& lane = lanes_[core];
      const std::vector<Task>& tasks = emulator_->lists().tasks();
      while (lane.task_count > 0 && tasks[lane.first_task].node == node) {
        RK_ASSIGN(const emulator::TaskResult result,
                  emulator_->run(tasks[lane.first_task], cores_[core]));
        if (result == emulator::TaskResult::kDone) count_beyond(tasks[lane.first_task]);
        ++lane.first_task;
        --lane.task_count;
        ++ran;
      }
    }
    return ran;
  }

  // Our lists are complete: what a field holds is in the list itself.
  uint64_t field(const Task& task, const target::RegisterField& field) const {
    const format::TaskLists& lists = emulator_->lists();
    for (uint64_t i = task.first_word + task.command_count; i-- > task.first_word;)
      if (lists.command(i).offset == field.offset) return field.get(lists.command(i).value);
    return 0;
  }

  // The bytes that the DPU writes: whole blocks of channels.
  void count_beyond(const Task& task) {
    const auto to = emulator_->written_by(task);
    if ((task.units & format::kUnitDpu) == 0 || !to) return;
    const FileTensor& tensor = model_.graphs.front().tensors[static_cast<size_t>(to->tensor)];
    if (model_.platform == "rk3562" || model_.platform == "rk3576" ||
        model_.platform == "rv1126b") {
      namespace there = target::rk3562_reg;
      constexpr uint64_t kAtom = 16;
      const bool convolves = (task.units & format::kUnitCna) != 0;
      const uint64_t channels =
          field(task, convolves ? there::kArrayChannels : there::kChannels) + 1;
      const uint64_t width = field(task, there::kOutputWidth) + 1;
      const uint64_t row = width + field(task, there::kOutputNotch);
      const uint64_t pixels = field(task, there::kOutputHeight) * row + width;
      const uint64_t planes = (channels + kAtom - 1) / kAtom - 1;
      count_end(task, tensor,
                to->addend + (planes * field(task, there::kOutputPlane) + pixels) * kAtom);
      return;
    }
    // RK3566 writes the extents of the cube, with strides in bytes.
    // RV1106 has RK3588's but for the channels.
    const bool tiny = model_.platform == "rv1106" || model_.platform == "rv1103";
    const bool lite = model_.platform != "rk3588" && !tiny;
    const uint64_t atom = lite ? 8 : 16;
    const auto extent = [&](const target::RegisterField& of_rk3588,
                            const target::RegisterField& of_cube) {
      return field(task, lite ? of_cube : of_rk3588) + 1;
    };
    const uint64_t channels =
        extent(tiny ? reg::DPU_DATA_CUBE_CHANNEL__CHANNEL : reg::DPU_WDMA_SIZE_0__CHANNEL_WDMA,
               reg::DPU_DATA_CUBE_CHANNEL__CHANNEL);
    const uint64_t width =
        extent(reg::DPU_WDMA_SIZE_1__WIDTH_WDMA, reg::DPU_DATA_CUBE_WIDTH__WIDTH);
    const uint64_t height =
        extent(reg::DPU_WDMA_SIZE_1__HEIGHT_WDMA, reg::DPU_DATA_CUBE_HEIGHT__HEIGHT);
    constexpr target::RegisterField kStride{"STRIDE", reg::DPU_DST_SURF_STRIDE, 0, 31};
    const uint64_t blocks = (channels * byte_size(tensor.dtype) + atom - 1) / atom;
    const uint64_t row = width + field(task, reg::DPU_DATA_CUBE_NOTCH_ADDR__NOTCH_ADDR_0);
    const uint64_t pixels = (height - 1) * row + width;
    count_end(task, tensor, to->addend + (blocks - 1) * field(task, kStride) + pixels * atom);
  }

  void count_end(const Task& task, const FileTensor& tensor, uint64_t end) {
    ++report_.lists;
    if (end <= tensor.size_bytes) return;
    ++report_.lists_beyond;
    report_.findings.push_back(str(name_, ": a list of ",
                                   model_.graphs.front().nodes[task.node].name, " writes to byte ",
                                   end, " of ", tensor.size_bytes, " of '", tensor.name, "'"));
  }

  void compare(int32_t output, const Tensor& wanted) {
    if (model_.graphs.front().tensors[static_cast<size_t>(output)].dtype != DType::kI8) return;
    const auto got = values_.find(output);
    const ByteSpan bytes = wanted.bytes();
    ++report_.results;
    const int most = behind_halves_.contains(output) ? 1 : 0;  // steps of int8
    const auto is_near = [&](uint8_t a, uint8_t b) {
      return std::abs(static_cast<int8_t>(a) - static_cast<int8_t>(b)) <= most;
    };
    if (got != values_.end() && std::ranges::equal(got->second, bytes, is_near)) return;
    ++report_.unlike;
    report_.findings.push_back(str(name_, ": '", name_of(output), "' is not the Program's"));
  }

  const std::string& name_of(int32_t tensor) const {
    return model_.graphs.front().tensors[static_cast<size_t>(tensor)].name;
  }

  std::string name_;
  const format::FileModel& model_;
  const vendor::RunResult& program_;
  PlaceReport& report_;
  std::optional<Emulator> emulator_;
  std::vector<format::Lane> lanes_;
  std::vector<emulator::Core> cores_;
  std::map<int32_t, std::vector<uint8_t>> values_;
  const std::map<int32_t, std::vector<uint8_t>>* alone_ = nullptr;
  std::set<int32_t> behind_halves_;
};

}  // namespace

Status check_places(const std::string& name, const std::vector<uint8_t>& file,
                    const std::vector<std::vector<uint8_t>>& inputs, PlaceReport& report) {
  RK_ASSIGN(const format::FileModel model, format::read_model(ByteSpan(file)));
  RK_ASSIGN(const vendor::RunResult program, vendor::run_with_tensors(file, inputs));
  count_shared(name, model.graphs.front(), report);
  RK_ASSIGN(const format::TaskLists lists, format::TaskLists::read(model, model.graphs.front()));
  std::map<int32_t, std::vector<uint8_t>> alone;
  for (size_t i = 0; i < lists.schedules().size(); ++i) {
    if (i != 0 && lists.schedules()[i].lanes.front().task_count == 0) continue;
    WholeRun whole(name, model, program, report);
    RK_TRY(whole.run(i, inputs, alone));
    if (i == 0) alone = whole.take_values();
  }
  // One for each number of cores.
  report.schedules += model.platform == "rk3588" ? 3 : model.platform == "rk3576" ? 2 : 1;
  ++report.files;
  return ok_status();
}

}  // namespace rk::interop
