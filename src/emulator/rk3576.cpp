// SPDX-License-Identifier: Apache-2.0
// Lists of RK3576 and RV1126B: numbers of stages lie in memory.
#include "emulator/units.h"
#include "target/rk3562_registers.h"
#include "target/rk3576_registers.h"

namespace rk::emulator {

namespace here = target::rk3576_reg;
using target::RegisterField;
using target::RegisterFile;
using target::StageNumbers;

namespace {

Result<StageNumbers> numbers_at(const RegisterFile& raw, const RegisterField& use, uint16_t address,
                                Memory& memory) {
  const uint32_t rows = raw.get(use);
  if (rows == 0) return StageNumbers();
  RK_ASSIGN(const std::span<uint8_t> bytes, memory.at(raw.get(address), target::stage_bytes(rows)));
  return target::read_stage(rows, bytes);
}

}  // namespace

Result<RegisterFile> registers_of_rk3576(const RegisterFile& raw, uint32_t units, Memory& memory) {
  if ((units & format::kUnitPpu) != 0) return raw;
  StageNumbers bias, norm;
  if ((units & format::kUnitDpuRdma) != 0) {
    RK_ASSIGN(bias, numbers_at(raw, here::kBiasUse, here::kBiasNumbers, memory));
    RK_ASSIGN(norm, numbers_at(raw, here::kNormUse, here::kNormNumbers, memory));
  }
  return target::rk3576_as_rk3562(raw, units, bias, norm);
}

}  // namespace rk::emulator
