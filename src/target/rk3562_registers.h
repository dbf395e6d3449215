// SPDX-License-Identifier: Apache-2.0
// RK3562 has the units of RK3588 with most registers in other places. Read off lists of both chips
// for the same layers (docs/fidelity.md, "Register lists").
#pragma once

#include <span>

#include "base/status.h"
#include "target/registers.h"

namespace rk::target {

struct PlacedField {
  RegisterField rk3588, rk3562;
};

// Fields of one meaning and one encoding; of RK3588 a field may have a register to itself, of
// RK3562 never more than one place. Those of the units of pooling lie where RK3588 has them.
std::span<const PlacedField> rk3562_fields();

// Registers that take the address of an operand.
struct PlacedRegister {
  uint16_t rk3588, rk3562;
};
std::span<const PlacedRegister> rk3562_addresses();

// The registers of a task in the positions of RK3588; `units` take part in it. kUnsupported names
// what no known list has.
Result<RegisterFile> rk3562_as_rk3588(const RegisterFile& raw, uint32_t units);

// What RK3588 has in another form.
namespace rk3562_reg {
inline constexpr uint16_t kCnaPointer = 0x1004, kCorePointer = 0x3004;
inline constexpr RegisterField kConvMode{"CONV_MODE", 0x100c, 0, 2};  // 1 depthwise, 5 with offsets
inline constexpr RegisterField kPicture{"PICTURE", 0x100c, 1, 1};
inline constexpr RegisterField kPrecision{"IN_PRECISION", 0x100c, 4, 6};
inline constexpr RegisterField kHalves{"HALVES", 0x100c, 21, 21};  // where precision is float16
inline constexpr RegisterField kPaddedRows{"PADDED_ROWS", 0x100c, 26, 26};  // of a picture
inline constexpr RegisterField kNotTransposed{"NOT_TRANSPOSED", 0x100c, 28, 28};
inline constexpr RegisterField kSingleLines{"SINGLE_LINES", 0x100c, 29, 29};
inline constexpr uint16_t kGrains = 0x1010;
inline constexpr RegisterField kDataBanks{"DATA_BANKS", 0x1018, 0, 7};
inline constexpr RegisterField kDataBanksAgain{"DATA_BANKS", 0x1018, 8, 15};
inline constexpr RegisterField kBankMode{"BANK_MODE", 0x1018, 16, 23};
inline constexpr RegisterField kKeepsRows{"KEEPS_ROWS", 0x1018, 31, 31};
inline constexpr RegisterField kKernelBytes{"KERNEL_BYTES", 0x1020, 0, 28};
inline constexpr RegisterField kKernelMode{"KERNEL_MODE", 0x1020, 29, 29};
inline constexpr RegisterField kInChannels{"IN_CHANNELS", 0x1028, 0, 15};
inline constexpr RegisterField kKernels{"WEIGHT_KERNELS", 0x1024, 0, 13};
inline constexpr RegisterField kFetchMode{"FETCH_MODE", 0x1038, 0, 3};
inline constexpr RegisterField kKeepsWeights{"KEEPS_WEIGHTS", 0x1038, 13, 13};
// The ring of rows in the buffer, in rows of 64 bytes: where the tile begins, its size, where
// fetched rows go.
inline constexpr RegisterField kRowEntries{"ROW_ENTRIES", 0x103c, 16, 31};
inline constexpr RegisterField kFirstEntry{"FIRST_ENTRY", 0x103c, 0, 15};
inline constexpr RegisterField kRingEntries{"RING_ENTRIES", 0x1040, 16, 31};
inline constexpr RegisterField kWriteEntry{"WRITE_ENTRY", 0x1040, 0, 15};
inline constexpr RegisterField kRowWidth{"ROW_WIDTH", 0x1044, 16, 31};
inline constexpr RegisterField kRowLength{"ROW_LENGTH", 0x1044, 0, 15};
inline constexpr uint16_t kConversion = 0x1048, kConversionScale01 = 0x104c,
                          kConversionScale23 = 0x1050, kConversionLanes = 0x106c;
inline constexpr RegisterField kFetchedWidth{"FETCHED_WIDTH", 0x1078, 16, 31};
inline constexpr RegisterField kFetchedRows{"FETCHED_ROWS", 0x1078, 0, 15};
inline constexpr uint16_t kFetchedChannels = 0x107c;
inline constexpr RegisterField kPadBottom{"PAD_BOTTOM", 0x1080, 16, 23};
inline constexpr RegisterField kPadRight{"PAD_RIGHT", 0x1080, 24, 31};
// Of a picture's channels, x * scale / 2^shift + offset: four scales, three shifts, offsets in
// registers of their own.
inline constexpr RegisterField kConversionShifts[] = {
    {"SHIFT0", 0x1048, 4, 9}, {"SHIFT1", 0x1048, 10, 15}, {"SHIFT2", 0x1048, 16, 21}};
inline constexpr uint16_t kConversionOffset = 0x1054, kPictureBorder = 0x1070;
inline constexpr uint16_t kBorder = 0x1084, kFeatureAddress = 0x1088, kBursts = 0x108c,
                          kLine = 0x1090, kPlane = 0x1094, kPlaneAgain = 0x1098, kRowEnd = 0x118c;
// int8: 1 dense, 10 depthwise; float16: 0 and 2.
inline constexpr RegisterField kCoreMode{"CORE_MODE", 0x3018, 0, 3};
inline constexpr RegisterField kCorePicture{"CORE_PICTURE", 0x3024, 5, 5};
inline constexpr RegisterField kDpuDepthwise{"CONV_MODE", 0x400c, 3, 4};
inline constexpr uint16_t kDpuFormat = 0x4010, kOutputAddress = 0x4018;
inline constexpr RegisterField kArrayChannels{"DATAOUT_CHANNEL", 0x3020, 0, 31};
inline constexpr RegisterField kOutputPlane{"DST_SURF_STRIDE", 0x401c, 0, 27};
inline constexpr RegisterField kOutputNotch{"NOTCH_ADDR_0", 0x4028, 0, 12};
inline constexpr RegisterField kOutputWidth{"WIDTH_WDMA", 0x4034, 0, 12};
inline constexpr RegisterField kOutputHeight{"HEIGHT_WDMA", 0x4034, 16, 28};
inline constexpr RegisterField kChannels{"CHANNELS", 0x402c, 0, 15};
inline constexpr RegisterField kChannelsAgain{"CHANNELS", 0x4030, 16, 31};
inline constexpr RegisterField kAtomsTogether{"ATOMS_TOGETHER", 0x4030, 0, 15};
// The bias stage, by what it does; shifts of products from zero up and below, and the one offset of
// all weights.
inline constexpr uint16_t kBias = 0x4038, kBiasAddend = 0x4040, kOffset = 0x4054;
inline constexpr RegisterField kBiasShift{"BIAS_SHIFT", 0x4038, 8, 13};
inline constexpr RegisterField kOffsetSource{"OFFSET_SOURCE", 0x4044, 0, 0};
inline constexpr RegisterField kBiasFactor{"BIAS_FACTOR", 0x4044, 16, 31};
inline constexpr RegisterField kFactorSource{"FACTOR_SOURCE", 0x4050, 0, 0};
inline constexpr RegisterField kFactorOff{"FACTOR_OFF", 0x4050, 1, 1};
inline constexpr RegisterField kRepeats2{"SIZE_E_2", 0x4050, 8, 10};
inline constexpr RegisterField kOffsetValue{"OFFSET", 0x4054, 0, 15};
inline constexpr RegisterField kOffsetShift{"BIAS_SHIFT_BELOW", 0x4054, 16, 21};
inline constexpr RegisterField kOffsetOn{"OFFSET_ON", 0x4054, 31, 31};
// Stages limit what they give; a limit and its copy.
inline constexpr uint16_t kNorm = 0x4060, kNormAddend = 0x4064, kNormFactor = 0x4068;
inline constexpr uint16_t kNormLow = 0x406c, kNormHigh = 0x4070, kNormLowAgain = 0x4074,
                          kNormHighAgain = 0x4078;
// A quotient of halves, which are named 16-bit integers there.
inline constexpr uint32_t kDivides = 0x10421c8, kNamedFormat = 0x20000001;
inline constexpr uint16_t kElements = 0x407c, kElementsLow = 0x4088, kElementsLowAgain = 0x40a4;
inline constexpr uint16_t kLows[] = {0x4048, 0x4058, 0x406c, 0x4074, 0x4088, 0x40a4};
inline constexpr uint16_t kHighs[] = {0x404c, 0x405c, 0x4070, 0x4078, 0x408c, 0x40a8};
inline constexpr RegisterField kOutputScale{"OUT_CVT_SCALE", 0x40b0, 0, 15};
inline constexpr RegisterField kOutputShift{"OUT_CVT_SHIFT", 0x40b4, 0, 5};
inline constexpr uint16_t kTable = 0x4108, kCopyMode = 0x40cc;
// The reader brings a feature: the source of a task without convolution, or an operand.
inline constexpr RegisterField kReadsMemory{"READS_MEMORY", 0x40b0, 16, 16};
inline constexpr uint16_t kWriting = 0x40c0;
inline constexpr RegisterField kReaderChannels{"CHANNEL", 0x5014, 0, 12};
inline constexpr RegisterField kConstants{"BRDMA_DATA_USE", 0x501c, 1, 4};
inline constexpr RegisterField kOperandMode{"ERDMA_DATA_MODE", 0x5034, 30, 31};
inline constexpr RegisterField kReaderInside{"PROC_PRECISION", 0x5044, 5, 7};
inline constexpr RegisterField kStreams{"COMB_USE", 0x5044, 8, 9};
inline constexpr RegisterField kReaderNumbers{"IN_PRECISION", 0x5044, 15, 17};
inline constexpr uint16_t kReader = 0x5044, kOperandAddress = 0x5038, kSourceAddress = 0x5018,
                          kSourceNotch = 0x504c;
inline constexpr uint16_t kUnnamed[] = {0x8028, 0x802c};
}  // namespace rk3562_reg

}  // namespace rk::target
