// SPDX-License-Identifier: Apache-2.0
#include "target/rv1106_registers.h"

#include "target/rk3562_registers.h"

namespace rk::target {
namespace {

namespace there = rk3562_reg;

constexpr RegisterField whole(uint16_t offset) { return {"", offset, 0, 31}; }
constexpr FieldOfRv1106 whole(uint16_t rk3562, uint16_t rv1106) {
  return {whole(rk3562), whole(rv1106)};
}

}  // namespace

std::span<const FieldOfRv1106> rv1106_fields() {
  static constexpr FieldOfRv1106 kFields[] = {
      whole(0x1014, 0x1014),
      whole(0x101c, 0x1030),
      whole(0x1024, 0x1038),
      whole(0x102c, 0x1020),
      whole(0x1030, 0x1028),
      whole(0x1034, 0x102c),
      {{"FETCH_MODE", 0x1038, 0, 3}, rv1106_reg::kFetchMode},
      {there::kKeepsWeights, rv1106_reg::kKeepsWeights},
      {{"PAD_TOP", 0x1080, 0, 7}, rv1106_reg::kPadTop},
      {{"PAD_LEFT", 0x1080, 8, 15}, rv1106_reg::kPadLeft},
      whole(0x3018, 0x3010),
      whole(0x301c, 0x3014),
      whole(0x3020, 0x3018),
      whole(0x3024, 0x301c),
      {{"FLYING_MODE", 0x400c, 0, 0}, {"FLYING_MODE", 0x400c, 0, 0}},
      {{"OUTPUT_MODE", 0x400c, 1, 2}, {"OUTPUT_MODE", 0x400c, 1, 2}},
      {{"BURST_LEN", 0x400c, 5, 8}, {"BURST_LEN", 0x400c, 5, 8}},
      {{"NONALIGN", 0x400c, 25, 25}, {"NONALIGN", 0x400c, 25, 25}},
      {{"RGP_TYPE", 0x400c, 26, 29}, {"RGP_TYPE", 0x400c, 26, 29}},
      {{"TP_EN", 0x400c, 30, 30}, {"TP_EN", 0x400c, 30, 30}},
      {{"PROC_PRECISION", 0x4010, 0, 2}, {"PROC_PRECISION", 0x4010, 0, 2}},
      {{"BN_SHIFT_BELOW", 0x4010, 10, 15}, {"BN_SHIFT_BELOW", 0x4010, 10, 15}},
      {{"OUT_PRECISION", 0x4010, 29, 31}, {"OUT_PRECISION", 0x4010, 29, 31}},
      {{"OFFSET_PEND", 0x4014, 0, 15}, {"OFFSET_PEND", 0x4014, 0, 15}},
      {there::kOutputPlane, rv1106_reg::kOutputPlane},
      {{"WIDTH", 0x4020, 0, 12}, {"WIDTH", 0x4030, 0, 12}},
      {{"COPY_MODE", 0x40cc, 0, 12}, {"COPY_MODE", 0x4030, 16, 28}},
      whole(0x4024, 0x4034),
      {there::kOutputNotch, rv1106_reg::kOutputNotch},
      {there::kChannels, rv1106_reg::kChannels},
      {there::kAtomsTogether, rv1106_reg::kAtomsTogether},
      whole(0x4034, 0x405c),
      {there::kBiasShift, rv1106_reg::kBiasShift},
      whole(0x4040, 0x4018),
      whole(0x4044, 0x4048),
      whole(0x4048, 0x404c),
      whole(0x404c, 0x401c),
      {{"FACTORS", 0x4050, 0, 10}, {"FACTORS", 0x4050, 0, 10}},
      {there::kOffsetValue, {"OFFSET", 0x4054, 0, 15}},
      {there::kOffsetShift, {"BIAS_SHIFT_BELOW", 0x4054, 24, 29}},
      {there::kOffsetOn, {"OFFSET_ON", 0x4054, 31, 31}},
      whole(0x4058, 0x40d8),
      whole(0x405c, 0x40dc),
      whole(0x4060, 0x4060),
      whole(0x4064, 0x4064),
      whole(0x4068, 0x4068),
      whole(0x406c, 0x406c),
      whole(0x4070, 0x4028),
      whole(0x4074, 0x40e0),
      whole(0x4078, 0x40e4),
      whole(0x407c, 0x4070),
      whole(0x4080, 0x4074),
      whole(0x4084, 0x4078),
      whole(0x4088, 0x407c),
      whole(0x408c, 0x402c),
      whole(0x40a4, 0x40e8),
      whole(0x40a8, 0x40ec),
      whole(0x40ac, 0x4080),
      whole(0x40b0, 0x4084),
      whole(0x40b4, 0x4088),
      {{"SURF_ADD", 0x40b8, 0, 27}, {"SURF_ADD", 0x40c0, 4, 31}},
      {{"SURF_LEN", 0x40c8, 0, 15}, {"SURF_LEN", 0x400c, 9, 24}},
      whole(0x4108, 0x4108),
      whole(0x410c, 0x410c),
      whole(0x4110, 0x4110),
      whole(0x4114, 0x4114),
      whole(0x4118, 0x4118),
      whole(0x411c, 0x411c),
      whole(0x4120, 0x4120),
      whole(0x4124, 0x4124),
      whole(0x4128, 0x4128),
      whole(0x412c, 0x412c),
      whole(0x500c, 0x500c),
      whole(0x5010, 0x5010),
      whole(0x5014, 0x5014),
      whole(0x501c, 0x501c),
      whole(0x5028, 0x5028),
      whole(0x5034, 0x5034),
      {{"EW_SURF_STRIDE", 0x5040, 0, 27}, {"EW_SURF_STRIDE", 0x5040, 4, 31}},
      {{"FLYING_MODE", 0x5044, 0, 0}, {"FLYING_MODE", 0x5044, 0, 0}},
      {{"READER", 0x5044, 3, 19}, {"READER", 0x5044, 3, 19}},
      {{"SRC_DMA_CFG", 0x5048, 0, 18}, {"SRC_DMA_CFG", 0x5048, 0, 18}},
      {{"LINE_NOTCH", 0x5078, 0, 12}, rv1106_reg::kSourceRowGap},
      {{"SURF_NOTCH", 0x504c, 0, 27}, {"SURF_NOTCH", 0x504c, 4, 31}},
      {{"EW_SURF_NOTCH", 0x506c, 0, 27}, {"EW_SURF_NOTCH", 0x506c, 4, 31}},
  };
  return kFields;
}

std::span<const AddressOfRv1106> rv1106_addresses() {
  static constexpr AddressOfRv1106 kAddresses[] = {
      {there::kFeatureAddress, rv1106_reg::kFeatureAddress},
      {0x1110, 0x1110},
      {there::kOutputAddress, 0x4020},
      {there::kSourceAddress, 0x5018},
      {0x5020, 0x5020},
      {0x502c, 0x502c},
      {there::kOperandAddress, 0x5038},
  };
  return kAddresses;
}

}  // namespace rk::target
