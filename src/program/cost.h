// SPDX-License-Identifier: Apache-2.0
// What a Program costs on its chip: each step's counted cycles and traffic (target/cost.h) and the time predicted from
// them. No host time enters; nothing here was measured on a board.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "program/program.h"
#include "target/cost.h"

namespace rk::program {

struct StepCost {
  target::NpuCost counted;  // cycles are 0 for steps that the vendor's table does not count either
  double us = 0;            // predicted, on the cores of CostOptions
  double mac_usage =
      0;  // share of the array's multiplications that are useful, 0 to 1; 0 when there are none
  bool several_cores = false;
  int skip =
      1;  // of so many multiplications one is computed: 2 and 4 where zero weights are skipped
};

struct CostOptions {
  int cores = 1;    // 1 up to the chip's
  int npu_mhz = 0;  // 0: the chip's highest clock
};

struct ProgramCost {
  std::vector<StepCost> steps;  // as the variant's
  double us = 0;                // all steps, switches between core counts included
  uint64_t read_bytes = 0;
  uint64_t cycles = 0;  // sum of the steps' total cycles
  double fps() const { return us > 0 ? 1e6 / us : 0; }
};

// How the chip computes an activation that is a step, or part of a convolution's ("ConvExSwish").
enum class ActivationForm : uint8_t {
  kNone,   // none, or one that costs nothing: Relu, Clip
  kTable,  // looked up: Sigmoid, Tanh, HardSigmoid
  kGate,   // looked up, its argument is part of the result: Swish, HardSwish, Gelu, Mish, Elu
  kSlope,  // LeakyRelu, PRelu
};
ActivationForm activation_form(const Step& step);

// An activation that is a step of its own in the Program, while the chip computes it as the step before writes its
// result: no time of a step, no place of its own.
bool joins_step_before(const Step& step);

// What the counts need of a step that the chip computes as a convolution: a convolution, or the average of a whole
// plane, which is a depthwise one with weights of its own. Empty for all others and for shapes that are not pictures.
std::optional<target::ConvGeometry> conv_geometry(const Variant& variant, const Step& step);
// The same of a step that the chip computes as a convolution though the Program does not: a Gather of channels, and
// DepthToSpace. Their weights are no constants of the Program.
std::optional<target::ConvGeometry> made_convolution(const target::Target& target,
                                                     const Variant& variant, const Step& step);
// An average of more than 7 by 7 runs in two: that of tiles, which conv_geometry() gives, and this one of the tiles.
std::optional<target::ConvGeometry> average_of_tiles(const Variant& variant, const Step& step);

// A convolution that is a nearest Resize by integers to the chip: transposed, depthwise, its windows side by side. It has
// no weights there.
// Note: one that a model has itself looks the same; it is rare, and the chip's weights of it are few.
bool repeats_pixels(const Variant& variant, const Step& step);

// `variant` must be of a verified Program for `target`.
ProgramCost cost_of(const target::Target& target, const Variant& variant,
                    const CostOptions& options);

}  // namespace rk::program
