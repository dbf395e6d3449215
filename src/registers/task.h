// SPDX-License-Identifier: Apache-2.0
// A register list that is being written: commands in the order of the vendor's compiler, with the operand whose address
// a word takes. Registers are those of target/registers.def, which the decoder and the emulator read too.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "target/registers.h"

namespace rk::registers {

// Whose device address a word takes when the file is loaded.
// RK3576: stages have numbers of their own in memory.
enum class Operand : uint8_t {
  kNone,
  kFeature,
  kWeight,
  kBias,
  kAddend,
  kOutput,
  kBiasNumbers,
  kNormNumbers
};
inline constexpr size_t kOperands = 8;

struct Command {
  uint16_t offset = 0;  // of the register
  uint32_t value = 0;   // of an address: bytes to add to its operand's place
  Operand operand = Operand::kNone;
  bool operator==(const Command&) const = default;
};

// The 64-bit word: the target bits follow from the register's unit.
uint64_t encode(const Command& command);

// One task of one core: units that take part (bits as format/vendor/tasks.h has them) and its commands.
struct RegisterTask {
  uint32_t units = 0;
  std::vector<Command> commands;
  // RK3562: where in the ring of rows the tile begins and where fetched rows go, in rows of 64
  // bytes.
  uint32_t first_entry = 0, write_entry = 0;
  // RK3576: weights of a picture lie in rows (convolution.h); the first and the last entry of the
  // tables that the list uses.
  bool weights_in_rows = false;
  int16_t first_table_entry = 0, last_table_entry = 0;

  // The command that writes a register last; null when none does.
  const Command* find(uint16_t offset) const;
};

// Values by register. A register that nothing set is written as 0.
class RegisterImage {
 public:
  void set(uint16_t offset, uint32_t value) { commands_[offset] = {offset, value}; }
  // Other fields of the register stay. `value` must fit.
  void set(const target::RegisterField& field, int64_t value);
  void set_address(uint16_t offset, Operand operand, uint64_t addend_bytes);
  Command get(uint16_t offset) const;

 private:
  std::map<uint16_t, Command> commands_;
};

}  // namespace rk::registers
