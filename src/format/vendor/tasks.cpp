// SPDX-License-Identifier: Apache-2.0
#include "format/vendor/tasks.h"

#include <algorithm>

namespace rk::format {
namespace {

constexpr size_t kTaskBytes = 40;  // the struct the kernel driver takes
// Tasks of several schedules share lists, and a recurrent node repeats its own for every time step.
constexpr uint64_t kMaxSharing = 4, kMaxCommands = uint64_t{1} << 22;

ByteSpan data_of_kind(const FileModel& model, const FileGraph& graph, program::TensorKind kind) {
  for (const FileTensor& tensor : graph.tensors) {
    if (tensor.kind == kind && tensor.buffer != 0) return model.buffers[tensor.buffer].data;
  }
  return {};
}

// Core counts of the columns of FileNode::task_counts: one core, then two, then three.
int max_cores(size_t columns) { return columns == 6 ? 3 : columns == 3 ? 2 : 1; }

}  // namespace

Result<TaskLists> TaskLists::read(const FileModel& model, const FileGraph& graph) {
  TaskLists out;
  const ByteSpan words = data_of_kind(model, graph, kRegisterCommandsKind);
  out.words_ = words.first(words.size() / 8 * 8);
  RK_TRY(out.read_tasks(data_of_kind(model, graph, kTasksKind), graph.nodes.size()));
  if (out.tasks_.empty()) return out;
  out.read_addresses(graph);
  out.read_schedules(graph);
  return out;
}

Status TaskLists::read_tasks(ByteSpan bytes, size_t node_count) {
  tasks_.reserve(bytes.size() / kTaskBytes);
  uint64_t commands = 0;
  for (size_t at = 0; at + kTaskBytes <= bytes.size(); at += kTaskBytes) {
    const uint8_t* const from = bytes.data() + at;
    Task task;
    task.node = load<uint32_t>(from + 4);
    task.units = load<uint32_t>(from + 8);
    task.command_count = load<uint32_t>(from + 24);
    const auto offset_bytes = load<uint64_t>(from + 32);
    task.first_word = offset_bytes / 8;
    const uint64_t available = word_count();
    if (task.first_word > available || task.command_count > available - task.first_word ||
        offset_bytes % 8 != 0) {
      return invalid_model(str("task ", tasks_.size(), ": ", task.command_count,
                               " register commands at byte ", offset_bytes, " of ", words_.size()));
    }
    commands += task.command_count;
    if (commands > std::max(kMaxSharing * available, kMaxCommands)) {
      return invalid_model(str("the tasks list ", commands, " register commands, the file has ",
                               available, ": it is damaged"));
    }
    if (task.node >= node_count) {
      return invalid_model(str("task ", tasks_.size(), " belongs to node ", task.node,
                               "; the graph has ", node_count, " nodes"));
    }
    tasks_.push_back(task);
  }
  return ok_status();
}

void TaskLists::read_addresses(const FileGraph& graph) {
  std::unordered_map<std::string_view, int32_t> by_name;
  for (size_t i = 1; i < graph.tensors.size(); ++i) {
    by_name.emplace(graph.tensors[i].name, static_cast<int32_t>(i));
  }
  for (const TensorReloc& reloc : graph.relocs) {
    const auto tensor = by_name.find(reloc.tensor);
    if (tensor == by_name.end()) continue;
    for (const Reloc& entry : reloc.entries) {
      if (entry.word < word_count()) {
        addresses_[entry.word] = {tensor->second, entry.addend};
      }
    }
  }
}

uint64_t TaskLists::end_of_first(const FileGraph& graph) const {
  uint64_t end = tasks_.size();
  for (const uint32_t start : graph.schedule_starts) {
    if (start > 0) end = std::min<uint64_t>(end, start);
  }
  return end;
}

void TaskLists::add_uncounted_loads(const FileGraph& graph, std::vector<uint64_t>& sums) const {
  std::vector<uint64_t> of_node(graph.nodes.size());
  const uint64_t first_end = end_of_first(graph);
  for (uint64_t i = 0; i < first_end; ++i) ++of_node[tasks_[i].node];
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto& counts = graph.nodes[n].task_counts;
    if (counts.size() != sums.size() || counts.back() == 0 || of_node[n] < counts.front()) continue;
    for (size_t column = 1; column < sums.size(); ++column)
      sums[column] += of_node[n] - counts.front();
  }
}

void TaskLists::read_schedules(const FileGraph& graph) {
  size_t columns = 0;
  for (const FileNode& node : graph.nodes) columns = std::max(columns, node.task_counts.size());
  std::vector<uint64_t> sums(std::max<size_t>(columns, 1));
  for (const FileNode& node : graph.nodes) {
    for (size_t i = 0; i < node.task_counts.size(); ++i) sums[i] += node.task_counts[i];
  }
  const int most = max_cores(columns);
  if (most == 2) add_uncounted_loads(graph, sums);
  size_t column = 0;
  for (int cores = 1; cores <= most; ++cores) {
    // Starts: one per core for the one-core schedule, then one per larger core count.
    const size_t index = cores == 1 ? 0 : static_cast<size_t>(most + cores - 2);
    uint64_t start = index < graph.schedule_starts.size() ? graph.schedule_starts[index] : 0;
    if (cores > 1 && index >= graph.schedule_starts.size()) return;
    Schedule schedule{cores, {}, {}};
    for (int core = 0; core < cores; ++core, ++column) {
      // The one-core column leaves out tasks that only load a lookup table: it ends where the next schedule starts.
      const uint64_t count =
          cores == 1 ? end_of_first(graph) - std::min(end_of_first(graph), start) : sums[column];
      if (start > tasks_.size() || count > tasks_.size() - start) return;
      schedule.lanes.push_back({static_cast<size_t>(start), static_cast<size_t>(count)});
      schedule.columns.push_back(column);
      start += sums[column];
    }
    schedules_.push_back(std::move(schedule));
  }
}

std::optional<AddressWord> TaskLists::address(uint64_t word) const {
  const auto it = addresses_.find(word);
  if (it == addresses_.end()) return std::nullopt;
  return it->second;
}

std::optional<AddressWord> TaskLists::address_of(const Task& task, uint16_t offset) const {
  for (uint64_t i = task.first_word + task.command_count; i-- > task.first_word;) {
    if (command(i).offset == offset) return address(i);
  }
  return std::nullopt;
}

void TaskLists::apply(const Task& task, target::RegisterFile& registers) const {
  for (uint64_t i = 0; i < task.command_count; ++i) registers.write(command(task.first_word + i));
}

NodeTasks::NodeTasks(const TaskLists& lists) : lists_(lists) {
  if (!lists.schedules().empty()) end_ = lists.schedules().front().lanes.front().task_count;
}

void NodeTasks::apply_next() {
  registers_.finish_task(running_units_);
  const Task& task = lists_.tasks()[task_++];
  lists_.apply(task, registers_);
  running_units_ = task.units;
}

void NodeTasks::seek(size_t node) {
  node_ = node;
  // Tasks of nodes nobody asked about still leave their values behind.
  while (task_ < end_ && lists_.tasks()[task_].node < node) apply_next();
}

const Task* NodeTasks::next_with(uint32_t units) {
  while (const Task* const task = next()) {
    if ((task->units & units) == units) return task;
  }
  return nullptr;
}

const Task* NodeTasks::next() {
  if (task_ >= end_ || lists_.tasks()[task_].node != node_) return nullptr;
  apply_next();
  return &lists_.tasks()[task_ - 1];
}

}  // namespace rk::format
