// SPDX-License-Identifier: Apache-2.0
#include "target/rk3566_registers.h"

namespace rk::target {

std::span<const MovedField> rk3566_moved_fields() {
  static constexpr MovedField kMoved[] = {
      {reg::CNA_CONV_CON1__PROC_PRECISION, {"PROC_PRECISION", 0x100c, 8, 10}},
      {reg::CNA_CVT_CON0__CVT_BYPASS, {"CVT_BYPASS", 0x104c, 1, 1}},
      {reg::CNA_CVT_CON0__CVT_TYPE, {"CVT_TYPE", 0x104c, 0, 0}},
      {{"PAD_VALUE", reg::CNA_PAD_CON1, 0, 15}, {"PAD_VALUE", reg::CNA_PAD_CON0, 16, 31}},
      {reg::CORE_MISC_CFG__QD_EN, {"QD_EN", 0x200c, 0, 0}},
      {reg::CORE_MISC_CFG__DW_EN, {"DW_EN", 0x200c, 1, 1}},
      {reg::CORE_MISC_CFG__PROC_PRECISION, {"PROC_PRECISION", 0x300c, 12, 14}},
      {{"DATAOUT", reg::CORE_DATAOUT_SIZE_0, 0, 31}, {"DATAOUT", 0x3010, 0, 31}},
      {{"DATAOUT_CHANNEL", reg::CORE_DATAOUT_SIZE_1, 0, 31}, {"DATAOUT_CHANNEL", 0x3014, 0, 31}},
      {reg::DPU_FEATURE_MODE_CFG__OUTPUT_MODE, {"OUTPUT_MODE", 0x400c, 2, 3}},
      {reg::DPU_FEATURE_MODE_CFG__CONV_MODE, {"CONV_MODE", 0x400c, 4, 5}},
      {reg::DPU_FEATURE_MODE_CFG__BURST_LEN, {"BURST_LEN", 0x400c, 6, 9}},
      {reg::DPU_BS_CFG__BS_ALU_ALGO, {"BS_ALU_ALGO", 0x4040, 2, 3}},
      {reg::DPU_BN_CFG__BN_ALU_ALGO, {"BN_ALU_ALGO", 0x4060, 2, 3}},
      {reg::DPU_EW_CFG__EW_ALU_ALGO, {"EW_ALU_ALGO", 0x4070, 3, 4}},
  };
  return kMoved;
}

std::span<const uint16_t> rk3566_strides() {
  static constexpr uint16_t kStrides[] = {
      reg::DPU_DST_SURF_STRIDE,           reg::DPU_SURFACE_ADD,
      reg::DPU_RDMA_RDMA_EW_SURF_STRIDE,  reg::DPU_RDMA_RDMA_SURF_NOTCH,
      reg::PPU_DST_SURF_STRIDE,           reg::PPU_DATA_FORMAT,
      reg::PPU_RDMA_RDMA_SRC_LINE_STRIDE, reg::PPU_RDMA_RDMA_SRC_SURF_STRIDE};
  return kStrides;
}

}  // namespace rk::target
