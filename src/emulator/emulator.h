// SPDX-License-Identifier: Apache-2.0
// Executes the register lists of a file for RK3588, RK3566, RK3562 or RK3576, word by word as
// the chip would: convolutions (CNA, CORE, DPU, DPU_RDMA), the DPU's own arithmetic, lookup tables
// and transpositions, and pooling (PPU), in int8, int16, int32, float16, bfloat16 and float32; also
// lists that write the next step's addresses into other lists (recurrent nodes). It knows registers
// and bytes, not the graph: a test oracle for the lifting of vendor files and for the kernels, slow
// and obvious.
//
// Note: each core has registers of its own, and a list may rely on what the core's earlier lists wrote.
// Run the tasks of one lane in order, on one Core.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/fixed_point.h"
#include "base/status.h"
#include "format/vendor/tasks.h"
#include "format/vendor_model.h"
#include "target/registers.h"

namespace rk::emulator {

// One flat address space; every access is checked.
class Memory {
 public:
  static Result<Memory> make(uint64_t size_bytes);
  Result<std::span<uint8_t>> at(uint64_t address, uint64_t size_bytes);

 private:
  std::vector<uint8_t> bytes_;
};

// The DPU's two tables: LE covers the lower half of the index range, LO the upper half. A task of
// the DPU loads them by writing entry after entry.
struct LookupTables {
  static constexpr size_t kEntries = 513;
  std::array<std::array<int16_t, kEntries>, 2> entries{};  // LE, LO

  void write(const target::RegisterCommand& command);

 private:
  size_t table_ = 0, next_ = 0;
  bool writing_ = false;
};

// RK3562: rows that a convolution left in its buffer, which the next may use.
class BufferedRows {
 public:
  // A convolution that begins. kInvalidModel when it counts on rows that are not there.
  Status fetch(const target::RegisterFile& raw);

 private:
  uint32_t rows_ = 0, ring_ = 0, end_address_ = 0, end_entry_ = 0;
};

struct Core {
  target::RegisterFile registers;
  LookupTables tables;
  BufferedRows buffer;
};

// kBarrier: lets the cores wait for each other; writes to no tensor of the graph. kTableLoad: fills
// lookup tables only.
enum class TaskResult { kDone, kBarrier, kTableLoad };

// Where features lie in the simulated memory.
enum class Places {
  kApart,   // each has a place of its own, so that every node can be run alone
  kOfFile,  // in one arena where the file puts them, as on a board: those that do not live together share places
};

// Chips whose lists the emulator executes.
bool knows_chip(std::string_view platform);

class Emulator {
 public:
  // Copies constants into the simulated memory. `model` must outlive it.
  static Result<Emulator> create(const format::FileModel& model, TieRule ties,
                                 Places places = Places::kApart);

  const format::TaskLists& lists() const { return lists_; }

  // kUnsupported names what the emulator does not model.
  Result<TaskResult> run(const format::Task& task, Core& core);

  // Where a task of the DPU writes; nothing when its list has no such address.
  std::optional<format::AddressWord> written_by(const format::Task& task) const;

  // A tensor's elements in plain order, [N, C, H, W]. Pictures are packed with rows of the aligned width, features lie in
  // atoms of 16 bytes, other tensors in plain order.
  Status store(int32_t tensor, std::span<const uint8_t> plain);
  Result<std::vector<uint8_t>> load(int32_t tensor);

 private:
  Emulator(const format::FileModel& model, TieRule ties) : model_(&model), ties_(ties) {}
  Result<TaskResult> execute(const format::Task& task, Core& core);
  bool loads_table(const format::Task& task) const;
  bool writes_output(const format::Task& task, uint16_t address) const;
  Status place_tensors(Places places);
  void set_input_strides();
  template <typename Move>
  Status move_elements(int32_t tensor, size_t plain_bytes, const Move& move);
  Status apply(const format::Task& task, Core& core);

  const format::FileModel* model_;
  TieRule ties_;
  format::TaskLists lists_;
  Memory memory_;
  int32_t lists_tensor_ = 0;
  std::unordered_map<uint64_t, uint32_t> line_strides_;  // by word
  std::vector<uint64_t> address_;                        // by tensor
  std::vector<uint64_t> size_bytes_;                     // by tensor
};

}  // namespace rk::emulator
