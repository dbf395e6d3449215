// SPDX-License-Identifier: Apache-2.0
// RK3576 and RV1126B have the registers of RK3562 with other numbers in some of them, and keep the
// numbers of stages in memory. Read off lists of both chips for the same layers
// (docs/facts/rk3576-lists.md).
#pragma once

#include "base/bytes.h"
#include "base/status.h"
#include "target/registers.h"

namespace rk::target {

// Numbers of the bias or the batch-norm stage: rows of 16 bytes in memory. A register says which
// rows there are (bits of `use`).
struct StageNumbers {
  int32_t addend = 0;
  int16_t offset = 0, factor = 0;
  uint8_t shift = 0, shift_below = 0;
  bool operator==(const StageNumbers&) const = default;
};
inline constexpr uint32_t kUseAddend = 2, kUseOffset = 4, kUseFactor = 8, kUseShifts = 16;
inline constexpr size_t kStageRowBytes = 16;
size_t stage_bytes(uint32_t use);
// `rows` has at least stage_bytes(use).
StageNumbers read_stage(uint32_t use, ByteSpan rows);
std::vector<uint8_t> write_stage(uint32_t use, const StageNumbers& numbers);

// The registers of a task in the form of RK3562; `units` take part in it. kUnsupported names what
// no known list has.
Result<RegisterFile> rk3576_as_rk3562(const RegisterFile& raw, uint32_t units,
                                      const StageNumbers& bias, const StageNumbers& norm);

namespace rk3576_reg {
inline constexpr uint32_t kBankEntries = 1024;
inline constexpr RegisterField kMode{"CONV_MODE", 0x100c, 0, 0};                 // 1 depthwise
inline constexpr RegisterField kWeightsInRows{"WEIGHTS_IN_ROWS", 0x100c, 2, 2};  // of a picture
inline constexpr RegisterField kPictureOf{"ARGB_IN", 0x100c, 12, 15};            // 7 + channels
inline constexpr RegisterField kCellsX{"DECONV_X_STRIDE", 0x1014, 8, 10};
inline constexpr RegisterField kCellsY{"DECONV_Y_STRIDE", 0x1014, 11, 13};
inline constexpr RegisterField kTwoCores{"TWO_CORES", 0x1014, 28, 28};
// The bank behind those of the ring of rows, and their number.
inline constexpr RegisterField kDataEnd{"DATA_END", 0x1018, 0, 7};
inline constexpr RegisterField kDataBanks{"DATA_BANKS", 0x1018, 8, 15};
inline constexpr RegisterField kBankMode{"BANK_MODE", 0x1018, 30, 30};
inline constexpr RegisterField kKernels{"WEIGHT_KERNELS", 0x1024, 0, 13};
inline constexpr RegisterField kKernelHeight{"WEIGHT_HEIGHT", 0x1024, 16, 23};
inline constexpr RegisterField kKernelWidth{"WEIGHT_WIDTH", 0x1024, 24, 31};
inline constexpr RegisterField kInChannels{"IN_CHANNELS", 0x1028, 0, 15};
inline constexpr RegisterField kTileEntries{"TILE_ENTRIES", 0x1028, 16, 31};
inline constexpr RegisterField kOutputWidth{"DATAOUT_WIDTH", 0x1030, 0, 15};
inline constexpr RegisterField kKernelAtoms{"KERNEL_ATOMS", 0x1030, 16, 31};
// The end of the banks that the core has.
inline constexpr uint16_t kBanks = 0x1038;
// The last of what two cores do apart; its result is nobody's.
inline constexpr RegisterField kEndsApart{"ENDS_APART", kBanks, 30, 30};
inline constexpr RegisterField kKeepsWeights{"KEEPS_WEIGHTS", kBanks, 31, 31};
inline constexpr RegisterField kFactorSource{"FACTOR_SOURCE", 0x4050, 16, 16};
inline constexpr RegisterField kFactorOff{"FACTOR_OFF", 0x4050, 17, 17};
inline constexpr RegisterField kOffsetOn{"OFFSET_ON", 0x4050, 31, 31};
// Numbers of channels from memory (bits of BRDMA_DATA_USE), and rows of the stage's own.
inline constexpr RegisterField kConstants{"BRDMA_DATA_USE", 0x501c, 8, 10};
inline constexpr RegisterField kBiasUse{"BIAS_USE", 0x501c, 0, 4};
inline constexpr RegisterField kNormUse{"NORM_USE", 0x5028, 0, 4};
inline constexpr uint16_t kBiasNumbers = 0x5024, kNormNumbers = 0x5030;
inline constexpr uint32_t kNormOff = 0x903, kNormLimits = 0x902, kNormSlope = 0x402,
                          kNormIndex = 0x20;
inline constexpr uint16_t kFarEntries[] = {0x4188, 0x418c, 0x4190, 0x4194};
}  // namespace rk3576_reg

}  // namespace rk::target
