// SPDX-License-Identifier: Apache-2.0
// Lists of RK3566 and RK3568, brought into the positions of RK3588.
#include "emulator/units.h"
#include "target/rk3566_registers.h"

namespace rk::emulator {
namespace {

namespace reg = target::reg;
using target::RegisterField;
using target::RegisterFile;

constexpr uint16_t kFirst = 0x1000, kEnd = 0x8000;

class Positions {
 public:
  explicit Positions(const RegisterFile& raw) : raw_(raw) {
    for (uint16_t offset = kFirst; offset < kEnd; offset += 4) {
      if (target::find_register(offset) != nullptr) set(offset, raw.get(offset));
    }
  }
  void set(uint16_t offset, uint32_t value) { out_.write({0, value, offset}); }
  void set(const RegisterField& field, uint32_t value) {
    const auto mask = static_cast<uint32_t>((uint64_t{1} << (field.high - field.low + 1)) - 1);
    set(field.offset, (out_.get(field.offset) & ~(mask << field.low)) | (value & mask)
                                                                            << field.low);
  }
  uint32_t raw(const RegisterField& field) const { return raw_.get(field); }
  uint32_t raw(uint16_t offset) const { return raw_.get(offset); }
  const RegisterFile& out() const { return out_; }

 private:
  const RegisterFile& raw_;
  RegisterFile out_;
};

}  // namespace

RegisterFile registers_of_task(const RegisterFile& raw) {
  Positions p(raw);
  for (const target::MovedField& moved : target::rk3566_moved_fields())
    p.set(moved.rk3588, p.raw(moved.rk3566));
  for (const uint16_t offset : target::rk3566_strides()) {
    constexpr uint32_t kBelow = 7;  // bits that are not the stride's
    p.set(offset, (p.raw(offset) & ~kBelow) * 2 | (p.raw(offset) & kBelow));
  }
  // Rows are counted one by one, planes from start to start.
  p.set(reg::CNA_CONV_CON1__GROUP_LINE_OFF, 1);
  p.set(reg::CNA_DMA_CON2__SURF_STRIDE,
        p.raw(reg::CNA_DMA_CON2__SURF_STRIDE) - p.raw(reg::CNA_DATA_SIZE0__DATAIN_WIDTH));
  // The converter of a picture turns what an application stores into int8. Here pictures are stored as int8, for which
  // the loader of a file switches it off.
  if (p.raw(reg::CNA_CONV_CON1__ARGB_IN) != 0) p.set(reg::CNA_CVT_CON0__CVT_BYPASS, 1);
  // What is written has the extents of the cube.
  p.set(reg::DPU_WDMA_SIZE_0__CHANNEL_WDMA, p.raw(reg::DPU_DATA_CUBE_CHANNEL__CHANNEL));
  p.set(reg::DPU_WDMA_SIZE_1__WIDTH_WDMA, p.raw(reg::DPU_DATA_CUBE_WIDTH__WIDTH));
  p.set(reg::DPU_WDMA_SIZE_1__HEIGHT_WDMA, p.raw(reg::DPU_DATA_CUBE_HEIGHT__HEIGHT));
  // Types of operands are counted from zero, and so is int8 of pooled features.
  p.set(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DATA_SIZE,
        p.raw(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DATA_SIZE) + 1);
  const uint32_t pooled = p.raw(reg::PPU_RDMA_RDMA_DATA_FORMAT__IN_PRECISION);
  p.set(reg::PPU_RDMA_RDMA_DATA_FORMAT__IN_PRECISION, pooled == 0 ? 1 : pooled);
  return p.out();
}

}  // namespace rk::emulator
