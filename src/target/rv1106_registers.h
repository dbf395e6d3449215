// SPDX-License-Identifier: Apache-2.0
// RV1103 and RV1106 have the stages of RK3562 where RK3588 has its own, and fetch features in a way
// of their own. Read off lists of these chips and of RK3562 for the same layers
// (docs/facts/rv1106-lists.md).
#pragma once

#include <span>

#include "base/status.h"
#include "target/registers.h"

namespace rk::target {

// Fields of one meaning and one encoding; of RK3562 a field may have several places.
struct FieldOfRv1106 {
  RegisterField rk3562, rv1106;
};
std::span<const FieldOfRv1106> rv1106_fields();

// Registers that take the address of an operand.
struct AddressOfRv1106 {
  uint16_t rk3562, rv1106;
};
std::span<const AddressOfRv1106> rv1106_addresses();

// The registers of a task in the places of RK3562; `units` take part in it. kUnsupported names what
// no known list has.
Result<RegisterFile> rv1106_as_rk3562(const RegisterFile& raw, uint32_t units);

// What RK3562 has in another form.
namespace rv1106_reg {
inline constexpr RegisterField kMode{"CONV_MODE", 0x100c, 0,
                                     2};  // 7 depthwise with offsets, 3 without
inline constexpr RegisterField kPictureOf{"ARGB_IN", 0x100c, 12, 15};  // 7 and the channels
inline constexpr RegisterField kCells{"CELLS", 0x1014, 8,
                                      13};  // between pixels: of a transposed one
inline constexpr RegisterField kSingleLines{"SINGLE_LINES", 0x100c, 29, 29};
inline constexpr uint16_t kGrains = 0x1010;
inline constexpr RegisterField kPaddedChannels{"DATAIN_CHANNEL", 0x1024, 0, 15};
inline constexpr RegisterField kChannelsLess{"DATAIN_CHANNEL_REAL", 0x1024, 16, 31};
inline constexpr RegisterField kKernelBytes{"KERNEL_BYTES", 0x1034, 0, 18};
inline constexpr RegisterField kFetchMode{"FETCH_MODE", 0x1040, 0, 3};
inline constexpr RegisterField kKeepsWeights{"KEEPS_WEIGHTS", 0x1040, 13, 13};
// The rows of a tile in the buffer, in rows of 32 bytes.
inline constexpr RegisterField kRowEntries{"ROW_ENTRIES", 0x103c, 16, 31};
inline constexpr RegisterField kRowWidth{"ROW_WIDTH", 0x1044, 16, 31};
inline constexpr RegisterField kRowLength{"ROW_LENGTH", 0x1044, 0, 15};
inline constexpr RegisterField kRingEntries{"RING_ENTRIES", 0x1048, 16, 31};
inline constexpr uint16_t kConversion = 0x104c, kConversionScale01 = 0x1050,
                          kConversionScale23 = 0x1054;
// Of a picture's channels: added before the shift.
inline constexpr uint16_t kConversionOffsets[] = {0x1058, 0x105c, 0x101c, 0x106c};
inline constexpr RegisterField kConversionShifts[] = {{"SHIFT0", 0x104c, 4, 9},
                                                      {"SHIFT1", 0x104c, 10, 15},
                                                      {"SHIFT2", 0x104c, 16, 21},
                                                      {"SHIFT3", 0x104c, 22, 27}};
inline constexpr RegisterField kConversionOdd[] = {{"ODD0", 0x104c, 28, 28},
                                                   {"ODD1", 0x104c, 29, 29},
                                                   {"ODD2", 0x104c, 30, 30},
                                                   {"ODD3", 0x104c, 31, 31}};
inline constexpr RegisterField kPadTop{"PAD_TOP", 0x1068, 0, 7};
inline constexpr RegisterField kPadLeft{"PAD_LEFT", 0x1068, 8, 15};
inline constexpr uint16_t kFeatureAddress = 0x1070, kBursts = 0x1078, kLine = 0x107c,
                          kPlane = 0x1080;
inline constexpr RegisterField kFetchedWidth{"FETCHED_WIDTH", 0x1084, 16, 31};
inline constexpr RegisterField kFetchedRows{"FETCHED_ROWS", 0x1084, 0, 15};
inline constexpr uint16_t kFetchedChannels = 0x1088, kPictureMode = 0x108c, kBorder = 0x1184,
                          kKernelPairs = 0x1188, kRowEnd = 0x118c;
inline constexpr RegisterField kArrayMode{"CONV_MODE", 0x400c, 3, 4};  // 3 depthwise
inline constexpr RegisterField kGroups{"GROUPS", 0x4010, 23,
                                       24};  // 1 planes leave together, 2 one by one
inline constexpr RegisterField kOutputPlane{"DST_SURF_STRIDE", 0x4024, 4, 31};
inline constexpr RegisterField kOutputNotch{"NOTCH_ADDR_0", 0x4038, 0, 12};
inline constexpr RegisterField kOutputNotchAgain{"NOTCH_ADDR_1", 0x4038, 16, 28};
inline constexpr RegisterField kPaddedOutput{"CHANNEL", 0x403c, 0, 12};
inline constexpr RegisterField kChannels{"ORIG_CHANNEL", 0x403c, 16, 28};
inline constexpr uint16_t kBias = 0x4040;
inline constexpr RegisterField kBiasOperation{"BIAS_OPERATION", 0x4040, 0, 8};
inline constexpr RegisterField kBiasShift{"BIAS_SHIFT", 0x4040, 9, 14};
inline constexpr RegisterField kRepeats2{"SIZE_E_2", 0x4050, 8, 10};  // of an enlargement
inline constexpr RegisterField kOffsetValue{"OFFSET", 0x4054, 0, 16};
inline constexpr RegisterField kAtomsTogether{"ATOMS_TOGETHER", 0x4050, 28, 31};
inline constexpr RegisterField kPlanesOut{"PLANES", 0x4058, 16, 28};
inline constexpr RegisterField kAtomsTogetherAgain{"ATOMS_TOGETHER", 0x4058, 0, 3};
inline constexpr uint16_t kTable = 0x4108;
inline constexpr RegisterField kReadsAhead{"READS_AHEAD", 0x5044, 20, 23};
inline constexpr RegisterField kSourceRowGap{"LINE_NOTCH_ADDR", 0x5048, 19, 31};
}  // namespace rv1106_reg

}  // namespace rk::target
