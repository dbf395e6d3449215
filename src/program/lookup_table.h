// SPDX-License-Identifier: Apache-2.0
// The functions that the NPU looks up behind a convolution: where their tables lie, what an entry stands for, and the
// stage of a convolution that uses them (docs/facts/lookup-tables.md).
#pragma once

#include <string_view>

#include "program/program.h"

namespace rk::program {

// Entry i of the lower table is the function at half_range * (i / 512 - 1) - center, of the upper one at
// half_range * i / 512 - center.
struct LookupFunction {
  std::string_view op;      // of the IR
  std::string_view suffix;  // of the step's type behind "Conv"
  float half_range = 0, center = 0;
  float top = 0;  // the number that 32767 stands for; 0: the function at the end of the upper table
  float rise = 0;                                 // beyond that end
  float (*value)(float x, float beta) = nullptr;  // beta: of exSwish
};

// Null where the chips have no table for the operator.
const LookupFunction* find_lookup_function(std::string_view op);

// By the type of a convolution that looks it up: "ConvExSwish", "ConvTransposeexSwish".
const LookupFunction* lookup_function_of(std::string_view step_type);

// What 32767 stands for.
float table_top(const LookupFunction& function, float beta);

// The function as a node has it: exSwish with its beta, HardSigmoid max(0, min(1, alpha * x + beta)).
struct LookupSpec {
  const LookupFunction* function = nullptr;
  float alpha = 0, beta = 1;
};

struct LookupConstants {
  LookupStage stage;
  ScaleShift output;  // from the table's unit to the result's
  int32_t coarser_bits =
      0;  // by which the sums must leave the bias stage, so that the addend fits its register
};

// For sums in steps of `unit` and a result of `out_scale`. `addend_first`: the chip adds before it multiplies.
// kUnsupported where a constant does not fit.
Result<LookupConstants> make_lookup(const LookupSpec& spec, double unit, float out_scale,
                                    bool addend_first);

}  // namespace rk::program
