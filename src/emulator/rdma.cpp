// SPDX-License-Identifier: Apache-2.0
// DPU_RDMA: the feature that a task without convolution starts from, constants of each channel, and the element-wise
// operand. Features lie in atoms of 16 bytes: 16 channels of int8, 8 of 16 bits, 4 of 32 bits.
#include <algorithm>
#include <cstring>

#include "base/half.h"
#include "emulator/units.h"

namespace rk::emulator {
namespace {

namespace reg = target::reg;
using target::RegisterFile;

constexpr int64_t kMaxElements = int64_t{1} << 28;
// Bits of BRDMA_DATA_USE and NRDMA_DATA_USE.
constexpr uint32_t kUseAddend = 1, kUseOffset = 2, kUseFactor = 4;

template <typename T>
T get(const uint8_t* from) {
  T out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

Result<std::vector<double>> read_array(const Unit& unit, uint64_t base, int64_t count,
                                       Precision precision) {
  const int64_t bytes = element_bytes(precision);
  RK_ASSIGN(const std::span<uint8_t> memory,
            unit.memory.at(base, static_cast<uint64_t>(count * bytes)));
  std::vector<double> out(static_cast<size_t>(count));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = load_element(precision, memory.data() + i * static_cast<size_t>(bytes));
  return out;
}

// Addends have 32 bits, factors 16.
Precision addend_type(Precision p) { return is_float(p) ? Precision::kF32 : Precision::kI32; }
Precision factor_type(Precision p) {
  return p == Precision::kBf16 ? p : is_float(p) ? Precision::kF16 : Precision::kI16;
}

}  // namespace

Result<Precision> to_precision(uint32_t field) {
  if (field > static_cast<uint32_t>(Precision::kF32)) return unsupported(str("precision ", field));
  return static_cast<Precision>(field);
}

double load_element(Precision precision, const uint8_t* from) {
  switch (precision) {
    case Precision::kI8:
      return static_cast<int8_t>(*from);
    case Precision::kI16:
      return get<int16_t>(from);
    case Precision::kF16:
      return half_to_float(get<uint16_t>(from));
    case Precision::kBf16: {
      const uint32_t bits = uint32_t{get<uint16_t>(from)} << 16;
      return get<float>(reinterpret_cast<const uint8_t*>(&bits));
    }
    case Precision::kI32:
      return get<int32_t>(from);
    case Precision::kF32:
      return get<float>(from);
  }
  return 0;
}

void store_element(Precision precision, double value, uint8_t* to) {
  const auto put = [&](auto typed) { std::memcpy(to, &typed, sizeof typed); };
  switch (precision) {
    case Precision::kI8:
      return put(static_cast<int8_t>(value));
    case Precision::kI16:
      return put(static_cast<int16_t>(value));
    case Precision::kF16:
      return put(float_to_half(static_cast<float>(value)));
    case Precision::kBf16: {
      // To nearest, ties to even.
      const auto number = static_cast<float>(value);
      uint32_t bits = get<uint32_t>(reinterpret_cast<const uint8_t*>(&number));
      if (number == number) bits += 0x7fff + ((bits >> 16) & 1);
      return put(static_cast<uint16_t>(bits >> 16));
    }
    case Precision::kI32:
      return put(static_cast<int32_t>(value));
    case Precision::kF32:
      return put(static_cast<float>(value));
  }
}

bool has_paired_offsets(const Unit& unit) {
  return unit.chip.is_rk3562 && unit.registers.get(reg::DPU_RDMA_RDMA_BRDMA_CFG__BRDMA_DATA_USE) ==
                                    (kUseAddend | kUseFactor);
}

Result<ChannelConstants> read_channel_constants(const Unit& unit, int64_t channels,
                                                Precision precision) {
  const RegisterFile& r = unit.registers;
  ChannelConstants out;
  const auto count = static_cast<size_t>(channels);
  const bool one_offset =
      !r.is_on(reg::DPU_BS_OW_CFG__OW_SRC) && !r.is_on(reg::DPU_BS_OW_CFG__OD_BYPASS);
  out.bias.assign(count, 0);
  out.offset.assign(count, one_offset ? static_cast<int16_t>(r.get(reg::DPU_BS_OW_OP__OW_OP)) : 0);
  out.multiplier.assign(count, 0);
  const uint32_t use = r.get(reg::DPU_RDMA_RDMA_BRDMA_CFG__BRDMA_DATA_USE);
  const uint64_t base = r.get(reg::DPU_RDMA_RDMA_BS_BASE_ADDR);
  if (use == 0) return out;
  if (use == kUseAddend) {
    RK_ASSIGN(out.bias, read_array(unit, base, channels, addend_type(precision)));
    return out;
  }
  if (use == kUseFactor) {
    RK_ASSIGN(out.multiplier, read_array(unit, base, channels, factor_type(precision)));
    return out;
  }
  const bool paired = has_paired_offsets(unit);
  if ((use != (kUseAddend | kUseOffset | kUseFactor) && !paired) || is_float(precision))
    return unsupported(str("bias block form ", use));
  const int64_t size = unit.chip.bias_group, groups = (channels + size - 1) / size;
  const int64_t each = paired ? 6 : 8;  // bytes of a channel
  RK_ASSIGN(const std::span<uint8_t> bytes,
            unit.memory.at(base, static_cast<uint64_t>(groups * size * each)));
  for (size_t c = 0; c < count; ++c) {
    const auto step = static_cast<size_t>(size);
    const uint8_t* const group = bytes.data() + c / step * step * static_cast<size_t>(each);
    const size_t lane = c % step;
    out.bias[c] = get<int32_t>(group + 4 * lane);
    if (!paired) out.offset[c] = get<int16_t>(group + 4 * size + 2 * lane);
    out.multiplier[c] = get<int16_t>(group + (each - 2) * size + 2 * static_cast<int64_t>(lane));
  }
  return out;
}

Result<ChannelConstants> read_norm_constants(const Unit& unit, int64_t channels,
                                             Precision precision) {
  const RegisterFile& r = unit.registers;
  ChannelConstants out;
  const uint32_t use = r.get(reg::DPU_RDMA_RDMA_NRDMA_CFG__NRDMA_DATA_USE);
  const uint64_t base = r.get(reg::DPU_RDMA_RDMA_BN_BASE_ADDR);
  const auto count = static_cast<size_t>(channels);
  out.bias.assign(count, 0);
  out.multiplier.assign(count, 0);
  if (use == kUseAddend) {
    RK_ASSIGN(out.bias, read_array(unit, base, channels, addend_type(precision)));
  } else if (use == kUseFactor) {
    RK_ASSIGN(out.multiplier, read_array(unit, base, channels, factor_type(precision)));
  } else if (use != 0) {
    return unsupported(str("batch-norm constants of form ", use));
  }
  return out;
}

Result<Cube> read_source(const Unit& unit) {
  const RegisterFile& r = unit.registers;
  RK_ASSIGN(const Precision in,
            to_precision(r.get(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__IN_PRECISION)));
  RK_ASSIGN(const Precision inside, to_precision(r.get(reg::DPU_DATA_FORMAT__PROC_PRECISION)));
  if (element_bytes(in) != element_bytes(inside))
    return unsupported(str("a source of precision ", static_cast<int>(in), " computed in ",
                           static_cast<int>(inside)));
  Cube out;
  out.is_float = is_float(inside);
  out.width = r.get(reg::DPU_RDMA_RDMA_DATA_CUBE_WIDTH__WIDTH) + 1;
  out.height = r.get(reg::DPU_RDMA_RDMA_DATA_CUBE_HEIGHT__HEIGHT) + 1;
  out.channels = r.get(reg::DPU_RDMA_RDMA_DATA_CUBE_CHANNEL__CHANNEL) + 1;
  if (out.elements() > kMaxElements) return invalid_model("a copy of more than 2^28 elements");
  // Data of 16 bits that pass unchanged may be declared as either type.
  const Precision read_as = is_float(in) == out.is_float ? in : inside;
  const int64_t bytes = element_bytes(in), lanes = unit.chip.atom_bytes / bytes;
  const int64_t row = out.width + r.get(reg::DPU_RDMA_RDMA_SRC_DMA_CFG__LINE_NOTCH_ADDR);
  // After the last row comes the surface notch in place of the line notch; it may lead backwards.
  const int64_t notch = static_cast<int32_t>(r.get(reg::DPU_RDMA_RDMA_SURF_NOTCH)) / kStrideUnit;
  const int64_t plane = ((out.height - 1) * row + out.width + notch) * unit.chip.atom_bytes;
  const bool both = r.get(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__COMB_USE) != 0;
  const int64_t second_plane =
      int64_t{r.get(reg::DPU_RDMA_RDMA_EW_SURF_STRIDE__EW_SURF_STRIDE)} * unit.chip.atom_bytes;
  const auto count = static_cast<size_t>(out.elements());
  if (out.is_float) {
    out.floats.resize(count);
  } else {
    out.integers.resize(count);
  }
  for (int64_t c0 = 0; c0 < out.channels; c0 += lanes) {
    // With both streams the planes lie in turn in the first and in the second.
    const int64_t block = c0 / lanes;
    const int64_t base = both && block % 2 != 0 ? r.get(reg::DPU_RDMA_RDMA_EW_BASE_ADDR)
                                                : r.get(reg::DPU_RDMA_RDMA_SRC_BASE_ADDR);
    const int64_t start =
        base + (both ? block / 2 * (block % 2 == 0 ? plane : second_plane) : block * plane);
    for (int64_t y = 0; y < out.height; ++y) {
      RK_ASSIGN(const std::span<uint8_t> line,
                unit.memory.at(static_cast<uint32_t>(start + y * row * unit.chip.atom_bytes),
                               static_cast<uint64_t>(out.width * unit.chip.atom_bytes)));
      for (int64_t c = c0; c < std::min(c0 + lanes, out.channels); ++c) {
        for (int64_t x = 0; x < out.width; ++x) {
          const double value =
              load_element(read_as, line.data() + x * unit.chip.atom_bytes + (c - c0) * bytes);
          const auto to = static_cast<size_t>((c * out.height + y) * out.width + x);
          if (out.is_float) {
            out.floats[to] = static_cast<float>(value);
          } else {
            out.integers[to] = static_cast<int64_t>(value);
          }
        }
      }
    }
  }
  return out;
}

Result<std::vector<double>> read_operand(const Unit& unit, const Cube& cube, Precision precision) {
  const RegisterFile& r = unit.registers;
  const int64_t bytes = element_bytes(precision), lanes = unit.chip.atom_bytes / bytes;
  const int64_t pixels = cube.pixels();
  const uint64_t second = r.get(reg::DPU_RDMA_RDMA_EW_BASE_ADDR);
  const uint64_t stride = r.get(reg::DPU_RDMA_RDMA_EW_SURF_STRIDE__EW_SURF_STRIDE) *
                          static_cast<uint64_t>(unit.chip.atom_bytes);
  const bool both = r.get(reg::DPU_RDMA_RDMA_FEATURE_MODE_CFG__COMB_USE) != 0;
  const bool per_channel = r.get(reg::DPU_RDMA_RDMA_ERDMA_CFG__ERDMA_DATA_MODE) == 0;
  std::vector<double> out(static_cast<size_t>(cube.elements()));
  if (per_channel) {
    RK_ASSIGN(const std::vector<double> values, read_array(unit, second, cube.channels, precision));
    for (size_t i = 0; i < out.size(); ++i) out[i] = values[i / static_cast<size_t>(pixels)];
    return out;
  }
  const int64_t row = cube.width + r.get(reg::DPU_RDMA_RDMA_DATA_CUBE_HEIGHT__EW_LINE_NOTCH_ADDR);
  for (int64_t block = 0; block * lanes < cube.channels; ++block) {
    // In a convolution both read streams fetch it, every second plane each.
    uint64_t base = second + static_cast<uint64_t>(block) * stride;
    if (both) {
      base = block % 2 == 0 ? r.get(reg::DPU_RDMA_RDMA_SRC_BASE_ADDR) : second;
      base += static_cast<uint64_t>(block / 2) * 2 * stride;
    }
    for (int64_t y = 0; y < cube.height; ++y) {
      RK_ASSIGN(const std::span<uint8_t> line,
                unit.memory.at(static_cast<uint32_t>(
                                   base + static_cast<uint64_t>(y * row * unit.chip.atom_bytes)),
                               static_cast<uint64_t>(cube.width * unit.chip.atom_bytes)));
      for (int64_t c = block * lanes; c < std::min(cube.channels, (block + 1) * lanes); ++c) {
        for (int64_t x = 0; x < cube.width; ++x) {
          out[static_cast<size_t>((c * cube.height + y) * cube.width + x)] =
              load_element(precision, line.data() + x * unit.chip.atom_bytes + c % lanes * bytes);
        }
      }
    }
  }
  return out;
}

}  // namespace rk::emulator
