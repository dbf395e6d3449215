// SPDX-License-Identifier: Apache-2.0
// The register list of a task that the DPU does alone (RK3588): a feature is read, brought to another scale, added to
// another feature, and written. The rules come from the Concat, Split and Add nodes of vendor files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/status.h"
#include "program/program.h"
#include "registers/chip.h"
#include "registers/task.h"

namespace rk::registers {

// A cube of int8 in blocks of 16 channels, or of float16 in blocks of 8. Planes are counted in pixels, from one block to
// the next. Stages are those of int8; float16 has none but the addition.
struct DpuTask {
  int64_t channels = 0, height = 0, width = 0;  // channels: a multiple of the block
  bool is_float = false;
  const Chip* chip = &kRk3588;
  int64_t real_channels = 0;  // RK3566: those that the feature has; 0: all
  int64_t source_plane = 0, addend_plane = 0, out_plane = 0;
  uint64_t source_bytes = 0, addend_bytes = 0, out_bytes = 0;  // from the start of the tensors
  // rne((x + offset) * scale / 2^shift); absent: as stored. A scale of {1, 0} leaves the multiplier out.
  std::optional<program::InputStage> source;
  std::optional<program::InputStage> addend;  // absent: no second feature
  program::Activation activation = program::Activation::kNone;
  program::OutputStage output{{1, 0}, 0};
  bool looks_up =
      false;  // in the table that the task before has loaded: 256 results of stored bytes
  bool multiplies = false;  // float16: the second feature is a factor
  // float16: the tables that the task before has loaded hold 32768 times the result, by x times this. 0: no tables.
  uint16_t lookup_factor = 0;  // a half
};

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
