// SPDX-License-Identifier: Apache-2.0
// What a built model costs on its chip: time, memory, the dearest layers. Predicted (docs/board-model.md); nothing runs.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "program/cost.h"
#include "program/memory.h"

namespace rk::toolkit {

struct LayerCost {
  std::string type;
  std::string name;
  program::Processor processor = program::Processor::kNpu;
  DType dtype = DType::kUndefined;  // of what it reads
  program::StepCost cost;
};

// "MAC", "DDR" or "CPU": what a layer's time is spent on.
std::string_view bound_by(program::Processor processor, const target::NpuCost& counted);

struct BoardCost {
  std::string chip;
  bool integers = false;  // some activations are int8
  int cores = 1;
  int npu_mhz = 0;
  bool fitted = false;  // to published frame rates of this very chip
  double us = 0;
  double fps = 0;
  program::ChipMemory memory;
  std::vector<LayerCost> layers;  // in the order they run
};

// Of the first variant (MaxShape of a dynamic model).
Result<BoardCost> board_cost(const program::Program& program, const program::CostOptions& options);

// A user's own measurements: what a chip took for layers of a type ("*": whole frames) beside what was predicted for
// them. Lines chip,type,predicted_us,measured_us under that header; several of one chip and type are summed.
struct Measured {
  double predicted_us = 0;
  double measured_us = 0;
};
using Calibration = std::map<std::pair<std::string, std::string>, Measured>;
Result<Calibration> read_calibration(const std::string& path);
// Scales each layer by its type's factor, else by the chip's for whole frames; chips without lines stay as they are.
void calibrate(const Calibration& calibration, BoardCost& cost);

// One column per chip: frame rate, time, memory, the `dearest` layers.
std::string side_by_side(std::span<const BoardCost> costs, size_t dearest);
// One line per chip, for scripts: chip,dtype,cores,fps,us,weight,internal,commands.
std::string to_csv(std::span<const BoardCost> costs);
// One line per layer: chip,type,processor,dtype,ddr,npu,read,written,us,bound,name.
std::string layers_csv(std::span<const BoardCost> costs);

}  // namespace rk::toolkit
