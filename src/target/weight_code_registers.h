// SPDX-License-Identifier: Apache-2.0
// Registers of a task whose weights are coded, in the same places on all chips that have a code
// (docs/facts/container.md, section 4.5).
#pragma once

#include <cstdint>
#include <span>

#include "target/registers.h"
#include "target/target.h"

namespace rk::target {

struct WeightCodeRegisters {
  uint32_t control = 0, number = 0;   // what DCOMP_CTRL and DCOMP_REGNUM hold
  uint32_t unit_bytes = 0;            // in which lengths are counted
  std::span<const uint16_t> begins;   // of the first streams; others follow them
  std::span<const uint16_t> lengths;  // of all streams, in units less one
};

// Null where the chip has no code, and for RK3588, of which only layers with one offset for all weights
// are coded in vendor files.
inline const WeightCodeRegisters* weight_code_registers(WeightCode code) {
  static constexpr uint16_t kBegins[] = {
      reg::CNA_DCOMP_ADDR0, 0x1114, 0x1118, 0x111c, 0x1120, 0x1124, 0x1128, 0x112c};
  static constexpr uint16_t kLengths[] = {0x1140, 0x1144, 0x1148, 0x114c,
                                          0x1130, 0x1134, 0x1138, 0x113c};
  static constexpr WeightCodeRegisters kEight{1, 0x492492, 8, kBegins, kLengths};
  static constexpr WeightCodeRegisters kTwo{5, 5, 16, std::span(kBegins).first<1>(),
                                            std::span(kLengths).first<2>()};
  switch (code) {
    case WeightCode::kNone:
    case WeightCode::kSixteenStreams:
      return nullptr;
    case WeightCode::kEightStreams:
      return &kEight;
    case WeightCode::kTwoStreams:
      return &kTwo;
  }
  return nullptr;
}

}  // namespace rk::target
