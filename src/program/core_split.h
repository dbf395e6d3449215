// SPDX-License-Identifier: Apache-2.0
// How several NPU cores share a step: each computes some rows of its output. The shares are part of the Program, so
// that what is reported is what is run.
//
// Note: a mask of several cores does not speed up every step. Only the kinds listed in core_split.cpp
// are shared; the rest run on core 0 (runtime reference, rknn_set_core_mask).
#pragma once

#include <cstdint>
#include <span>

#include "program/program.h"
#include "target/target.h"

namespace rk::program {

// Sets core_rows of every step that the chip shares between its cores.
void split_over_cores(const target::Target& target, Variant& variant);

// The part of Step::core_rows for that many cores; empty when they do not share the step.
std::span<const int32_t> rows_by_core(std::span<const int32_t> core_rows, int cores);

}  // namespace rk::program
