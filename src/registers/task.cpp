// SPDX-License-Identifier: Apache-2.0
#include "registers/task.h"

#include "base/status.h"

namespace rk::registers {
namespace {

// Bits 63..48 of a command, by the 0x1000 bytes of registers that its unit has.
uint64_t target_bits(uint16_t offset) {
  constexpr uint16_t kTargets[] = {0x0101, 0x0201, 0x0401, 0x0801, 0x1001,
                                   0x2001, 0x4001, 0x8001, 0x0401};
  const size_t unit = offset >> 12;
  RK_ASSERT(unit < std::size(kTargets), "a register of a unit that lists can write");
  return kTargets[unit];
}

}  // namespace

uint64_t encode(const Command& command) {
  return target_bits(command.offset) << 48 | uint64_t{command.value} << 16 | command.offset;
}

const Command* RegisterTask::find(uint16_t offset) const {
  for (auto it = commands.rbegin(); it != commands.rend(); ++it) {
    if (it->offset == offset) return &*it;
  }
  return nullptr;
}

void RegisterImage::set(const target::RegisterField& field, int64_t value) {
  const auto mask = static_cast<uint32_t>((uint64_t{1} << (field.high - field.low + 1)) - 1);
  const auto bits = static_cast<uint32_t>(value) & mask;
  Command& command = commands_[field.offset];
  command.offset = field.offset;
  command.value = (command.value & ~(mask << field.low)) | bits << field.low;
}

void RegisterImage::set_address(uint16_t offset, Operand operand, uint64_t addend_bytes) {
  commands_[offset] = {offset, static_cast<uint32_t>(addend_bytes), operand};
}

Command RegisterImage::get(uint16_t offset) const {
  const auto it = commands_.find(offset);
  return it == commands_.end() ? Command{offset, 0} : it->second;
}

}  // namespace rk::registers
