// SPDX-License-Identifier: Apache-2.0
// The chip's internal memory: one arena, tensors that do not live at the same time share places.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/program.h"
#include "target/target.h"

namespace rk::compiler {

// A block that must exist from step `first` to step `last`, both included.
struct Lifetime {
  uint64_t size_bytes = 0;
  int64_t first = 0;
  int64_t last = 0;
};

struct Plan {
  std::vector<uint64_t> offset;  // per lifetime, multiples of 64
  uint64_t size_bytes = 0;       // max(offset + size)
};

// In the order they begin, each at the lowest offset that is free: the vendor's compiler plans so (docs/board-model.md).
Plan plan_memory(std::span<const Lifetime> lifetimes);

// Offsets of inputs, outputs and internal tensors, and the arena's size. Inputs exist from the start; both inputs and
// outputs may share places with internal tensors.
void assign_memory(const target::Target& target, program::Variant& variant);

}  // namespace rk::compiler
