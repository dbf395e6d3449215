// SPDX-License-Identifier: Apache-2.0
#include "target/rk3562_registers.h"

namespace rk::target {

std::span<const PlacedField> rk3562_fields() {
  static constexpr PlacedField kFields[] = {
      {reg::CNA_CONV_CON1__IN_PRECISION, rk3562_reg::kPrecision},
      {reg::CNA_CONV_CON1__PROC_PRECISION, {"PROC_PRECISION", 0x100c, 7, 9}},
      {reg::CNA_CONV_CON1__ARGB_IN, {"ARGB_IN", 0x100c, 12, 15}},
      {{"CONV_CON3", reg::CNA_CONV_CON3, 0, 31}, {"CONV_CON3", 0x1014, 0, 31}},
      {{"WEIGHT_SIZE0", reg::CNA_WEIGHT_SIZE0, 0, 31}, {"WEIGHT_SIZE0", 0x101c, 0, 31}},
      {reg::CNA_WEIGHT_SIZE2__WEIGHT_WIDTH, {"WEIGHT_WIDTH", 0x1024, 24, 28}},
      {reg::CNA_WEIGHT_SIZE2__WEIGHT_HEIGHT, {"WEIGHT_HEIGHT", 0x1024, 16, 20}},
      {reg::CNA_DATA_SIZE0__DATAIN_WIDTH, {"DATAIN_WIDTH", 0x102c, 16, 31}},
      {reg::CNA_DATA_SIZE0__DATAIN_HEIGHT, {"DATAIN_HEIGHT", 0x102c, 0, 15}},
      {{"DATA_SIZE2", reg::CNA_DATA_SIZE2, 0, 31}, {"DATA_SIZE2", 0x1030, 0, 31}},
      {{"DATA_SIZE3", reg::CNA_DATA_SIZE3, 0, 31}, {"DATA_SIZE3", 0x1034, 0, 31}},
      {reg::CNA_PAD_CON0__PAD_TOP, {"PAD_TOP", 0x1080, 0, 7}},
      {reg::CNA_PAD_CON0__PAD_LEFT, {"PAD_LEFT", 0x1080, 8, 15}},
      {reg::CORE_MISC_CFG__PROC_PRECISION, {"PROC_PRECISION", 0x3018, 8, 10}},
      {{"DATAOUT", reg::CORE_DATAOUT_SIZE_0, 0, 31}, {"DATAOUT", 0x301c, 0, 31}},
      {{"DATAOUT_CHANNEL", reg::CORE_DATAOUT_SIZE_1, 0, 31}, rk3562_reg::kArrayChannels},
      {reg::CORE_CLIP_TRUNCATE__CLIP_TRUNCATE, {"CLIP_TRUNCATE", 0x3024, 0, 4}},
      {reg::DPU_FEATURE_MODE_CFG__FLYING_MODE, {"FLYING_MODE", 0x400c, 0, 0}},
      {reg::DPU_FEATURE_MODE_CFG__OUTPUT_MODE, {"OUTPUT_MODE", 0x400c, 1, 2}},
      {reg::DPU_FEATURE_MODE_CFG__BURST_LEN, {"BURST_LEN", 0x400c, 5, 8}},
      {reg::DPU_FEATURE_MODE_CFG__NONALIGN, {"NONALIGN", 0x400c, 25, 25}},
      {reg::DPU_FEATURE_MODE_CFG__RGP_TYPE, {"RGP_TYPE", 0x400c, 26, 29}},
      {reg::DPU_FEATURE_MODE_CFG__TP_EN, {"TP_EN", 0x400c, 30, 30}},
      {reg::DPU_DATA_FORMAT__PROC_PRECISION, {"PROC_PRECISION", 0x4010, 0, 2}},
      {reg::DPU_DATA_FORMAT__OUT_PRECISION, {"OUT_PRECISION", 0x4010, 29, 31}},
      {reg::DPU_DATA_FORMAT__BN_MUL_SHIFT_VALUE_NEG, {"BN_SHIFT_BELOW", 0x4010, 10, 15}},
      {reg::DPU_OFFSET_PEND__OFFSET_PEND, {"OFFSET_PEND", 0x4014, 0, 15}},
      {reg::DPU_DST_SURF_STRIDE__DST_SURF_STRIDE, rk3562_reg::kOutputPlane},
      {reg::DPU_DATA_CUBE_WIDTH__WIDTH, {"WIDTH", 0x4020, 0, 12}},
      {reg::DPU_DATA_CUBE_HEIGHT__HEIGHT, {"HEIGHT", 0x4024, 0, 12}},
      {reg::DPU_DATA_CUBE_HEIGHT__MINMAX_CTL, {"MINMAX_CTL", 0x4024, 22, 24}},
      {reg::DPU_DATA_CUBE_NOTCH_ADDR__NOTCH_ADDR_0, rk3562_reg::kOutputNotch},
      {reg::DPU_WDMA_SIZE_1__WIDTH_WDMA, rk3562_reg::kOutputWidth},
      {reg::DPU_WDMA_SIZE_1__HEIGHT_WDMA, rk3562_reg::kOutputHeight},
      {reg::DPU_BS_OW_CFG__SIZE_E_0, {"SIZE_E_0", 0x4050, 2, 4}},
      {reg::DPU_BS_OW_CFG__SIZE_E_1, {"SIZE_E_1", 0x4050, 5, 7}},
      {reg::DPU_BS_OW_CFG__SIZE_E_2, rk3562_reg::kRepeats2},
      {{"EW_CVT_OFFSET", reg::DPU_EW_CVT_OFFSET_VALUE, 0, 15}, {"EW_CVT_OFFSET", 0x4080, 0, 15}},
      {{"EW_CVT_SCALE", reg::DPU_EW_CVT_SCALE_VALUE, 0, 31}, {"EW_CVT_SCALE", 0x4084, 0, 31}},
      {{"OUT_CVT_OFFSET", reg::DPU_OUT_CVT_OFFSET, 0, 31}, {"OUT_CVT_OFFSET", 0x40ac, 0, 31}},
      {reg::DPU_OUT_CVT_SCALE__OUT_CVT_SCALE, rk3562_reg::kOutputScale},
      {reg::DPU_OUT_CVT_SHIFT__OUT_CVT_SHIFT, rk3562_reg::kOutputShift},
      {reg::DPU_OUT_CVT_SHIFT__MINUS_EXP, {"MINUS_EXP", 0x40b4, 12, 19}},
      {reg::DPU_OUT_CVT_SHIFT__CVT_ROUND, {"CVT_ROUND", 0x40b4, 30, 30}},
      {reg::DPU_SURFACE_ADD__SURF_ADD, {"SURF_ADD", 0x40b8, 0, 27}},
      {reg::DPU_FEATURE_MODE_CFG__SURF_LEN, {"SURF_LEN", 0x40c8, 0, 15}},
      {{"LUT_INFO", reg::DPU_LUT_INFO, 0, 31}, {"LUT_INFO", 0x410c, 0, 31}},
      {{"LUT_LE_START", reg::DPU_LUT_LE_START, 0, 31}, {"LUT_LE_START", 0x4110, 0, 31}},
      {{"LUT_LE_END", reg::DPU_LUT_LE_END, 0, 31}, {"LUT_LE_END", 0x4114, 0, 31}},
      {{"LUT_LO_START", reg::DPU_LUT_LO_START, 0, 31}, {"LUT_LO_START", 0x4118, 0, 31}},
      {{"LUT_LO_END", reg::DPU_LUT_LO_END, 0, 31}, {"LUT_LO_END", 0x411c, 0, 31}},
      {{"LE_SLOPE_SCALE", reg::DPU_LUT_LE_SLOPE_SCALE, 0, 31}, {"LE_SLOPE_SCALE", 0x4120, 0, 31}},
      {{"LE_SLOPE_SHIFT", reg::DPU_LUT_LE_SLOPE_SHIFT, 0, 31}, {"LE_SLOPE_SHIFT", 0x4124, 0, 31}},
      {{"LO_SLOPE_SCALE", reg::DPU_LUT_LO_SLOPE_SCALE, 0, 31}, {"LO_SLOPE_SCALE", 0x4128, 0, 31}},
      {{"LO_SLOPE_SHIFT", reg::DPU_LUT_LO_SLOPE_SHIFT, 0, 31}, {"LO_SLOPE_SHIFT", 0x412c, 0, 31}},
      {reg::DPU_RDMA_RDMA_DATA_CUBE_WIDTH__WIDTH, {"WIDTH", 0x500c, 0, 12}},
      {reg::DPU_RDMA_RDMA_DATA_CUBE_HEIGHT__HEIGHT, {"HEIGHT", 0x5010, 0, 12}},
      {reg::DPU_RDMA_RDMA_DATA_CUBE_CHANNEL__CHANNEL, rk3562_reg::kReaderChannels},
      {reg::DPU_RDMA_RDMA_BRDMA_CFG__BRDMA_DATA_USE, rk3562_reg::kConstants},
      {reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DISABLE, {"ERDMA_DISABLE", 0x5034, 0, 0}},
      {reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DATA_SIZE, {"ERDMA_DATA_SIZE", 0x5034, 2, 3}},
      {reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DATA_MODE, rk3562_reg::kOperandMode},
      {reg::DPU_RDMA_RDMA_EW_SURF_STRIDE__EW_SURF_STRIDE, {"EW_SURF_STRIDE", 0x5040, 0, 27}},
      {{"SRC_DMA_CFG", reg::DPU_RDMA_RDMA_SRC_DMA_CFG, 0, 31}, {"SRC_DMA_CFG", 0x5048, 0, 31}},
      {reg::DPU_RDMA_RDMA_SURF_NOTCH__SURF_NOTCH_ADDR, {"SURF_NOTCH", 0x504c, 0, 27}},
      {reg::DPU_RDMA_RDMA_EW_SURF_NOTCH__EW_SURF_NOTCH, {"EW_SURF_NOTCH", 0x506c, 0, 27}},
  };
  return kFields;
}

std::span<const PlacedRegister> rk3562_addresses() {
  static constexpr PlacedRegister kAddresses[] = {
      {reg::CNA_FEATURE_DATA_ADDR, rk3562_reg::kFeatureAddress},
      {reg::CNA_DCOMP_ADDR0, 0x1110},
      {reg::DPU_DST_BASE_ADDR, rk3562_reg::kOutputAddress},
      {reg::DPU_RDMA_RDMA_SRC_BASE_ADDR, rk3562_reg::kSourceAddress},
      {reg::DPU_RDMA_RDMA_BS_BASE_ADDR, 0x5020},
      {reg::DPU_RDMA_RDMA_EW_BASE_ADDR, rk3562_reg::kOperandAddress},
  };
  return kAddresses;
}

}  // namespace rk::target
