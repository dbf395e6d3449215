// SPDX-License-Identifier: Apache-2.0
// Lists in the form of RK3562: what those of RK3588 say, in the registers of
// target/rk3562_registers.h.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "base/status.h"
#include "registers/task.h"

namespace rk::registers {

// kUnsupported for what no list of the chip shows.
Result<RegisterTask> for_rk3562(const RegisterTask& task);

// Words that a loader rewrites for another stride or type of an input: place in the file's table,
// register.
using PatchedWord = std::pair<size_t, uint16_t>;
std::span<const PatchedWord> rk3562_geometry_words();
std::span<const PatchedWord> rk3562_conversion_words();

}  // namespace rk::registers
