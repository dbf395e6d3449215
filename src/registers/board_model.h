// SPDX-License-Identifier: Apache-2.0
// A Program as the tables of a file that carries register lists for a board: lists, task descriptors, relocations and
// schedules for one, two and three cores (only the first for a Program of single_core). Nothing here was run on a board.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "format/vendor_model.h"
#include "program/program.h"
#include "registers/layer_tasks.h"

namespace rk::registers {

// "identical", "emulated", "absent".
std::string_view form_name(LayerForm form);

struct LayerReport {
  std::string name, type;
  LayerForm form = LayerForm::kAbsent;
  std::string why;  // kAbsent
  size_t tasks = 0;
};

struct BoardOptions {
  bool compress_weight =
      false;  // int8 weights are coded where that is shorter and the chip reads it
};

// `model` has views of `words`, `tasks` and `helpers` and of the Program's weights: keep all alive, move it as one.
struct BoardModel {
  format::FileModel model;
  std::vector<uint8_t> words, tasks;
  std::vector<std::vector<uint8_t>> helpers;
  std::vector<LayerReport> layers;          // by step
  std::vector<program::CodedWeight> coded;  // of the Program's weights; the code is in `model`

  bool complete() const;  // no layer is absent
};

// Nodes without a list are marked for the CPU. kUnsupported for chips without any lists, for several input shapes and for
// samples in batches.
Result<BoardModel> make_board_model(const program::Program& program,
                                    const BoardOptions& options = {});

// The whole file: tables, trailer, and our own section, from which our runtime takes the Program.
Result<std::vector<uint8_t>> write_board_file(const program::Program& program,
                                              std::vector<LayerReport>* layers,
                                              const BoardOptions& options = {});

}  // namespace rk::registers
