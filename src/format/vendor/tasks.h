// SPDX-License-Identifier: Apache-2.0
// The register lists of a vendor file: tasks, their commands, relocations and schedules. A task is one list that one
// core executes; tasks of the one-core schedule come first in the file, in node order.
//
// Note: a list does not describe its task completely. Registers keep their values from earlier lists (and
// not from the one before: target/registers.h), so lists must be applied in order, as NodeTasks does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "format/vendor_model.h"
#include "target/registers.h"

namespace rk::format {

// Bits of Task::units.
inline constexpr uint32_t kUnitCna = 1, kUnitCore = 4, kUnitDpu = 8, kUnitDpuRdma = 16,
                          kUnitPpu = 32;

struct Task {
  uint32_t node = 0;           // index into FileGraph::nodes
  uint32_t units = 0;          // enable mask
  uint32_t command_count = 0;  // configuration words, without the four that end the list
  uint64_t first_word = 0;     // in the register command buffer
};

// An address word: the loader adds the address of `tensor`.
struct AddressWord {
  int32_t tensor = 0;
  uint32_t addend = 0;
};

// Consecutive tasks of one core.
struct Lane {
  size_t first_task = 0;
  size_t task_count = 0;
};

struct Schedule {
  int cores = 1;
  std::vector<Lane> lanes;      // one per core
  std::vector<size_t> columns;  // of FileNode::task_counts, one per lane
};

class TaskLists {
 public:
  // Files of container versions 1 and 2 and our own have no lists: the result is empty. The buffers of `model` must
  // outlive the result.
  static Result<TaskLists> read(const FileModel& model, const FileGraph& graph);

  bool empty() const { return tasks_.empty(); }
  const std::vector<Task>& tasks() const { return tasks_; }
  const std::vector<Schedule>& schedules() const { return schedules_; }
  size_t word_count() const { return words_.size() / 8; }
  uint64_t word(uint64_t index) const { return load<uint64_t>(words_.data() + index * 8); }
  target::RegisterCommand command(uint64_t index) const {
    return target::RegisterCommand::decode(word(index));
  }
  // Nothing when the word is not an address.
  std::optional<AddressWord> address(uint64_t word) const;
  // The address word that writes `offset` in this task, the last one when there are several.
  std::optional<AddressWord> address_of(const Task& task, uint16_t offset) const;
  void apply(const Task& task, target::RegisterFile& registers) const;

 private:
  Status read_tasks(ByteSpan bytes, size_t node_count);
  void read_addresses(const FileGraph& graph);
  void read_schedules(const FileGraph& graph);
  // RK3576: both cores load the tables of a node that they share, which its columns of two cores leave out.
  void add_uncounted_loads(const FileGraph& graph, std::vector<uint64_t>& sums) const;
  uint64_t end_of_first(const FileGraph& graph) const;  // of the one-core tasks

  ByteSpan words_;
  std::vector<Task> tasks_;
  std::vector<Schedule> schedules_;
  std::unordered_map<uint64_t, AddressWord> addresses_;
};

// Walks the one-core schedule once, node by node, with the registers as the chip would have them.
class NodeTasks {
 public:
  explicit NodeTasks(const TaskLists& lists);

  // Goes to a node's tasks; nodes are visited in order.
  void seek(size_t node);
  // The next task of the node after its list was applied; null after the last.
  const Task* next();
  // The next task of the node that uses all of these units, past the others.
  const Task* next_with(uint32_t units);
  const target::RegisterFile& registers() const { return registers_; }

 private:
  const TaskLists& lists_;
  target::RegisterFile registers_;
  void apply_next();

  size_t task_ = 0, end_ = 0;
  size_t node_ = 0;
  uint32_t running_units_ = 0;  // of the task whose list was applied last
};

}  // namespace rk::format
