// SPDX-License-Identifier: Apache-2.0
// Lists in the form of RV1103 and RV1106: what those of RK3562 say, in the registers of
// target/rv1106_registers.h.
#pragma once

#include <span>

#include "base/status.h"
#include "registers/rk3562.h"
#include "registers/task.h"

namespace rk::registers {

// kUnsupported for what no list of these chips shows.
Result<RegisterTask> for_rv1106(const RegisterTask& task);

// Words that a loader rewrites for another stride or type of an input.
std::span<const PatchedWord> rv1106_geometry_words();
std::span<const PatchedWord> rv1106_conversion_words();

}  // namespace rk::registers
