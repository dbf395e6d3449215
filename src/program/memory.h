// SPDX-License-Identifier: Apache-2.0
// What a Program needs of its chip's memory. Every report and query answers from here.
#pragma once

#include <cstdint>

#include "program/program.h"
#include "target/target.h"

namespace rk::program {

struct ChipMemory {
  uint64_t weight_bytes = 0;
  // The arena. Inputs and outputs have their places in it, so they are counted here and nowhere else.
  uint64_t internal_bytes = 0;
  uint64_t command_bytes = 0;  // register commands and the tasks that start them
  uint64_t total() const { return weight_bytes + internal_bytes + command_bytes; }
};

// Of a Program that our compiler made. Variants share one arena of the largest size; a constant that several steps or
// variants read is counted once.
ChipMemory memory_of(const target::Target& target, const Program& program);
// Of a Program lifted from a vendor's file, which says what its constants take. Its commands are not counted.
ChipMemory memory_of_file(const Program& program);

// Bytes that the steps of a frame read and write, each operand in its native size, and the part of them that meets SRAM
// when the arena begins with `sram_bytes` of it. Inputs and outputs are the application's memory, never SRAM.
struct MemoryTraffic {
  uint64_t feature_bytes = 0;
  uint64_t constant_bytes = 0;
  uint64_t sram_bytes = 0;
};
MemoryTraffic memory_traffic(const Variant& variant, uint64_t sram_bytes);
// Of one tensor that lies in the arena; 0 for inputs and outputs.
uint64_t bytes_in_sram(const ProgramTensor& tensor, uint64_t sram_bytes);

}  // namespace rk::program
