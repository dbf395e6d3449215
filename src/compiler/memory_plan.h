// SPDX-License-Identifier: Apache-2.0
// The chip's internal memory: one arena, tensors that do not live at the same time share places.
#pragma once

#include "program/program.h"
#include "target/target.h"

namespace rk::compiler {

// Offsets of inputs, outputs and internal tensors, and the arena's size. Inputs exist from the start; both inputs and
// outputs may share places with internal tensors. Steps are those of chip_steps().
Status assign_memory(const target::Target& target, program::Variant& variant);

}  // namespace rk::compiler
