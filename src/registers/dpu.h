// SPDX-License-Identifier: Apache-2.0
// The register list of a task that the DPU does alone (RK3588): a feature is read, brought to
// another scale, added to another feature, and written. The rules come from the Concat, Split and
// Add nodes of vendor files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/status.h"
#include "program/program.h"
#include "registers/chip.h"
#include "registers/task.h"

namespace rk::registers {

// What becomes of two features.
enum class Join : uint8_t { kSum, kLargest, kDifference, kProduct, kQuotient };

// float16: (x + addend) * factor; on the way to int8 x * factor + addend.
struct HalfStage {
  float addend = 0;
  uint16_t factor = 0;  // a half
};

// A cube of int8 in blocks of 16 channels, or of float16 in blocks of 8. Planes are counted in
// pixels, from one block to the next. Stages are those of int8 where nothing else is said.
struct DpuTask {
  int64_t channels = 0, height = 0, width = 0;  // channels: a multiple of the block
  bool is_float = false;
  const Chip* chip = &kRk3588;
  int64_t real_channels = 0;  // RK3566: those that the feature has; 0: all
  int64_t source_plane = 0, addend_plane = 0, out_plane = 0;
  uint64_t source_bytes = 0, addend_bytes = 0, out_bytes = 0;  // from the start of the tensors
  // rne((x + offset) * scale / 2^shift); absent: as stored. A scale of {1, 0} leaves the multiplier
  // out.
  std::optional<program::InputStage> source;
  std::optional<program::InputStage> addend;  // absent: no second feature
  program::Activation activation = program::Activation::kNone;
  program::OutputStage output{{1, 0}, 0};
  bool looks_up =
      false;  // in the table that the task before has loaded: 256 results of stored bytes
  Join join = Join::kSum;  // others than the sum in float16 only
  // float16: the tables that the task before has loaded hold 32768 times the result, by x times
  // this, plus the addend. 0: no tables.
  uint16_t lookup_factor = 0;  // a half
  float lookup_addend = -0.0f;
  // The results of a DPU that computes in the source's type.
  bool to_half = false;  // int8 becomes float16, the same number
  bool to_int8 = false;  // float16 becomes int8, after the stage below
  std::optional<HalfStage> half_source;
  int64_t source_row_gap = 0, out_row_gap = 0;  // pixels between two rows
  // float16: lanes beyond real_channels become these bits, on any chip.
  std::optional<uint16_t> beyond;
  // float16: the largest channel of every pixel, pixels of one row one after the other. At most 128
  // of them, as in vendor files.
  bool writes_largest = false;
};
inline constexpr int64_t kMostLargest = 128;

Result<RegisterTask> write_dpu(const DpuTask& task);

// One block of channels whose pixels each fill a rectangle: nearest enlargement.
struct Enlargement {
  int64_t height = 0, width = 0;            // of the source
  int64_t source_plane = 0, out_plane = 0;  // pixels
  uint64_t source_bytes = 0, out_bytes = 0;
  program::Extent2 times{2, 2};
  bool is_float = false;
  const Chip* chip = &kRk3588;
};
Result<RegisterTask> write_enlargement(const Enlargement& task);

// Loads the DPU's two tables of 513 entries. Source and output are the table's own tensor.
Result<RegisterTask> write_table_load(std::span<const int16_t> low, std::span<const int16_t> high);

// Loads the results of the bytes -128 to 127 into the same tables.
Result<RegisterTask> write_table_load(std::span<const int8_t> results);

}  // namespace rk::registers
