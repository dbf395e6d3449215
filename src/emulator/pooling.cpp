// SPDX-License-Identifier: Apache-2.0
// PPU and PPU_RDMA: pooling of a feature in memory. Lists store every extent, kernel and stride less one; rows and
// planes are counted in atoms (seen in the MaxPool and AveragePool tasks of 25 files for RK3588; docs/facts/container.md).
#include <algorithm>
#include <limits>

#include "base/half.h"
#include "emulator/units.h"

namespace rk::emulator {
namespace {

namespace reg = target::reg;
using target::RegisterFile;

constexpr uint32_t kMethodAverage = 0, kMethodMax = 1;
constexpr uint32_t kSourceI8 = 1, kSourceF16 = 2;
constexpr int kReciprocalShift = 16;  // int8: the reciprocals are 65536 / extent
constexpr int64_t kMaxElements = int64_t{1} << 28;

struct Pooling {
  bool is_float = false, average = false;
  int64_t atom_bytes = 16;
  int64_t channels = 0, in_height = 0, in_width = 0, out_height = 0, out_width = 0;
  int64_t kernel_h = 0, kernel_w = 0, stride_h = 0, stride_w = 0, pad_top = 0, pad_left = 0;
  uint64_t source = 0, source_row = 0, source_plane = 0;  // bytes
  uint64_t to = 0, to_row = 0, to_plane = 0;

  int64_t lanes() const { return is_float ? atom_bytes / 2 : atom_bytes; }
};

Result<Pooling> read_pooling(const Unit& unit) {
  const RegisterFile& r = unit.registers;
  Pooling p;
  p.atom_bytes = unit.chip.atom_bytes;
  const uint32_t source = r.get(reg::PPU_RDMA_RDMA_DATA_FORMAT__IN_PRECISION);
  if (source != kSourceI8 && source != kSourceF16)
    return unsupported(str("pooling of precision ", source));
  p.is_float = source == kSourceF16;
  const uint32_t method = r.get(reg::PPU_OPERATION_MODE_CFG__POOLING_METHOD);
  if (method != kMethodAverage && method != kMethodMax)
    return unsupported(str("pooling method ", method));
  p.average = method == kMethodAverage;
  if (p.average && unit.chip.is_rk3562)
    return unsupported("averages of the pooling unit on rk3562");
  if (r.is_on(reg::PPU_OPERATION_MODE_CFG__INDEX_EN)) return unsupported("pooling with indices");
  p.channels = int64_t{r.get(reg::PPU_DATA_CUBE_IN_CHANNEL__CUBE_IN_CHANNEL)} + 1;
  p.in_height = int64_t{r.get(reg::PPU_DATA_CUBE_IN_HEIGHT__CUBE_IN_HEIGHT)} + 1;
  p.in_width = int64_t{r.get(reg::PPU_DATA_CUBE_IN_WIDTH__CUBE_IN_WIDTH)} + 1;
  p.out_height = int64_t{r.get(reg::PPU_DATA_CUBE_OUT_HEIGHT__CUBE_OUT_HEIGHT)} + 1;
  p.out_width = int64_t{r.get(reg::PPU_DATA_CUBE_OUT_WIDTH__CUBE_OUT_WIDTH)} + 1;
  p.kernel_h = int64_t{r.get(reg::PPU_POOLING_KERNEL_CFG__KERNEL_HEIGHT)} + 1;
  p.kernel_w = int64_t{r.get(reg::PPU_POOLING_KERNEL_CFG__KERNEL_WIDTH)} + 1;
  p.stride_h = int64_t{r.get(reg::PPU_POOLING_KERNEL_CFG__KERNEL_STRIDE_HEIGHT)} + 1;
  p.stride_w = int64_t{r.get(reg::PPU_POOLING_KERNEL_CFG__KERNEL_STRIDE_WIDTH)} + 1;
  p.pad_top = r.get(reg::PPU_POOLING_PADDING_CFG__PAD_TOP);
  p.pad_left = r.get(reg::PPU_POOLING_PADDING_CFG__PAD_LEFT);
  const auto atoms = [&](const target::RegisterField& field) {
    return r.get(field) * static_cast<uint64_t>(p.atom_bytes);
  };
  p.source = r.get(reg::PPU_RDMA_RDMA_SRC_BASE_ADDR);
  p.source_row = atoms(reg::PPU_RDMA_RDMA_SRC_LINE_STRIDE__SRC_LINE_STRIDE);
  p.source_plane = atoms(reg::PPU_RDMA_RDMA_SRC_SURF_STRIDE__SRC_SURF_STRIDE);
  p.to = r.get(reg::PPU_DST_BASE_ADDR);
  p.to_row = static_cast<uint64_t>(p.out_width * p.atom_bytes) +
             atoms(reg::PPU_OPERATION_MODE_CFG__NOTCH_ADDR);
  p.to_plane = atoms(reg::PPU_DST_SURF_STRIDE__DST_SURF_STRIDE);
  if (p.channels * p.in_height * p.in_width > kMaxElements)
    return invalid_model("the list describes a pooling of more than 2^28 elements");
  return p;
}

// One plane of one lane, widened.
Result<std::vector<float>> read_plane(const Unit& unit, const Pooling& p, int64_t channel) {
  const int64_t element = p.is_float ? 2 : 1;
  std::vector<float> out(static_cast<size_t>(p.in_height * p.in_width));
  for (int64_t y = 0; y < p.in_height; ++y) {
    const uint64_t at = p.source + static_cast<uint64_t>(channel / p.lanes()) * p.source_plane +
                        static_cast<uint64_t>(y) * p.source_row;
    RK_ASSIGN(const std::span<uint8_t> row,
              unit.memory.at(at, static_cast<uint64_t>(p.in_width * p.atom_bytes)));
    for (int64_t x = 0; x < p.in_width; ++x) {
      const uint8_t* const from = row.data() + x * p.atom_bytes + channel % p.lanes() * element;
      out[static_cast<size_t>(y * p.in_width + x)] =
          p.is_float ? half_to_float(load<uint16_t>(from)) : static_cast<int8_t>(*from);
    }
  }
  return out;
}

// Calls use(value) for every cell of the window; a cell outside the feature gives `outside`, or is
// left out when there is none.
template <typename Use>
void walk_window(const Pooling& p, std::span<const float> plane, int64_t y, int64_t x,
                 const float* outside, const Use& use) {
  for (int64_t ky = 0; ky < p.kernel_h; ++ky) {
    for (int64_t kx = 0; kx < p.kernel_w; ++kx) {
      const int64_t in_y = y * p.stride_h - p.pad_top + ky, in_x = x * p.stride_w - p.pad_left + kx;
      const bool inside = in_y >= 0 && in_y < p.in_height && in_x >= 0 && in_x < p.in_width;
      if (inside) {
        use(plane[static_cast<size_t>(in_y * p.in_width + in_x)]);
      } else if (outside != nullptr) {
        use(*outside);
      }
    }
  }
}

float largest(const Pooling& p, std::span<const float> plane, int64_t y, int64_t x) {
  float best = -std::numeric_limits<float>::infinity();
  walk_window(p, plane, y, x, nullptr, [&](float value) { best = std::max(best, value); });
  return p.is_float ? best : std::max(best, -128.0f);
}

// Both reciprocals at once, one rounding: how the chip rounds in between is not known.
float mean(const Unit& unit, const Pooling& p, std::span<const float> plane, int64_t y, int64_t x) {
  const RegisterFile& r = unit.registers;
  const uint32_t by_w = r.get(reg::PPU_RECIP_KERNEL_WIDTH__RECIP_KERNEL_WIDTH);
  const uint32_t by_h = r.get(reg::PPU_RECIP_KERNEL_HEIGHT__RECIP_KERNEL_HEIGHT);
  const float outside =
      static_cast<float>(static_cast<int8_t>(r.get(reg::PPU_PADDING_VALUE_1_CFG)));
  float sum = 0;
  walk_window(p, plane, y, x, &outside, [&](float value) { sum += value; });
  if (p.is_float) {
    // Halves of 65536 / extent; an extent of one gives 65536, beyond the largest half, as the bits of infinity.
    constexpr uint16_t kInfinity = 0x7c00;
    const auto reciprocal = [](uint32_t bits) {
      constexpr float kUnit = 1.0f / (1 << kReciprocalShift);
      return bits == kInfinity ? 1.0f : half_to_float(static_cast<uint16_t>(bits)) * kUnit;
    };
    return sum * reciprocal(by_w) * reciprocal(by_h);
  }
  const int64_t product = int64_t{by_w} * int64_t{by_h};
  return static_cast<float>(saturate_i8(
      scale_round(static_cast<int64_t>(sum), product, 2 * kReciprocalShift, unit.ties)));
}

}  // namespace

Status pool(const Unit& unit) {
  RK_ASSIGN(const Pooling p, read_pooling(unit));
  const int64_t element = p.is_float ? 2 : 1;
  for (int64_t channel = 0; channel < p.channels; ++channel) {
    RK_ASSIGN(const std::vector<float> plane, read_plane(unit, p, channel));
    for (int64_t y = 0; y < p.out_height; ++y) {
      const uint64_t at = p.to + static_cast<uint64_t>(channel / p.lanes()) * p.to_plane +
                          static_cast<uint64_t>(y) * p.to_row;
      RK_ASSIGN(const std::span<uint8_t> row,
                unit.memory.at(at, static_cast<uint64_t>(p.out_width * p.atom_bytes)));
      for (int64_t x = 0; x < p.out_width; ++x) {
        const float value = p.average ? mean(unit, p, plane, y, x) : largest(p, plane, y, x);
        uint8_t* const to = row.data() + x * p.atom_bytes + channel % p.lanes() * element;
        if (p.is_float) {
          const uint16_t half = float_to_half(value);
          std::memcpy(to, &half, sizeof half);
        } else {
          *to = static_cast<uint8_t>(static_cast<int8_t>(value));
        }
      }
    }
  }
  return ok_status();
}

}  // namespace rk::emulator
